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


@settings(deadline=None, max_examples=60)
@given(problems(), st.sampled_from([1, 2, 3]), st.sampled_from(["dense", "sparse"]), st.integers(1, 3))
def test_steps_of_em_are_those_of_plain_expectation(problem: Any, order: int, layout: str, iterations: int) -> None:
    sentences, labels, weights = problem
    learner = HiddenMarkov(0.2, 0.3, iterations=iterations, tol=0)
    tagger = Tagger(Features("attributes", layout=layout), learner, order=order).fit(
        sentences, labels, sample_weight=weights
    )
    twin = PlainHiddenMarkov(sentences, labels, weights, order, 0.2, 0.3)
    objectives = [-twin.expectation(sentences, labels, weights) for _ in range(iterations)]
    found = [epoch["objective"] for epoch in tagger.history_]
    assert found == pytest.approx(objectives[: len(found)], rel=1e-4, abs=1e-4)
    if len(found) < iterations:  # it has stopped: a step gained nothing
        assert objectives[len(found) - 1] >= objectives[len(found) - 2] - 1e-3
        return
    for tokens in [*sentences, [{"a": 1.0}, {"a": 2.0, "never seen": 1.0}]]:
        for reading, score in all_readings(tagger, tokens).items():
            assert score == pytest.approx(twin.log_probability(tokens, reading), rel=1e-3, abs=1e-3)


def half_known(n: int, seed: int) -> tuple[list[list[str]], list[list[str | None]]]:
    """Sentences of which one in ten has labels."""
    X, y = make_addresses(n, seed=seed)
    return X, [labels if i % 10 == 0 else [None] * len(labels) for i, labels in enumerate(y)]


def test_each_step_raises_the_likelihood_of_what_is_known() -> None:
    X, y = half_known(200, 0)
    tagger = Tagger(["U=%x[0,0]", "B"], HiddenMarkov(1e-9, 1e-9, iterations=15, tol=0)).fit(X, y)
    objectives = [epoch["objective"] for epoch in tagger.history_]
    assert len(objectives) == 15
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in itertools.pairwise(objectives))
    assert objectives[-1] < 0.98 * objectives[0]


def test_sentences_without_labels_help() -> None:
    X, y, _ = margent.datasets.make_chain(900, 4, 40, seed=1)  # drawn from such a model
    known = [labels if i < 15 else [None] * len(labels) for i, labels in enumerate(y[:600])]
    plain, em = (Tagger(["U=%x[0,0]", "B"], HiddenMarkov(iterations=n)).fit(X[:600], known) for n in (0, 20))
    assert em.score(X[600:], y[600:]) > plain.score(X[600:], y[600:]) + 0.02


def test_hidden_labels_are_learned_and_threads_do_not_matter() -> None:
    X, y = make_addresses(150, seed=2)
    learner = HiddenMarkov(0.1, iterations=12)
    one, two = (Tagger(["U=%x[0,0]", "B"], learner, hidden=2, seed=1, threads=threads).fit(X, y) for threads in (1, 2))
    objectives = [epoch["objective"] for epoch in one.history_]
    assert objectives == [epoch["objective"] for epoch in two.history_]
    assert objectives[-1] < objectives[0] and one.predict(X) == two.predict(X)
    assert one.score(X, y) > 0.8


def test_em_stops_when_little_is_gained_and_goes_on_from_a_model() -> None:
    X, y = half_known(200, 3)
    tagger = Tagger(["U=%x[0,0]", "B"], HiddenMarkov(iterations=100, tol=1e-3)).fit(X, y)
    n = len(tagger.history_)
    assert 2 < n < 100
    objective = tagger.history_[-1]["objective"]
    tagger.partial_fit(X, y)
    assert tagger.history_[n]["objective"] == pytest.approx(objective, rel=0.01)
    tagger.set_params(learner=Perceptron(epochs=3)).partial_fit(X, y)  # where it begins is what EM has found
    assert tagger.score(X[::10], y[::10]) > 0.9


def test_label_costs_do_not_change_what_is_expected() -> None:
    X, y = half_known(100, 4)
    plain, costly = (
        Tagger(["U=%x[0,0]", "B"], HiddenMarkov(iterations=4, tol=0), label_costs=costs).fit(X, y)
        for costs in (None, {"O": 7.0})
    )
    assert [e["objective"] for e in plain.history_] == pytest.approx(
        [e["objective"] for e in costly.history_], rel=1e-5
    )
