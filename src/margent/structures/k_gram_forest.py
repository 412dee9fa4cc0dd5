"""Forests of k-grams: the chain of order k - 1 in which a score depends on k inputs and k outputs.

The dense chain (`margent.structures.chain`) has one score for a label after a history, wherever in the sequence it is.
Here each piece of k bi-symbols has its own, so that what a history is worth depends on the inputs below it, and each
input has only a few candidates. That is a chain in a forest: the same searches, on the edges there are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.structures.bi_symbols import UNSEEN, BiSymbols
from margent.structures.forest import Derivation, Forest

Integers = npt.NDArray[np.int64]


class KGramForest(NamedTuple):
    """The forest of all candidate outputs of some sequences, all scores 0, and what its edges mean.

    Edge e gives the bi-symbol ``symbols[e]`` (-1: an unseen input) to the symbol at ``positions[e]``, counted over all
    sequences one after the other. With it, the l-gram ``grams[l][e]`` is complete: a number with l digits in base m,
    the m bi-symbols being its digits and the last one its last digit; -1 where fewer than l symbols precede, or where
    one of them is unseen. Edges that only close a sequence, or join all of them under the root, have position -1.

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
    bi_symbols: BiSymbols, sequences: Sequence[Sequence[Hashable]], lengths: Iterable[int]
) -> KGramForest:
    """The forest of the candidate outputs of input sequences, whose edges know their l-grams for each l in `lengths`.

    With k the largest of the lengths, the nodes after a symbol are the candidates of the last k - 1 symbols. There are
    about T c^(k-1) nodes and T c^k edges for T symbols with c candidates each.

    >>> seen = BiSymbols([("a", "A"), ("a", "B"), ("b", "B")])
    >>> found = k_gram_forest(seen, ["ab"], [2])
    >>> found.forest.count(), found.grams[2].tolist()
    (2, [-1, -1, 2, 5, -1, -1])
    """
    wanted = sorted({checked_length(length) for length in lengths})
    if not wanted:
        raise ValueError("lengths is empty; expected at least one length of k-grams")
    blocks = _Blocks(bi_symbols, wanted)
    heads, tails, arities, symbols, positions = [], [], [], [], []
    grams: dict[int, list[Integers]] = {length: [] for length in wanted}
    ends: list[int] = []
    nodes = token = 0
    for sequence in sequences:
        before, n_before = 0, 1  # the nodes of the symbol before
        for t in range(len(sequence)):
            block = blocks.of(tuple(sequence[max(0, t + 1 - wanted[-1]) : t + 1]))
            n_edges = len(block.symbols)
            heads.append(block.heads + nodes)
            if t:
                tails.append(block.tails + before)
            arities.append((min(t, 1), n_edges))
            symbols.append(block.symbols)
            positions.append((token, n_edges))
            for length in wanted:
                grams[length].append(block.grams[length])
            before, n_before = nodes, block.n_nodes
            nodes, token = nodes + n_before, token + 1
        # A node for the whole sequence; an empty one is a leaf.
        closing = n_before if len(sequence) else 1
        heads.append(np.full(closing, nodes))
        if len(sequence):
            tails.append(np.arange(before, before + closing))
        arities.append((min(len(sequence), 1), closing))
        _pad(closing, symbols, positions, grams)
        ends.append(nodes)
        nodes += 1
    heads.append(np.array([nodes]))
    tails.append(np.array(ends, dtype=np.int64))
    arities.append((len(ends), 1))
    _pad(1, symbols, positions, grams)
    arity = np.repeat(*np.array(arities).T)
    forest = Forest(
        np.concatenate(heads),
        np.concatenate([[0], np.cumsum(arity)]),
        np.concatenate(tails),
        np.zeros(len(arity)),
        nodes,
        nodes + 1,
    )
    numbers = {length: np.concatenate(found) for length, found in grams.items()}
    return KGramForest(forest, np.repeat(*np.array(positions).T), np.concatenate(symbols), numbers, token)


def _pad(n: int, symbols: list[Integers], positions: list[tuple[int, int]], grams: dict[int, list[Integers]]) -> None:
    """Edges without a symbol."""
    nothing = np.full(n, UNSEEN)
    symbols.append(nothing)
    positions.append((-1, n))
    for found in grams.values():
        found.append(nothing)


def batches(
    bi_symbols: BiSymbols, sequences: Iterable[Sequence[Hashable]], k: int, n_edges: int
) -> Iterator[list[Sequence[Hashable]]]:
    """The sequences in groups, in their order, whose forests for k-grams have about `n_edges` edges each."""
    group: list[Sequence[Hashable]] = []
    size = 0
    for sequence in sequences:
        counts = [len(bi_symbols.candidates(symbol)) for symbol in sequence]
        group.append(sequence)
        size += sum(prod(counts[max(0, t - k) : t]) for t in range(1, len(counts) + 1))
        if size >= n_edges:
            yield group
            group, size = [], 0
    if group:
        yield group


class _Block(NamedTuple):
    """The edges of one symbol, by history first and candidate second; heads and tails count from its own nodes."""

    heads: Integers
    tails: Integers
    symbols: Integers
    grams: dict[int, Integers]
    n_nodes: int


class _Blocks:
    """The edges of a symbol depend on it and the k - 1 inputs before alone: made once for all places alike."""

    def __init__(self, bi_symbols: BiSymbols, lengths: Sequence[int]) -> None:
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
            seen &= digit != UNSEEN
        return np.where(seen, number, UNSEEN)


def checked_length(value: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ValueError(f"a length of k-grams is {value!r}; expected an integer of at least 1")
    return int(value)
