"""Labelled stretches of time in seconds, as label files have them, and their segments in frames.

**The rounding rule.** Frame t covers the time from t * frame to (t + 1) * frame seconds. A time goes to the nearest
boundary between two frames, and up where it lies half way. An interval that would be left without a frame gets one, and
pushes what follows (at the end of an utterance: what comes before) by as much as it needs, so that the string of
labels always stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import floor, isfinite
from numbers import Real
from typing import NamedTuple

from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation, check_segmentation
from margent.errors import CorpusError
from margent.parameters import check_count

OVERLAP = 1e-4
"""Seconds by which two intervals of a file may overlap: some tools round start and end on their own."""

SLACK = 2
"""Frames by which labels and sound may differ in length: tools do not agree on what to do with the last window."""


class Interval(NamedTuple):
    """From `start` to `end` seconds there is `label`."""

    start: float
    end: float
    label: str


def nearest_frame(seconds: float, frame: float = 0.01) -> int:
    """The number of the boundary between frames that is nearest to a time; half way between two it is the later one.

    >>> [nearest_frame(time) for time in (0.014, 0.015, 0.025)]
    [1, 2, 3]
    """
    # A time such as 0.045 is a little more or less than what was written; six digits are enough to undo that.
    return floor(round(seconds / frame, 6) + 0.5)


def segments_of_intervals(
    intervals: Iterable[tuple[float, float, str]],
    *,
    frame: float = 0.01,
    length: int | None = None,
    gap: str | None = None,
    where: str = "the intervals",
) -> Segmentation:
    """Intervals in seconds as segments in frames, by the rounding rule of this module.

    Parameters
    ----------
    intervals : of (start, end, label), in the order of time
        They may not overlap. Stretches between them, and intervals with the label "", are gaps.
    frame : float
        Seconds from one frame to the next.
    length : int or None
        The number of frames. The last segment is cut or stretched to it where it is off by at most two frames; what
        lacks beyond that is a gap, what is beyond it an error. None: up to the end of the last interval.
    gap : str or None
        The label for gaps, such as "sil". None: a gap is an error.
    where : str
        What error messages call the intervals.

    >>> segments_of_intervals([(0.0, 0.05, "a"), (0.08, 0.1, "b")], gap="sil")
    [Span(start=0, end=5, label='a'), Span(start=5, end=8, label='sil'), Span(start=8, end=10, label='b')]
    """
    if not frame > 0:
        raise ValueError(f"expected frame > 0 in seconds, got {frame}")
    if length is not None:
        check_count("length", length, 0)
    given = check_intervals(intervals, where)
    pieces: list[tuple[int, int, str]] = []
    end, end_time = 0, 0.0

    def put(start: int, stop: int, label: str | None, since: float, until: float) -> None:
        if label is None:
            raise CorpusError(
                f"{where}: {since:g} to {until:g} s has no label; expected labels without a gap, or the label that "
                f"gaps should get (gap='sil', say)"
            )
        pieces.append((start, stop, label))

    for interval in given:
        start, stop = nearest_frame(interval.start, frame), nearest_frame(interval.end, frame)
        if start > end:
            put(end, start, gap, end_time, interval.start)
        put(start, stop, interval.label or gap, interval.start, interval.end)
        end, end_time = stop, interval.end
    if length is None:
        length = max(end, len(pieces))
    elif end > length + SLACK:
        raise CorpusError(f"{where}: the labels end at {end_time:g} s, but the {length} frames at {length * frame:g} s")
    elif end < length - SLACK or (not pieces and length):
        put(end, length, gap, end_time, length * frame)
    if len(pieces) > length:
        raise CorpusError(f"{where}: {len(pieces)} intervals cannot share {length} frames of {frame:g} s")
    ends: list[int] = []
    for place, (_, stop, _) in enumerate(pieces):
        earliest, latest = (ends[-1] if ends else 0) + 1, length - (len(pieces) - 1 - place)
        ends.append(min(max(stop, earliest), latest))
    ends[-1:] = [length] * bool(ends)
    return [Span(begin, stop, label) for begin, stop, (_, _, label) in zip([0, *ends], ends, pieces)]


def intervals_of_segments(segments: Iterable[tuple[int, int, str]], *, frame: float = 0.01) -> list[Interval]:
    """Segments in frames as intervals in seconds.

    >>> intervals_of_segments([(0, 5, "a"), (5, 12, "b")])
    [Interval(start=0.0, end=0.05, label='a'), Interval(start=0.05, end=0.12, label='b')]
    """
    if not frame > 0:
        raise ValueError(f"expected frame > 0 in seconds, got {frame}")
    checked = check_segmentation(segments)
    # Twelve digits: 7 * 0.01 is 0.07 for the reader of a file, and not 0.07000000000000001.
    return [Interval(round(s.start * frame, 12), round(s.end * frame, 12), s.label) for s in checked]


def check_intervals(intervals: Iterable[tuple[float, float, str]], where: str = "the intervals") -> list[Interval]:
    """The intervals as such; a `CorpusError` if one is empty, or begins before the one before it ends."""
    checked: list[Interval] = []
    for index, given in enumerate(intervals):
        if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 3:
            raise CorpusError(f"{where}: interval {index} is {given!r}; expected (start, end, label)")
        numbers = all(isinstance(time, Real) and not isinstance(time, bool) for time in given[:2])
        if not numbers or not isinstance(given[2], str):
            raise CorpusError(f"{where}: interval {index} is {given!r}; expected two numbers and a label of type str")
        problem = interval_problem(interval := Interval(*given), checked[-1].end if checked else 0.0)
        if problem:
            raise CorpusError(f"{where}: interval {index}: {problem}")
        checked.append(interval)
    return checked


def interval_problem(interval: Interval, after: float) -> str | None:
    """What is wrong with an interval that follows another one which ends at `after` seconds, or None."""
    start, end, label = interval
    if not (isfinite(start) and isfinite(end)) or start < 0:
        return f"{label!r} is from {start:g} to {end:g} s; expected times from 0 on"
    if not start < end:
        return f"{label!r} is from {start:g} to {end:g} s; expected it to end after it begins"
    if start < after - OVERLAP:
        return f"{label!r} begins at {start:g} s, before the interval in front of it ends at {after:g} s"
    return None


def fold_segments(segments: Iterable[tuple[int, int, str]], fold: Mapping[str, str | None]) -> Segmentation:
    """Segments with other names of labels; the time of a label that `fold` takes to None goes to its neighbours.

    Each neighbour gets half of it (the earlier one the smaller half), or all of it at the start and at the end. Labels
    that are not in `fold` stay as they are, neighbours with equal labels stay two segments.

    >>> fold_segments([(0, 5, "k"), (5, 9, "q"), (9, 20, "ix")], {"q": None, "ix": "ih"})
    [Span(start=0, end=7, label='k'), Span(start=7, end=20, label='ih')]
    """
    checked = check_segmentation(segments)
    kept = [(s.start, s.end, name) for s in checked if (name := fold.get(s.label, s.label)) is not None]
    if not kept:
        if checked:
            raise CorpusError("none of the segments has a label that is kept; expected at least one")
        return []
    inner = [(left[1] + right[0]) // 2 for left, right in pairwise(kept)]
    boundaries = [0, *inner, checked[-1].end]
    return [Span(start, end, label) for start, end, (_, _, label) in zip(boundaries, boundaries[1:], kept)]
