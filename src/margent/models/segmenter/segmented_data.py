"""Sequences with their right segments, encoded once for all that is asked of them: training, scores, calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation
from margent.errors import CorpusError
from margent.features.segment_map import EncodedSegments, SegmentLimits
from margent.models.segmenter.gold_segments import GoldSegments, is_timed

SEGMENT_METRICS = ("segment_f1", "frame_accuracy", "label_accuracy")
"""What a segmentation may be judged by: F1 of segments with both ends right, the share of frames with the right label,
or 1 minus the label error rate: insertions, deletions and substitutions over the number of right labels."""

DevMetric = Callable[[Any, "list[Segmentation]"], float]
"""From right and predicted segmentations to a number, higher is better."""

FoundSegments = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Segments of all sequences: rows (begin, end, label), those of sequence s being rows [ptr[s], ptr[s + 1])."""


@dataclass(frozen=True)
class SegmentedData:
    """`given`: the right segments as the user gave them; `sample_weight`: (n,) what each sequence counts."""

    encoded: EncodedSegments
    limits: SegmentLimits
    given: Any
    gold: GoldSegments
    sample_weight: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.encoded)

    @cached_property
    def native(self) -> _core.SegmentData:
        return self.encoded.data(self.limits)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(n,) what each sequence counts."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the sequences that count and whose segments are known with their times."""
        there = [
            count > 0 and is_timed(gold) and len(gold) > 0 for gold, count in zip(self.gold.sequences, self.counts)
        ]
        return np.flatnonzero(there)

    def part(self, numbers: NDArray[np.int64]) -> SegmentedData:
        """Some of the sequences, as they are encoded."""
        gold = GoldSegments([self.gold.sequences[i] for i in numbers], [self.gold.lengths[i] for i in numbers])
        weights = None if self.sample_weight is None else self.sample_weight[numbers]
        return SegmentedData(self.encoded.part(numbers), self.limits, [self.given[i] for i in numbers], gold, weights)

    def score(self, found: FoundSegments, metric: str | DevMetric, outside: str | None) -> float:
        """Of predicted segments, higher is better."""
        names = self.limits.labels
        if callable(metric):
            return metric(self.given, named_segments(names, found, outside))
        good = total = 0.0
        ptr, rows = found
        for i, (gold, (a, b)) in enumerate(zip(self.gold.sequences, pairwise(ptr.tolist()))):
            here = [(begin, end, names[label]) for begin, end, label in rows[a:b].tolist()]
            if metric != "label_accuracy" and not is_timed(gold):
                raise CorpusError(f"sequence {i} has labels without times, which only label_accuracy can be judged by")
            part: Any = _COUNTS[metric](gold, here, outside)
            weight = 1.0 if self.sample_weight is None else float(self.sample_weight[i])
            good += weight * part[0]
            total += weight * part[1]
        return good / total if total else 0.0


def check_segment_metric(metric: Any) -> None:
    if not (metric is None or callable(metric) or metric in SEGMENT_METRICS):
        raise ValueError(
            f"dev_metric should be one of {', '.join(SEGMENT_METRICS)}, a function or None, got {metric!r}"
        )


def named_segments(labels: Sequence[str], found: FoundSegments, outside: str | None) -> list[Segmentation]:
    """The segments of each sequence as spans, without those outside."""
    ptr, rows = found
    return [
        [Span(b, e, labels[label]) for b, e, label in rows[a:z].tolist() if labels[label] != outside]
        for a, z in pairwise(ptr.tolist())
    ]


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
