"""Probabilities hold, or an error says why not, however large the numbers are that a model is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import margent
from margent.errors import CorpusError
from margent.models.score_range import for_probabilities

pytestmark = pytest.mark.filterwarnings("ignore::margent.errors.CalibrationWarning")


def attribute_tagger(**parameters: Any) -> Any:
    """Two attributes that nearly cancel out where they have the same value."""
    X = [[{"a": 1.0, "b": -0.9}, {"a": 0.5, "b": -0.1}], [{"b": 1.0, "a": -0.5}, {"a": 1.0}]] * 5
    y = [["A", "B"], ["B", "A"]] * 5
    return margent.Tagger(features="attributes", learner=margent.CRF(l2=0.1, epochs=30), **parameters).fit(
        X, y, progress=False
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("large", [1e5, 3e7])
def test_large_values_that_cancel_out_leave_right_probabilities(order: int, large: float) -> None:
    """In single precision nothing would be left of the difference: a wrong label had the probability 1."""
    tagger = attribute_tagger(order=order)
    row = tagger.weights_.unigrams.astype(np.float64)
    names = [tagger.feature_map_.name(i) for i in range(2)]
    a, b = row[names.index("a")], row[names.index("b")]
    # The value of b for which the difference of the two labels is 1 in exact arithmetic, so far as a float can say.
    other = np.float32((1 - large * (a[0] - a[1])) / (b[0] - b[1]))
    difference = large * (a[0] - a[1]) + float(other) * (b[0] - b[1])
    [found] = tagger.predict_marginals([[{"a": large, "b": float(other)}]])
    [plain] = tagger.predict_marginals([[{"a": 0.0}]])
    odds = np.log(plain[0, 0] / plain[0, 1]) + difference
    np.testing.assert_allclose(np.log(found[0, 0] / found[0, 1]), odds, atol=1e-4, rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("ask", ["predict_marginals", "predict_spans", "sample"])
@pytest.mark.parametrize("parameters", [{}, {"order": 2}, {"hidden": 2}])
def test_values_that_leave_no_probabilities_are_refused(ask: str, parameters: Any) -> None:
    tagger = attribute_tagger(**parameters)
    good, bad = [{"a": 1.0}], [{"a": 1.0}, {"a": 3e20, "b": -3e20}]
    with pytest.raises(CorpusError, match="sentence 1: its numbers are so large"):
        getattr(tagger, ask)([good, bad])


@pytest.mark.parametrize("ask", ["predict", "predict_k_best"])
def test_scores_beyond_a_float_are_refused(ask: str) -> None:
    tagger = attribute_tagger()
    with pytest.raises(CorpusError, match="sentence 0: its numbers are so large"):
        getattr(tagger, ask)([[{"a": 3e38, "b": 3e38}]])
    getattr(tagger, ask)([[{"a": 1e9, "b": 1e9}]])


def test_vectors() -> None:
    X, y = [np.eye(3), np.eye(3)[::-1]], [["A", "B", "C"], ["C", "B", "A"]]
    tagger = margent.Tagger(features="vectors", learner=margent.CRF(epochs=10)).fit(X, y, progress=False)
    [found] = tagger.predict_marginals([np.full((1, 3), 1e6)])
    np.testing.assert_allclose(found.sum(), 1)
    with pytest.raises(CorpusError, match="sentence 0: its numbers are so large"):
        tagger.predict_marginals([np.array([[1e30, -1e30, 0]])])


def test_a_kernel() -> None:
    X, y = [np.eye(3), np.eye(3)[::-1]], [["A", "B", "C"], ["C", "B", "A"]]
    kernel = margent.Kernel("polynomial", degree=3)
    tagger = margent.Tagger(features=kernel, learner=margent.Perceptron(epochs=3)).fit(X, y, progress=False)
    with pytest.raises(CorpusError, match="sentence 1: "):
        tagger.predict_marginals([np.eye(3), np.full((2, 3), 1e8)])


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6, 1e8, 1e11])
def test_frames_with_an_outlier_have_probabilities_or_none(size: float) -> None:
    random = np.random.default_rng(0)
    X = [np.concatenate([random.normal(size=(10, 2)), random.normal(size=(10, 2)) + 2]) for _ in range(4)]
    y = [[(0, 10, "A"), (10, 20, "B")]] * 4
    segmenter = margent.Segmenter(learner=margent.CRF(epochs=20)).fit(X, y, progress=False)
    frames = X[0].copy()
    frames[3, 0] = size
    try:
        [found] = segmenter.predict_marginals([frames])
    except CorpusError as error:
        assert "sequence 0: its numbers are so large" in str(error)
        assert size >= 1e4
        return
    np.testing.assert_allclose(found.labels.sum(axis=1), 1, atol=1e-9)
    assert (found.labels >= 0).all() and (found.boundaries <= 1).all() and (found.boundaries >= 0).all()
    assert all(0 <= span.confidence <= 1 for span in found.segments)
    assert size <= 1e6


SIZES = {"d": 1.0, "x": 3e20}


def seen(words: list[str], begin: int, end: int) -> dict[str, float]:
    return {"length": float(end - begin), "size": max(SIZES.get(word, 0.0) for word in words[begin:end])}


def test_segments_of_tokens_with_numbers() -> None:
    features = margent.TokenFeatures(functions=[seen])
    X, y = [["a", "b", "c", "d"]] * 3, [[(0, 2, "A"), (2, 4, "B")]] * 3
    segmenter = margent.Segmenter(features=features, learner=margent.CRF(epochs=10)).fit(X, y, progress=False)
    [found] = segmenter.predict_marginals([["a", "d"]])
    np.testing.assert_allclose(found.labels.sum(axis=1), 1)
    with pytest.raises(CorpusError, match="sequence 1: its numbers are so large"):
        segmenter.predict_marginals([["a", "d"], ["a", "x"]])


def test_candidates_of_a_word_without_finite_scores() -> None:
    """Weights that no file and no training gives: the shares would be no numbers."""
    words = ["cab", "back", "tack", "cat", "bat", "tact"] * 3
    spoken = [list(word.upper()) for word in words]
    model = margent.Transcriber(order=2, learner=margent.MIRA(epochs=1)).fit(words, spoken, progress=False)
    assert all(0 <= reading.probability <= 1 for reading in model.predict_k_best(["tab"], 3)[0])
    model.model_.decoder.weights[:] = np.nan
    with pytest.raises(CorpusError, match="word 0: its candidates have scores"):
        model.predict_k_best(["tab"], 3)


def test_a_temperature_above_one_makes_room() -> None:
    assert for_probabilities(1e9, 0.5) == 2e9
    assert for_probabilities(1e9, 20.0) == 1e9


@pytest.mark.parametrize("ask", ["predict", "predict_k_best", "predict_marginals", "predict_spans"])
@pytest.mark.parametrize("parameters", [{}, {"order": 2}, {"hidden": 2}, {"search": margent.Beam(4)}])
def test_a_sentence_beyond_the_range_fails_alone(ask: str, parameters: Any) -> None:
    question = getattr(attribute_tagger(**parameters), ask)
    good, other = [{"a": 1.0}, {"b": 2.0}], [{"b": 0.5}]
    bad = [{"a": 3e38, "b": 3e38}]
    found = question([good, bad, other, bad], on_error="none")
    assert found[1] is None and found[3] is None
    for place, sentence in ((0, good), (2, other)):
        np.testing.assert_equal(found[place], question([sentence])[0])


def test_a_sentence_of_a_kernel_beyond_the_range_fails_alone() -> None:
    X, y = [np.eye(3), np.eye(3)[::-1]], [["A", "B", "C"], ["C", "B", "A"]]
    kernel = margent.Kernel("polynomial", degree=3)
    tagger = margent.Tagger(features=kernel, learner=margent.Perceptron(epochs=3)).fit(X, y, progress=False)
    found = tagger.predict_marginals([np.full((2, 3), 1e8), np.eye(3)], on_error="none")
    assert found[0] is None
    np.testing.assert_array_equal(found[1], tagger.predict_marginals([np.eye(3)])[0])


def test_a_sequence_beyond_the_range_fails_alone() -> None:
    random = np.random.default_rng(0)
    X = [np.concatenate([random.normal(size=(10, 2)), random.normal(size=(10, 2)) + 2]) for _ in range(4)]
    y = [[(0, 10, "A"), (10, 20, "B")]] * 4
    question = margent.Segmenter(learner=margent.CRF(epochs=20)).fit(X, y, progress=False).predict_marginals
    bad = X[0].copy()
    bad[3] = 1e11
    with pytest.raises(CorpusError, match="sequence 1: "):
        question([X[0], bad, X[1]])
    found = question([X[0], bad, X[1]], on_error="none")
    assert found[1] is None
    np.testing.assert_equal(found[0], question(X[:1])[0])
    np.testing.assert_equal(found[2], question(X[1:2])[0])
    known = {"labels": [["A", "B"]] * 3}
    with pytest.raises(CorpusError, match="sequence 1: "):
        question([X[0], bad, X[1]], **known)
    found = question([X[0], bad, X[1]], **known, on_error="none")
    assert found[1] is None and found[0] is not None and found[2] is not None


def test_calibration_leaves_out_what_has_no_probability() -> None:
    tagger = attribute_tagger()
    X, y = [[{"a": 1.0}, {"b": 1.0}]] * 20, [["A", "B"]] * 20
    before = tagger.calibrate(X, y).temperature_
    assert tagger.calibrate([*X, [{"a": 3e38, "b": 3e38}]], [*y, ["B"]]).temperature_ == before
    with pytest.raises(CorpusError, match="sentence 20: "):
        tagger.score([*X, [{"a": 3e38, "b": 3e38}]], [*y, ["B"]])
    with pytest.raises(CorpusError, match="sentence 20: "):
        tagger.reliability([*X, [{"a": 3e20, "b": 3e38}]], [*y, ["B"]])
