"""The normal form against plain terms: reduction, renaming, connectives without order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.meaning import (
    MeaningError,
    Variable,
    alpha_equivalent,
    beta_reduced,
    eta_reduced,
    meaning_key,
    meaning_text,
    normal_form,
    parse_meaning,
    same_meaning,
    substitute,
)
from oracle import meanings as plain
from unit.meaning.terms import as_tuples, random_term, shuffled

TYPES = ["t", "e", "e -> t", "e -> e -> t", "(e -> t) -> e -> t"]
seeds = st.integers(0, 2**32)


@settings(max_examples=150, deadline=None)
@given(seeds, st.sampled_from(TYPES))
def test_the_normal_form_is_that_of_plain_terms(seed, type_):
    dice = random.Random(seed)
    term = random_term(dice, type_)
    found = normal_form(term)
    assert plain.same(as_tuples(found), plain.reduced(as_tuples(term)), ())
    assert normal_form(found) == found
    assert parse_meaning(meaning_text(found)) == found
    assert same_meaning(term, found) and meaning_key(term) == meaning_key(found)


@settings(max_examples=150, deadline=None)
@given(seeds, st.sampled_from(TYPES))
def test_what_is_written_otherwise_means_the_same(seed, type_):
    dice = random.Random(seed)
    term = random_term(dice, type_)
    other = shuffled(dice, term)
    assert normal_form(term) == normal_form(other)
    assert same_meaning(other, term)


@settings(max_examples=200, deadline=None)
@given(seeds, seeds, st.sampled_from(TYPES[:3]))
def test_two_terms_mean_the_same_where_plain_ones_do(one, other, type_):
    first, second = (random_term(random.Random(seed), type_, depth=2) for seed in (one, other))
    assert same_meaning(first, second) == plain.same_meaning(as_tuples(first), as_tuples(second))
    assert (normal_form(first) == normal_form(second)) == same_meaning(first, second)


@settings(max_examples=150, deadline=None)
@given(seeds, seeds)
def test_substitution_captures_nothing(one, other):
    term = random_term(random.Random(one), "e -> t", (("$0", "e"), ("$1", "e")))
    value = random_term(random.Random(other), "e", (("$0", "e"), ("$2", "e")), depth=3)
    expected = plain.substituted(as_tuples(term), "$0", as_tuples(value))
    assert plain.same(as_tuples(substitute(term, "$0", value)), expected, ())


def test_names_of_variables_alone_are_not_the_order_of_parts():
    first = parse_meaning("(lambda $0 e (lambda $1 e (loc:t $0 $1)))")
    assert alpha_equivalent(first, parse_meaning("(lambda $1 e (lambda $0 e (loc:t $1 $0)))"))
    assert not alpha_equivalent(first, parse_meaning("(lambda $0 e (lambda $1 e (loc:t $1 $0)))"))
    assert not alpha_equivalent(first, parse_meaning("(lambda $0 i (lambda $1 e (loc:t $0 $1)))"))
    assert not alpha_equivalent(parse_meaning("(and a b)"), parse_meaning("(and b a)"))
    assert same_meaning(parse_meaning("(and a b)"), parse_meaning("(and b a b)"))
    assert not same_meaning(parse_meaning("(and a b)"), parse_meaning("(or a b)"))


def test_connectives_of_functions_are_not_shortened():
    unfinished = parse_meaning("(lambda $0 e (and yes $0))")
    assert str(normal_form(unfinished)) == "(lambda $0 e (and $0 yes))" and eta_reduced(unfinished) == unfinished


def test_types_of_basic_variables_do_not_count_and_those_of_functions_do():
    assert same_meaning(parse_meaning("(lambda $0 i (f $0 $0))"), parse_meaning("(lambda $0:e (f $0 $0))"))
    assert not same_meaning(parse_meaning("(lambda $0 <e,t> (f $0 $0))"), parse_meaning("(lambda $0 e (f $0 $0))"))


def test_free_variables_keep_their_names():
    assert str(normal_form(parse_meaning("(lambda $5 e (loc:t $0 $5 $5))"))) == "(lambda $1 e (loc:t $0 $1 $1))"
    assert substitute(parse_meaning("(f $0)"), "$0", Variable("$1")) == parse_meaning("(f $1)")


def test_what_reduces_for_ever_is_refused():
    omega = "((lambda $0 e ($0 $0)) (lambda $0 e ($0 $0)))"
    with pytest.raises(MeaningError, match="cannot be reduced to an end"):
        beta_reduced(parse_meaning(omega))
    growing = "((lambda $0 e ($0 $0 $0)) (lambda $0 e ($0 $0 $0)))"
    with pytest.raises(MeaningError, match=r"cannot be reduced|more than|nested"):
        normal_form(parse_meaning(growing))
