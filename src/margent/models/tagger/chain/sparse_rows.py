"""Rows of weights of which few are not zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SparseRows:
    """Weights of which few are not zero: row r has `weights[ptr[r]:ptr[r + 1]]` in `columns[ptr[r]:ptr[r + 1]]`."""

    ptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: Floats

    def row(self, number: int, width: int) -> Floats:
        dense = np.zeros(width, dtype=np.float32)
        part = slice(self.ptr[number], self.ptr[number + 1])
        dense[self.columns[part]] = self.weights[part]
        return dense

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        return self.ptr, self.columns, self.weights
