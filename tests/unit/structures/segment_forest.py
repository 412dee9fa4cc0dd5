"""Segmentations as a forest: the reference for the dense segment kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.structures.forest import Derivation, Forest
from margent.structures.segment_scores import SegmentScores


class SegmentForest(NamedTuple):
    """The forest of all segmentations, and what its edges mean.

    Edge e with ``segments[e, 0] >= 0`` is the segment (begin, end, label); the others say what the first label is,
    which label follows which, and which is the last one.
    """

    forest: Forest
    segments: npt.NDArray[np.int64]

    def segments_of(self, derivation: Derivation) -> npt.NDArray[np.int64]:
        """(J, 3): the segmentation that a derivation stands for."""
        rows = self.segments[derivation.edges]
        return rows[rows[:, 0] >= 0]


def segment_forest(scores: SegmentScores) -> SegmentForest:
    """The forest of a sequence of at least one frame: about 2 T L nodes and T L (L + R) edges, made one by one.

    Node (s, l, 0) is the begin of a segment at s with label l, node (e, l, 1) the end of one.
    """
    n_labels = scores.n_labels
    edges: list[tuple[int, int, float, int, int, int]] = []  # head, tail, score, segment

    def node(position: int, label: int, ended: int) -> int:
        return (2 * position + 1 - ended) * n_labels + label

    def at(table: npt.NDArray[np.float64] | None, position: int, label: int) -> float:
        return 0.0 if table is None else float(table[position, label])

    for label in range(n_labels):
        edges.append((node(0, label, 0), -1, float(scores.start[label]) + at(scores.begins, 0, label), -1, -1, -1))
    for end in range(1, scores.length + 1):
        for label in range(n_labels):
            for begin in range(max(0, end - scores.longest), end):
                if scores.limits is not None and end - begin > scores.limits[end, label]:
                    continue
                value = float(scores.durations[end - begin - 1, label]) + at(scores.ends, end, label)
                if scores.segments is not None:
                    value += float(scores.segments[begin, end - begin - 1, label])
                edges.append((node(end, label, 1), node(begin, label, 0), value, begin, end, label))
        for label in range(n_labels) if end < scores.length else ():
            for before in range(n_labels):
                value = float(scores.transitions[before, label]) + at(scores.begins, end, label)
                edges.append((node(end, label, 0), node(end, before, 1), value, -1, -1, -1))
    root = node(scores.length, 0, 0)
    for label in range(n_labels):
        edges.append((root, node(scores.length, label, 1), float(scores.end[label]), -1, -1, -1))
    heads, tails, values, begins, ends, labels = (np.array(column) for column in zip(*edges))
    tail_ptr = np.concatenate([[0], np.cumsum(tails >= 0)])
    forest = Forest(heads, tail_ptr, tails[tails >= 0], values, root, root + 1)
    return SegmentForest(forest, np.stack([begins, ends, labels], axis=1).astype(np.int64))
