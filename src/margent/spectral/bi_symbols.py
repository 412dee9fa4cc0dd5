"""Bi-symbols: which output symbols were seen with which input symbols."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError
from margent.spectral.hankel_basis import check_n_scores
from margent.spectral.operator_model import BiSymbol
from margent.spectral.symbol_sequences import symbol_sequences

UNSEEN = -1
"""The number of every bi-symbol that is not known."""


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class BiSymbols:
    """The bi-symbols (input symbol, output symbol) that may occur, numbered from 0. A value.

    An input symbol is only ever given one of the outputs it stands with here (its *candidates*), which makes searches
    by k-grams affordable: c^k possibilities at a place for c candidates, where all outputs would be |Y|^k. An input
    symbol that stands with none has one candidate, the number -1, whose output is `fallback`.

    Parameters
    ----------
    symbols : pairs (input symbol, output symbol), all different
        Where two outputs score the same, the one that stands earlier here is chosen.
    fallback : the output of an input symbol that is in no pair; None: the output of the first pair

    Example
    -------
    >>> seen = BiSymbols.observed(["cat", "city"], [["k", "@", "t"], ["s", "I", "t", "i"]])
    >>> seen.outputs_with("c"), seen.outputs_with("t"), seen.outputs_with("x")
    (['k', 's'], ['t'], ['t'])
    """

    symbols: tuple[BiSymbol, ...]
    fallback: Hashable

    def __init__(self, symbols: Iterable[BiSymbol], fallback: Hashable = None) -> None:
        pairs = tuple(symbols)
        if not pairs:
            raise ValueError("there is no bi-symbol; expected at least one pair (input symbol, output symbol)")
        seen: set[BiSymbol] = set()
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"bi-symbol {i} is {pair!r}; expected a pair (input symbol, output symbol)")
            if pair in seen:
                raise ValueError(f"bi-symbol {i}, {pair!r}, was given before; expected each only once")
            seen.add(pair)
        object.__setattr__(self, "symbols", pairs)
        object.__setattr__(self, "fallback", pairs[0][1] if fallback is None else fallback)

    @classmethod
    def observed(cls, X: Sequence[Sequence[Hashable]], y: Sequence[Sequence[Hashable]]) -> BiSymbols:
        """All that occur in training data: input sequences X and output sequences y.

        The most frequent come first, those equally frequent in the order of their first occurrence, so that ties go to
        the more frequent output; the fallback is the most frequent output of all.
        """
        X, y = symbol_sequences(X, "X"), symbol_sequences(y, "y")
        if len(X) != len(y):
            raise CorpusError(f"found outputs for {len(y)} sequences, expected them for {len(X)}")
        counts: Counter[BiSymbol] = Counter()
        for s, (inputs, outputs) in enumerate(zip(X, y)):
            if len(inputs) != len(outputs):
                raise CorpusError(f"sequence {s} has {len(inputs)} input symbols, but {len(outputs)} output symbols")
            counts.update(zip(inputs, outputs))
        if not counts:
            raise CorpusError("there is nothing to learn from: the training data have no symbol")
        by_output: Counter[Hashable] = Counter()
        for (_, output), count in counts.items():
            by_output[output] += count
        return cls((pair for pair, _ in counts.most_common()), by_output.most_common(1)[0][0])

    def __len__(self) -> int:
        return len(self.symbols)

    def __repr__(self) -> str:
        return f"BiSymbols(n_inputs={len(self._candidates)}, n_bi_symbols={len(self)}, fallback={self.fallback!r})"

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The input symbols, in the order in which they first stand in a pair."""
        return tuple(self._candidates)

    def candidates(self, symbol: Hashable) -> npt.NDArray[np.int64]:
        """The numbers of the bi-symbols of an input symbol; [-1] if there is none."""
        return self._candidates.get(symbol, _UNSEEN_ALONE)

    def outputs_with(self, symbol: Hashable) -> list[Hashable]:
        """The outputs that an input symbol may have."""
        return [self.output(number) for number in self.candidates(symbol).tolist()]

    def output(self, number: int) -> Hashable:
        """The output symbol of a bi-symbol; of number -1, the fallback."""
        return self.fallback if number == UNSEEN else self.symbols[number][1]

    def numbers(self, x: Sequence[Hashable], y: Sequence[Hashable]) -> npt.NDArray[np.int64]:
        """(T,): the bi-symbols of a pair of sequences of the same length; -1 for those that are not known."""
        if len(x) != len(y):
            raise CorpusError(f"x has {len(x)} input symbols, but y has {len(y)} output symbols")
        return np.array([self._numbers.get(pair, UNSEEN) for pair in zip(x, y)], dtype=np.int64)

    def gram_counts(self, sequences: Iterable[npt.NDArray[np.int64]], length: int) -> npt.NDArray[np.float64]:
        """(m^length,): how often each l-gram occurs in sequences of numbers, those with an unseen bi-symbol left out.

        An l-gram is a number with l digits in base m, the last bi-symbol being the last digit. Lengths are 1 or
        more.
        """
        check_n_scores(len(self), length)
        powers = len(self) ** np.arange(length - 1, -1, -1)
        windows = [np.lib.stride_tricks.sliding_window_view(s, length) for s in sequences if len(s) >= length]
        if not windows:
            return np.zeros(len(self) ** length)
        grams = np.concatenate(windows)
        return np.bincount(grams[(grams != UNSEEN).all(axis=1)] @ powers, minlength=len(self) ** length).astype(float)

    @cached_property
    def _numbers(self) -> dict[BiSymbol, int]:
        return {pair: number for number, pair in enumerate(self.symbols)}

    @cached_property
    def _candidates(self) -> dict[Hashable, npt.NDArray[np.int64]]:
        grouped: dict[Hashable, list[int]] = {}
        for number, (symbol, _) in enumerate(self.symbols):
            grouped.setdefault(symbol, []).append(number)
        return {symbol: np.array(numbers, dtype=np.int64) for symbol, numbers in grouped.items()}


_UNSEEN_ALONE = np.array([UNSEEN], dtype=np.int64)
