"""Dependency trees on scores of one's own: from a neural network, or by hand.

Pure functions on `ArcScores`. The questions are `best`, `k_best`, `log_partition`, `marginals` and `score`;
`with_costs` and `constrain` return new scores, to which any of the questions can be put; `forest` gives the projective
trees as a packed forest. All searches are exact, and run in native code without the GIL (core/arcs/): Eisner's
algorithm and its forms of second order for projective trees, Chu-Liu-Edmonds and the matrix-tree theorem for others.

>>> scores = ArcScores([[0, 1, 5], [0, 0, 2], [0, 3, 0]])
>>> best(scores).heads.tolist()
[2, 0]
>>> best(constrain(scores, fixed={1: 0})).heads.tolist()
[0, 1]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import ConstraintError
from margent.structures.arc_scores import ArcScores
from margent.structures.chain_scores import check_values, real_array
from margent.structures.forest import Forest

__all__ = [
    "ArcForest",
    "ArcMarginals",
    "ArcScores",
    "ScoredTree",
    "attachment_costs",
    "best",
    "constrain",
    "forest",
    "k_best",
    "log_partition",
    "marginals",
    "score",
    "with_costs",
]


class ScoredTree(NamedTuple):
    """A head for each word, heads (n,) int32, 0 the root; their labels (n,) int32, or None; and their score."""

    score: float
    heads: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32] | None


class ArcMarginals(NamedTuple):
    """Probabilities under exp(score) / Z, and log Z: of each part, in arrays of the same shapes as those of the scores.

    They are the gradient of log Z. None: there are no such parts.
    """

    arcs: npt.NDArray[np.float64]
    labels: npt.NDArray[np.float64] | None
    siblings: npt.NDArray[np.float64] | None
    grandparents: npt.NDArray[np.float64] | None
    log_partition: float


class ArcForest(NamedTuple):
    """The projective trees as derivations. Edge e adds the arc heads[e] -> modifiers[e] with labels[e]; -1: none."""

    forest: Forest
    heads: npt.NDArray[np.int32]
    modifiers: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]


# --- questions -----------------------------------------------------------------------------------------------------


def best(scores: ArcScores) -> ScoredTree:
    """The tree with the highest score.

    Projective trees take O(n^3) (Eisner 1996; with siblings McDonald and Pereira 2006), with grandparents O(n^4) time
    and O(n^3) memory (Koo and Collins 2010); others O(n^2) (Tarjan 1977).
    """
    value, heads, labels = scores.native().best()
    _check_total(scores, value)
    return ScoredTree(value, heads, labels if scores.n_labels else None)


def k_best(scores: ArcScores, k: int) -> list[ScoredTree]:
    """The k best trees, all different in a head or a label, best first; fewer if there are fewer. Exact.

    Projective trees: the k best derivations of their `forest`. Others: O(n^3) for each tree.
    """
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k is {k!r}; expected an integer of at least 1")
    found = scores.native().k_best(min(int(k), 2**62))
    if not found:
        _check_total(scores, -np.inf)
    return [ScoredTree(value, heads, labels if scores.n_labels else None) for value, heads, labels in found]


def log_partition(scores: ArcScores) -> float:
    """log Z: the logarithm of the sum of exp(score) over all trees. As `best`; O(n^3) where arcs may cross."""
    return _check_total(scores, scores.native().log_partition())


def marginals(scores: ArcScores) -> ArcMarginals:
    """The probability of each part. As `log_partition`, which is the first half of it."""
    total, *flat = scores.native().marginals()
    _check_total(scores, total)
    n = len(scores.arcs)
    shapes = ((n, n), (n, n, scores.n_labels), (n, n, n), (n, n, n))
    given = (scores.arcs, scores.labels, scores.siblings, scores.grandparents)
    parts = [None if of is None else p.reshape(s) for of, p, s in zip(given, flat, shapes)]
    assert parts[0] is not None
    return ArcMarginals(parts[0], parts[1], parts[2], parts[3], total)


def score(scores: ArcScores, heads: npt.ArrayLike, labels: npt.ArrayLike | None = None) -> float:
    """What one tree scores; -inf if it has an arc that is forbidden. O(n) and the parts of a word."""
    tree = _heads(scores, heads)
    if (labels is None) != (scores.n_labels == 0):
        raise ValueError(f"labels are {'missing' if labels is None else 'given'}, and {scores!r} says otherwise")
    names = np.zeros(0, np.int32) if labels is None else _integers(labels, "labels", scores.n_words, scores.n_labels)
    return float(scores.native().score(tree, names))


def forest(scores: ArcScores) -> ArcForest:
    """The projective trees as a packed forest, one derivation for each: for questions that are not answered here."""
    if not scores.projective:
        raise ValueError(f"{scores!r} has no forest of polynomial size; expected projective trees")
    edge_heads, tail_ptr, tails, values, n_nodes, heads, modifiers, labels = scores.native().forest()
    return ArcForest(Forest(edge_heads, tail_ptr, tails, values, n_nodes=n_nodes), heads, modifiers, labels)


# --- modes ---------------------------------------------------------------------------------------------------------


def with_costs(scores: ArcScores, costs: npt.ArrayLike) -> ArcScores:
    """The scores with costs added, (N, N) to arcs or (N, N, L) to labels: loss-augmented search."""
    added = real_array(costs, "costs")
    check_values(added, "costs")
    if added.shape == scores.arcs.shape:
        return scores.replace(arcs=scores.arcs + added)
    if scores.labels is None or added.shape != scores.labels.shape:
        expected = scores.arcs.shape if scores.labels is None else f"{scores.arcs.shape} or {scores.labels.shape}"
        raise ValueError(f"costs has shape {added.shape}; expected {expected}")
    return scores.replace(labels=scores.labels + added)


def attachment_costs(
    heads: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    n_labels: int = 0,
    label_cost: float = 1.0,
) -> npt.NDArray[np.float64]:
    """(N, N) or (N, N, L): 1 for each arc whose head is wrong, `label_cost` for one whose label alone is wrong.

    >>> attachment_costs([2, 0]).tolist()
    [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """
    right = np.asarray(heads)
    n = len(right) + 1
    costs = np.ones((n, n))
    costs[:, 0] = 0
    costs[right, np.arange(1, n)] = 0
    if labels is None:
        return costs
    rows = np.repeat(costs[:, :, None], n_labels, axis=2)
    rows[right, np.arange(1, n)] = label_cost
    rows[right, np.arange(1, n), _integers(labels, "labels", n - 1, n_labels)] = 0
    return rows


def constrain(
    scores: ArcScores,
    fixed: Mapping[int, int] | None = None,
    allowed: npt.ArrayLike | None = None,
) -> ArcScores:
    """Scores under which only some trees are possible.

    fixed : {word: head}, words from 1, head 0 the root.
    allowed : (N, N) booleans, by head and modifier.
    """
    keep = np.ones(scores.arcs.shape, bool) if allowed is None else np.array(allowed)
    if keep.shape != scores.arcs.shape or keep.dtype != np.bool_:
        raise ValueError(f"allowed has shape {keep.shape} and type {keep.dtype}; expected {scores.arcs.shape} booleans")
    for word, head in (fixed or {}).items():
        if not 1 <= word <= scores.n_words or not 0 <= head <= scores.n_words or head == word:
            raise ConstraintError(f"word {word} cannot have head {head} among {scores.n_words} words")
        only = keep[head, word]
        keep[:, word] = False
        keep[head, word] = only
    return scores.replace(arcs=np.where(keep, scores.arcs, -np.inf))


def _heads(scores: ArcScores, heads: npt.ArrayLike) -> npt.NDArray[np.int32]:
    tree = _integers(heads, "heads", scores.n_words, scores.n_words + 1)
    for word in range(1, len(tree) + 1):  # every word reaches the root
        at, steps = word, 0
        while at and steps <= len(tree):
            at, steps = int(tree[at - 1]), steps + 1
        if at:
            raise ValueError(f"word {word} does not reach the root by heads {tree.tolist()}; expected a tree")
    return tree


def _integers(values: npt.ArrayLike, name: str, n: int, limit: int) -> npt.NDArray[np.int32]:
    array = np.asarray(values)
    if array.shape != (n,) or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}; expected ({n},) integers")
    wrong = (array < 0) | (array >= limit)
    if wrong.any():
        raise ValueError(f"{name}[{np.argmax(wrong)}] is {array[wrong][0]}; expected 0 to {limit - 1}")
    return array.astype(np.int32)


def _check_total(scores: ArcScores, total: float) -> float:
    if total == -np.inf:
        raise ConstraintError(f"{scores!r}: every tree has a forbidden arc")
    return total
