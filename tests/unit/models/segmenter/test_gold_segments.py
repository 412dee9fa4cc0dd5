"""Right segmentations that a model cannot say are refused, with the sequence and the segment named."""

from __future__ import annotations

import numpy as np
import pytest

from margent import CRF, Durations, Perceptron, Segmenter, TokenFeatures
from margent.errors import CorpusError

X = [np.arange(6.0)[:, None], np.arange(5.0)[:, None]]
GOOD = [[(0, 3, "a"), (3, 6, "b")], [(0, 2, "b"), (2, 5, "a")]]
WORDS = [["In", "New", "York", "City", "and", "Rome"]]


@pytest.mark.parametrize("learner", [Perceptron(epochs=1), CRF(epochs=1)], ids=str)
def test_equal_neighbours_are_refused_without_repeat(learner):
    wrong = [GOOD[0], [(0, 2, "b"), (2, 3, "a"), (3, 5, "a")]]
    with pytest.raises(CorpusError, match=r"sequence 1, segment 2: 'a' follows .* repeat=False"):
        Segmenter(learner=learner, repeat=False).fit(X, wrong, progress=False)
    with pytest.raises(CorpusError, match=r"sequence 1, segment 1: 'b' follows"):
        Segmenter(learner=learner, repeat=False).fit(X, [GOOD[0], ["b", "b"]], progress=False)
    Segmenter(learner=learner).fit(X, wrong, progress=False)


def test_labels_without_times_must_fit_the_sequence():
    model = Segmenter(learner=Perceptron(epochs=1), durations=Durations(max=3))
    with pytest.raises(CorpusError, match=r"sequence 1: its 1 labels last 1 to 3 together.* its length, 5"):
        model.fit(X, [GOOD[0], ["b"]], progress=False)
    slow = Segmenter(learner=Perceptron(epochs=1), durations=Durations(min=3))
    with pytest.raises(CorpusError, match="sequence 1: its 2 labels last 6 to 6 together"):
        slow.fit(X, [GOOD[0], ["b", "a"]], progress=False)
    model.fit(X, [GOOD[0], ["b", "a"]], progress=False)


@pytest.mark.parametrize(
    "options", [{"repeat": False}, {"durations": Durations(max=3)}, {"durations": Durations(2, 3)}]
)
def test_what_is_outside_lasts_one_token_and_may_go_on(options):
    learner = Perceptron(epochs=10)
    segmenter = Segmenter(TokenFeatures(), learner, outside="O", **options)
    words = [["I", "saw", "it", "in", "New", "York", "City", "."], ["so", "I", "left", "New", "York", "."]]
    y = [[(4, 7, "LOC")], [(3, 5, "LOC")]]
    segmenter.fit(words, y, progress=False)
    limits = segmenter.weights_.limits
    at = limits.labels.index("O")
    assert limits.shortest[at] == limits.longest[at] == 1
    assert [[tuple(s) for s in found] for found in segmenter.predict(words)] == y


@pytest.mark.parametrize("name", ["min", "max"])
def test_durations_of_what_is_outside_are_refused(name):
    with pytest.raises(
        ValueError, match=f"{name} of Durations names 'O', what is outside of segments, which always lasts 1"
    ):
        Segmenter(TokenFeatures(), "perceptron", outside="O", durations=Durations(**{name: {"O": 2}})).fit(
            WORDS, [[(1, 4, "LOC")]]
        )


def test_segments_that_are_said_to_be_outside_are_so_token_by_token():
    given, said = [[(1, 4, "LOC")]], [[(0, 1, "O"), (1, 4, "LOC"), (4, 6, "O")]]
    one, two = (
        Segmenter(TokenFeatures(), Perceptron(epochs=3), outside="O").fit(WORDS, y, progress=False)
        for y in (given, said)
    )
    np.testing.assert_array_equal(one.weights_.weights, two.weights_.weights)
    with pytest.raises(CorpusError, match="segment 2 is from 3 to 4"):
        two.fit(WORDS, [[(1, 4, "LOC"), (3, 6, "O")]])
