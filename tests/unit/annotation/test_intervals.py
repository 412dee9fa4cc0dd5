from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.annotation import (
    Interval,
    Span,
    check_segmentation,
    fold_segments,
    intervals_of_segments,
    nearest_frame,
    segments_of_intervals,
)
from margent.errors import CorpusError


def test_a_time_goes_to_the_nearest_border_and_up_from_half_way() -> None:
    assert [nearest_frame(t) for t in (0, 0.004, 0.005, 0.0149, 0.015, 0.045, 0.145, 1.005)] == [
        0, 0, 1, 1, 2, 5, 15, 101,
    ]  # fmt: skip
    assert nearest_frame(0.0375, frame=0.025) == 2


segmentations = st.lists(st.tuples(st.integers(1, 40), st.sampled_from("abc")), min_size=1, max_size=12).map(
    lambda parts: [
        Span(sum(n for n, _ in parts[:i]), sum(n for n, _ in parts[: i + 1]), label)
        for i, (_, label) in enumerate(parts)
    ]
)


@settings(deadline=None, max_examples=100)
@given(segmentations, st.sampled_from([0.01, 0.005, 0.0125, 1 / 3]))
def test_segments_come_back_from_seconds(segments: list[Span], frame: float) -> None:
    intervals = intervals_of_segments(segments, frame=frame)
    assert segments_of_intervals(intervals, frame=frame) == segments
    assert segments_of_intervals(intervals, frame=frame, length=segments[-1].end) == segments


@settings(deadline=None, max_examples=200)
@given(st.lists(st.floats(0.0002, 0.05), min_size=1, max_size=15))
def test_the_string_of_labels_stays_what_it_was(durations: list[float]) -> None:
    """However short an interval is, it has a frame."""
    ends = np.cumsum(durations).tolist()
    intervals = [(start, end, f"L{i}") for i, (start, end) in enumerate(zip([0.0, *ends], ends))]
    segments = segments_of_intervals(intervals)
    check_segmentation(segments, max(nearest_frame(ends[-1]), len(durations)))
    assert [s.label for s in segments] == [label for *_, label in intervals]


def test_a_border_moves_only_where_it_must() -> None:
    intervals = [(0.0, 0.1, "a"), (0.1, 0.102, "b"), (0.102, 0.2, "c"), (0.2, 0.3, "d")]
    assert segments_of_intervals(intervals) == [(0, 10, "a"), (10, 11, "b"), (11, 20, "c"), (20, 30, "d")]
    at_the_end = [(0.0, 0.1, "a"), (0.1, 0.2, "b"), (0.2, 0.203, "c")]
    assert segments_of_intervals(at_the_end, length=20) == [(0, 10, "a"), (10, 19, "b"), (19, 20, "c")]


def test_gaps_get_the_label_that_the_user_names() -> None:
    intervals = [(0.1, 0.2, "a"), (0.2, 0.25, ""), (0.25, 0.4, "b")]
    assert segments_of_intervals(intervals, gap="sil", length=60) == [
        (0, 10, "sil"), (10, 20, "a"), (20, 25, "sil"), (25, 40, "b"), (40, 60, "sil"),
    ]  # fmt: skip
    for wrong, where in ((intervals, "0 to 0.1 s"), ([(0.0, 0.2, "a"), (0.2, 0.25, "")], r"0\.2 to 0\.25 s")):
        with pytest.raises(CorpusError, match=rf"x\.phn: {where} has no label; .*gap='sil'"):
            segments_of_intervals(wrong, where="x.phn")
    with pytest.raises(CorpusError, match=r"0\.2 to 0\.3 s has no label"):
        segments_of_intervals([(0.0, 0.2, "a")], length=30)
    assert segments_of_intervals([], length=3, gap="sil") == [(0, 3, "sil")]
    assert segments_of_intervals([]) == []


def test_labels_and_sound_may_differ_by_two_frames() -> None:
    intervals = [(0.0, 0.1, "a"), (0.1, 0.2, "b")]
    for length in (18, 20, 22):
        assert segments_of_intervals(intervals, length=length) == [(0, 10, "a"), (10, length, "b")]
    with pytest.raises(CorpusError, match=r"the labels end at 0\.2 s, but the 17 frames at 0\.17 s"):
        segments_of_intervals(intervals, length=17)


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ([(0.0, 0.2, "a"), (0.1, 0.3, "b")], r"interval 1: 'b' begins at 0\.1 s, before .* ends at 0\.2 s"),
        ([(0.2, 0.2, "a")], "interval 0: .*expected it to end after it begins"),
        ([(-0.1, 0.2, "a")], "expected times from 0 on"),
        ([(0.0, float("nan"), "a")], "expected times from 0 on"),
        (["abcd"], r"interval 0 is 'abcd'; expected \(start, end, label\)"),
        ([(i / 1000, (i + 1) / 1000, "a") for i in range(9)], "9 intervals cannot share 1 frames"),
    ],
)
def test_wrong_intervals_are_named(intervals: list, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        segments_of_intervals(intervals, length=1 if len(intervals) == 9 else None)


def test_the_frame_must_have_a_length() -> None:
    with pytest.raises(ValueError, match="expected frame > 0"):
        segments_of_intervals([], frame=0)
    with pytest.raises(ValueError, match="expected frame > 0"):
        intervals_of_segments([], frame=-1)


def test_folding_shares_the_time_of_what_is_dropped() -> None:
    segments = [(0, 4, "q"), (4, 10, "a"), (10, 15, "q"), (15, 16, "q"), (16, 20, "b"), (20, 25, "q")]
    assert fold_segments(segments, {"q": None, "b": "a"}) == [(0, 13, "a"), (13, 25, "a")]
    assert fold_segments([], {}) == []
    with pytest.raises(CorpusError, match="none of the segments has a label that is kept"):
        fold_segments([(0, 3, "q")], {"q": None})


def test_an_interval_is_a_tuple() -> None:
    assert intervals_of_segments([(0, 7, "a")]) == [Interval(0.0, 0.07, "a")] == [(0.0, 0.07, "a")]


@pytest.mark.parametrize("interval", [("0", "1", "a"), (None, 1, "a"), (0, 1, 3), (True, 2, "a"), 3, "abc"], ids=str)
def test_intervals_that_are_none_are_told(interval) -> None:
    with pytest.raises(CorpusError, match=r"interval 1 is .* expected"):
        segments_of_intervals([(0.0, 0.1, "x"), interval])
    with pytest.raises(ValueError, match="length should be an integer"):
        segments_of_intervals([(0.0, 0.1, "x")], length="3")
