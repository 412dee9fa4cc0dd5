"""Labels that stand for several hidden ones: which belongs to which, and what is said of the one in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from margent.models.tagger.constraints import Allowed
from margent.models.tagger.search import Bools, Ids


@dataclass(frozen=True, eq=False)
class Sublabels:
    """L labels that are seen, and the H hidden labels that they stand for (paper 003, equations 4.4 and 4.5).

    sizes : (L,) how many hidden labels each has. They lie one after the other: first those of label 0, then of label 1.
    """

    sizes: Ids

    @property
    def n_labels(self) -> int:
        """L, those that are seen."""
        return len(self.sizes)

    @cached_property
    def n_hidden(self) -> int:
        """H."""
        return int(self.sizes.sum())

    @cached_property
    def seen(self) -> Ids:
        """(H,) the label that each hidden one belongs to."""
        return np.repeat(np.arange(self.n_labels, dtype=np.int32), self.sizes)

    @cached_property
    def first(self) -> Ids:
        """(L,) the first hidden label of each."""
        return (np.cumsum(self.sizes) - self.sizes).astype(np.int32)

    @cached_property
    def n_sublabels(self) -> Ids:
        """(H,) how many there are from each hidden label to the last that belongs to the same one, as the core asks."""
        return (self.first[self.seen] + self.sizes[self.seen] - np.arange(self.n_hidden)).astype(np.int32)

    def extended(self, n_labels: int, size: int) -> Sublabels:
        """With further labels, of `size` hidden ones each."""
        more = np.full(n_labels - self.n_labels, size, dtype=np.int32)
        return Sublabels(np.concatenate([self.sizes, more]))

    def names(self, names: Sequence[str]) -> list[str]:
        """NN/1, NN/2 for the hidden labels of NN; a label that is not split keeps its name."""
        return [
            name if size == 1 else f"{name}/{number}"
            for name, size in zip(names, self.sizes.tolist())
            for number in range(1, size + 1)
        ]

    def gold(self, ids: Ids) -> Ids:
        """(T,) labels as the core takes them: the first hidden label of each, -1 where none is known."""
        return np.where(ids < 0, np.int32(-1), self.first[ids])

    def beside(self, table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(R, L + 1), the boundary last, to (R, H + 1)."""
        return np.ascontiguousarray(table[:, self._with_boundary])

    def pairs(self, pairs: Bools | None) -> Bools | None:
        """(L + 1, L + 1) which may follow which, to (H + 1, H + 1)."""
        return None if pairs is None else pairs[np.ix_(self._with_boundary, self._with_boundary)]

    def costs(self, costs: list[float]) -> list[float]:
        """Those of L labels, or of L * L pairs, to those of the hidden ones."""
        if len(costs) == self.n_labels**2 > 1:
            table = np.array(costs).reshape(self.n_labels, self.n_labels)[np.ix_(self.seen, self.seen)]
            return [float(cost) for cost in table.ravel()]
        return [costs[label] for label in self.seen.tolist()] if costs else []

    def allowed(self, allowed: Allowed | None) -> Allowed | None:
        """All hidden labels of those that are allowed."""
        if allowed is None:
            return None
        hidden, ends = self.spread(allowed[0])
        return hidden, ends[allowed[1]]

    def spread(self, ids: Ids) -> Allowed:
        """The hidden labels of each of some labels (n,), in compressed rows."""
        sizes = self.sizes[ids]
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        within = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
        return (np.repeat(self.first[ids], sizes) + within).astype(np.int32), ends

    def only(self, ids: Ids) -> Allowed:
        """Allows at each token the hidden labels of one label (T,), or all where it is -1."""
        known = ids >= 0
        allowed = self.allowed((ids[known], np.concatenate([[0], np.cumsum(known)])))
        assert allowed is not None
        return allowed

    @cached_property
    def _with_boundary(self) -> Ids:
        return np.append(self.seen, np.int32(self.n_labels))
