"""Learning from listed answers: the native oracle against one in Python, and the latent CRF by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import margent
from margent import CRF, MIRA, Answer, PassiveAggressive, Perceptron, Rival, _core

N_FEATURES = 12


class Listed:
    """The same in Python: examples of (features, loss) for each candidate."""

    n_features = N_FEATURES

    def __init__(self, examples: list[list[tuple[dict[int, float], float]]]) -> None:
        self.examples = examples

    def __len__(self) -> int:
        return len(self.examples)

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        def score(features: dict[int, float]) -> float:
            return sum(weights[f] * x for f, x in features.items())

        listed = self.examples[i]
        right = [features for features, loss in listed if loss == 0]
        if not right:
            return Answer({}, [])
        best = sorted(listed, key=lambda c: -(score(c[0]) + cost * c[1]))[:k]
        return Answer(max(right, key=score), [Rival(f, loss, int(np.ceil(loss))) for f, loss in best])


def drawn(seed: int, n: int = 40) -> list[list[tuple[dict[int, float], float]]]:
    random = np.random.default_rng(seed)
    examples = []
    for _ in range(n):
        listed = []
        for c in range(random.integers(1, 6)):
            chosen = random.choice(N_FEATURES, 4, replace=False).tolist()
            loss = 0.0 if c == 0 and random.random() < 0.9 else float(random.integers(0, 3))
            listed.append(({f: float(np.float32(random.normal())) for f in chosen}, loss))
        examples.append(listed)
    return examples


def native(examples: list[list[tuple[dict[int, float], float]]]) -> _core.CandidateOracle:
    everything = [candidate for listed in examples for candidate in listed]
    candidates = _core.Candidates(
        np.cumsum([0, *map(len, examples)]),
        np.cumsum([0, *(len(features) for features, _ in everything)]),
        np.array([f for features, _ in everything for f in features], np.int32),
        np.array([x for features, _ in everything for x in features.values()], np.float32),
        np.array([loss for _, loss in everything], np.float32),
        np.ones(len(examples), np.int32),
    )
    return _core.CandidateOracle(candidates, N_FEATURES)


@pytest.mark.parametrize(
    "learner", [Perceptron(epochs=4), PassiveAggressive(epochs=3, k=2), MIRA(epochs=3, k=3, C=0.1)]
)
def test_every_rule_learns_as_from_an_oracle_in_python(learner: Any) -> None:
    examples = drawn(0)
    one, other = margent.train(learner, native(examples)), margent.train(learner, Listed(examples))
    assert np.allclose(one.weights, other.weights, atol=1e-9)
    assert [epoch.updates for epoch in one.history] == [epoch.updates for epoch in other.history]


@pytest.mark.parametrize("best", [False, True])
def test_the_latent_likelihood_is_right_and_its_gradient_too(best: bool) -> None:
    examples = drawn(1)
    oracle = native(examples)
    weights = np.random.default_rng(2).normal(size=N_FEATURES)
    value, gradient = oracle.likelihood(best_completion=best, threads=3).evaluate(weights)
    together = np.max if best else np.logaddexp.reduce
    expected = 0.0
    for listed in examples:
        scores = np.array([sum(weights[f] * x for f, x in features.items()) for features, _ in listed])
        right = np.array([loss == 0 for _, loss in listed])
        if right.any():
            expected += np.logaddexp.reduce(scores) - together(scores[right])
    assert value == pytest.approx(expected)
    likelihood = oracle.likelihood(best_completion=best)
    for f in range(N_FEATURES):
        step = np.zeros(N_FEATURES)
        step[f] = 1e-5
        slope = (likelihood.evaluate(weights + step)[0] - likelihood.evaluate(weights - step)[0]) / 2e-5
        assert gradient[f] == pytest.approx(slope, abs=1e-6)


def test_the_latent_crf_lowers_its_objective() -> None:
    history = margent.train(CRF(l2=0.1, epochs=20), native(drawn(3))).history
    assert history[-1].objective < history[0].objective  # type: ignore[operator]
    with pytest.raises(TypeError, match="'listed answers' has only the likelihood of all examples together"):
        margent.train(CRF("sgd"), native(drawn(3)))


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (CRF(all_pairs=True), "'listed answers' has no labels"),
        (CRF(boundaries=False), "'listed answers' has no labels"),
        (CRF(search="beam"), r"survives a beam .* 'listed answers' has no such sums: choose .*, CRF,"),
    ],
)
def test_what_a_crf_cannot_do_with_listed_answers_is_said(learner: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        margent.train(learner, native(drawn(3)))
