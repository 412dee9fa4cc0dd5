"""Encoded sequences: what every feature map makes and the native chain reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core

IntArray = NDArray[np.int32]
PtrArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
Self = TypeVar("Self", bound="Encoded")


@dataclass(frozen=True)
class Encoded:
    """Tokens as rows of feature ids, one sequence after the other (compressed rows).

    Sequence s is tokens `sequence_ptr[s]` to `sequence_ptr[s + 1] - 1`; token t has features `ids[ptr[t]:ptr[t + 1]]`
    with `values` (None: all 1). `edge_*` are the features that are paired with two adjacent labels.
    """

    sequence_ptr: PtrArray
    ids: IntArray
    ptr: PtrArray
    values: FloatArray | None = None
    edge_ids: IntArray | None = None
    edge_ptr: PtrArray | None = None
    edge_values: FloatArray | None = None

    @property
    def n_sequences(self) -> int:
        return len(self.sequence_ptr) - 1

    @property
    def n_tokens(self) -> int:
        return int(self.sequence_ptr[-1])

    @property
    def lengths(self) -> PtrArray:
        return self.sequence_ptr[1:] - self.sequence_ptr[:-1]

    def part(self: Self, numbers: PtrArray) -> Self:
        """The sequences of these numbers alone, with the same feature ids."""
        tokens = rows_of(self.sequence_ptr, numbers)
        places = rows_of(self.ptr, tokens)
        chosen: dict[str, Any] = {
            "sequence_ptr": sequence_ptr(self.lengths[numbers]),
            "ids": self.ids[places],
            "ptr": sequence_ptr(np.diff(self.ptr)[tokens]),
            "values": None if self.values is None else self.values[places],
        }
        if self.edge_ids is not None and self.edge_ptr is not None:
            places = rows_of(self.edge_ptr, tokens)
            chosen |= {"edge_ids": self.edge_ids[places], "edge_ptr": sequence_ptr(np.diff(self.edge_ptr)[tokens])}
            chosen["edge_values"] = None if self.edge_values is None else self.edge_values[places]
        return replace(self, **chosen)

    def without_features(self: Self, numbers: PtrArray) -> Self:
        """The same sequences, but the tokens of those with these numbers have no features."""
        keep = np.ones(self.n_tokens, dtype=bool)
        keep[rows_of(self.sequence_ptr, numbers)] = False
        chosen: dict[str, Any] = {}
        for kind in ("", "edge_"):
            ptr, ids, values = (getattr(self, f"{kind}{name}") for name in ("ptr", "ids", "values"))
            if ids is not None:
                sizes = np.diff(ptr)
                kept = np.repeat(keep, sizes)
                chosen |= {f"{kind}ids": ids[kept], f"{kind}ptr": sequence_ptr(sizes * keep)}
                chosen[f"{kind}values"] = None if values is None else values[kept]
        return replace(self, **chosen)

    def examples(
        self,
        labels: IntArray | None = None,
        weights: FloatArray | None = None,
        allowed: tuple[IntArray, PtrArray] | None = None,
        hidden: IntArray | None = None,
    ) -> _core.Examples:
        """The native view of these sequences, with gold labels, sequence weights and allowed labels if given.

        `hidden`: gold label y stands for hidden[y] labels of the chain, itself and the next ones; None: for itself.
        """
        ids, ptr = allowed if allowed is not None else (None, None)
        return _core.Examples(
            self.sequence_ptr,
            self.ids,
            self.values,
            self.ptr,
            self.edge_ids,
            self.edge_values,
            self.edge_ptr,
            ids,
            ptr,
            labels,
            weights,
            hidden,
        )


def sequence_ptr(lengths: Sequence[int] | PtrArray) -> PtrArray:
    """Offsets of sequences that lie one after the other: (n + 1,) from their lengths."""
    ptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.add.accumulate(lengths, out=ptr[1:])
    return ptr


def rows_of(ptr: PtrArray, numbers: PtrArray) -> PtrArray:
    """The entries of some rows of a table in compressed rows, one row after the other."""
    sizes = np.diff(ptr)[numbers]
    ends = np.cumsum(sizes)
    shifts: PtrArray = np.repeat(ptr[:-1][numbers] - (ends - sizes), sizes)
    return shifts + np.arange(len(shifts))


def keep_features(
    ids: IntArray, ptr: PtrArray, values: FloatArray | None, keep: NDArray[np.bool_]
) -> tuple[IntArray, PtrArray, FloatArray | None]:
    """The same rows without the features that are not in `keep` (n_features,), ids renumbered in order."""
    wanted = keep[ids]
    renumbered = (np.cumsum(keep) - 1).astype(np.int32)
    kept_before = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(wanted, out=kept_before[1:])
    return renumbered[ids[wanted]], kept_before[ptr], None if values is None else values[wanted]
