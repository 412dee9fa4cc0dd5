"""Tokens as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from margent.errors import CorpusError
from margent.features import TokenMatrix
from margent.features.attribute_map import VectorMap

ROWS = np.array([[0, 1.5, 0], [-2, 0, 3], [0, 0, 0], [1, 1, 1]])


def dense(encoded: Any, width: int = 3) -> np.ndarray:
    out = np.zeros((encoded.n_tokens, width))
    values = np.ones(len(encoded.ids)) if encoded.values is None else encoded.values
    for t in range(encoded.n_tokens):
        for k in range(encoded.ptr[t], encoded.ptr[t + 1]):
            out[t, encoded.ids[k]] += values[k]
    return out


@pytest.mark.parametrize(
    "X",
    [
        [ROWS[:1], ROWS[1:]],
        [ROWS[:1].tolist(), ROWS[1:].tolist()],
        [sparse.csr_matrix(ROWS[:1]), sparse.csr_matrix(ROWS[1:])],
        [sparse.coo_array(ROWS[:1]), sparse.csc_matrix(ROWS[1:])],
        [sparse.csr_matrix(ROWS[:1]), ROWS[1:]],
        TokenMatrix(ROWS, [1, 3]),
        TokenMatrix(sparse.csr_array(ROWS), np.array([1, 3], dtype=np.int32)),
        [np.asfortranarray(ROWS[:1].astype(np.float32)), ROWS[1:]],
        (part for part in (ROWS[:1], ROWS[1:])),
    ],
)
def test_all_ways_to_give_numbers_mean_the_same(X: Any) -> None:
    map_ = VectorMap()
    encoded = map_.encode(X, grow=True)
    assert encoded.lengths.tolist() == [1, 3] and map_.n_unigrams == 3
    np.testing.assert_array_equal(dense(encoded), ROWS)
    assert map_.name(2) == "x[2]"


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64])
def test_numbers_of_all_kinds(kind: Any) -> None:
    rows = np.array([[0, 1], [1, 0]]).astype(kind)
    encoded = VectorMap().encode([rows], grow=True)
    np.testing.assert_array_equal(dense(encoded, 2), rows.astype(float))
    assert encoded.values is None  # all ones need no memory


def test_a_sparse_matrix_with_entries_twice_is_added_up_and_left_as_it_was() -> None:
    matrix = sparse.csr_matrix((np.array([1.0, 2, 4]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 3))
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(dense(VectorMap().encode([matrix], grow=True)), [[4, 3, 0]])
    assert matrix.nnz == 3


def test_token_matrix_is_a_sequence_of_matrices() -> None:
    for matrix in (ROWS, sparse.csr_matrix(ROWS)):
        X = TokenMatrix(matrix, lengths=[1, 0, 2, 1])
        assert len(X) == 4 and X.shape == (4,)
        assert [part.shape for part in X] == [(1, 3), (0, 3), (2, 3), (1, 3)]
        assert X[-1].shape == (1, 3)
        part = X[[3, 0]]
        np.testing.assert_array_equal(dense(VectorMap().encode(part, grow=True)), ROWS[[3, 0]])
        assert len(X[1:3]) == 2 and len(X[np.array([True, False, False, True])]) == 2 and len(X[[]]) == 0
        with pytest.raises(IndexError):
            X[4]


def test_empty_sequences() -> None:
    map_ = VectorMap()
    encoded = map_.encode([np.empty((0, 3)), ROWS, np.empty((0, 3))], grow=True)
    assert encoded.lengths.tolist() == [0, 4, 0]
    assert map_.encode([]).n_sequences == 0
    assert VectorMap().encode([np.empty((0, 0))], grow=True).n_tokens == 0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([np.ones(3)], r"sequence 0: expected an array \(tokens, features\), got 1 dimensions"),
        ([ROWS, np.ones((1, 2, 3))], "sequence 1: .* got 3 dimensions"),
        ([ROWS, np.ones((1, 4))], "sequence 1: found 4 features a token, expected 3"),
        ([np.array([["a", "b"]])], "expected numbers as features"),
        ([np.array([[None, 1]], dtype=object)], "expected numbers as features"),
        ([np.array([[1j, 1]])], "expected numbers as features"),
        ([sparse.csr_matrix(np.array([[1j, 1]]))], "expected numbers as features"),
        ([[[1, 2], [3]]], "sequence 0: expected rows of equal length"),
        ([ROWS[:1], np.array([[0, 0, 0], [0, np.nan, 1]])], "sequence 1, token 1: a feature value is"),
        ([np.array([[1, np.inf]])], "sequence 0, token 0: a feature value is"),
        ([np.empty((0, 2)), np.array([[1, 1e39]])], "sequence 1, token 0: .* too large for 32 bits"),
        ([sparse.csr_matrix(np.array([[0, np.nan]]))], "sequence 0, token 0"),
        (["ab"], "got 0 dimensions"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_place(X: Any, words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        VectorMap().encode(X, grow=True)


def test_other_dimensions_than_in_training_are_refused() -> None:
    map_ = VectorMap()
    map_.encode([ROWS], grow=True)
    with pytest.raises(CorpusError, match="sequence 0: found 2 features a token, expected 3"):
        map_.encode([np.ones((1, 2))])
    with pytest.raises(CorpusError, match="2 features a token, the model 3"):
        map_.encode(TokenMatrix(np.ones((1, 2)), [1]))


@pytest.mark.parametrize(
    ("matrix", "lengths", "words"),
    [
        (ROWS, [1, 2], "add up to 3, but the matrix has 4 rows"),
        (ROWS, [5, -1], "lengths"),
        (ROWS, [[4]], "lengths"),
        (ROWS, [3.5, 1.5], "integers"),
        (ROWS, ["4"], "integers"),
        (np.ones(4), [4], "got 1 dimensions"),
    ],
)
def test_a_wrong_token_matrix_is_refused(matrix: Any, lengths: Any, words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        TokenMatrix(matrix, lengths)
