"""Packed forests: structures of any shape.

A forest is an acyclic hypergraph. Edge e leads from any number of tail nodes to one head node and has a score; nodes
are numbered so that tails come before heads. A *derivation* of a node is one of the edges into it together with a
derivation of each of that edge's tails, and its score is the sum of the scores of its edges. An edge without tails is
a leaf; a node without incoming edges has no derivation. The derivations of the root are what can be predicted: label
sequences, segmentations, parse trees, translations. Where edges have features, what to predict can be learned
(`margent.structures.ForestOracle`).

Every question about them is the same pass, O(edges + tails), in another semiring (core/forest/).
Scores are logarithms up to a constant; -inf forbids an edge.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.errors import ConstraintError

_MANY = 2**64 - 1
_LARGEST = 2**31 - 1


class Derivation(NamedTuple):
    """One derivation: its score, and its edges (int32), those of each tail before the edge that uses them."""

    score: float
    edges: npt.NDArray[np.int32]


class EdgeFeatures(NamedTuple):
    """Sparse features of edges: edge e has ``ids[ptr[e]:ptr[e + 1]]``, each with its value; values None: 1 each."""

    ptr: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32] | None = None


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class Forest:
    """A packed forest. A value: its arrays are read-only, and every method returns something new.

    Parameters
    ----------
    heads : (E,) integers
        The node each edge leads to.
    tail_ptr : (E + 1,) integers
        The tails of edge e are ``tails[tail_ptr[e]:tail_ptr[e + 1]]``.
    tails : integers
        Each smaller than the head of its edge.
    scores : (E,) numbers, optional
        Finite, or -inf for a forbidden edge; 0 each unless given.
    root : int, optional
        The node whose derivations are meant; the last node unless given.
    n_nodes : int, optional
        One more than the largest node named unless given.
    features : (ptr, ids) or (ptr, ids, values), optional
        What is seen of each edge, for `ForestBatch` and `ForestOracle`: an `EdgeFeatures`.

    Example
    -------
    Two ways to reach node 1, the second of them through node 0:

    >>> forest = Forest(heads=[0, 1, 1], tail_ptr=[0, 0, 0, 1], tails=[0], scores=[0.5, 1.0, 1.0])
    >>> forest.best().score, forest.best().edges.tolist()
    (1.5, [0, 2])
    >>> forest.count()
    2
    """

    heads: npt.NDArray[np.int32]
    tail_ptr: npt.NDArray[np.int64]
    tails: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    root: int
    n_nodes: int
    features: EdgeFeatures | None

    def __init__(
        self,
        heads: npt.ArrayLike,
        tail_ptr: npt.ArrayLike,
        tails: npt.ArrayLike,
        scores: npt.ArrayLike | None = None,
        root: int | None = None,
        n_nodes: int | None = None,
        features: tuple[npt.ArrayLike | None, ...] | None = None,
    ) -> None:
        head_ids = _integers(heads, "heads", np.int32)
        offsets = _integers(tail_ptr, "tail_ptr", np.int64)
        tail_ids = _integers(tails, "tails", np.int32)
        if n_nodes is None:
            named = 0 if root is None else _number(root, "root", 0, _LARGEST - 1)
            n_nodes = 1 + max(int(head_ids.max(initial=0)), int(tail_ids.max(initial=0)), named)
        n_nodes = _number(n_nodes, "n_nodes", 1, _LARGEST)
        root = n_nodes - 1 if root is None else _number(root, "root", 0, n_nodes - 1)
        _check_edges(head_ids, offsets, tail_ids, n_nodes)
        edge_scores = _check_scores(np.zeros(len(head_ids)) if scores is None else scores, len(head_ids))
        seen = None if features is None else _check_features(features, len(head_ids))
        for name, value in zip(
            (field.name for field in dataclasses.fields(self)),
            (head_ids, offsets, tail_ids, edge_scores, root, n_nodes, seen),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Forest(n_nodes={self.n_nodes}, n_edges={self.n_edges}, root={self.root})"

    @property
    def n_edges(self) -> int:
        return len(self.heads)

    def best(self) -> Derivation:
        """The derivation with the highest score; of equals, at each node the one through the smallest edge number."""
        return self._derivations(self._native().best(self.scores, 1))[0]

    def k_best(self, k: int) -> list[Derivation]:
        """The k best derivations, best first; fewer if there are fewer. Exact.

        All are different trees of edges; equal scores come in a fixed order, and the first is that of `best`. After the
        pass for the best, the cost is O(k d log k) for derivations of d edges (Huang and Chiang 2005, algorithm 3).
        """
        return self._derivations(self._native().k_best(self.scores, _number(k, "k", 1), 1))

    def sample(self, n: int, seed: int = 0) -> list[Derivation]:
        """`n` independent derivations, drawn with probability proportional to exp(score). The seed fixes them."""
        n, seed = _number(n, "n", 0), _number(seed, "seed", 0, _MANY)
        return self._derivations(self._native().sample(self.scores, n, seed, 1), wanted=n)

    def log_partition(self) -> float:
        """log of the sum of exp(score) over all derivations."""
        return self._check_total(float(self._native().log_partition(self.scores, 1)[0]))

    def count(self) -> int:
        """The number of derivations without a forbidden edge: exact, and 0 if there is none.

        Raises OverflowError from 2**64 - 1 on. The logarithm of the number is always to be had: it is the
        `log_partition` of the forest ``with_scores(numpy.where(forest.scores > -numpy.inf, 0, -numpy.inf))``.
        """
        number = int(self._native().count(self.scores, 1)[0])
        if number == _MANY:
            raise OverflowError(
                f"{self} has at least 2**64 - 1 derivations, too many to count exactly; "
                "the log_partition of the forest with all scores 0 is the logarithm of their number"
            )
        return number

    def marginals(self) -> npt.NDArray[np.float64]:
        """(E,): the probability of each edge under exp(score), normalised over the derivations.

        Precisely, how often the edge is expected: more than 1 is possible where a derivation can use an edge twice,
        which needs a node that is reached from two tails.
        """
        total, uses = self._native().marginals(self.scores, 1)
        self._check_total(float(total[0]))
        return uses

    def expectation(self, values: npt.ArrayLike) -> float | npt.NDArray[np.float64]:
        """The expected sum of `values` over the edges of a derivation: a float for (E,), an array (D,) for (E, D).

        One value per edge goes through the first-order expectation semiring, rows of values through `marginals`.
        """
        given = np.ascontiguousarray(values, dtype=np.float64)
        if given.ndim not in (1, 2) or len(given) != self.n_edges:
            raise ValueError(f"values has shape {given.shape}; expected ({self.n_edges},) or ({self.n_edges}, D)")
        if not np.isfinite(given).all():
            raise ValueError(f"values of edge {_first(~np.isfinite(given))} are not finite; expected finite numbers")
        if given.ndim == 2:
            return self.marginals() @ given
        total, mean = self._native().expectation(self.scores, given, 1)
        self._check_total(float(total[0]))
        return float(mean[0])

    def restrict(self, keep: npt.ArrayLike) -> Forest:
        """The forest in which only the edges with ``keep[e]`` are allowed; edge numbers stay. Constrained search."""
        mask = np.asarray(keep)
        if mask.dtype != np.bool_ or mask.shape != (self.n_edges,):
            raise ValueError(f"keep has shape {mask.shape} and type {mask.dtype}; expected ({self.n_edges},) booleans")
        return self.with_scores(np.where(mask, self.scores, -np.inf))

    def with_scores(self, scores: npt.ArrayLike) -> Forest:
        """The same edges with other scores (E,). Loss-augmented search: ``with_scores(forest.scores + costs)``."""
        other = copy.copy(self)  # the edges have been checked
        object.__setattr__(other, "scores", _check_scores(scores, self.n_edges))
        return other

    def _native(self) -> _core.Forests:
        """A batch of this forest alone, without features."""
        counts = np.array([0, self.n_nodes]), np.array([0, self.n_edges])
        allowed, ptr = np.ones(self.n_edges, np.uint8), np.zeros(self.n_edges + 1, np.int64)
        return _core.Forests(
            *counts,
            np.array([self.root], np.int32),
            self.heads,
            self.tail_ptr,
            self.tails,
            allowed,
            ptr,
            self.tails[:0],
        )

    def _check_total(self, total: float) -> float:
        if total == -np.inf:
            raise ConstraintError(f"{self} has no derivation: every way to its root uses a forbidden or missing edge")
        if total == np.inf:
            raise OverflowError(f"the scores of {self} add up to infinity; expected sums within the range of a float")
        return total

    def _derivations(self, found: tuple[Any, ...], wanted: int = 1) -> list[Derivation]:
        scores, ptr, edges, _ = found
        if len(scores) == 0 and wanted > 0:
            self.log_partition()  # says why
        return [Derivation(float(s), edges[a:b]) for s, a, b in zip(scores, ptr[:-1], ptr[1:])]


class ForestBuilder:
    """Builds a forest node by node and edge by edge, for a structure of one's own.

    Example
    -------
    >>> builder = ForestBuilder()
    >>> word, phrase = builder.add_node(), builder.add_node()
    >>> builder.add_edge(word, [], 0.5)
    0
    >>> builder.add_edge(phrase, [word, word], 1.0)
    1
    >>> builder.build().best()
    Derivation(score=2.0, edges=array([0, 0, 1], dtype=int32))
    """

    def __init__(self) -> None:
        self._n_nodes = 0
        self._heads: list[int] = []
        self._tail_ptr: list[int] = [0]
        self._tails: list[int] = []
        self._scores: list[float] = []
        self._feature_ptr: list[int] = [0]
        self._features: list[int] = []
        self._values: list[float] = []

    def add_node(self) -> int:
        """A new node, and its number. Make the tails of an edge before its head."""
        self._n_nodes += 1
        return self._n_nodes - 1

    def add_edge(
        self,
        head: int,
        tails: Iterable[int] = (),
        score: float = 0.0,
        features: Mapping[int, float] | Iterable[int] = (),
    ) -> int:
        """A new edge from `tails` (none: a leaf) to `head`, and its number; numbers count up from 0.

        features : numbers of the features of the edge, each of value 1, or numbers with their values.
        """
        edge = f"edge {len(self._heads)}"
        head = _number(head, f"the head of {edge}", 0, self._n_nodes - 1, "a node made by add_node")
        before = f"a node made before its head, node {head}"
        checked = [_number(tail, f"tail {i} of {edge}", 0, head - 1, before) for i, tail in enumerate(tails)]
        score = float(score)
        if not score < np.inf:
            raise ValueError(f"the score of {edge} is {score}; expected a finite number, or -inf for a forbidden edge")
        named = features if isinstance(features, Mapping) else [(feature, 1.0) for feature in features]
        seen = [
            (_number(feature, f"a feature of {edge}", 0, _LARGEST - 1), float(value))
            for feature, value in (named.items() if isinstance(named, Mapping) else named)
        ]
        if not np.isfinite(np.array([value for _, value in seen], np.float32)).all():
            raise ValueError(f"a feature of {edge} has a value that is not finite; expected finite numbers")
        self._features.extend(feature for feature, _ in seen)
        self._values.extend(value for _, value in seen)
        self._feature_ptr.append(len(self._features))
        self._heads.append(head)
        self._tails.extend(checked)
        self._tail_ptr.append(len(self._tails))
        self._scores.append(score)
        return len(self._heads) - 1

    def build(self, root: int | None = None) -> Forest:
        """The forest so far; the last node is the root unless another is named."""
        values = None if all(value == 1 for value in self._values) else self._values
        seen = None if not self._features else (self._feature_ptr, self._features, values)
        return Forest(self._heads, self._tail_ptr, self._tails, self._scores, root, self._n_nodes, seen)


def _number(value: int, name: str, low: int, high: int = 2**63 - 1, expected: str = "") -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        bounds = f"from {low} to {high}" if high < 2**63 - 1 else f"of at least {low}"
        raise ValueError(f"{name} is {value!r}; expected {expected or f'an integer {bounds}'}")
    return int(value)


def _integers(values: npt.ArrayLike, name: str, dtype: Any) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}; expected one dimension of integers")
    if array.size and not (array.min() >= 0 and array.max() <= np.iinfo(dtype).max):
        raise ValueError(f"{name} holds {array.min()} to {array.max()}; expected 0 to {np.iinfo(dtype).max}")
    return _frozen(array, dtype)


def _frozen(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The array itself if nobody can change it, or else a copy of which that is true."""
    if array.flags.writeable or not array.flags.owndata or not array.flags.c_contiguous or array.dtype != dtype:
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


