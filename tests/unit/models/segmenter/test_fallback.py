"""What a segmenter does where its durations, or what the caller knows, leave a sequence no segmentation."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest
from tests.unit.models.segmenter.sequences import speech

from margent import CRF, Segmenter
from margent.errors import ConstraintError, RestrictionWarning
from margent.features.frame_map import FrameFeatures
from margent.models.segmenter.constraints import SegmentConstraints
from margent.models.segmenter.options import Durations

QUESTIONS = ["predict", "predict_k_best", "predict_marginals", "predict_labels"]


def segmenter_of(**options: Any) -> tuple[Segmenter, list[Any], list[Any]]:
    X, y = speech(0, 10)
    model = Segmenter(FrameFeatures(bins=1), CRF(epochs=5), durations=Durations(min=2), repeat=False, **options)
    return model.fit(X, y, progress=False), X, y


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(one[0], np.ndarray):
        return all(map(same, one, other))
    return bool(np.allclose(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


@pytest.mark.parametrize("ask", QUESTIONS)
def test_durations_do_not_hold_where_they_leave_nothing(ask: str) -> None:
    segmenter, X, _ = segmenter_of()
    sequences = [X[0], X[0][:1], X[1], X[1][3:4], X[0][:0]]
    with pytest.warns(RestrictionWarning, match=r"left 2 sequences \(the first: 1\) no segmentation"):
        found = getattr(segmenter, ask)(sequences)
    free = copy.deepcopy(segmenter)
    free.model_ = free.model_.without_restrictions()
    for numbers, alone in (([0, 2, 4], segmenter), ([1, 3], free)):
        for number, answer in zip(numbers, getattr(alone, ask)([sequences[number] for number in numbers])):
            assert same(found[number], answer)
    if ask == "predict_marginals":
        np.testing.assert_allclose(found[1].labels.sum(axis=1), 1)
        assert found[1].segments[0].confidence == pytest.approx(found[1].labels.max())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(segmenter, ask)(sequences)


def test_training_and_evaluation_go_on() -> None:
    segmenter, X, y = segmenter_of()
    X_dev, y_dev = [X[0], X[1][:1]], [y[0], [(0, 1, y[1][0].label)]]
    segmenter.fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    assert [epoch["dev_lifted"] for epoch in segmenter.history_] == [1] * 5
    with pytest.warns(RestrictionWarning):
        score = segmenter.score(X_dev, y_dev)
    assert score == segmenter.history_[(segmenter.best_epoch_ or 0) - 1]["dev_score"]
    assert segmenter.evaluate(X_dev, y_dev).frames == len(X[0]) + 1
    assert 0 <= segmenter.reliability(X_dev, y_dev)["segments"].expected_error <= 1


@pytest.mark.parametrize("ask", QUESTIONS[:3])
@pytest.mark.parametrize("way", ["labels", "constraints"])
def test_what_is_known_fails_for_its_sequence_alone(ask: str, way: str) -> None:
    segmenter, X, y = segmenter_of()
    right = [s.label for s in y[0]]
    known: list[Any] = [right, ["z"], right[:1] * 40, right]
    sequences = [X[0], X[0], X[0][:20], X[0]]
    given = {way: known if way == "labels" else [SegmentConstraints(labels=row) for row in known]}
    question = getattr(segmenter, ask)
    with pytest.raises(ConstraintError, match="sequence 1: there is no label 'z'"):
        question(sequences, **given)
    found = question(sequences, **given, on_error="none")
    assert [answer is None for answer in found] == [False, True, True, False]
    assert same(found[0], found[3])
    with pytest.raises(ConstraintError, match=r"sequence 0: (40 labels are given for 20|durations)"):
        question(sequences[2:], **{way: given[way][2:]})
    with pytest.raises(ValueError, match="on_error should be one of raise, none"):
        question(sequences, on_error=None)


@pytest.mark.parametrize("way", ["labels", "constraints"])
def test_what_is_known_holds_where_durations_do_not(way: str) -> None:
    segmenter, X, _ = segmenter_of()
    row = ["a", "a", "b"]  # each of at least 2 frames, and no label twice in a row
    given = {way: [row] if way == "labels" else [SegmentConstraints(labels=row)]}
    with pytest.warns(RestrictionWarning):
        (found,) = segmenter.predict([X[0][:4]], **given)
    assert [s.label for s in found] == row and found[-1].end == 4
