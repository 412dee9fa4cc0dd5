"""Sentences with their right trees, encoded once for all that is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import rows_of
from margent.features.token_atoms import EncodedTokens

UNKNOWN = -1
"""The head or the label of a word of which none is known: a partial tree."""


@dataclass(frozen=True)
class ParserData:
    """n sentences of T words together, one after the other.

    tokens : what is seen of the words
    heads : (T,) int32, the head of each word, its words counted from 1, 0 the root; -1: not known, so that the arc is
        latent in training
    labels : (T,) int32, the label of each arc; -1: not known
    sample_weight : (n,) float32, what each sentence counts; None: 1
    """

    tokens: EncodedTokens
    heads: NDArray[np.int32]
    labels: NDArray[np.int32]
    sample_weight: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(T,) whether the head is known."""
        return np.asarray(self.heads != UNKNOWN)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(n,) what each sentence counts."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the sentences that count and of which a head is known."""
        ptr = self.tokens.sequence_ptr
        known = np.append(0, np.cumsum(self.known))
        return np.flatnonzero((self.counts > 0) & (known[ptr[1:]] > known[ptr[:-1]]))

    def part(self, numbers: Sequence[int] | NDArray[np.int64]) -> ParserData:
        """The sentences of these numbers alone."""
        chosen = np.asarray(numbers, dtype=np.int64)
        rows = rows_of(self.tokens.sequence_ptr, chosen)
        weights = None if self.sample_weight is None else self.sample_weight[chosen]
        return ParserData(self.tokens.part(chosen), self.heads[rows], self.labels[rows], weights)
