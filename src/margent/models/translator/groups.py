"""Sentence pairs that share a sentence: what is left out together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from margent.models.translator.rule_table import SentenceRules


def groups_of(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """(n,) the group of each pair: pairs with the same sentence on either side are in one, and so on.

    A sentence that is to be translated as if it were new must not find itself whole in a rule of another pair.

    >>> groups_of([["a"], ["b"], ["b"], ["c"]], [["x"], ["x"], ["y"], ["z"]]).tolist()
    [0, 0, 0, 1]
    """
    parent = list(range(len(sources)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[Hashable, int] = {}
    for i, pair in enumerate(zip(sources, targets)):
        for side, words in enumerate(pair):
            parent[root(i)] = root(first.setdefault((side, *words), i))
    roots = [root(i) for i in range(len(sources))]
    numbers = {found: number for number, found in enumerate(dict.fromkeys(roots))}
    return np.array([numbers[found] for found in roots], np.int64)


def left_out_together(own: SentenceRules, groups: NDArray[np.int64]) -> SentenceRules:
    """What the group of each sentence adds to a table, for each sentence."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pieces, lengths = [], []
    for group in groups.tolist():
        members = order[starts[group] : starts[group + 1]]
        rows = np.concatenate([np.arange(own.ptr[i], own.ptr[i + 1]) for i in members])
        pieces.append(rows)
        lengths.append(len(rows))
    chosen = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return SentenceRules(ptr, own.rules[chosen], own.counts[chosen])


def folds_of(groups: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int32]:
    """(pairs,) the fold of each pair, from 0 to n - 1; groups stay together."""
    n_groups = int(groups.max(initial=-1)) + 1
    folds = np.zeros(n_groups, np.int32)
    folds[np.random.default_rng(seed).permutation(n_groups)] = np.arange(n_groups) % n
    found: NDArray[np.int32] = folds[groups]
    return found
