"""Operator models: scores against sums over paths, and back and forth between operators and Hankel matrices."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent.spectral import OperatorModel, pairs_up_to
from oracle import operator_model as oracle

SYMBOLS = [("a", "A"), ("a", "B"), ("b", "B")]


def random_model(n_states: int, seed: int, symbols=SYMBOLS) -> OperatorModel:
    """Operators of norm 1, so that the scores of long sequences stay in range."""
    random = np.random.default_rng(seed)
    operators = {symbol: np.linalg.qr(random.normal(size=(n_states, n_states)))[0] for symbol in symbols}
    return OperatorModel(random.normal(size=n_states), random.normal(size=n_states), operators)


def random_pair(length: int, seed: int):
    chosen = np.random.default_rng(seed).integers(len(SYMBOLS), size=length)
    return [SYMBOLS[i][0] for i in chosen], [SYMBOLS[i][1] for i in chosen]


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 3), st.integers(0, 5), st.integers(0, 1000))
def test_a_score_is_the_sum_over_all_paths(n_states, length, seed):
    model, (x, y) = random_model(n_states, seed), random_pair(length, seed)
    assert model.score(x, y) == pytest.approx(oracle.score(model.initial, model.final, model.operators, x, y))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), st.integers(0, 4), st.integers(0, 1000))
def test_k_gram_scores_are_the_scores_of_k_grams(n_states, k, seed):
    model = random_model(n_states, seed)
    table = model.k_gram_scores(k)
    assert table.shape == (3,) * k
    for index in np.ndindex(table.shape):
        gram = [model.bi_symbols[i] for i in index]
        assert table[index] == pytest.approx(model.score([a for a, _ in gram], [b for _, b in gram]))


def test_a_hankel_matrix_has_the_score_of_each_prefix_with_each_suffix():
    model = random_model(3, 0)
    prefixes = [*pairs_up_to(SYMBOLS, 2), ("bab", "BAB"), ("ac", "AC")]
    suffixes = [*pairs_up_to(SYMBOLS, 1), ("aab", "ABB"), ("c", "C")]
    matrix = model.hankel(prefixes, suffixes)
    for i, (u, w) in enumerate(prefixes):
        for j, (v, z) in enumerate(suffixes):
            assert matrix[i, j] == pytest.approx(model.score([*u, *v], [*w, *z]))
    assert np.linalg.matrix_rank(matrix) == 3


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 4), st.integers(0, 1000))
def test_a_model_comes_back_from_its_hankel_matrix(n_states, seed):
    """Also the scores of sequences far longer than any in the matrix."""
    model = random_model(n_states, seed)
    prefixes, suffixes = pairs_up_to(SYMBOLS, 3), pairs_up_to(SYMBOLS, 2)
    found = OperatorModel.from_hankel(model.hankel(prefixes, suffixes), prefixes, suffixes, tolerance=1e-9)
    assert found.n_states == n_states
    assert found.bi_symbols == model.bi_symbols
    for length in (0, 1, 4, 40):
        x, y = random_pair(length, seed)
        assert found.score(x, y) == pytest.approx(model.score(x, y), rel=1e-5, abs=1e-5)


def test_prefixes_and_suffixes_may_differ_and_come_in_any_order():
    """The paper's formula holds only where both are the same; see from_hankel."""
    model = random_model(3, 1)
    random = np.random.default_rng(0)
    prefixes = pairs_up_to(SYMBOLS, 2)
    suffixes = [("", ""), ("b", "B"), ("aa", "AB"), ("ab", "AB"), ("aaa", "AAA")]
    random.shuffle(prefixes)
    random.shuffle(suffixes)
    found = OperatorModel.from_hankel(model.hankel(prefixes, suffixes), prefixes, suffixes)
    assert found.n_states == 3
    assert found.score("abab", "BBAB") == pytest.approx(model.score("abab", "BBAB"))


def test_small_noise_makes_small_errors():
    """Errors shrink with the noise, in proportion: ten times less noise, about ten times smaller errors."""
    model = random_model(2, 0)
    prefixes, suffixes = pairs_up_to(SYMBOLS, 3), pairs_up_to(SYMBOLS, 2)
    exact = model.hankel(prefixes, suffixes)
    noise = np.random.default_rng(0).normal(size=exact.shape)
    errors = []
    for size in (1e-2, 1e-3, 1e-4):
        found = OperatorModel.from_hankel(exact + size * noise, prefixes, suffixes, states=2)
        errors.append(np.abs(found.k_gram_scores(4) - model.k_gram_scores(4)).max())
    assert errors[0] < 0.1
    assert 3 < errors[0] / errors[1] < 30
    assert 3 < errors[1] / errors[2] < 30


def test_fewer_states_keep_the_largest_singular_values():
    """One state too few costs what the last singular value is worth: here very little."""
    symbols = pairs_up_to([("a", "A")], 8)[1:]
    model = OperatorModel([1, 1e-4], [1, 1e-4], {("a", "A"): [[0.9, 0], [0, 0.5]]})
    basis = [("", ""), *symbols]
    matrix = model.hankel(basis, basis[:4])
    found = OperatorModel.from_hankel(matrix, basis, basis[:4], states=1)
    assert found.n_states == 1
    assert found.score("a" * 9, "A" * 9) == pytest.approx(0.9**9, rel=1e-6)
    assert OperatorModel.from_hankel(matrix, basis, basis[:4], states=5, tolerance=1e-12).n_states == 2
    assert OperatorModel.from_hankel(matrix, basis, basis[:4], tolerance=0.5).n_states == 1


