"""What is wrong in what a segmenter is given is told in one sentence, before native code runs."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

import margent
from margent import (
    Durations,
    FrameFeatures,
    MaximumLikelihood,
    Perceptron,
    SegmentConstraints,
    Segmenter,
    TokenFeatures,
)
from margent.errors import ConstraintError, CorpusError

NAN = float("nan")
X = [np.array([[0.0], [0.1], [5.0], [5.1], [5.2]]), np.array([[5.0], [0.2], [0.0]])]
Y = [[(0, 2, "low"), (2, 5, "high")], [(0, 1, "high"), (1, 3, "low")]]
WORDS = [["In", "New", "York", "."]]
LEARNER = MaximumLikelihood(shrinkage=0.1)


def of_tokens(features=None, y=((1, 3, "LOC"),)):
    return Segmenter(features, Perceptron(epochs=1), outside="O").fit(WORDS, [list(y)], progress=False)


@pytest.fixture(scope="module")
def fitted():
    return Segmenter(learner=LEARNER).fit(X, Y)


@pytest.mark.parametrize("segment", [(0, None, "a"), (1, NAN, "a"), (1, 2.5, "a"), (1, 2, 7), (1, 2, None)], ids=str)
def test_segments(segment):
    with pytest.raises(CorpusError, match=r"sequence 0: segment . is .* expected two integers and a label"):
        of_tokens(y=[segment])
    with pytest.raises(CorpusError, match=r"sequence 0: segment 0 is .* expected two integers and a label"):
        Segmenter(learner=LEARNER).fit(X, [[segment], Y[1]])


def test_durations_by_label():
    limits = (
        Segmenter(learner=LEARNER, durations=Durations(max=MappingProxyType({"low": 9, "high": None})))
        .fit(X, Y)
        .weights_.limits
    )
    assert dict(zip(limits.labels, limits.longest.tolist())) == {"low": 9, "high": 3}
    with pytest.raises(CorpusError, match=r"no segment with label 'high' has times.* give Durations"):
        Segmenter(learner=LEARNER, durations=Durations(max={"low": 9})).fit(X, [["low", "high"], ["high", "low"]])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (3, "expected a list with the labels of each sequence, got 3"),
        ("ab", "expected a list with the labels of each sequence, got 'ab'"),
        ([3, 4], "sequence 0: expected a list of labels, got 3"),
        (["ab", "c"], "sequence 0: expected a list of labels, got 'ab'"),
        ([["low", "high"], [1]], "sequence 1: there is no label 1"),
    ],
    ids=str,
)
def test_labels_that_are_known(fitted, labels, message):
    for ask in (fitted.predict, lambda x, labels: fitted.predict_k_best(x, labels=labels)):
        with pytest.raises(ConstraintError, match=message):
            ask(X, labels)
    assert fitted.predict(X, [np.array(["low", "high"], dtype=object), ["high", "low"]]) == fitted.predict(X)


def test_constraints():
    with pytest.raises(ConstraintError, match=r"allowed of SegmentConstraints should be a dict .* got \['low'\]"):
        SegmentConstraints(allowed=["low"])
    with pytest.raises(ConstraintError, match="labels of SegmentConstraints should be a list of labels, got 'low'"):
        SegmentConstraints(labels="low")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": ["Paris"]}, "should be a dict from list name to names"),
        ({"names": {"c": [1]}}, r"'c' should have a list of names, got \[1\]"),
        ({"names": {"city": "Paris"}}, "'city' should have a list of names, got 'Paris'"),
        ({"similar": "x"}, "similar of TokenFeatures should be above 0"),
        ({"similar": True}, "similar of TokenFeatures should be above 0"),
        ({"functions": len}, "functions of TokenFeatures should be a list of functions"),
        ({"inside": "word"}, "inside of TokenFeatures should be a list of names of columns, got 'word'"),
        ({"string": 3}, "string of TokenFeatures should be True or False"),
    ],
    ids=str,
)
def test_features_of_tokens(given, message):
    with pytest.raises(ValueError, match=message):
        TokenFeatures(**given)
    assert TokenFeatures(names={"city": iter(["Paris", "Rome"])}).names == {"city": ("Paris", "Rome")}


@pytest.mark.parametrize("found", [None, "abc", {"a": "x"}, {"a": NAN}, 3], ids=str)
def test_functions_of_segments(found):
    with pytest.raises(
        CorpusError, match=r"function 0 of TokenFeatures gave .* for \['In'\]; expected a list of names"
    ):
        of_tokens(TokenFeatures(functions=[lambda tokens, begin, end: found]))


def test_bins_of_labels_that_there_are_not():
    with pytest.raises(ValueError, match="bins of FrameFeatures names label 'none', which the training data do not"):
        Segmenter(FrameFeatures(bins={"low": 2, "none": 2}), LEARNER).fit(X, Y)


def test_a_model_is_loaded_with_all_its_functions(tmp_path):
    functions = [lambda tokens, begin, end: [tokens[begin]], lambda tokens, begin, end: ["long"] * (end - begin > 1)]
    segmenter = of_tokens(TokenFeatures(functions=functions))
    segmenter.save(tmp_path / "m")
    for some in (functions[0], [*functions, functions[0]]):
        with pytest.raises(ValueError, match="trained with 2 functions of segments, got"):
            margent.load(tmp_path / "m", function=some)
    assert margent.load(tmp_path / "m", function=functions).predict(WORDS) == segmenter.predict(WORDS)


def test_a_new_fit_forgets_how_other_frames_were_made():
    segmenter = Segmenter(learner=LEARNER).fit(X, Y)
    segmenter.with_front_end({"frame": 0.02})
    assert segmenter.fit(X, Y).front_end_ is None
