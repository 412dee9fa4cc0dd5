"""The hidden Markov model against plain counting, and as a learner of the tagger."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.hidden_markov import PlainHiddenMarkov

import margent
from margent import Features, HiddenMarkov, Perceptron, Tagger, make_addresses
from margent.answer import Answer
from margent.errors import CalibrationWarning

Tokens = list[dict[str, float]]


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Tokens], list[list[str | None]], list[float]]:
    """A few sentences of tokens with features, labels that are missing here and there, and weights."""
    features = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([1.0, 2.0, 0.5]), max_size=3)
    sentences = draw(st.lists(st.lists(features, min_size=1, max_size=5), min_size=1, max_size=5))
    label = st.sampled_from(["X", "Y", "Y", None])
    labels = [draw(st.lists(label, min_size=len(s), max_size=len(s))) for s in sentences]
    labels[0][0] = "X"  # nothing can be learned without a label
    weights = draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=len(sentences), max_size=len(sentences)))
    return sentences, labels, weights


def all_readings(tagger: Tagger, tokens: Tokens) -> dict[tuple[str, ...], float]:
    k = len(tagger.classes_) ** len(tokens)
    return {tuple(reading.labels): reading.score for reading in tagger.predict_k_best([tokens], k=k)[0]}


@settings(deadline=None, max_examples=60)
@given(problems(), st.sampled_from([1, 2, 3]), st.sampled_from(["dense", "sparse"]), st.sampled_from([0.01, 1.0]))
def test_scores_are_the_log_probabilities_of_plain_counting(problem: Any, order: int, layout: str, s: float) -> None:
    sentences, labels, weights = problem
    learner = HiddenMarkov(smoothing=s, transition_smoothing=0.3)
    tagger = Tagger(Features("attributes", layout=layout), learner, order=order).fit(
        sentences, labels, sample_weight=weights
    )
    twin = PlainHiddenMarkov(sentences, labels, weights, order, s, 0.3)
    for tokens in [*sentences, [{"a": 1.0}, {"a": 2.0, "never seen": 1.0}]]:
        found = all_readings(tagger, tokens)
        assert set(found) == set(itertools.product(twin.labels, repeat=len(tokens)))
        for reading, score in found.items():
            assert score == pytest.approx(twin.log_probability(tokens, reading), rel=1e-4, abs=1e-4)


def test_probabilities_sum_to_one_over_labels_and_the_end() -> None:
    X, y = make_addresses(50, seed=0)
    tagger = Tagger(learner=HiddenMarkov(), order=2).fit(X, y)
    transitions, ends = tagger.weights_.totals()
    n, base = len(tagger.classes_), len(tagger.classes_) + 1
    after_labels = np.exp(transitions[:, :n]).sum(axis=1).reshape(base, base)[:, :n] + np.exp(ends[:, :n])
    np.testing.assert_allclose(after_labels, 1, rtol=1e-4)
    np.testing.assert_allclose(np.exp(tagger.weights_.unigrams[:, :n]).sum(axis=0), 1, rtol=1e-3)


def test_the_objective_is_the_likelihood_of_the_training_data() -> None:
    X, y = make_addresses(20, seed=0)
    tagger = Tagger(learner="hmm").fit(X, y)
    (epoch,) = tagger.history_
    scores = [dict_of[tuple(labels)] for dict_of, labels in zip(map(few_readings(tagger), X), y)]
    assert epoch["objective"] == epoch["loss"] == pytest.approx(-sum(scores), rel=1e-5)


def few_readings(tagger: Tagger) -> Any:
    return lambda x: {tuple(r.labels): r.score for r in tagger.predict_k_best([x], k=2000)[0]}


def test_counts_that_a_float_cannot_count() -> None:
    X, y = [["w"], ["w"]], [["A"], ["B"]]
    tagger = Tagger(["U=%x[0,0]", "B"], "hmm").fit(X, y, sample_weight=[2.0**24, 1.0])
    transitions, _ = tagger.weights_.totals()
    start = transitions[len(tagger.classes_)]
    assert start[1] - start[0] == pytest.approx(np.log(1.1) - np.log(2.0**24 + 0.1), rel=1e-5)


def test_without_transitions_the_shares_of_labels_count() -> None:
    X, y = [["w", "w", "w"]], [["A", "A", "B"]]
    tagger = Tagger(["U=%x[0,0]"], HiddenMarkov(), order=2).fit(X, y)
    scores = {r.labels[0]: r.score for r in tagger.predict_k_best([["w"]], k=2)[0]}
    assert scores["A"] - scores["B"] == pytest.approx(np.log(2.1 / 1.1), rel=1e-4)
    transitions, _ = tagger.weights_.totals()
    assert np.ptp(transitions, axis=0).max() == 0


@pytest.mark.parametrize("options", [{}, {"order": 3}, {"features": Features(layout="sparse")}])
def test_a_tagger_learns_saves_and_loads(options: dict[str, Any], tmp_path: Any) -> None:
    X, y = make_addresses(400, seed=1)
    tagger = Tagger(learner=HiddenMarkov(smoothing=0.02), **options).fit(X[:300], y[:300])
    assert tagger.score(X[300:], y[300:]) > 0.7
    tagger.save(tmp_path / "model")
    loaded = margent.load(tmp_path / "model")
    assert loaded.learner == tagger.learner and loaded.predict(X) == tagger.predict(X)


def test_features_of_label_pairs_are_left_out() -> None:
    X, y = make_addresses(60, seed=1)
    with_pairs, without = (Tagger(["U=%x[0,0]", "B", *more], "hmm").fit(X, y) for more in (["Bx=%x[0,0]"], []))
    assert with_pairs.weights_.n_weights == without.weights_.n_weights
    assert with_pairs.predict_k_best(X[:5], k=3) == without.predict_k_best(X[:5], k=3)


def test_label_costs_pull_towards_the_costly_label() -> None:
    X, y = [["w"]] * 10, [["A"]] * 8 + [["B"]] * 2
    assert Tagger(learner="hmm").fit(X, y).predict([["w"]]) == [["A"]]
    assert Tagger(learner="hmm", label_costs={"B": 50}).fit(X, y).predict([["w"]]) == [["B"]]
    with pytest.raises(ValueError, match="HiddenMarkov takes label_costs of labels, not of pairs of labels"):
        Tagger(learner="hmm", label_costs={("A", "B"): 2}).fit(X, y)
    with pytest.raises(ValueError, match="label_costs should be above 0 for HiddenMarkov"):
        Tagger(learner="hmm", label_costs={"B": 0}).fit(X, y)


def test_it_is_overconfident_until_it_has_a_temperature() -> None:
    X, y = make_addresses(400, seed=1, noise=0.5)
    tagger = Tagger(learner="hmm").fit(X[:300], y[:300])
    with pytest.warns(CalibrationWarning):
        tagger.predict_marginals(X[300:])
    tagger.calibrate(X[300:], y[300:])
    assert tagger.calibrated_ and tagger.temperature_ > 1


def test_what_it_cannot_do_is_said() -> None:
    X, y = make_addresses(20, seed=0)
    tagger = Tagger(learner="hmm").fit(X, y)
    before = tagger.predict(X)
    with pytest.raises(ValueError, match=r"HiddenMarkov cannot continue from a model \(partial_fit\)"):
        tagger.partial_fit(X, y)
    assert tagger.predict(X) == before
    with pytest.raises(ValueError, match="HiddenMarkov cannot continue from a model"):
        Tagger(features=Features(layout="sparse"), learner=Perceptron(epochs=1)).fit(X, y).set_params(
            learner="hmm"
        ).partial_fit(X, y)
    with pytest.raises(ValueError, match="by their values, which must not be negative"):
        Tagger(learner="hmm").fit([np.array([[1.0, -2.0], [1.0, 5.0]])], [["A", "A"]])

    class Classes:
        n_features = 1

        def __len__(self) -> int:
            return 1

        def answer(self, *_: Any) -> Answer:
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"HiddenMarkov counts .* 'chain with a kernel' cannot count them: choose"):
        Tagger(margent.Kernel(), "hmm").fit(X, y)
    with pytest.raises(TypeError, match=r"HiddenMarkov counts labels .* 'Classes' cannot count them: choose"):
        margent.train(HiddenMarkov(), Classes())


@pytest.mark.parametrize("parameter", ["smoothing", "transition_smoothing"])
def test_wrong_parameters_are_explained(parameter: str) -> None:
    for wrong in (0, -1, float("nan"), "x"):
        with pytest.raises(ValueError, match=f"{parameter} of HiddenMarkov should be a number above 0"):
            HiddenMarkov(**{parameter: wrong})  # type: ignore[arg-type]