def _first(wrong: npt.NDArray[np.bool_]) -> int:
    return int(np.argwhere(wrong)[0][0])


def _check_edges(
    heads: npt.NDArray[np.int32], tail_ptr: npt.NDArray[np.int64], tails: npt.NDArray[np.int32], n_nodes: int
) -> None:
    if len(heads) > _LARGEST:
        raise ValueError(f"a forest of {len(heads)} edges was given; expected at most {_LARGEST}")
    if len(tail_ptr) != len(heads) + 1 or tail_ptr[0] != 0 or tail_ptr[-1] != len(tails):
        raise ValueError(
            f"tail_ptr has {len(tail_ptr)} entries, {tail_ptr[:1]} to {tail_ptr[-1:]}; "
            f"expected {len(heads) + 1} entries, from 0 to {len(tails)}"
        )
    arity = np.diff(tail_ptr)
    if (arity < 0).any():
        raise ValueError(f"tail_ptr falls after edge {_first(arity < 0)}; expected offsets that never fall")
    if (heads >= n_nodes).any():
        edge = _first(heads >= n_nodes)
        raise ValueError(f"the head of edge {edge} is node {heads[edge]}; expected one below n_nodes = {n_nodes}")
    late = tails >= np.repeat(heads, arity)
    if late.any():
        at = _first(late)
        edge = int(np.searchsorted(tail_ptr, at, side="right")) - 1
        raise ValueError(
            f"edge {edge} leads from node {tails[at]} to node {heads[edge]}; expected tails with smaller numbers than "
            "the head, so that there is no cycle"
        )


