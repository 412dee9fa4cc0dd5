"""The label chain as a forest: the reference for the dense chain kernels, and a pattern for structures of one's own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.structures.forest import Derivation, Forest


class ChainForest(NamedTuple):
    """The forest of a chain, and what its edges mean.

    Edge e gives label ``labels[e]`` to token ``positions[e]``, whose predecessor is ``previous[e]`` (L at the start).
    The edges into the root close the sequence: position T, label -1. A derivation is T labelling edges in the order of
    the tokens, and one closing edge. Constrained search is ``forest.restrict`` with a mask made of these arrays.
    """

    forest: Forest
    positions: npt.NDArray[np.int64]
    previous: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]
    n_tokens: int
    n_labels: int

    def labels_of(self, derivation: Derivation) -> npt.NDArray[np.int64]:
        """(T,): the labelling that a derivation stands for."""
        return self.labels[derivation.edges[:-1]]

    def label_marginals(self) -> npt.NDArray[np.float64]:
        """(T, L): the probability of each label at each token."""
        return self.transition_marginals().sum(axis=1)  # type: ignore[no-any-return]

    def transition_marginals(self) -> npt.NDArray[np.float64]:
        """(T, L + 1, L): the probability of each pair of previous label (L: none, at the first token) and label."""
        inner = self.labels >= 0
        sums = np.zeros((self.n_tokens, self.n_labels + 1, self.n_labels))
        cells = (self.positions[inner], self.previous[inner], self.labels[inner])
        np.add.at(sums, cells, self.forest.marginals()[inner])
        return sums


def chain_forest(
    emissions: npt.ArrayLike,
    transitions: npt.ArrayLike,
    end: npt.ArrayLike | None = None,
    *,
    order: int = 1,
    edges: npt.ArrayLike | None = None,
) -> ChainForest:
    """The forest of all labellings of one sequence by a chain of order k.

    Labellings score what they do in `ChainScores`.

    Parameters
    ----------
    emissions : (T, L)
    transitions : ((L + 1)^k, L)
    end : ((L + 1)^(k - 1), L), optional
    order : k, at least 1
    edges : (T, L + 1, L), optional
        Scores of their own for each pair of labels at each position; previous label L at t = 0.

    The forest has about T L^k nodes and T L^(k + 1) edges.

    Example
    -------
    >>> chain = chain_forest(emissions=[[1, 0], [0, 0]], transitions=[[0, 2], [0, 0], [0, 0]])
    >>> best = chain.forest.best()
    >>> best.score, chain.labels_of(best).tolist()
    (3.0, [0, 1])
    """
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 1:
        raise ValueError(f"order is {order!r}; expected an integer of at least 1")
    shape = np.shape(emissions)
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"emissions has shape {shape}; expected (T, L) with at least one label")
    n_tokens, n_labels = shape
    base = n_labels + 1
    emission_scores = _checked(emissions, "emissions", shape)
    transition_scores = _checked(transitions, "transitions", (base**order, n_labels))
    end_scores = _checked(end, "end", (base ** (order - 1), n_labels))
    pair_scores = _checked(edges, "edges", (n_tokens, base, n_labels))

    # The nodes after t tokens are the histories of min(t, k) labels, numbered as numbers in base L; there is none for
    # t = 0, the first edges being leaves. Positions with equally long histories have edges alike: one block for all.
    sizes = np.array([0] + [n_labels ** min(t, order) for t in range(1, n_tokens + 1)])
    offsets = np.cumsum(sizes) - sizes
    root = int(sizes.sum())
    label = np.arange(n_labels)
    blocks = []
    for known in range(min(order + 1, n_tokens)):
        token = np.arange(known, n_tokens if known == order else known + 1)[:, None, None]
        code = _history_codes(known, order, n_labels)[:, None]
        history = np.arange(len(code))[:, None]
        previous = code % base
        head = offsets[token + 1] + (history * n_labels + label) % n_labels ** min(known + 1, order)
        tail = offsets[token] + history if known else np.array(-1)
        score = emission_scores[token, label] + transition_scores[code, label] + pair_scores[token, previous, label]
        blocks.append(np.broadcast_arrays(head, tail, score, token, previous, label))

    # The closing edges: one from each node of the last token, or a single leaf if there is no token.
    code = _history_codes(min(n_tokens, order), order, n_labels)
    tail = offsets[-1] + np.arange(len(code)) if n_tokens else np.array(-1)
    score = end_scores[code // base, code % base] if n_tokens else np.zeros(1)
    blocks.append(np.broadcast_arrays(np.array(root), tail, score, np.array(n_tokens), code % base, np.array(-1)))

    heads, tails, scores, positions, before, labels = (np.concatenate([b.ravel() for b in c]) for c in zip(*blocks))
    tail_ptr = np.concatenate([[0], np.cumsum(tails >= 0)])
    forest = Forest(heads, tail_ptr, tails[tails >= 0], scores, root, root + 1)
    return ChainForest(forest, positions, before, labels, n_tokens, n_labels)


def _history_codes(known: int, order: int, n_labels: int) -> npt.NDArray[np.int64]:
    """(L^known,): the histories of `known` labels, in ascending order, as numbers of `order` digits in base L + 1."""
    codes = np.zeros(1, dtype=np.int64)
    for digit in range(order):
        choices = np.array([n_labels]) if digit < order - known else np.arange(n_labels)
        codes = (codes[:, None] * (n_labels + 1) + choices).ravel()
    return codes


def _checked(values: npt.ArrayLike | None, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    if values is None:
        return np.broadcast_to(np.float64(0), shape)
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; expected {shape}")
    if not (array < np.inf).all():
        at = tuple(int(i) for i in np.argwhere(~(array < np.inf))[0])
        raise ValueError(f"{name}{list(at)} is {array[at]}; expected a finite number, or -inf where it is forbidden")
    return array
