"""Weights of a chain over other labels that are mixtures of its own: labels that are split, or merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.models.tagger.chain.sparse_rows import Floats, SparseRows
from margent.models.tagger.chain.weights import ChainWeights


def mixed(weights: ChainWeights, shares: NDArray[np.float64]) -> ChainWeights:
    """The weights of M labels from those of L: shares (M, L), what each takes of each.

    A label that is split is taken whole by each of its parts; where two are merged, each gives its share. Histories are
    mixed as labels are; the start stays what it is.
    """
    from scipy import sparse

    n_labels, shares = len(shares), shares.astype(np.float32)
    width = _core.padded_width(n_labels)
    columns = np.zeros((weights.width, width), dtype=np.float32)
    columns[: weights.n_labels, :n_labels] = shares.T
    before = np.zeros((weights.n_labels + 1, n_labels + 1), dtype=np.float32)
    before[:-1, :-1], before[-1, -1] = shares.T, 1.0

    def mixed_rows(rows: SparseRows, mixture: Any) -> SparseRows:
        size, shape = rows.ptr[-1], (len(rows.ptr) - 1, mixture.shape[0])
        table = sparse.csr_matrix((rows.weights[:size], rows.columns[:size], rows.ptr), shape)
        found = sparse.csr_matrix(table @ mixture)
        found.sort_indices()
        return SparseRows(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data)

    def mixed_level(level: Floats, digits: int) -> Floats:
        table = level.reshape((weights.n_labels + 1,) * digits + (weights.width,)) @ columns
        for axis in range(digits):
            table = np.moveaxis(np.tensordot(table, before, (axis, 0)), -1, axis)
        return np.ascontiguousarray(table.reshape(-1, width))

    unigrams, edges, mixture = weights.unigrams, weights.edges, sparse.csr_matrix(columns)
    return ChainWeights(
        n_labels,
        weights.order,
        mixed_rows(unigrams, mixture) if isinstance(unigrams, SparseRows) else np.ascontiguousarray(unigrams @ mixture),
        None if edges is None else mixed_rows(edges, sparse.kron(before, columns, "csr")),
        [mixed_level(level, j + 1) for j, level in enumerate(weights.transitions)],
        [mixed_level(level, j) for j, level in enumerate(weights.ends)],
    )