def _check_scores(scores: npt.ArrayLike, n_edges: int) -> npt.NDArray[np.float64]:
    array = np.asarray(scores)
    if array.shape != (n_edges,) or (array.size and array.dtype.kind not in "iuf"):
        raise ValueError(f"scores has shape {array.shape} and type {array.dtype}; expected ({n_edges},) real numbers")
    wrong = ~(array < np.inf)
    if wrong.any():
        raise ValueError(
            f"the score of edge {_first(wrong)} is {array[_first(wrong)]}; "
            "expected a finite number, or -inf for a forbidden edge"
        )
    return _frozen(array, np.float64)


def _check_features(features: tuple[npt.ArrayLike | None, ...], n_edges: int) -> EdgeFeatures:
    if not isinstance(features, tuple) or len(features) not in (2, 3) or features[0] is None or features[1] is None:
        raise ValueError(f"features is {features!r}; expected (ptr, ids) or (ptr, ids, values)")
    ptr = _integers(features[0], "ptr of features", np.int64)
    ids = _integers(features[1], "ids of features", np.int32)
    if len(ptr) != n_edges + 1 or ptr[0] != 0 or ptr[-1] != len(ids) or (np.diff(ptr) < 0).any():
        raise ValueError(
            f"ptr of features has {len(ptr)} entries, {ptr[:1]} to {ptr[-1:]}; "
            f"expected {n_edges + 1} entries that never fall, from 0 to {len(ids)}"
        )
    if len(features) == 2 or features[2] is None:
        return EdgeFeatures(ptr, ids)
    values = np.asarray(features[2])
    if values.shape != ids.shape or values.dtype.kind not in "iuf":
        raise ValueError(f"values of features has shape {values.shape}; expected {ids.shape} real numbers")
    narrowed = _frozen(values, np.float32)
    if not np.isfinite(narrowed).all():
        raise ValueError(f"value {_first(~np.isfinite(narrowed))} of features is not finite; expected finite numbers")
    return EdgeFeatures(ptr, ids, narrowed)
