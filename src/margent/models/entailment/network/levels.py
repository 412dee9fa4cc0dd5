"""Many trees at once, level by level: all words, then all phrases of two words, then those above, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from margent.annotation.binary_tree import BinaryTree
from margent.features.encoded import sequence_ptr

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """n trees with N nodes, in rows of which those of level l are `ptr[l]` to `ptr[l + 1] - 1`.

    row : (N,) of each node, tree by tree, words before phrases
    node_ptr : (n + 1,) of trees among these
    children : (N - words, a) rows of the parts of each row after the words: a = 2 in trees, 1 in sequences
    """

    ptr: Ints
    row: Ints
    node_ptr: Ints
    children: Ints

    @classmethod
    def of(cls, trees: Sequence[BinaryTree]) -> Levels:
        """O(N log N)."""
        node_ptr = sequence_ptr([tree.n_nodes for tree in trees])
        heights = np.fromiter((h for tree in trees for h in tree.heights), np.int64, int(node_ptr[-1]))
        order = np.argsort(heights, kind="stable")
        row = np.empty(len(order), np.int64)
        row[order] = np.arange(len(order))
        starts = np.repeat(node_ptr[:-1], [len(tree.parts) for tree in trees])
        parts = np.array([part for tree in trees for part in tree.parts], np.int64).reshape(-1, 2)
        n_words = int((heights == 0).sum())
        children = row[parts + starts[:, None]]
        placed = np.empty_like(children)
        placed[row[heights > 0] - n_words] = children
        return cls(sequence_ptr(np.bincount(heights)), row, node_ptr, placed)

    @classmethod
    def of_sequences(cls, lengths: Ints) -> Levels:
        """Each word is a node, and has the one before it as its only part."""
        node_ptr = sequence_ptr(lengths)
        place = np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], lengths)
        order = np.argsort(place, kind="stable")
        row = np.empty(len(order), np.int64)
        row[order] = np.arange(len(order))
        first = int((place == 0).sum())
        return cls(sequence_ptr(np.bincount(place)), row, node_ptr, row[order[first:] - 1][:, None])

    @property
    def n_nodes(self) -> int:
        return len(self.row)

    @property
    def roots(self) -> Ints:
        """The row of the last node of each tree."""
        found: Ints = self.row[self.node_ptr[1:] - 1]
        return found

    def padded(self) -> tuple[Ints, NDArray[np.bool_]]:
        """(n, m) the rows of the nodes of each tree, 0 where it has none, and (n, m) whether it has one."""
        counts = np.diff(self.node_ptr)
        there = np.arange(int(counts.max())) < counts[:, None]
        rows = np.zeros(there.shape, np.int64)
        rows[there] = self.row
        return rows, there