def test_scores_that_are_all_zero_need_no_state():
    basis = pairs_up_to(SYMBOLS, 1)
    model = OperatorModel.from_hankel(np.zeros((4, 4)), basis, basis)
    assert model.n_states == 0
    assert model.score("ab", "AB") == 0
    assert not model.hankel(basis, basis).any()
    assert model.k_gram_scores(3).shape == (3, 3, 3)
    assert model.compression_ratio(3) == np.inf


def test_a_bi_symbol_without_an_operator_scores_zero():
    model = random_model(2, 0)
    assert model.score("", "") == pytest.approx(model.initial @ model.final)
    assert model.score("ab", "AB") != 0
    assert model.score("abc", "ABC") == model.score("b", "A") == 0


def test_sizes():
    model = random_model(2, 0)
    assert (model.n_states, model.n_parameters) == (2, 3 * 4 + 4)
    assert model.compression_ratio(3) == 27 / 16
    assert repr(model) == "OperatorModel(n_states=2, n_bi_symbols=3)"


def test_a_model_is_a_value():
    operators = {("a", "A"): np.eye(2)}
    initial = np.ones(2)
    model = OperatorModel(initial, initial, operators)
    initial[0] = operators["a", "A"][0, 0] = 5
    assert model.score("a", "A") == 2
    with pytest.raises(ValueError, match="read-only"):
        model.operators["a", "A"][0, 0] = 1
    with pytest.raises(AttributeError):
        model.initial = initial
    assert copy.deepcopy(model).score("a", "A") == 2
    assert margent.OperatorModel is OperatorModel


def test_symbols_are_anything_that_can_be_a_key():
    model = OperatorModel([1], [1], {(1, "one"): [[2]], (2, None): [[3]]})
    assert model.score([1, 2, 2], ["one", None, None]) == 18


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1], {}), "initial has 2 states and final has 1; expected as many"),
        (([1], [1], {"ab": [[1]]}), "the key 'ab'; expected a pair (input symbol, output symbol)"),
        (([1], [1], {("a", "b"): [[1, 2]]}), "the operator of ('a', 'b') has shape (1, 2); expected (1, 1)"),
        (([[1]], [1], {}), "initial has shape (1, 1) and type int64; expected one dimension of real numbers"),
        (([1], [np.nan], {}), "final[0] is nan; expected a finite number"),
        (([1], [1], [("a", "b")]), "operators is [('a', 'b')]; expected a dict"),
        (([1], [1], {("a", "b"): [["x"]]}), "expected 2 dimensions of real numbers"),
    ],
)
def test_wrong_parts(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        OperatorModel(*arguments)


EMPTY, A, B = ("", ""), ("a", "A"), ("b", "B")


@pytest.mark.parametrize(
    ("prefixes", "suffixes", "options", "message"),
    [
        ([A, B], [EMPTY], {}, "the empty pair is not among the 2 prefixes"),
        ([EMPTY, A], [A], {}, "the empty pair is not among the 1 suffixes"),
        ([EMPTY, A, A], [EMPTY], {}, "prefixes[2] is the same as prefixes[1]"),
        ([EMPTY, A], [EMPTY, B], {}, "suffixes[1] has the bi-symbol ('b', 'B'), with which no prefix ends"),
        ([EMPTY, A, ("ab", "AB")], [EMPTY], {}, "no prefix is followed by each of the 2 bi-symbols"),
        ([EMPTY, ("a", "")], [EMPTY], {}, "prefixes[1] has 1 input symbols and 0 output symbols"),
        ([EMPTY, "a"], [EMPTY], {}, "prefixes[1] is 'a'; expected a pair of an input and an output sequence"),
        ([EMPTY, A], [EMPTY, A, ("aa", "AA")], {}, "matrix has shape (2, 2); expected (2, 3), prefixes by suffixes"),
        ([EMPTY, A], [EMPTY, A], {"states": 0}, "states is 0; expected an integer of at least 1"),
        ([EMPTY, A], [EMPTY, A], {"tolerance": "x"}, "tolerance is 'x'; expected a share"),
        ([EMPTY, A], [EMPTY, A], {"tolerance": 1}, "tolerance is 1; expected a share"),
    ],
)
def test_a_basis_that_will_not_do(prefixes, suffixes, options, message):
    shape = (len(prefixes), min(len(suffixes), 2))
    with pytest.raises(ValueError, match=re.escape(message)):
        OperatorModel.from_hankel(np.ones(shape), prefixes, suffixes, **options)


def test_sequences_that_do_not_fit():
    model = random_model(1, 0)
    with pytest.raises(ValueError, match="the pair has 2 input symbols and 1 output symbols"):
        model.score("ab", "A")
    with pytest.raises(ValueError, match="suffix 1 has 1 input symbols and 2 output symbols"):
        model.hankel([EMPTY], [EMPTY, ("a", "AB")])
    with pytest.raises(ValueError, match="the pair, input, is None; expected a sequence of symbols"):
        model.score(None, None)
    with pytest.raises(ValueError, match="k is -1; expected an integer of at least 0"):
        model.k_gram_scores(-1)
    with pytest.raises(ValueError, match="k is 0; expected an integer of at least 1"):
        model.compression_ratio(0)
    with pytest.raises(ValueError, match="longest is -1"):
        pairs_up_to(SYMBOLS, -1)
