"""Span F1 of label ids: the numbers of `span_scores`, fast enough to be computed after each epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import joined, spans, split_label

Ids = NDArray[np.int32]


class SpanCounter:
    """Counts equal spans in two labellings given as ids of `label_names`.

    Whether two neighbours belong to one span depends on the two labels alone, so spans are found by table look-up:
    O(n) for n tokens, after O(L) set-up for L labels (only labels of one type can be joined).
    """

    def __init__(self, label_names: Sequence[str]) -> None:
        n = len(label_names)
        self._inside = np.array([bool(spans([name])) for name in label_names] + [False])
        self._joined = np.zeros((n + 1, n + 1), dtype=bool)
        kinds: dict[str, list[int]] = {}
        for i, name in enumerate(label_names):
            kinds.setdefault(split_label(name)[1], []).append(i)
        for members in kinds.values():
            for i in members:
                for j in members:
                    self._joined[i, j] = joined(label_names[i], label_names[j])
        self._kind = np.zeros(n + 1, dtype=np.int64)
        for number, members in enumerate(kinds.values()):
            self._kind[members] = number

    def _spans(self, ids: Ids, sequence_ptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where spans start, and a number that tells apart spans of other ends or types."""
        boundary = len(self._kind) - 1
        before = np.concatenate([[boundary], ids[:-1]]) if len(ids) else ids
        before[sequence_ptr[:-1][sequence_ptr[:-1] < len(ids)]] = boundary
        inside = self._inside[ids]
        starts = np.flatnonzero(inside & ~self._joined[before, ids])
        # A span ends where the next token does not join it.
        closes = np.ones(len(ids), dtype=bool)
        closes[:-1] = ~self._joined[before[1:], ids[1:]]
        ends = np.flatnonzero(inside & closes)
        return starts, ends * (boundary + 1) + self._kind[ids[starts]]

    def counts(
        self, gold: Ids, predicted: Ids, sequence_ptr: NDArray[np.int64], weights: NDArray[np.float32] | None = None
    ) -> tuple[float, float, float]:
        """How many spans there are in gold, in the prediction, and in both.

        With `weights` (n_tokens,), a span counts as much as its first token.
        """
        gold_starts, gold_rest = self._spans(gold, sequence_ptr)
        starts, rest = self._spans(predicted, sequence_ptr)
        _, i, j = np.intersect1d(gold_starts, starts, assume_unique=True, return_indices=True)
        correct = gold_starts[i][gold_rest[i] == rest[j]]
        if weights is None:
            return len(gold_starts), len(starts), len(correct)
        n_gold, n_predicted, n_correct = (float(weights[at].sum(dtype=float)) for at in (gold_starts, starts, correct))
        return n_gold, n_predicted, n_correct

    def f1(
        self, gold: Ids, predicted: Ids, sequence_ptr: NDArray[np.int64], weights: NDArray[np.float32] | None = None
    ) -> float:
        n_gold, n_predicted, n_correct = self.counts(gold, predicted, sequence_ptr, weights)
        return 2 * n_correct / (n_gold + n_predicted) if n_gold + n_predicted else 0.0
