"""What a segmenter answers: segmentations with their scores, probabilities of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation
from margent.models.confident_span import ConfidentSpan
from margent.structures import segments
from margent.structures.segment_scores import SegmentScores


class SegmentReading(NamedTuple):
    """One segmentation of a sequence with its score."""

    score: float
    segments: Segmentation


class SegmentProbabilities(NamedTuple):
    """labels (T, L): the probability of each label at each frame, columns as `classes_`; boundaries (T + 1,): that a
    segment ends (or the sequence begins) there; segments: the best ones, each with its probability."""

    labels: NDArray[np.float64]
    boundaries: NDArray[np.float64]
    segments: list[ConfidentSpan]


def named(rows: NDArray[np.int32], names: Sequence[str], outside: str | None) -> Segmentation:
    """Rows (begin, end, label) of one sequence as spans, without those outside."""
    return [Span(b, e, names[j]) for b, e, j in rows.tolist() if names[j] != outside]


def probabilities(scores: SegmentScores, names: Sequence[str], outside: str | None) -> SegmentProbabilities:
    """Of one sequence, under exp(score)."""
    found, rows = segments.marginals(scores, segments=True), segments.best(scores).segments
    labels = np.zeros((scores.length, len(names)))
    labels[:, : found.labels.shape[1]] = found.labels
    every = found.segments
    spans = [
        ConfidentSpan(b, e, names[j], float(min(every[b, e - b - 1, j], 1.0)))  # type: ignore[index]
        for b, e, j in rows.tolist()
        if names[j] != outside
    ]
    return SegmentProbabilities(labels, found.boundaries, spans)
