"""Scores of predicted segmentations: of a segmenter on test data, and of weights in training on development data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation
from margent.errors import CorpusError
from margent.models.segmenter.gold_segments import GoldSegments, is_timed

SEGMENT_METRICS = ("segment_f1", "frame_accuracy", "label_accuracy")
"""What a segmentation may be judged by: F1 of segments with both ends right, the share of frames with the right label,
or 1 minus the label error rate: insertions, deletions and substitutions over the number of right labels."""

DevMetric = Callable[[Any, "list[Segmentation]"], float]
"""From right and predicted segmentations to a number, higher is better."""


def check_segment_metric(name: str, metric: str | DevMetric | None) -> None:
    if not (metric is None or callable(metric) or metric in SEGMENT_METRICS):
        raise ValueError(f"{name} should be one of {', '.join(SEGMENT_METRICS)}, a function or None, got {metric!r}")


def named_segments(
    labels: Sequence[str], ptr: NDArray[np.int64], rows: NDArray[np.int32], outside: str | None
) -> list[Segmentation]:
    """Rows (begin, end, label) of all sequences as lists of spans, without those outside."""
    return [
        [Span(b, e, labels[label]) for b, e, label in rows[a:z].tolist() if labels[label] != outside]
        for a, z in pairwise(ptr.tolist())
    ]


def segmentation_score(
    metric: str,
    right: GoldSegments,
    labels: Sequence[str],
    ptr: NDArray[np.int64],
    rows: NDArray[np.int32],
    outside: str | None,
    weights: NDArray[np.float32] | None = None,
) -> float:
    """Higher is better. ptr, rows: what was predicted, (begin, end, label) of all sequences; weights: of sequences."""
    good = total = 0.0
    for i, (gold, (a, b)) in enumerate(zip(right.sequences, pairwise(ptr.tolist()))):
        found = [(begin, end, labels[label]) for begin, end, label in rows[a:b].tolist()]
        counted = 1.0 if weights is None else float(weights[i])
        if metric != "label_accuracy" and not is_timed(gold):
            raise CorpusError(f"sequence {i} has labels without times, which only label_accuracy can be judged by")
        part: Any = _COUNTS[metric](gold, found, outside)
        good += counted * part[0]
        total += counted * part[1]
    return good / total if total else 0.0


def _segment_counts(gold: Any, found: Any, outside: str | None) -> tuple[float, float]:
    real = {tuple(s) for s in gold if s[2] != outside}
    said = {tuple(s) for s in found if s[2] != outside}
    return 2.0 * len(real & said), len(real) + len(said)


def _frame_counts(gold: Any, found: Any, outside: str | None) -> tuple[float, float]:
    real = [label for begin, end, label in gold for _ in range(end - begin)]
    said = [label for begin, end, label in found for _ in range(end - begin)]
    return float(sum(a == b for a, b in zip(real, said))), len(real)


def _label_counts(gold: Any, found: Any, outside: str | None) -> tuple[float, float]:
    from margent.metrics.edits import edit_counts  # a tagger need not wait for it

    real = [each if isinstance(each, str) else each[2] for each in gold]
    said = [label for _, _, label in found]
    real, said = ([label for label in row if label != outside] for row in (real, said))
    return len(real) - edit_counts(real, said).errors, len(real)


_COUNTS = {"segment_f1": _segment_counts, "frame_accuracy": _frame_counts, "label_accuracy": _label_counts}
