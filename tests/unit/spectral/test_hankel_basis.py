"""Where the scores of k-grams stand in a Hankel matrix."""

from __future__ import annotations

import numpy as np
import pytest

from margent.spectral import HankelBasis, OperatorModel, pairs_up_to

SYMBOLS = [("a", "A"), ("a", "B"), ("b", "B")]


def random_scores(basis, seed=0):
    random = np.random.default_rng(seed)
    return {length: random.normal(size=(basis.n_symbols,) * length) for length in basis.lengths}


@pytest.mark.parametrize(("k", "shape"), [(1, (3, 1)), (2, (3, 3)), (3, (9, 3)), (4, (9, 9))])
def test_k_grams_alone_are_a_table_in_another_shape(k, shape):
    basis = HankelBasis(3, k, shorter=False)
    scores = random_scores(basis)
    assert basis.shape == shape
    assert basis.matrix(scores).tolist() == scores[k].reshape(shape).tolist()
    assert basis.places(k) == 1
    matrix = np.random.default_rng(1).normal(size=shape)
    assert basis.tied(matrix).tolist() == matrix.tolist()


@pytest.mark.parametrize(("k", "shape"), [(1, (4, 1)), (2, (4, 4)), (3, (13, 4)), (4, (13, 13))])
def test_the_matrix_is_that_of_an_operator_model(k, shape):
    random = np.random.default_rng(k)
    model = OperatorModel([1, 2], [3, -1], {symbol: random.normal(size=(2, 2)) for symbol in SYMBOLS})
    basis = HankelBasis(3, k, shorter=True)
    assert basis.shape == shape
    prefixes, suffixes = (pairs_up_to(SYMBOLS, n[-1]) for n in (basis.prefix_lengths, basis.suffix_lengths))
    matrix = basis.matrix({length: model.k_gram_scores(length) for length in basis.lengths})
    np.testing.assert_allclose(matrix, model.hankel(prefixes, suffixes))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("shorter", [False, True])
def test_scores_come_back_from_the_matrix(k, shorter):
    basis = HankelBasis(3, k, shorter)
    scores = random_scores(basis)
    found = basis.scores(basis.matrix(scores))
    assert list(found) == list(scores)
    for length in scores:
        np.testing.assert_allclose(found[length], scores[length])
    assert sum(basis.places(length) * 3**length for length in basis.lengths) == np.prod(basis.shape)


def test_tying_is_a_projection():
    """Nearest: the rest is at right angles to every matrix that is tied."""
    basis = HankelBasis(3, 3, shorter=True)
    matrix = np.random.default_rng(0).normal(size=basis.shape)
    tied = basis.tied(matrix)
    np.testing.assert_allclose(basis.tied(tied), tied)
    assert tied[0, 1] == tied[1, 0]  # (empty)(first) and (first)(empty)
    assert np.vdot(matrix - tied, basis.matrix(random_scores(basis, 1))) == pytest.approx(0, abs=1e-12)
