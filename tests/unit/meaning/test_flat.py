"""Expressions as arrays and back."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.meaning import MeaningError, SymbolTable, alpha_equivalent, flatten, parse_meaning, unflatten
from margent.meaning.flat import APPLY, BOUND, CONSTANT, FREE, LAMBDA
from unit.meaning.terms import random_term


def test_rows_are_in_preorder_with_numbers_for_bound_variables():
    symbols = SymbolTable(["state:t"])
    rows = flatten(parse_meaning("(lambda $0 e (lambda $7 i (f (state:t $0) $7 $9)))"), symbols, ["$9"])
    assert rows.dtype == np.int32
    assert [tuple(row) for row in rows.tolist()] == [
        (LAMBDA, 0),
        (LAMBDA, 1),
        (APPLY, 3),
        (CONSTANT, 1),
        (APPLY, 1),
        (CONSTANT, 0),
        (BOUND, 1),
        (BOUND, 0),
        (FREE, 0),
    ]
    assert symbols.names == ["state:t", "f"] and symbols.id("f") == 1 and symbols.id("g") == -1
    assert str(unflatten(rows, symbols, ["$9"])) == "(lambda $0 e (lambda $1 i (f (state:t $0) $1 $9)))"


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_there_and_back(seed):
    symbols = SymbolTable()
    around = (("$0", "e"), ("$x", "e -> t"))
    term = random_term(random.Random(seed), "e -> t", around)
    back = unflatten(flatten(term, symbols, ["$0", "$x"]), symbols, ["$0", "$x"])
    assert alpha_equivalent(back, term)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-2, 4)), max_size=12))
def test_any_rows_are_an_expression_or_refused(rows):
    symbols = SymbolTable(["a", "b"])
    try:
        term = unflatten(np.array(rows, dtype=np.int32).reshape(-1, 2), symbols, ["$0"])
    except MeaningError as error:
        assert "expected" in str(error)
    else:
        assert flatten(term, symbols, ["$0"]).shape[0] <= len(rows)


def test_what_is_not_an_expression_is_refused():
    with pytest.raises(MeaningError, match="not bound"):
        flatten(parse_meaning("(f $0)"), SymbolTable())
    with pytest.raises(MeaningError, match=r"expected an array \(n, 2\) of integers"):
        unflatten(np.zeros(3), SymbolTable())
    with pytest.raises(MeaningError, match="expected the end of an expression after 1 rows, got 2 rows"):
        unflatten(np.array([[0, 0], [0, 0]]), SymbolTable(["a"]))
    with pytest.raises(MeaningError, match="expected all rows"):
        unflatten(np.array([[LAMBDA, 0]] * 500), SymbolTable())
