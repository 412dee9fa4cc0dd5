"""The segmentations of some sequences, also of those that durations leave none."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.encoded import rows_of, sequence_ptr
from margent.features.segment_map import EncodedSegments
from margent.models.score_range import out_of_range
from margent.models.segmenter.segmented_data import FoundSegments
from margent.models.segmenter.weights import SegmentWeights

Numbers = NDArray[np.int64]
Forced = tuple[Numbers, NDArray[np.int32]]
"""Offsets and ids of the labels that the segments of each sequence must have, in their order."""


class SegmentSearch:
    """All segmentations of n encoded sequences with T frames together, of L labels.

    possible : (n,) whether a sequence has a segmentation at all
    lifted : the numbers of those that have none by the shortest durations and by which label may follow which; these do
        not hold there
    found : the best segments of each sequence
    """

    def __init__(
        self,
        weights: SegmentWeights,
        encoded: EncodedSegments,
        threads: int,
        *,
        native: _core.SegmentModel | None = None,
        data: _core.SegmentData | None = None,
        forced: Forced | None = None,
    ) -> None:
        self._weights, self._encoded, self._threads = weights, encoded, threads
        self._data = encoded.data(weights.limits) if data is None else data
        self._native = weights.native(self._data.longest) if native is None else native
        scores, self._first = self._native.best(self._data, weights.weights, threads, *(forced or ()))
        self.possible, self.found = scores > -np.inf, self._first
        self.lifted: Numbers = np.empty(0, dtype=np.int64)
        if not self.possible.all():
            self._lift(forced)

    def _lift(self, forced: Forced | None) -> None:
        waiting = np.flatnonzero(~self.possible)
        wider = self._weights.without_restrictions()
        labels: Any = ()
        if forced is not None:
            ptr, ids = forced
            labels = sequence_ptr(np.diff(ptr)[waiting]), ids[rows_of(ptr, waiting)]
        data = self._encoded.part(waiting).data(wider.limits)
        scores, found = wider.native(data.longest).best(data, wider.weights, self._threads, *labels)
        there = scores > -np.inf
        self.possible = self.possible.copy()
        self.possible[waiting[there]] = True
        self.lifted = waiting[there]
        self._lifted_data = self._encoded.part(self.lifted).data(wider.limits)
        self._wide, self._wide_weights = wider.native(self._lifted_data.longest), wider.weights
        self._second = _part_of(found, np.flatnonzero(there))
        rows = [self._first[1][a:z] for a, z in pairwise(self._first[0].tolist())]
        for number, (a, z) in zip(self.lifted.tolist(), pairwise(self._second[0].tolist())):
            rows[number] = self._second[1][a:z]
        self.found = sequence_ptr([len(row) for row in rows]), np.concatenate(rows)

    def out_of_range(self, limit: float, purpose: str = "added up") -> dict[int, Exception]:
        """By the number of a sequence: that its scores are made of numbers beyond the limit."""
        beyond = self._native.beyond(self._data, self._weights.weights, 1.0, limit, self._threads)
        return out_of_range(beyond.astype(bool), "sequence", limit, purpose)

    def k_best(self, k: int) -> list[Any]:
        """For each sequence a list of (score, rows), best first."""
        found = list(self._native.k_best(self._data, self._weights.weights, k, self._threads))
        if len(self.lifted):
            others = self._wide.k_best(self._lifted_data, self._wide_weights, k, self._threads)
            for number, readings in zip(self.lifted.tolist(), others):
                found[number] = readings
        return found

    def marginals(self, scale: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Probabilities of labels at frames (T, L), of boundaries (T + n,), and of the best segments."""
        nodes, ends, confidences, _ = self._native.marginals(
            self._data, self._weights.weights, scale, self._threads, *self._first
        )
        if not len(self.lifted):
            return nodes, ends, confidences
        own_nodes, own_ends, own_confidences, _ = self._wide.marginals(
            self._lifted_data, self._wide_weights, scale, self._threads, *self._second
        )
        starts = self._encoded.sequence_ptr
        nodes[rows_of(starts, self.lifted)] = own_nodes
        ends[rows_of(starts + np.arange(len(starts)), self.lifted)] = own_ends
        merged = np.empty(self.found[0][-1])
        merged[rows_of(self.found[0], self.lifted)] = own_confidences
        others = np.setdiff1d(np.arange(len(starts) - 1), self.lifted)
        merged[rows_of(self.found[0], others)] = confidences  # the lifted ones had no segments before
        return nodes, ends, merged


def _part_of(found: FoundSegments, numbers: Numbers) -> FoundSegments:
    ptr, rows = found
    return sequence_ptr(np.diff(ptr)[numbers]), rows[rows_of(ptr, numbers)]
