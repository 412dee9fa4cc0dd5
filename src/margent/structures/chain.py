"""The label chain on scores of one's own: from a neural network, a hidden Markov model, or by hand.

Pure functions on `ChainScores`. The questions are `best`, `k_best`, `log_partition`, `marginals`, `sample` and `score`;
`with_costs` and `constrain` return new scores, to which any of the questions can be put. All searches are exact, and
run in native code without the GIL (core/chain.hpp).

>>> scores = ChainScores.first_order(emissions=[[2, 1], [0, 2]], transitions=[[0, -3], [0, 0]])
>>> best(scores).labels.tolist()
[1, 1]
>>> best(constrain(scores, fixed={0: 0})).labels.tolist()
[0, 0]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.errors import ConstraintError

__all__ = [
    "ChainScores",
    "Labelling",
    "Marginals",
    "best",
    "constrain",
    "hamming_costs",
    "k_best",
    "log_partition",
    "marginals",
    "sample",
    "score",
    "with_costs",
]


class Labelling(NamedTuple):
    """A label for each token, labels (T,) int32, and what they score together."""

    score: float
    labels: npt.NDArray[np.int32]


class Marginals(NamedTuple):
    """Probabilities under exp(score) / Z, and log Z.

    labels (T, L): of each label at each token. pairs (T, L + 1, L) or None: of each label after each previous label; at
    token 0 the previous label is L, the start, and nowhere else.
    """

    labels: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.float64] | None
    log_partition: float


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class ChainScores:
    """The scores of all labellings of one sequence by a chain of order k. A value: its arrays are read-only.

    A labelling y of T tokens scores

        sum over t of emissions[t, y_t] + transitions[h_t, y_t] + edges[t, y_{t-1}, y_t],   plus end[c, y_{T-1}],

    where the history h_t = (y_{t-k}, ..., y_{t-1}) is read as a number in base L + 1, the most recent label its last
    digit, and digit L standing for what lies before the first token; c are the k - 1 labels before the last one. An
    empty sequence has one labelling, of score 0.

    Parameters
    ----------
    emissions : (T, L)
        What each label scores at each token. -inf forbids, here and below.
    transitions : ((L + 1)^k, L)
        What each label scores after each history. The number of rows says what k is. For k = 1, row i is the previous
        label and row L the start.
    end : ((L + 1)^(k - 1), L), optional
        What it scores to end in each label, after each k - 1 labels; one row for k = 1.
    edges : (T, L + 1, L), optional
        Scores of their own for each pair of neighbouring labels at each position; previous label L at token 0.

    The computation is in float32 if no array needs more, else in float64.
    """

    emissions: npt.NDArray[Any]
    transitions: npt.NDArray[Any]
    end: npt.NDArray[Any] | None
    edges: npt.NDArray[Any] | None
    order: int

    def __init__(
        self,
        emissions: npt.ArrayLike,
        transitions: npt.ArrayLike,
        end: npt.ArrayLike | None = None,
        edges: npt.ArrayLike | None = None,
    ) -> None:
        given = {"emissions": emissions, "transitions": transitions, "end": end, "edges": edges}
        arrays = {name: _real(value, name) for name, value in given.items() if value is not None}
        order = _check_shapes(arrays)
        for name, array in arrays.items():
            _check_values(array, name)
        dtype = np.float32 if np.can_cast(np.result_type(*arrays.values()), np.float32) else np.float64
        _check_range(arrays, dtype)
        for name in given:
            object.__setattr__(self, name, _frozen(arrays[name], dtype) if name in arrays else None)
        object.__setattr__(self, "order", order)

    @classmethod
    def first_order(
        cls,
        emissions: npt.ArrayLike,
        transitions: npt.ArrayLike,
        start: npt.ArrayLike | None = None,
        end: npt.ArrayLike | None = None,
    ) -> ChainScores:
        """A chain of order 1 from transitions (L, L), row the previous label; start (L,) and end (L,) are 0 if absent.

        >>> ChainScores.first_order(np.zeros((4, 2)), np.eye(2), start=[0, -np.inf])
        ChainScores(n_tokens=4, n_labels=2, order=1, dtype=float64)
        """
        matrix = _real(transitions, "transitions")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"transitions has shape {matrix.shape}; expected (L, L)")
        rows = {"start": start, "end": end}
        borders = {name: _real(row, name) for name, row in rows.items() if row is not None}
        for name, border in borders.items():
            if border.shape != matrix.shape[:1]:
                raise ValueError(f"{name} has shape {border.shape}; expected {matrix.shape[:1]}, one score per label")
            _check_values(border, name)
        first = borders.get("start", np.zeros(len(matrix), matrix.dtype))
        last = borders["end"][None] if "end" in borders else None
        return cls(emissions, np.concatenate([matrix, first[None]]), last)

    def __repr__(self) -> str:
        return (
            f"ChainScores(n_tokens={self.n_tokens}, n_labels={self.n_labels}, order={self.order}, "
            f"dtype={self.emissions.dtype})"
        )

    @property
    def n_tokens(self) -> int:
        return len(self.emissions)

    @property
    def n_labels(self) -> int:
        return int(self.emissions.shape[1])

    def replace(self, **changes: npt.ArrayLike | None) -> ChainScores:
        """The same scores but for the arrays named."""
        kept = {"emissions": self.emissions, "transitions": self.transitions, "end": self.end, "edges": self.edges}
        return ChainScores(**{**kept, **changes})  # type: ignore[arg-type]

    def _native(self) -> Any:
        """The native search on these scores, each row padded to whole vectors."""
        width = _core.padded_width(self.n_labels)

        def padded(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            if self.n_labels == width:
                return array
            wide = np.zeros((*array.shape[:-1], width), array.dtype)
            wide[..., : self.n_labels] = array
            return wide

        make = _core.ChainScores32 if self.emissions.dtype == np.float32 else _core.ChainScores64
        contexts = len(self.transitions) // (self.n_labels + 1)
        end = np.zeros((contexts, width), self.emissions.dtype) if self.end is None else padded(self.end)
        edges = None if self.edges is None else padded(self.edges)
        return make(self.n_labels, self.order, padded(self.emissions), padded(self.transitions), end, edges)


# --- questions -----------------------------------------------------------------------------------------------------


def best(scores: ChainScores) -> Labelling:
    """The labelling with the highest score (Viterbi). O(T L^(k + 1)).

    Ties go to the smaller label, decided from the last token backwards.
    """
    native = scores._native()
    value, labels = native.best()
    _check_total(scores, value)
    return Labelling(native.score(labels), labels)


def k_best(scores: ChainScores, k: int) -> list[Labelling]:
    """The k best labellings, all different, best first; fewer if there are fewer. Exact.

    O(T L^(k' + 1)) for a chain of order k', as for the best one, and O(T L) for each further labelling.
    """
    k = _number(k, "k", 1)
    if scores.n_tokens * np.log2(scores.n_labels) < 62:
        k = min(k, scores.n_labels**scores.n_tokens)
    if k >= 2**31:
        raise ValueError(f"k is {k}; expected less than {2**31} of that many labellings")
    native = scores._native()
    _, rows = native.k_best(k)
    if len(rows) == 0:
        _check_total(scores, -np.inf)
    found = [Labelling(native.score(labels), labels) for labels in rows]
    # The search compares sums made in another order than `score` makes them: equal up to rounding.
    return sorted(found, key=lambda labelling: -labelling.score)


def log_partition(scores: ChainScores) -> float:
    """log Z: the log of the sum of exp(score) over all labellings. O(T L^(k + 1))."""
    return _check_total(scores, scores._native().log_partition())


def marginals(scores: ChainScores, pairs: bool = False) -> Marginals:
    """The probability of each label at each token, and, if wanted, of each pair of neighbours (forward-backward).

    O(T L^(k + 1)) time; the pairs take T (L + 1) L numbers.
    """
    total, nodes, edges = scores._native().marginals(bool(pairs))
    return Marginals(nodes, edges, _check_total(scores, total))


def sample(scores: ChainScores, n: int, seed: int = 0) -> npt.NDArray[np.int32]:
    """(n, T): independent labellings, drawn with probability exp(score) / Z. The seed fixes them.

    One forward pass, then O(T L) for each labelling (forward filtering, backward sampling).
    """
    total, labels = scores._native().sample(_number(n, "n", 0, 2**31 - 1), _number(seed, "seed", 0, 2**64 - 1))
    _check_total(scores, total)
    return labels  # type: ignore[no-any-return]


def score(scores: ChainScores, labels: npt.ArrayLike) -> float:
    """What one labelling (T,) scores, summed in float64; -inf if it is forbidden. O(T)."""
    return float(scores._native().score(_labels(labels, scores.n_tokens, scores.n_labels, "labels")))


# --- modes ---------------------------------------------------------------------------------------------------------


def with_costs(scores: ChainScores, costs: npt.ArrayLike) -> ChainScores:
    """The scores with costs (T, L) added to the emissions: loss-augmented search, when costs are those of mistakes."""
    added = _real(costs, "costs")
    if added.shape != scores.emissions.shape:
        raise ValueError(f"costs has shape {added.shape}; expected {scores.emissions.shape}")
    _check_values(added, "costs")
    return scores.replace(emissions=scores.emissions + added.astype(scores.emissions.dtype))


def hamming_costs(gold: npt.ArrayLike, n_labels: int, weights: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """(T, L): 1 for each label that is not the right one, gold (T,); with weights (T,), `weights[t]` instead of 1.

    Costs that depend on the right label are ``weights=label_costs[gold]``.

    >>> hamming_costs([0, 2], n_labels=3).tolist()
    [[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
    """
    n_labels = _number(n_labels, "n_labels", 1)
    right = _labels(gold, np.size(gold), n_labels, "gold")
    each = np.ones(len(right)) if weights is None else _real(weights, "weights").astype(np.float64)
    if each.shape != right.shape:
        raise ValueError(f"weights has shape {each.shape}; expected {right.shape}, one per token")
    costs = np.repeat(each[:, None], n_labels, axis=1)
    costs[np.arange(len(right)), right] = 0
    return costs


def constrain(
    scores: ChainScores,
    fixed: Mapping[int, int] | None = None,
    allowed: Mapping[int, Iterable[int]] | None = None,
    forbidden: Mapping[int, Iterable[int]] | None = None,
    forbidden_transitions: Iterable[tuple[int, int]] | npt.NDArray[np.bool_] | None = None,
) -> ChainScores:
    """The scores in which what is not wanted is -inf. All conditions hold together.

    Parameters
    ----------
    fixed : position to its label
    allowed : position to the labels it may have
    forbidden : position to the labels it may not have
    forbidden_transitions : pairs (label, next label) that may not be neighbours, L standing for the start as the first
        and for the end as the second of a pair; or a boolean array (L + 1, L + 1) of the pairs that may, as
        `margent.corpus.schemes.transition_mask` gives it. For chains of any order.

    A `ConstraintError` names a position or label that does not exist and a position that is left without a label. A
    sequence that is left without a labelling for other reasons is one when a question is put to it.

    >>> scores = ChainScores.first_order(np.zeros((3, 2)), np.zeros((2, 2)))
    >>> best(constrain(scores, forbidden={0: [0]}, forbidden_transitions=[(1, 1)])).labels.tolist()
    [1, 0, 0]
    """
    n_tokens, n_labels = scores.emissions.shape
    may = np.ones((n_tokens, n_labels), dtype=bool)
    for position, label in (fixed or {}).items():
        may[_position(position, scores)] &= _chosen([label], position, scores)
    for position, labels in (allowed or {}).items():
        may[_position(position, scores)] &= _chosen(labels, position, scores)
    for position, labels in (forbidden or {}).items():
        may[_position(position, scores)] &= ~_chosen(labels, position, scores)
    stuck = ~may.any(axis=1)
    if stuck.any():
        raise ConstraintError(f"the constraints leave no label for token {np.argmax(stuck)}; expected at least one")

    changes: dict[str, npt.ArrayLike | None] = {"emissions": np.where(may, scores.emissions, -np.inf)}
    if forbidden_transitions is not None:
        follows = _transition_mask(forbidden_transitions, n_labels)
        if n_tokens == 0 and not follows[n_labels, n_labels]:
            raise ConstraintError("the sequence is empty, and the constraints forbid the end to follow the start")
        previous = np.arange(len(scores.transitions)) % (n_labels + 1)
        changes["transitions"] = np.where(follows[previous, :n_labels], scores.transitions, -np.inf)
        if not follows[:n_labels, n_labels].all():
            contexts = len(scores.transitions) // (n_labels + 1)
            end = np.zeros((contexts, n_labels), scores.emissions.dtype) if scores.end is None else scores.end
            changes["end"] = np.where(follows[:n_labels, n_labels], end, -np.inf)
    dtype = scores.emissions.dtype
    return scores.replace(**{name: np.asarray(array, dtype) for name, array in changes.items()})


# --- checks --------------------------------------------------------------------------------------------------------


def _check_total(scores: ChainScores, total: float) -> float:
    if total == -np.inf:
        raise ConstraintError(f"{scores} has no labelling: each one has a part that scores -inf")
    return float(total)


def _real(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iuf":
        raise ValueError(f"{name} has type {array.dtype}; expected real numbers")
    return array if array.dtype.kind in "iuf" else array.astype(np.float64)


def _check_shapes(arrays: Mapping[str, npt.NDArray[Any]]) -> int:
    """The order of the chain, once all shapes fit."""
    emissions, transitions = arrays["emissions"], arrays["transitions"]
    if emissions.ndim != 2 or emissions.shape[1] == 0:
        raise ValueError(f"emissions has shape {emissions.shape}; expected (T, L) with at least one label")
    n_tokens, n_labels = emissions.shape
    base, order, histories = n_labels + 1, 1, n_labels + 1
    while transitions.ndim == 2 and histories < len(transitions):
        order, histories = order + 1, histories * base
    if transitions.shape != (histories, n_labels):
        raise ValueError(
            f"transitions has shape {transitions.shape}; expected ({base}^order, {n_labels}), the last row for the "
            f"start of the sequence, as emissions has {n_labels} labels"
        )
    for name, shape in (("end", (histories // base, n_labels)), ("edges", (n_tokens, base, n_labels))):
        if name in arrays and arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}; expected {shape}")
    return order


def _check_values(array: npt.NDArray[Any], name: str) -> None:
    wrong = ~(array < np.inf)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(at)} is {array[at]}; expected a finite number, or -inf where it is forbidden")


def _check_range(arrays: Mapping[str, npt.NDArray[Any]], dtype: Any) -> None:
    """A sum of finite scores must not become infinite: it would look forbidden."""
    sizes = [np.abs(array, where=array > -np.inf, out=np.zeros(array.shape)) for array in arrays.values()]
    largest = max(float(size.max(initial=0)) for size in sizes)
    if largest * 8 * (len(arrays["emissions"]) + 1) > float(np.finfo(dtype).max):
        raise ValueError(
            f"the largest score is {largest:g}, too large to be added up over {len(arrays['emissions'])} tokens in "
            f"{np.dtype(dtype)}; expected -inf for what is forbidden, and scores of ordinary size"
        )


def _frozen(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The array itself if nobody can change it, or else a copy of which that is true."""
    if array.flags.writeable or not array.flags.owndata or not array.flags.c_contiguous or array.dtype != dtype:
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array


def _number(value: int, name: str, low: int, high: int = 2**63 - 1) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        bounds = f"from {low} to {high}" if high < 2**63 - 1 else f"of at least {low}"
        raise ValueError(f"{name} is {value!r}; expected an integer {bounds}")
    return int(value)


def _labels(labels: npt.ArrayLike, n_tokens: int, n_labels: int, name: str) -> npt.NDArray[np.int32]:
    array = np.asarray(labels)
    if array.shape != (n_tokens,) or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}; expected ({n_tokens},) integers")
    wrong = (array < 0) | (array >= n_labels)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{name}[{at}] is {array[at]}; expected a label from 0 to {n_labels - 1}")
    return np.ascontiguousarray(array, dtype=np.int32)


def _position(position: int, scores: ChainScores) -> int:
    if not isinstance(position, (int, np.integer)) or not 0 <= position < scores.n_tokens:
        raise ConstraintError(f"a constraint is for token {position!r}; expected one of the {scores.n_tokens} tokens")
    return int(position)


def _chosen(labels: Iterable[int], position: int, scores: ChainScores) -> npt.NDArray[np.bool_]:
    mask = np.zeros(scores.n_labels, dtype=bool)
    for label in labels:
        if not isinstance(label, (int, np.integer)) or not 0 <= label < scores.n_labels:
            raise ConstraintError(
                f"the constraint for token {position} names label {label!r}; expected 0 to {scores.n_labels - 1}"
            )
        mask[label] = True
    return mask


def _transition_mask(
    forbidden: Iterable[tuple[int, int]] | npt.NDArray[np.bool_], n_labels: int
) -> npt.NDArray[np.bool_]:
    """(L + 1, L + 1): which label may follow which, from either form."""
    if isinstance(forbidden, np.ndarray) and forbidden.dtype == np.bool_:
        if forbidden.shape != (n_labels + 1, n_labels + 1):
            raise ValueError(
                f"the mask of transitions has shape {forbidden.shape}; expected {(n_labels + 1, n_labels + 1)}"
            )
        return forbidden
    follows = np.ones((n_labels + 1, n_labels + 1), dtype=bool)
    for pair in forbidden:
        if len(pair) != 2 or not all(isinstance(i, (int, np.integer)) and 0 <= i <= n_labels for i in pair):
            raise ConstraintError(
                f"a forbidden transition is {pair!r}; expected two labels from 0 to {n_labels}, {n_labels} for the "
                "start or the end"
            )
        follows[pair[0], pair[1]] = False
    return follows
