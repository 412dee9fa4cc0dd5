"""Sentences with their right labels, encoded once for all that is asked of them: training, scores, calibration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.encoded import Encoded, rows_of
from margent.metrics.span_counts import SpanCounter
from margent.models.fitted import part_of
from margent.models.labels import MISSING, Labellings, LabelSet
from margent.models.tagger.constraints import Allowed
from margent.models.tagger.search import Ids

METRICS = ("span_f1", "inside_f1", "accuracy")
"""What a labelling may be judged by: F1 of spans, F1 of the tokens that are not `O`, the share of right tokens."""


@dataclass(frozen=True)
class TaggedData:
    """n sentences of T tokens.

    X : as they were given
    labels : those of the model and, after them, others that are right here and cannot be predicted
    ids : (T,) the right labels; MISSING where not known
    sample_weight : (n,) what each sentence counts; None: all the same
    allowed : the labels that tokens may have; None: any
    """

    X: Any
    encoded: Encoded
    labels: LabelSet
    ids: Ids
    sample_weight: NDArray[np.float32] | None = None
    allowed: Allowed | None = None

    def __len__(self) -> int:
        return self.encoded.n_sequences

    @property
    def known(self) -> NDArray[np.bool_]:
        """(T,) whether the right label is known."""
        return np.not_equal(self.ids, MISSING)

    def names(self) -> list[list[str | None]]:
        """The right labels of each sentence; None where not known."""
        names = np.array([*self.labels.names, None], dtype=object)[self.ids]  # missing: -1, the last
        return [names[a:b].tolist() for a, b in zip(self.encoded.sequence_ptr[:-1], self.encoded.sequence_ptr[1:])]

    def decoded(self, ids: Ids) -> Labellings:
        """Predicted labels by name, sentence by sentence."""
        return self.labels.decode(ids, self.encoded.lengths)

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the sentences that count and have a label."""
        labelled = np.add.reduceat(np.append(self.known, False), self.encoded.sequence_ptr[:-1]) > 0
        labelled &= self.encoded.lengths > 0
        return np.flatnonzero(labelled if self.sample_weight is None else labelled & (self.sample_weight > 0))

    def part(self, numbers: NDArray[np.int64]) -> TaggedData:
        """Some of the sentences, as they are encoded; what tokens may have is for the caller to say."""
        return replace(
            self,
            X=part_of(self.X, numbers),
            encoded=self.encoded.part(numbers),
            ids=self.ids[rows_of(self.encoded.sequence_ptr, numbers)],
            sample_weight=None if self.sample_weight is None else self.sample_weight[numbers],
            allowed=None,
        )

    def check_metric(self, metric: str | None) -> None:
        """CorpusError where these data cannot be judged so."""
        if metric not in (None, "accuracy") and not self.known.all():
            raise CorpusError(f"the metric {metric!r} needs a label for each token, and some are missing")

    @cached_property
    def _span_counter(self) -> SpanCounter:
        return SpanCounter(self.labels.names)

    def score(self, predicted: Ids, *, spans: bool, metric: str | None = None) -> float:
        """Of labels (T,), higher is better: span F1 where the labels spell `spans` and none is missing, else the share
        of right tokens; or what `metric`, one of `METRICS`, says."""
        known = self.known
        self.check_metric(metric)
        if metric is None:
            metric = "span_f1" if spans and known.all() else "accuracy"
        weights = None if self.sample_weight is None else np.repeat(self.sample_weight, self.encoded.lengths)
        if metric == "span_f1":
            return self._span_counter.f1(self.ids, predicted, self.encoded.sequence_ptr, weights)
        each = np.ones(len(known)) if weights is None else weights
        if metric == "inside_f1":
            inside = np.array([name != "O" for name in self.labels.names])
            gold, found = inside[self.ids], inside[predicted]
            total = float(each[gold].sum() + each[found].sum())
            return 2 * float(each[gold & (self.ids == predicted)].sum()) / total if total else 0.0
        right, each = self.ids[known] == predicted[known], each[known]
        return float(np.average(right, weights=each)) if each.any() else 0.0


def check_metric(metric: Any) -> None:
    if metric is not None and metric not in METRICS:
        raise ValueError(f"dev_metric should be one of {', '.join(METRICS)} or None, got {metric!r}")
