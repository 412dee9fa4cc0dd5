"""The numbers of features that are known by keys of 64 bits."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from margent import _core

Keys = NDArray[np.uint64]


class FeatureKeys:
    """F different keys; that of feature i is `keys[i]`. Keys are not numbered twice: a copy that grows keeps them."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def none(cls) -> FeatureKeys:
        return cls(np.zeros(0, dtype=np.uint64))

    def grown(self, seen: Keys, min_count: int) -> FeatureKeys:
        """With those that are seen at least `min_count` times, in the order of the keys; 0 is none."""
        distinct, counts = np.unique(seen, return_counts=True)
        often = distinct[(counts >= min_count) & (distinct != 0)]
        return FeatureKeys(np.concatenate([self.keys, np.setdiff1d(often, self.keys)]))

    def find(self, keys: Keys) -> NDArray[np.int32]:
        """The number of each key; -1: it is not known."""
        return self._table.find(_mixed(keys.ravel())).reshape(keys.shape)

    @cached_property
    def _table(self) -> _core.PhraseKeys:
        return _core.PhraseKeys(_mixed(self.keys))


def _mixed(keys: Keys) -> Keys:
    """Other keys, one for each (the finalizer of splitmix64): the table takes keys as they are for well distributed."""
    mixed = keys ^ (keys >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.ascontiguousarray(mixed)
