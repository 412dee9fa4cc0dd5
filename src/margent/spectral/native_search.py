"""The search for the best outputs of many sequences by k-gram scores, in native code."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.spectral.bi_symbols import UNSEEN, BiSymbols

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]

_MOST_SCORES = 2**31


class BestOutputs(NamedTuple):
    """scores : (S,), of each sequence; symbols : (T,), the bi-symbols of all tokens, the first sequence first."""

    scores: Doubles
    symbols: Integers


class NativeSearch:
    """Sequences laid out for any number of searches, with other scores each time.

    What the k-grams that end at a token can score depends on its *context*, the last k inputs, alone: contexts are
    numbered once, and each search sums up the scores once for each context. Takes 4 bytes for a token, and in a search
    8 for each choice of candidates of each context that occurs, which is no more than the table of k-grams has.

    Parameters
    ----------
    bi_symbols : the candidates
    sequences : input sequences; an input that is not known has one candidate, which scores nothing
    order : k, the largest length of the l-grams that will be given scores
    """

    def __init__(self, bi_symbols: BiSymbols, sequences: Sequence[Sequence[Hashable]], order: int) -> None:
        self.n_symbols = len(bi_symbols)
        self.order = max(order, 2)
        numbers = {symbol: number for number, symbol in enumerate(bi_symbols.inputs)}
        nothing = len(numbers)  # an unknown input, and what stands before a sequence: neither is part of any k-gram
        candidates = [bi_symbols.candidates(symbol) for symbol in bi_symbols.inputs] + [np.array([UNSEEN])]
        self._candidates = np.concatenate(candidates).astype(np.int32)
        self._candidate_ptr = _offsets([len(own) for own in candidates])
        self.sequence_ptr = _offsets([len(sequence) for sequence in sequences])
        tokens = np.fromiter(
            (numbers.get(symbol, nothing) for symbol in chain.from_iterable(sequences)), np.int64, self.n_tokens
        )
        self._contexts, self._tokens = self._numbered(tokens, nothing)

    @property
    def n_tokens(self) -> int:
        return int(self.sequence_ptr[-1])

    def best(
        self, scores: Mapping[int, npt.NDArray[np.float64]], gold: Integers | None = None, threads: int = 1
    ) -> BestOutputs:
        """The outputs of each sequence that score most; of equals, those that stand earlier in the bi-symbols.

        scores : length l to the scores (m, ..., m) of all l-grams, 1 <= l <= order
        gold : (T,), bi-symbols; every other costs 1, which is added to the scores
        threads : do not change the result

        O(T c^k) for c candidates of an input.
        """
        if not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1:
            raise ValueError(f"threads is {threads!r}; expected an integer of at least 1")
        tables = [(length, np.ascontiguousarray(table).reshape(-1)) for length, table in scores.items()]
        right = np.zeros(0, dtype=np.int32) if gold is None else gold
        return BestOutputs(
            *_core.k_gram_search(
                self.order,
                self.n_symbols,
                self._candidate_ptr,
                self._candidates,
                self._contexts,
                self._tokens,
                self.sequence_ptr,
                tables,
                right,
                threads,
            )
        )

    def windows(self, length: int) -> npt.NDArray[np.int64]:
        """The tokens with which an l-gram ends: those with l - 1 others before them in their sequence."""
        return np.flatnonzero(self._places() >= length - 1)

    def grams(self, symbols: Integers, length: int, windows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers of the l-grams that end at these tokens: l digits in base m, the last symbol being the last."""
        if self.n_symbols**length >= _MOST_SCORES:
            raise ValueError(
                f"there are {self.n_symbols**length} {length}-grams of {self.n_symbols} bi-symbols; expected less "
                "than 2^31"
            )
        number = np.zeros(len(windows), dtype=np.int64)
        for before in range(length - 1, -1, -1):
            number *= self.n_symbols
            number += symbols[windows - before]
        return number

    def _places(self) -> npt.NDArray[np.int64]:
        """(T,): how many tokens precede each in its sequence."""
        starts = np.repeat(self.sequence_ptr[:-1], np.diff(self.sequence_ptr))
        return np.arange(self.n_tokens) - starts

    def _numbered(self, tokens: npt.NDArray[np.int64], nothing: int) -> tuple[Integers, Integers]:
        """(contexts, k): the inputs of each context; and (T,): the context of each token."""
        places = self._places()
        numbers, contexts = np.zeros(len(tokens), dtype=np.int64), np.zeros((1, 0), dtype=np.int64)
        for before in range(self.order - 1, -1, -1):
            inputs = np.full(len(tokens), nothing)
            inputs[places >= before] = tokens[np.flatnonzero(places >= before) - before]
            pairs, numbers = np.unique(numbers * (nothing + 1) + inputs, return_inverse=True)
            contexts = np.column_stack([contexts[pairs // (nothing + 1)], pairs % (nothing + 1)])
        return contexts.astype(np.int32), numbers.astype(np.int32)


def _offsets(counts: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
