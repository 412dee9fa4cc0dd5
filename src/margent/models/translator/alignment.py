"""Word alignments of sentence pairs, where none are given: IBM model 1 with a preference for the diagonal.

Each target word comes from one word of the source, or from none (Brown et al. 1993; Dyer, Chahuneau and Smith 2013):

    p(e_j, a_j = i | f) = d(i, j) t(e_j | f_i),  d(i, j) ~ exp(-TENSION |i / m - j / n|), or NO_SOURCE for no word.

t is learned by expectation maximisation in both directions, which are then made one. It is plain and needs nothing
else; alignments of stronger programs can be given to `fit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from margent.annotation.word_alignment import WordAlignment, symmetrized
from margent.models.translator.vocabulary import Vocabulary

ITERATIONS = 8
TENSION = 4.0
NO_SOURCE = 0.08
"""How often a word comes from none."""
_ADDED = 0.01  # to counts, so that rare words do not take all


def aligned(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> list[WordAlignment]:
    """One alignment for each pair, grow-diag-final-and of both directions.

    >>> pairs = [(["das", "Haus"], ["the", "house"]), (["das", "Tor"], ["the", "gate"]), (["Tor"], ["gate"])]
    >>> [str(alignment) for alignment in aligned(*zip(*pairs))]
    ['0-0 1-1', '0-0 1-1', '0-0']
    """
    forward, backward = _one_way(sources, targets), _one_way(targets, sources)
    return [
        symmetrized(WordAlignment(frozenset(one)), WordAlignment(frozenset((i, j) for j, i in other)))
        for one, other in zip(forward, backward)
    ]


def _one_way(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> list[list[tuple[int, int]]]:
    """Of each pair the best links (source, target), one for each target word at most."""
    first, second = Vocabulary.of(sources), Vocabulary.of(targets)
    # All combinations of a target word of a pair with a source word of it or none, one after the other.
    words, others, prior, token, place, starts = [], [], [], [], [], [0]
    n_tokens = 0
    for source, target in zip(sources, targets):
        m, n = len(source), len(target)
        if m and n:
            i, j = np.arange(m)[None, :], np.arange(n)[:, None]
            near = np.exp(-TENSION * np.abs((i + 0.5) / m - (j + 0.5) / n))
            near *= (1 - NO_SOURCE) / near.sum(axis=1, keepdims=True)
            numbers = np.concatenate([first.numbers(source), np.array([len(first)], np.int32)])
            words.append(np.tile(numbers, n))
            others.append(np.repeat(second.numbers(target), m + 1))
            prior.append(np.concatenate([near, np.full((n, 1), NO_SOURCE)], axis=1).ravel())
            token.append(np.repeat(np.arange(n_tokens, n_tokens + n), m + 1))
            place.append(np.tile(np.arange(m + 1), n))
            n_tokens += n
        starts.append(n_tokens)
    if not words:
        return [[] for _ in sources]
    word, of_token, d = np.concatenate(words), np.concatenate(token), np.concatenate(prior)
    keys = word.astype(np.int64) * (len(second) + 1) + np.concatenate(others)
    different, which = np.unique(keys, return_inverse=True)
    owner = different // (len(second) + 1)
    t: NDArray[np.float64] = np.ones(len(different))
    share = d
    for _ in range(ITERATIONS):
        share = d * t[which]
        share /= np.bincount(of_token, share, n_tokens)[of_token]
        counts = np.bincount(which, share, len(different))
        totals = np.bincount(owner, counts, len(first) + 1) + _ADDED * len(second)
        t = (counts + _ADDED) / totals[owner]
    # The best source of each target word: the first of the largest.
    order = np.lexsort((np.arange(len(share)), -share, of_token))
    best = order[np.concatenate([[True], np.diff(of_token[order]) > 0])]
    chosen = np.concatenate(place)[best]
    found = []
    for (a, b), source in zip(pairwise(starts), sources):
        found.append([(int(i), j) for j, i in enumerate(chosen[a:b].tolist()) if i < len(source)])
    return found
