"""Thresholding of singular values: the proximal step of the nuclear norm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

# Roots of the eigenvalues of a product are known to the root of the rounding error.
_NOISE = 2e-8
# A subspace is followed where the shorter side of a matrix is at least so long, and so many times the rank.
_LONG, _TIMES = 256, 8
# Columns beyond the rank, to see a singular value that has grown; and how still all must be, after how many rounds.
_SPARE, _STILL, _ROUNDS = 10, 1e-9, 30


class Shrunk(NamedTuple):
    """A matrix of lower rank, its rank, and its nuclear norm: the sum of its singular values."""

    matrix: Doubles
    rank: int
    norm: float


class Thresholding:
    """U max(D - threshold, 0) V' for a matrix U D V', again and again for matrices that change little.

    V and D^2 come from the product of the matrix with itself, which is as large as its smaller side: O(P S min(P, S)),
    several times quicker than a decomposition of the whole where one side is long. Rows of zeros, on the longer side,
    cost nothing. Singular values are right to about 1e-8 of the largest one, and smaller ones count as 0.

    Where the smaller side is long and the rank was low the last time, only the leading singular vectors are looked for,
    by subspace iteration that starts with those of the last time (`warm`), O(P S rank) a round: some rounds, until
    their singular values stand still. If the smallest of those found is not below the threshold, others may be above
    it, and all are computed.
    """

    def __init__(self, *, warm: bool = True) -> None:
        self._warm = warm
        self._leading: Doubles | None = None

    def __call__(self, matrix: Doubles, threshold: float) -> Shrunk:
        if matrix.shape[0] < matrix.shape[1]:
            turned = self(matrix.T, threshold)
            return turned._replace(matrix=turned.matrix.T)
        rows = np.flatnonzero(matrix.any(axis=1))
        filled = matrix if len(rows) == len(matrix) else matrix[rows]
        sizes, right = self._followed(filled, threshold) or _right_singular(filled)
        kept = sizes > max(threshold, _NOISE * sizes.max(initial=0.0))
        self._leading = right[:, kept]
        shrunk = sizes[kept] - threshold
        found = np.zeros_like(matrix)
        found[rows] = ((filled @ self._leading) * (shrunk / sizes[kept])) @ self._leading.T
        return Shrunk(found, int(kept.sum()), float(shrunk.sum()))

    def _followed(self, matrix: Doubles, threshold: float) -> tuple[Doubles, Doubles] | None:
        """The leading singular values and vectors, or None where they cannot be had this way."""
        side, leading = matrix.shape[1], self._leading
        if not self._warm or leading is None or threshold <= 0 or len(leading) != side or side < _LONG:
            return None
        if _TIMES * (leading.shape[1] + _SPARE) > side:
            return None
        spare = np.random.default_rng(0).normal(size=(side, _SPARE))
        basis = np.linalg.qr(np.hstack([leading, spare]))[0]
        before = np.zeros(basis.shape[1])
        for _ in range(_ROUNDS):
            image = matrix @ basis
            sizes, turn = _right_singular(image)
            above = sizes > threshold
            if not np.any(np.abs(sizes - before)[above] > _STILL * sizes.max()) and not above[0]:
                return sizes, basis @ turn
            if above.all():
                return None
            before = sizes
            basis = np.linalg.qr(matrix.T @ image)[0]
        return None


def threshold_singular_values(matrix: Doubles, threshold: float) -> tuple[Doubles, int]:
    """U max(D - threshold, 0) V' for the matrix U D V', and its rank."""
    found = Thresholding()(matrix, threshold)
    return found.matrix, found.rank


def nuclear_norm(matrix: Doubles) -> float:
    """The sum of the singular values."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    return float(_right_singular(tall)[0].sum())


def _right_singular(matrix: Doubles) -> tuple[Doubles, Doubles]:
    """Singular values, the smallest first, and right singular vectors, as columns."""
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    return np.sqrt(np.maximum(values, 0.0)), vectors
