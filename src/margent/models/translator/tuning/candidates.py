"""Translations of development sentences with what tuners have to know of them: dense features and BLEU statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from margent.metrics.bleu_statistics import N_STATISTICS

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates of S sentences, N together, those of a sentence one after the other.

    ptr : (S + 1,) where those of each sentence begin; features : (N, F); statistics : (N, 10), of BLEU
    Every sentence has at least one.
    """

    ptr: NDArray[np.int64]
    features: Doubles
    statistics: Doubles

    @classmethod
    def of(cls, features: Sequence[Doubles], statistics: Sequence[Doubles]) -> Candidates:
        """From those of each sentence, (n, F) and (n, 10); sentences without any are left out."""
        kept = [i for i, rows in enumerate(features) if len(rows)]
        if not kept:
            raise ValueError("there is no sentence with a translation to tune on")
        ptr = np.concatenate([[0], np.cumsum([len(features[i]) for i in kept])]).astype(np.int64)
        return cls(ptr, np.concatenate([features[i] for i in kept]), np.concatenate([statistics[i] for i in kept]))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def n_features(self) -> int:
        return int(self.features.shape[1])

    @property
    def sentences(self) -> NDArray[np.int64]:
        """(N,) the sentence of each candidate."""
        return np.repeat(np.arange(len(self)), np.diff(self.ptr))

    def best(self, weights: Doubles) -> NDArray[np.int64]:
        """(S,) the number of each sentence's best candidate; of equal ones the first."""
        return first_largest(self.features @ weights, self.ptr)

    def chosen_statistics(self, weights: Doubles) -> Doubles:
        """(10,) of the best candidates together."""
        found: Doubles = self.statistics[self.best(weights)].sum(axis=0)
        return found

    def joined(self, other: Candidates) -> Candidates:
        """The candidates of both, of the same sentences; what is the same in all is kept once."""
        if len(self) != len(other):
            raise ValueError(f"candidates of {len(self)} and {len(other)} sentences cannot be joined")
        features, statistics = [], []
        for i in range(len(self)):
            rows = [
                np.hstack([one.features[a:b], one.statistics[a:b]])
                for one in (self, other)
                for a, b in [one.ptr[i : i + 2]]
            ]
            together = np.concatenate(rows)
            _, first = np.unique(together.round(9), axis=0, return_index=True)
            kept = together[np.sort(first)]
            features.append(kept[:, :-N_STATISTICS])
            statistics.append(kept[:, -N_STATISTICS:])
        return Candidates.of(features, statistics)


def first_largest(values: Doubles, ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """For rows values[ptr[i] : ptr[i + 1]], none of them empty, the number of each one's first largest value."""
    largest = np.repeat(np.maximum.reduceat(values, ptr[:-1]), np.diff(ptr))
    numbers = np.where(values == largest, np.arange(len(values)), len(values))
    found: NDArray[np.int64] = np.minimum.reduceat(numbers, ptr[:-1])
    return found
