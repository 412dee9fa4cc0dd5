"""Many forests with features on their edges, built once and searched under any weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.errors import ConstraintError
from margent.structures.forest import Derivation, Forest

Doubles = npt.NDArray[np.float64]


class ForestBatch:
    """Forests whose edges score by their features: the score of edge e under weights w is w . f(e).

    Parameters
    ----------
    forests : forests, at least one
        Their own scores must be 0, or -inf for edges that are forbidden: what else an edge is worth is a feature.
    n_features : int, optional
        One more than the largest feature named unless given.

    Everything costs one or two passes over the edges and their features. Forests are handed out to `threads`; answers
    do not depend on how many there are.

    Example
    -------
    >>> from margent.structures import ForestBuilder
    >>> builder = ForestBuilder()
    >>> root = builder.add_node()
    >>> builder.add_edge(root, features=[0]), builder.add_edge(root, features={1: 2.0})
    (0, 1)
    >>> forests = ForestBatch([builder.build()])
    >>> forests.best([3.0, 1.0])
    [Derivation(score=3.0, edges=array([0], dtype=int32))]
    """

    def __init__(self, forests: Sequence[Forest], n_features: int | None = None) -> None:
        self.forests = tuple(forests)
        if not self.forests:
            raise ValueError("no forest was given; expected at least one")
        for i, forest in enumerate(self.forests):
            if not isinstance(forest, Forest):
                raise TypeError(f"forest {i} is {forest!r}; expected a margent.Forest")
            wrong = np.flatnonzero((forest.scores != 0) & (forest.scores != -np.inf))
            if len(wrong):
                raise ValueError(
                    f"the score of edge {wrong[0]} of forest {i} is {forest.scores[wrong[0]]}; expected 0, or -inf for "
                    "a forbidden edge, where scores come from features: make it a feature"
                )
        seen = [forest.features for forest in self.forests]
        least = 1 + max((int(f.ids.max()) for f in seen if f is not None and len(f.ids)), default=-1)
        self.n_features = least if n_features is None else n_features
        if not isinstance(self.n_features, (int, np.integer)) or self.n_features < max(least, 1):
            raise ValueError(f"n_features is {self.n_features!r}; expected an integer of at least {max(least, 1)}")
        self._edge_ptr = _offsets([forest.n_edges for forest in self.forests])
        self._feature_counts = np.concatenate(
            [np.zeros(g.n_edges, np.int64) if f is None else np.diff(f.ptr) for g, f in zip(self.forests, seen)]
        )
        self._features = np.concatenate([np.zeros(0, np.int32), *(f.ids for f in seen if f is not None)])
        self._values = None
        if any(f is not None and f.values is not None for f in seen):
            self._values = np.concatenate(
                [np.ones(len(f.ids), np.float32) if f.values is None else f.values for f in seen if f is not None]
            )
        self.native = _core.Forests(
            _offsets([forest.n_nodes for forest in self.forests]),
            self._edge_ptr,
            np.array([forest.root for forest in self.forests], np.int32),
            np.concatenate([forest.heads for forest in self.forests]),
            _offsets(np.concatenate([np.diff(forest.tail_ptr) for forest in self.forests])),
            np.concatenate([forest.tails for forest in self.forests]),
            np.concatenate([forest.scores == 0 for forest in self.forests]).view(np.uint8),
            _offsets(self._feature_counts),
            self._features,
            self._values,
        )

    def __len__(self) -> int:
        return len(self.forests)

    def __repr__(self) -> str:
        return f"ForestBatch({len(self)} forests, {self._edge_ptr[-1]} edges, {self.n_features} features)"

    def best(self, weights: npt.ArrayLike, *, threads: int = 1) -> list[Derivation]:
        """The best derivation of each forest."""
        return [found[0] for found in self._derivations(self.native.best(self._scores(weights, threads), threads))]

    def k_best(self, weights: npt.ArrayLike, k: int, *, threads: int = 1) -> list[list[Derivation]]:
        """The k best derivations of each forest, exactly, best first; fewer where there are fewer."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k is {k!r}; expected an integer of at least 1")
        return self._derivations(self.native.k_best(self._scores(weights, threads), int(k), threads))

    def sample(self, weights: npt.ArrayLike, n: int, seed: int = 0, *, threads: int = 1) -> list[list[Derivation]]:
        """`n` derivations of each forest, drawn with probability proportional to exp(score)."""
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueError(f"n is {n!r}; expected an integer of at least 0")
        found = self.native.sample(self._scores(weights, threads), int(n), int(seed), threads)
        return self._derivations(found, wanted=int(n))

    def log_partition(self, weights: npt.ArrayLike, *, threads: int = 1) -> Doubles:
        """(n,): the log of the sum of exp(score) over the derivations of each forest."""
        return self._checked(self.native.log_partition(self._scores(weights, threads), threads))

    def marginals(self, weights: npt.ArrayLike, *, threads: int = 1) -> list[Doubles]:
        """For each forest (E,): how often each edge is expected in a derivation, as `Forest.marginals` says."""
        return np.split(self._uses(weights, threads), self._edge_ptr[1:-1])

    def expected_features(self, weights: npt.ArrayLike, *, threads: int = 1) -> Doubles:
        """(n_features,): the expected features of one derivation of each forest, summed over the forests."""
        amounts = np.repeat(self._uses(weights, threads), self._feature_counts)
        if self._values is not None:
            amounts *= self._values
        expected = np.zeros(self.n_features)
        np.add.at(expected, self._features, amounts)
        return expected

    def check_derivations(self, allowed: npt.NDArray[np.bool_] | None = None, kind: str = "derivation") -> None:
        """Raises ConstraintError for a forest that has no derivation, or none of these edges alone."""
        scores = np.concatenate([forest.scores for forest in self.forests])
        counts = self.native.count(scores if allowed is None else np.where(allowed, scores, -np.inf), 1)
        if not counts.all():
            i = int(np.argmin(counts != 0))
            raise ConstraintError(f"forest {i} has no {kind}: every way to its root uses a forbidden or missing edge")

    def _scores(self, weights: npt.ArrayLike, threads: int) -> Doubles:
        given = np.ascontiguousarray(weights, dtype=np.float64)
        if given.shape != (self.n_features,):
            raise ValueError(f"weights has shape {given.shape}; expected ({self.n_features},)")
        if not np.isfinite(given).all():
            raise ValueError(f"weight {np.flatnonzero(~np.isfinite(given))[0]} is not finite; expected finite numbers")
        return self.native.scores(given, threads)

    def _uses(self, weights: npt.ArrayLike, threads: int) -> Doubles:
        totals, uses = self.native.marginals(self._scores(weights, threads), threads)
        self._checked(totals)
        return uses

    def _checked(self, totals: Doubles) -> Doubles:
        if not (totals > -np.inf).all():
            self.check_derivations()
        if not np.isfinite(totals).all():
            raise OverflowError("the scores of a forest add up to infinity; expected sums within the range of a float")
        return totals

    def _derivations(self, found: tuple[Any, ...], wanted: int = 1) -> list[list[Derivation]]:
        scores, ptr, edges, forest_ptr = found
        if wanted and (np.diff(forest_ptr) == 0).any():
            self._checked(np.where(np.diff(forest_ptr) == 0, -np.inf, 0.0))
        listed = [Derivation(float(s), edges[a:b]) for s, a, b in zip(scores, ptr[:-1], ptr[1:])]
        return [listed[a:b] for a, b in pairwise(forest_ptr)]


def _offsets(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
