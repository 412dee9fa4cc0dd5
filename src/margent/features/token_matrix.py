"""Sequences of tokens given as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margent.errors import CorpusError
from margent.features.encoded import FloatArray, IntArray, PtrArray, sequence_ptr


class TokenMatrix(Sequence[Any]):
    """One matrix with a row per token, and the lengths of the sequences that its rows make up.

    Parameters
    ----------
    matrix : (n_tokens, n_dimensions) array or scipy sparse matrix
    lengths : (n_sequences,) integers that add up to n_tokens

    Behaves as a sequence of per-sequence matrices, so that cross-validation can take parts of it.

    >>> import numpy as np
    >>> X = TokenMatrix(np.eye(5), lengths=[3, 2])
    >>> len(X), X[1].shape
    (2, (2, 5))
    """

    def __init__(self, matrix: Any, lengths: ArrayLike) -> None:
        if not _is_sparse(matrix):
            matrix = np.asarray(matrix)
        if matrix.ndim != 2:
            raise CorpusError(
                f"expected a matrix with a row for each token, got {matrix.ndim} dimensions. "
                "Reshape your data: array.reshape(-1, 1) if a token has one number, array.reshape(1, -1) if it is one"
            )
        sizes = np.asarray(lengths)
        if sizes.size == 0:
            sizes = np.zeros(0, dtype=np.int64)
        if sizes.dtype.kind not in "iu":
            raise CorpusError(f"expected the lengths of the sequences as integers, got {lengths!r}")
        if sizes.ndim != 1 or (sizes < 0).any() or int(sizes.sum()) != matrix.shape[0]:
            raise CorpusError(
                f"the lengths of the sequences add up to {int(sizes.sum())}, but the matrix has {matrix.shape[0]} rows"
            )
        self.matrix = matrix.tocsr() if _is_sparse(matrix) else matrix
        self.starts: PtrArray = sequence_ptr(sizes)

    @classmethod
    def of(cls, X: Any, n_dimensions: int | None = None) -> TokenMatrix:
        """A TokenMatrix of what users give: one already, or a sequence of matrices, one per sequence."""
        if isinstance(X, TokenMatrix):
            return X
        parts = list(X)
        for number, part in enumerate(parts):
            if not _is_sparse(part):
                try:
                    parts[number] = part = np.asarray(part)
                except ValueError:
                    raise CorpusError(f"sequence {number}: expected rows of equal length") from None
            if part.ndim != 2:
                raise CorpusError(
                    f"sequence {number}: expected an array (tokens, features), got {part.ndim} dimensions"
                )
            wanted = n_dimensions if n_dimensions is not None else parts[0].shape[1]
            if part.shape[1] != wanted:
                raise CorpusError(f"sequence {number}: found {part.shape[1]} features a token, expected {wanted}")
        lengths = [part.shape[0] for part in parts]
        if not parts:
            return cls(np.empty((0, n_dimensions or 0), dtype=np.float32), lengths)
        if any(_is_sparse(part) for part in parts):
            from scipy.sparse import vstack

            return cls(vstack(parts, format="csr"), lengths)
        return cls(np.concatenate(parts), lengths)

    @property
    def n_dimensions(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def shape(self) -> tuple[int]:
        """As numpy says how many sequences there are; scikit-learn asks for it."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)):
            number = range(len(self))[index]
            return self.matrix[self.starts[number] : self.starts[number + 1]]
        numbers = np.arange(len(self))[index]
        lengths = np.diff(self.starts)[numbers]
        rows = [np.arange(self.starts[i], self.starts[i + 1]) for i in numbers]
        return TokenMatrix(self.matrix[np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)], lengths)

    def rows(self) -> tuple[IntArray, FloatArray, PtrArray]:
        """The entries that are not zero, by rows: (ids, values, ptr)."""
        if _is_sparse(self.matrix):
            matrix = self.matrix
            if not matrix.has_canonical_format:
                matrix = matrix.copy()  # the one given stays as it is
                matrix.sum_duplicates()
            ids, values, ptr = matrix.indices, _numbers(matrix.data), matrix.indptr
        else:
            dense = _numbers(self.matrix)
            tokens, ids = np.nonzero(dense)
            values = dense[tokens, ids]
            ptr = np.searchsorted(tokens, np.arange(dense.shape[0] + 1))
        with np.errstate(over="ignore"):  # what does not fit becomes infinite
            numbers: NDArray[np.float32] = np.ascontiguousarray(values, dtype=np.float32)
        finite = np.isfinite(numbers)
        if not finite.all():
            token = int(np.searchsorted(ptr, np.argmin(finite), side="right")) - 1
            number = int(np.searchsorted(self.starts, token, side="right")) - 1
            raise CorpusError(
                f"sequence {number}, token {token - self.starts[number]}: a feature value is infinite, not a number or "
                "too large for 32 bits"
            )
        return np.ascontiguousarray(ids, dtype=np.int32), numbers, np.ascontiguousarray(ptr, dtype=np.int64)


def _numbers(array: NDArray[Any]) -> NDArray[Any]:
    """An array of real numbers; objects that are numbers become such."""
    if array.dtype.kind == "c":
        raise CorpusError("Complex data not supported: expected numbers as features of tokens, and real ones")
    if array.dtype.kind == "O":
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise CorpusError(f"expected numbers as features of tokens, but {error}") from None
        if any(value is None for value in array.flat):  # numpy takes it for nan
            raise CorpusError("expected numbers as features of tokens, found None")
        return numbers
    if array.dtype.kind not in "buif":
        raise CorpusError(f"expected numbers as features of tokens, got an array of type {array.dtype}")
    return array


def _is_sparse(matrix: Any) -> bool:
    """Whether this is a scipy sparse matrix or array, told without importing scipy."""
    return hasattr(matrix, "tocsr") and hasattr(matrix, "nnz")
