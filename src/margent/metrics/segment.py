"""Scores of segmentations: phone error rate, boundaries, frames, and segments that are right as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from math import floor
from typing import Any

import numpy as np

from margent.annotation.schemes import Span
from margent.annotation.segments import check_segmentation
from margent.errors import CorpusError
from margent.metrics.boundary import BoundaryScore, boundary_counts
from margent.metrics.edits import EditCounts, edit_counts
from margent.metrics.score import SpanTable, SpanTally
from margent.metrics.significance import SentenceMetric, Statistics

Segmentations = Iterable[Iterable[tuple[int, int, str]]]
"""For each utterance its segments (start, end, label), one after the other without a gap from 0 to its length."""


@dataclass(frozen=True)
class SegmentReport(SpanTable):
    """What is right in the predicted segmentations. `str()` gives a table.

    edits : the strings of labels, without their times, compared by edit distance
    boundaries : the boundaries between segments, right within `tolerance` seconds; the two ends of an utterance, which
        cannot be missed, do not count
    total, rows : segments whose start, end and label are right; over all labels, and for each
    frames, correct_frames : frames, and those with the right label
    """

    utterances: int
    frames: int
    correct_frames: int
    edits: EditCounts
    boundaries: BoundaryScore
    tolerance: float

    @property
    def phone_error_rate(self) -> float:
        """Substitutions, deletions and insertions by gold segment: what speech recognition reports."""
        return self.edits.rate

    @property
    def frame_accuracy(self) -> float:
        """The share of frames with the right label; 0 if there are none."""
        return self.correct_frames / self.frames if self.frames else 0.0

    @property
    def r_value(self) -> float:
        """The R-value of the boundaries, `BoundaryScore.r_value`."""
        return self.boundaries.r_value

    def __str__(self) -> str:
        from margent.metrics.report import classification_table

        return classification_table(self)


def segment_scores(
    gold: Segmentations,
    predicted: Segmentations,
    *,
    label_map: Mapping[str, str | None] | None = None,
    frame: float = 0.01,
    tolerance: float = 0.02,
) -> SegmentReport:
    """Compare predicted segmentations with gold ones.

    Parameters
    ----------
    gold, predicted : for each utterance a list of segments (start, end, label)
        In frames, one after the other from 0 to the length of the utterance, which must be the same in both.
    label_map : dict from label to label or None, or None
        Labels that count as the same are given the same name; a label folded to None is taken out of the strings and
        out of the segments, and frames that are labelled so in gold do not count. A label that is not in it stays
        as it is. Neighbours with equal labels after folding stay two segments, as in the usual scoring of TIMIT.
        Boundaries are compared as they are, without folding.
    frame : float
        Seconds from one frame to the next.
    tolerance : float
        How many seconds a boundary may be off.

    Cost: O(frames), and O(n m) for the edit distance of two strings of n and m segments.

    >>> right = [[(0, 10, "a"), (10, 25, "b"), (25, 30, "c")]]
    >>> guess = [[(0, 12, "a"), (12, 25, "d"), (25, 30, "c")]]
    >>> report = segment_scores(right, guess)
    >>> report.edits.substitutions, report.boundaries.f1, report.frame_accuracy
    (1, 1.0, 0.5)
    """
    if not frame > 0 or not tolerance >= 0:
        raise ValueError(f"expected frame > 0 and tolerance >= 0 in seconds, got {frame} and {tolerance}")
    reach = floor(tolerance / frame + 1e-6)  # in whole frames; 0.02 / 0.01 must not become 1.99
    names = dict(label_map or {})
    utterances = frames = correct_frames = 0
    edits = EditCounts(0, 0, 0, 0, 0)
    counts = np.zeros(3, dtype=np.int64)
    tally = SpanTally()
    for right, guess in _paired(gold, predicted):
        utterances += 1
        counts += boundary_counts([s.start for s in right[1:]], [s.start for s in guess[1:]], reach)[1:]
        kept, kept_guess = _folded(right, names), _folded(guess, names)
        edits += edit_counts([s.label for s in kept], [s.label for s in kept_guess])
        tally.add(kept, kept_guess)
        frames += sum(s.end - s.start for s in kept)
        correct_frames += _common_frames(kept, kept_guess)
    boundaries = BoundaryScore("boundaries", *counts.tolist())
    total, rows = tally.scores("all segments")
    return SegmentReport(total, rows, utterances, frames, correct_frames, edits, boundaries, tolerance)


def segment_metric(
    name: str, *, label_map: Mapping[str, str | None] | None = None, frame: float = 0.01, tolerance: float = 0.02
) -> SentenceMetric:
    """A score of segmentations for `paired_bootstrap`: is one segmenter really better than another?

    `name` is "phone_error_rate" (where less is better), "frame_accuracy", "boundary_f1" or "segment_f1"; the rest is as
    in `segment_scores`.

    >>> from margent.metrics import paired_bootstrap
    >>> gold = [[(0, 4, "a"), (4, 9, "b")]] * 20
    >>> result = paired_bootstrap(gold, [[(0, 9, "a")]] * 20, gold, segment_metric("phone_error_rate"))
    >>> result.first, result.second, result.p_value < 0.001
    (0.5, 0.0, True)
    """
    known: dict[str, Callable[[SegmentReport], tuple[int, int]]] = {
        "phone_error_rate": lambda report: (report.edits.errors, report.edits.gold),
        "frame_accuracy": lambda report: (report.correct_frames, report.frames),
        "boundary_f1": lambda report: (2 * report.boundaries.correct, report.boundaries.gold + report.boundaries.found),
        "segment_f1": lambda report: (2 * report.total.correct, report.total.gold + report.total.found),
    }
    if name not in known:
        raise CorpusError(f"unknown metric {name!r}; the metrics of segments are {', '.join(known)}")

    def statistics(gold: Any, predicted: Any) -> Statistics:
        reports = (
            segment_scores([right], [guess], label_map=label_map, frame=frame, tolerance=tolerance)
            for right, guess in _paired(gold, predicted)
        )
        return np.array([known[name](report) for report in reports], dtype=np.float64).reshape(-1, 2)

    return SentenceMetric(statistics, lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1))


def _folded(segments: list[Span], names: Mapping[str, str | None]) -> list[Span]:
    folded = ((s.start, s.end, names.get(s.label, s.label)) for s in segments)
    return [Span(start, end, label) for start, end, label in folded if label is not None]


def _common_frames(left: list[Span], right: list[Span]) -> int:
    """How many frames have the same label in both: a walk along two lists sorted by time."""
    i = j = common = 0
    while i < len(left) and j < len(right):
        a, b = left[i], right[j]
        if a.label == b.label:
            common += max(0, min(a.end, b.end) - max(a.start, b.start))
        i, j = (i + 1, j) if a.end <= b.end else (i, j + 1)
    return common


def _paired(gold: Segmentations, predicted: Segmentations) -> Iterator[tuple[list[Span], list[Span]]]:
    for index, (right, guess) in enumerate(zip_longest(gold, predicted)):
        if right is None or guess is None:
            shorter, longer = ("gold", "predicted") if right is None else ("predicted", "gold")
            raise CorpusError(f"the {shorter} segments end after {index} utterances, but there are more {longer} ones")
        pair = (
            check_segmentation(right, where=f"utterance {index}, gold"),
            check_segmentation(guess, where=f"utterance {index}, predicted"),
        )
        lengths = [side[-1].end if side else 0 for side in pair]
        if lengths[0] != lengths[1]:
            raise CorpusError(f"utterance {index} has {lengths[0]} gold frames, but {lengths[1]} predicted ones")
        yield pair
