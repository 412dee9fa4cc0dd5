"""Forests of k-grams: the chain of order k - 1 in which a score depends on k inputs and k outputs.

The dense chain (`margent.structures.chain`) has one score for a label after a history, wherever in the sequence it is.
Here each k-gram of bi-symbols has its own, so that what a history is worth depends on the inputs below it, and each
input has only a few candidates. That is a chain in a forest: the same searches, on the edges there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from margent.spectral.bi_symbols import UNSEEN
from margent.structures.forest import Derivation, Forest

Integers = npt.NDArray[np.int64]

_NONE = np.zeros(0, dtype=np.int64)


class Candidates(Protocol):
    """What k_gram_forest asks of `BiSymbols`."""

    def __len__(self) -> int:
        """How many bi-symbols there are."""

    def candidates(self, symbol: Hashable) -> npt.NDArray[np.int64]:
        """Those of an input symbol: numbers of bi-symbols, or numbers below 0 for candidates that score nothing."""


class KGramForest(NamedTuple):
    """The forest of all candidate outputs of some sequences, all scores 0, and what its edges mean.

    Edge e gives the bi-symbol ``symbols[e]`` (below 0: an unseen input) to the symbol at ``positions[e]``, counted over
    all sequences one after the other. With it, the l-gram ``grams[l][e]`` is complete: a number with l digits in base
    m, the m bi-symbols being its digits and the last one its last digit; -1 where fewer than l symbols precede, or
    where one of them is unseen. Edges that only close a sequence, or join all of them under the root, have position -1.

    A derivation of the root is an output for every sequence: the edges of the symbols in their order, an edge that
    closes after each sequence, and one that joins them.
    """

    forest: Forest
    positions: npt.NDArray[np.int64]
    symbols: npt.NDArray[np.int64]
    grams: Mapping[int, npt.NDArray[np.int64]]
    n_tokens: int

    def symbols_of(self, derivation: Derivation) -> npt.NDArray[np.int64]:
        """(n_tokens,): the numbers of the bi-symbols that a derivation chooses."""
        edges = derivation.edges[self.positions[derivation.edges] >= 0]
        return self.symbols[edges]


def k_gram_forest(
    bi_symbols: Candidates, sequences: Sequence[Sequence[Hashable]], lengths: Iterable[int]
) -> KGramForest:
    """The forest of the candidate outputs of input sequences, whose edges know their l-grams for each l in `lengths`.

    With k the largest of the lengths, the nodes after a symbol are the candidates of the last k - 1 symbols. There are
    about T c^(k-1) nodes and T c^k edges for T symbols with c candidates each.

    >>> from margent.spectral import BiSymbols
    >>> seen = BiSymbols([("a", "A"), ("a", "B"), ("b", "B")])
    >>> found = k_gram_forest(seen, ["ab"], [2])
    >>> found.forest.count(), found.grams[2].tolist()
    (2, [-1, -1, 2, 5, -1, -1])
    """
    wanted = sorted({checked_length(length) for length in lengths})
    if not wanted:
        raise ValueError("lengths is empty; expected at least one length of k-grams")
    blocks, edges = _Blocks(bi_symbols, wanted), _Edges(wanted)
    ends: list[int] = []
    nodes = token = 0
    for sequence in sequences:
        before = range(0)  # the nodes of the symbol before
        for t in range(len(sequence)):
            block = blocks.of(tuple(sequence[max(0, t + 1 - wanted[-1]) : t + 1]))
            edges.add(block.heads + nodes, block.tails + before.start if t else _NONE, token, block)
            before = range(nodes, nodes + block.n_nodes)
            nodes, token = before.stop, token + 1
        edges.add(np.full(max(len(before), 1), nodes), np.array(before, dtype=np.int64))
        ends.append(nodes)
        nodes += 1
    edges.add(np.array([nodes]), np.array(ends, dtype=np.int64))
    return edges.forest(nodes, token)


class _Block(NamedTuple):
    """The edges of one symbol, by history first and candidate second; heads and tails count from its own nodes."""

    heads: Integers
    tails: Integers
    symbols: Integers
    grams: dict[int, Integers]
    n_nodes: int


class _Edges:
    """Edges in the making, some at a time."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._heads: list[Integers] = []
        self._tails: list[Integers] = []
        self._counts: list[tuple[int, int, int]] = []  # how many edges, tails of each, and their position
        self._symbols: list[Integers] = []
        self._grams: dict[int, list[Integers]] = {length: [] for length in lengths}

    def add(self, heads: Integers, tails: Integers, position: int = -1, block: _Block | None = None) -> None:
        """Edges with as many tails each as there are for them; without a block, they have no symbol."""
        self._heads.append(heads)
        self._tails.append(tails)
        self._counts.append((len(heads), len(tails) // len(heads), position))
        nothing = np.full(len(heads), UNSEEN)
        self._symbols.append(nothing if block is None else block.symbols)
        for length, grams in self._grams.items():
            grams.append(nothing if block is None else block.grams[length])

    def forest(self, root: int, n_tokens: int) -> KGramForest:
        counts, arities, positions = np.array(self._counts).T
        tail_ptr = np.concatenate([[0], np.cumsum(np.repeat(arities, counts))])
        heads, tails = np.concatenate(self._heads), np.concatenate(self._tails)
        return KGramForest(
            Forest(heads, tail_ptr, tails, np.zeros(len(heads)), root, root + 1),
            np.repeat(positions, counts),
            np.concatenate(self._symbols),
            {length: np.concatenate(grams) for length, grams in self._grams.items()},
            n_tokens,
        )


class _Blocks:
    """The edges of a symbol depend on it and the k - 1 inputs before alone: made once for all places alike."""

    def __init__(self, bi_symbols: Candidates, lengths: Sequence[int]) -> None:
        self._bi_symbols, self._lengths = bi_symbols, lengths
        self._made: dict[tuple[Hashable, ...], _Block] = {}

    def of(self, inputs: tuple[Hashable, ...]) -> _Block:
        """inputs: the symbol, last, and as many before it as there are, up to k - 1."""
        if inputs not in self._made:
            self._made[inputs] = self._make([self._bi_symbols.candidates(symbol) for symbol in inputs])
        return self._made[inputs]

    def _make(self, candidates: list[Integers]) -> _Block:
        sizes = [len(c) for c in candidates]
        n_edges, n_nodes = prod(sizes), prod(sizes)
        if len(sizes) == self._lengths[-1]:  # the oldest symbol is forgotten
            n_nodes //= sizes[0]
        edge = np.arange(n_edges)
        # Bi-symbol of each of the inputs on each edge, the last input varying fastest.
        strides = [n_edges // done for done in accumulate(sizes, int.__mul__)]
        digits = [c[edge // stride % len(c)] for c, stride in zip(candidates, strides)]
        grams = {length: self._numbers(digits, length, n_edges) for length in self._lengths}
        return _Block(edge % n_nodes, edge // sizes[-1], digits[-1], grams, n_nodes)

    def _numbers(self, digits: list[Integers], length: int, n_edges: int) -> Integers:
        if len(digits) < length:
            return np.full(n_edges, UNSEEN)
        number, seen = np.zeros(n_edges, dtype=np.int64), np.ones(n_edges, dtype=bool)
        for digit in digits[-length:]:
            number = number * len(self._bi_symbols) + digit
            seen &= digit > UNSEEN
        return np.where(seen, number, UNSEEN)


def checked_length(value: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"a length of k-grams is {value!r}; expected an integer of at least 1")
    return int(value)
