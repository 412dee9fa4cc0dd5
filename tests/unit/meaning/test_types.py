"""Types as text, hierarchies, and what comes of applying one to another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.meaning import (
    BaseType,
    FunctionType,
    MeaningError,
    TypeHierarchy,
    TypeTable,
    TypeVariable,
    applied,
    combined,
    function_type,
    is_first_order,
    matches,
    parse_type,
)

KINDS = TypeHierarchy(
    {"e": "", "i": "", "t": "", "lo": "e", "nu": "lo", "au": "lo", "lk": "nu", "rv": "nu", "ct": "au", "st": "au"}
)
names = st.sampled_from(["e", "i", "t", "lo", "nu", "au", "ct", "st", "rv"])
closed = st.recursive(st.builds(BaseType, names), lambda inner: st.builds(FunctionType, inner, inner), max_leaves=5)
types = st.recursive(
    st.builds(BaseType, names) | st.builds(TypeVariable, st.sampled_from("abc")),
    lambda inner: st.builds(FunctionType, inner, inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(types)
def test_what_is_written_is_read_again(type_):
    assert parse_type(str(type_)) == type_
    assert function_type(*type_.arguments, type_.final) == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a type, got the end"),
        ("a ->", "expected a type, got the end"),
        ("(a", r"expected '->' or '\)', got the end"),
        ("<a,b", "expected '>', got the end"),
        ("<a>", "expected ',', got '>'"),
        ("a b", "expected '->' or the end, got 'b'"),
        ("a -> - b", r"expected a name, an arrow or a bracket \(character 6\)"),
        ("(" * 3000, "at most 40 types within each other"),
        ("<" * 3000, "at most 40 types within each other"),
        ("a" + " -> a" * 3000, "nested more than 40 deep"),
    ],
)
def test_what_is_not_a_type_is_refused(text, message):
    with pytest.raises(MeaningError, match=message):
        parse_type(text)


@settings(deadline=None)
@given(closed, closed, closed)
def test_subtypes_are_an_order_with_meets_and_joins(a, b, c):
    below = KINDS.is_subtype
    assert below(a, a)
    assert not (below(a, b) and below(b, a)) or a == b
    assert not (below(a, b) and below(b, c)) or below(a, c)
    meet, join = KINDS.meet(a, b), KINDS.join(a, b)
    assert KINDS.meet(b, a) == meet and KINDS.join(b, a) == join
    if meet is not None:
        assert below(meet, a) and below(meet, b) and (not (below(c, a) and below(c, b)) or below(c, meet))
    if join is not None:
        assert below(a, join) and below(b, join)
    if below(a, b):
        assert meet == a and join == b


def test_the_argument_of_a_function_is_contravariant():
    of_places, of_states = parse_type("lo -> i"), parse_type("st -> i")
    assert KINDS.is_subtype(of_places, of_states) and not KINDS.is_subtype(of_states, of_places)
    assert KINDS.is_subtype(parse_type("st -> ct"), parse_type("st -> lo"))


def test_a_type_may_be_below_several():
    kinds = TypeHierarchy({"mountain": ["place", "nature"], "place": "e", "nature": "e", "lake": ["place", "nature"]})
    assert kinds.meet(BaseType("place"), BaseType("nature")) is None  # mountain and lake, neither is the larger
    assert kinds.meet(BaseType("place"), BaseType("mountain")) == BaseType("mountain")
    assert kinds.simple("lake") == "e" and kinds.parents["lake"] == ("place", "nature")
    assert kinds == TypeHierarchy(kinds.parents) and hash(kinds) == hash(TypeHierarchy(kinds.parents))


def test_bad_hierarchies_are_refused():
    with pytest.raises(MeaningError, match="is below itself"):
        TypeHierarchy({"a": "b", "b": "c", "c": "a"})
    with pytest.raises(MeaningError, match="is below itself"):
        TypeHierarchy({"a": "a"})
    with pytest.raises(MeaningError, match="nothing above the type top"):
        TypeHierarchy({"top": "a"})
    with pytest.raises(MeaningError, match="the type x is below e and i"):
        TypeHierarchy({"x": ["e", "i"]}).simple("x")
    with pytest.raises(MeaningError, match="has 'no'; expected one of"):
        KINDS.check(parse_type("lo -> no"))
    long = TypeHierarchy({f"a{i}": f"a{i + 1}" for i in range(5000)})
    assert long.simple("a0") == "a5000"


def test_the_derivation_of_the_thesis():
    """Table 5.1: what is the capital of the largest state by area."""
    argmax = parse_type("('a -> t) -> ('a -> i) -> 'a")
    largest = applied(argmax, parse_type("st -> t"), KINDS)
    assert str(largest) == "(st -> i) -> st"
    state = applied(largest, parse_type("lo -> i"), KINDS)
    assert str(applied(parse_type("st -> ct"), state, KINDS)) == "ct"
    assert applied(parse_type("st -> ct"), parse_type("rv"), KINDS) is None
    assert matches(parse_type("'b -> 'c"), parse_type("st -> ct"), KINDS)
    assert matches(parse_type("('a -> t) -> ('a -> i) -> 'a"), argmax, KINDS)
    assert not matches(parse_type("'a -> 'a"), parse_type("st -> i"), KINDS)


@settings(deadline=None)
@given(closed, closed, closed)
def test_application_without_variables_is_the_rule_of_subtypes(a, b, c):
    found = applied(FunctionType(a, b), c, KINDS)
    assert found == (b if KINDS.is_subtype(c, a) else None)


@settings(deadline=None)
@given(types, types)
def test_variables_are_bound_so_that_the_argument_fits(a, c):
    """Of 'x -> a applied to c the result is a itself, with c for 'x where a has it."""
    found = applied(FunctionType(TypeVariable("x"), FunctionType(TypeVariable("x"), a)), c, KINDS)
    assert found is not None and len(set(found.variables())) == len({*a.variables()} - {"x"}) + len({*c.variables()})


def test_combining_sets():
    def text(a, b):
        found = combined(parse_type(a), parse_type(b), KINDS)
        return found and str(found)

    assert text("st -> t", "lo -> t") == text("lo -> t", "st -> t") == "st -> t"
    assert text("st -> t", "ct -> t") is None and text("t", "t") == "t" and text("i", "i") is None
    assert text("'a -> t", "ct -> t") == "ct -> t" and text("lo -> au -> t", "ct -> lo -> t") == "ct -> au -> t"
    assert text("st -> t", "t") is None


def is_set(number, table):
    return str(table.type(number).final) == "t" and is_first_order(table.type(number), 1)


def test_bounded_variables():
    """A set that is asked for may be a special one, and then so is what is made of it."""
    highest = parse_type("('a:lo -> t) -> 'a:lo")
    assert str(applied(highest, parse_type("st -> t"), KINDS)) == "st"
    assert applied(highest, parse_type("i -> t"), KINDS) is None
    argmax_of_size = applied(parse_type("('a -> i) -> ('a -> t) -> 'a"), parse_type("lo -> i"), KINDS)
    assert str(argmax_of_size) == "('a:lo -> t) -> 'a:lo"
    assert str(applied(argmax_of_size, parse_type("rv -> t"), KINDS)) == "rv"
    assert str(combined(parse_type("'a:lo -> t"), parse_type("st -> t"), KINDS)) == "st -> t"
    assert combined(parse_type("'a:lo -> t"), parse_type("i -> t"), KINDS) is None


def test_the_table_is_what_the_functions_say():
    table = TypeTable(KINDS)
    for text in ("('a -> t) -> ('a -> i) -> 'a", "st -> t", "lo -> i", "st -> ct", "('b -> t) -> i", "lo -> lo -> t"):
        table.intern(parse_type(text))
    assert table.intern(parse_type("('z -> t) -> i")) == 4
    applies, combines = table.closed()
    n = len(table)
    assert applies.shape == combines.shape == (n, n) and applies.dtype == np.int32
    for f, a in itertools.product(range(n), repeat=2):
        for found, made in ((applies, applied), (combines, combined)):
            expected = made(table.type(f), table.type(a), KINDS)
            if not is_first_order(table.type(a)) or (made is combined and not (is_set(f, table) and is_set(a, table))):
                expected = None
            assert (None if found[f, a] < 0 else table.type(found[f, a])) == expected
    with pytest.raises(MeaningError, match="more than 3 types"):
        table.closed(limit=3)
