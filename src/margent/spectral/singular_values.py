"""Thresholding of singular values: the proximal step of the nuclear norm."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.extras import optional

Doubles = NDArray[np.float64]

Decomposition = Literal["auto", "full", "gram", "partial"]
"""How singular values are found; see `threshold_singular_values`."""

# Roots of the eigenvalues of a product are known to the root of the rounding error.
_NOISE = 2e-8
# It pays to leave eigenvectors out where the shorter side is at least so long, and so many times the rank.
_LONG, _TIMES = 256, 4


class Shrunk(NamedTuple):
    """A matrix of lower rank, its rank, and its nuclear norm: the sum of its singular values."""

    matrix: Doubles
    rank: int
    norm: float


def threshold_singular_values(
    matrix: Doubles, threshold: float, svd: Decomposition = "auto", likely_rank: int | None = None
) -> Shrunk:
    """U max(D - threshold, 0) V' for the matrix U D V' (P, S), in one of three ways that give the same, to rounding.

    svd
        full      a decomposition of the whole matrix: O(P S min(P, S)), with a large constant
        gram      V and D^2 are the eigenvectors and eigenvalues of the product of the matrix with itself, which is as
                  large as its shorter side: as many operations, but most of them in one product of matrices, several
                  times faster where one side is long. Singular values are right to about 1e-8 of the largest one, and
                  smaller ones count as 0
        partial   of the same product only the eigenvectors whose singular values are above the threshold: half the time
                  where it is large and they are few, and twice the time where they are many
        auto      partial where the shorter side is long and `likely_rank`, such as that of the last iteration, is low;
                  else gram

    Rows of zeros, on the longer side, cost nothing. (To start from the singular vectors of the last iteration and to
    improve them until they stand still was tried: it takes more time than it saves, as those just above the threshold
    are hard to tell from those just below.)
    """
    if matrix.shape[0] < matrix.shape[1]:
        turned = threshold_singular_values(matrix.T, threshold, svd, likely_rank)
        return turned._replace(matrix=turned.matrix.T)
    rows = np.flatnonzero(matrix.any(axis=1))
    filled = matrix if len(rows) == len(matrix) else matrix[rows]
    if svd == "auto":
        few = likely_rank is not None and max(_LONG, _TIMES * likely_rank) <= matrix.shape[1]
        svd = "partial" if few else "gram"
    sizes, right = _right_singular(filled, threshold, svd)
    kept = sizes > max(threshold, _NOISE * sizes.max(initial=0.0))
    leading, shrunk = right[:, kept], sizes[kept] - threshold
    found = np.zeros_like(matrix)
    found[rows] = ((filled @ leading) * (shrunk / sizes[kept])) @ leading.T
    return Shrunk(found, int(kept.sum()), float(shrunk.sum()))


def singular_values(matrix: Doubles, svd: Decomposition = "auto") -> Doubles:
    """All of them, in any order; `full` decomposes the whole matrix, the other ways its product with itself."""
    if svd == "full":
        return np.asarray(np.linalg.svd(matrix, compute_uv=False), dtype=np.float64)
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    return _roots(np.linalg.eigh(tall.T @ tall)[0])


def _right_singular(matrix: Doubles, threshold: float, svd: Decomposition) -> tuple[Doubles, Doubles]:
    """Singular values and right singular vectors, as columns: all that are above the threshold, perhaps others."""
    if svd == "full":
        _, sizes, turned = np.linalg.svd(matrix, full_matrices=False)
        return sizes, turned.T
    product = matrix.T @ matrix
    if svd == "gram" or threshold <= 0:
        squares, vectors = np.linalg.eigh(product)
    else:
        partial = optional("scipy.linalg", "the nuclear norm needs", "scipy")
        squares, vectors = partial.eigh(product, subset_by_value=(threshold**2, np.inf))
    return _roots(squares), vectors


def _roots(squares: Doubles) -> Doubles:
    return np.sqrt(np.maximum(squares, 0.0))
