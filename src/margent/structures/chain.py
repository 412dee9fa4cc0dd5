"""The label chain on scores of one's own: from a neural network, a hidden Markov model, or by hand.

Pure functions on `ChainScores`. The questions are `best`, `k_best`, `log_partition`, `marginals`, `sample` and `score`;
`with_costs` and `constrain` return new scores, to which any of the questions can be put. All searches are exact, and
run in native code without the GIL (core/chain/chain.hpp).

>>> scores = ChainScores.first_order(emissions=[[2, 1], [0, 2]], transitions=[[0, -3], [0, 0]])
>>> best(scores).labels.tolist()
[1, 1]
>>> best(constrain(scores, fixed={0: 0})).labels.tolist()
[0, 0]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import ConstraintError
from margent.structures.chain_scores import ChainScores, check_values, real_array

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


# --- questions -----------------------------------------------------------------------------------------------------


def best(scores: ChainScores) -> Labelling:
    """The labelling with the highest score (Viterbi). O(T L^(k + 1)).

    Ties go to the smaller label, decided from the last token backwards.
    """
    native = scores.native()
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
    native = scores.native()
    _, rows = native.k_best(k)
    if len(rows) == 0:
        _check_total(scores, -np.inf)
    found = [Labelling(native.score(labels), labels) for labels in rows]
    # The search compares sums made in another order than `score` makes them: equal up to rounding.
    return sorted(found, key=lambda labelling: -labelling.score)


def log_partition(scores: ChainScores) -> float:
    """log Z: the log of the sum of exp(score) over all labellings. O(T L^(k + 1))."""
    return _check_total(scores, scores.native().log_partition())


def marginals(scores: ChainScores, pairs: bool = False) -> Marginals:
    """The probability of each label at each token, and, if wanted, of each pair of neighbours (forward-backward).

    O(T L^(k + 1)) time; the pairs take T (L + 1) L numbers.
    """
    total, nodes, edges = scores.native().marginals(bool(pairs))
    return Marginals(nodes, edges, _check_total(scores, total))


def sample(scores: ChainScores, n: int, seed: int = 0) -> npt.NDArray[np.int32]:
    """(n, T): independent labellings, drawn with probability exp(score) / Z. The seed fixes them.

    One forward pass, then O(T L) for each labelling (forward filtering, backward sampling).
    """
    total, labels = scores.native().sample(_number(n, "n", 0, 2**31 - 1), _number(seed, "seed", 0, 2**64 - 1))
    _check_total(scores, total)
    return labels  # type: ignore[no-any-return]


def score(scores: ChainScores, labels: npt.ArrayLike) -> float:
    """What one labelling (T,) scores, summed in float64; -inf if it is forbidden. O(T)."""
    return float(scores.native().score(_labels(labels, scores.n_tokens, scores.n_labels, "labels")))


# --- modes ---------------------------------------------------------------------------------------------------------


def with_costs(scores: ChainScores, costs: npt.ArrayLike) -> ChainScores:
    """The scores with costs (T, L) added to the emissions: loss-augmented search, when costs are those of mistakes."""
    added = real_array(costs, "costs")
    if added.shape != scores.emissions.shape:
        raise ValueError(f"costs has shape {added.shape}; expected {scores.emissions.shape}")
    check_values(added, "costs")
    return scores.replace(emissions=scores.emissions + added.astype(scores.emissions.dtype))


def hamming_costs(gold: npt.ArrayLike, n_labels: int, weights: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """(T, L): 1 for each label that is not the right one, gold (T,); with weights (T,), `weights[t]` instead of 1.

    Costs that depend on the right label are ``weights=label_costs[gold]``.

    >>> hamming_costs([0, 2], n_labels=3).tolist()
    [[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
    """
    n_labels = _number(n_labels, "n_labels", 1)
    right = _labels(gold, np.size(gold), n_labels, "gold")
    each = np.ones(len(right)) if weights is None else real_array(weights, "weights").astype(np.float64)
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
        `margent.annotation.schemes.transition_mask` gives it. For chains of any order.

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
