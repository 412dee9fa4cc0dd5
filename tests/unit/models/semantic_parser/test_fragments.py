"""Meanings taken apart: whatever way is taken, the parts give the meaning back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.meaning import Abstraction, Application, Constant, Variable, normal_form, parse_meaning, same_meaning
from margent.models.semantic_parser.fragments import names_of, parts_of, union_members

MEANINGS = [
    "texas:s",
    "(population:i texas:s)",
    "(lambda $0 e (state:t $0))",
    "(lambda $0 e (loc:t texas:s $0))",
    "(lambda $0 e (loc:t $0 texas:s))",
    "(lambda $0 e (and (river:t $0) (loc:t $0 texas:s)))",
    "(argmax $0 (and (state:t $0) (next_to:t $0 texas:s)) (size:i $0))",
    "(count $0 (and (city:t $0) (exists $1 (and (state:t $1) (loc:t $0 $1)))))",
    "(lambda $0 e (exists $1 (and (state:t $1) (next_to:t $1 ohio:s) (high_point:t $1 $0))))",
    "(argmax $0 (state:t $0) (count $1 (and (river:t $1) (loc:t $1 $0))))",
    "(lambda $0 e (and (state:t $0) (not (exists $1 (and (river:t $1) (loc:t $1 $0))))))",
    "(lambda $0 e (and (flight $0) (< (arrival_time $0) 1200:ti) (or (from $0 a:ci) (to $0 a:ci))))",
    "(lambda $0 e (lambda $1 e (and (flight $0) (from $0 a:ci) (= (fare $0) $1))))",
    "(lambda $0 e (and (bus $0) (to_city $0 a:ci) (from_airport $0 a:ci)))",
]


def put_together(parts, way):
    arguments = tuple(parts[number].meaning for number in way.arguments)
    return Application(way.fragment, arguments) if arguments else way.fragment


def united(parts, part):
    variable = Variable("$9")
    members = tuple(Application(parts[number].meaning, (variable,)) for number in part.members)
    return Abstraction("$9", Application(Constant(part.connective), members))


@pytest.mark.parametrize("text", MEANINGS)
def test_every_way_gives_the_part(text):
    meaning = parse_meaning(text)
    parts = parts_of(meaning)
    assert same_meaning(parts[-1].meaning, meaning)
    assert len({str(part.meaning) for part in parts}) == len(parts)
    for number, part in enumerate(parts):
        assert part.meaning == normal_form(part.meaning)
        assert not part.meaning.free_variables
        assert part.ways or part.members
        if part.members:
            assert max(part.members) < number
            assert same_meaning(united(parts, part), part.meaning)
        for way in part.ways:
            assert all(argument < number for argument in way.arguments)
            assert same_meaning(put_together(parts, way), part.meaning), str(way.fragment)
            assert names_of(way.fragment)


predicates = st.sampled_from(["p:t", "q:t", "r:t"])
relations = st.sampled_from(["loc:t", "next:t"])
things = st.sampled_from(["a:s", "b:s"])


def conditions(variable, depth):
    plain = st.one_of(
        predicates.map(lambda p: f"({p} {variable})"),
        st.tuples(relations, things).map(lambda t: f"({t[0]} {variable} {t[1]})"),
        st.tuples(relations, things).map(lambda t: f"({t[0]} {t[1]} {variable})"),
    )
    if depth == 0:
        return plain
    inner = f"$v{depth}"
    related = st.tuples(relations, st.lists(conditions(inner, depth - 1), min_size=1, max_size=2)).map(
        lambda t: f"(exists {inner} (and {' '.join(t[1])} ({t[0]} {variable} {inner})))"
    )
    best = st.tuples(relations, conditions(inner, depth - 1)).map(
        lambda t: f"({t[0]} {variable} (argmax {inner} {t[1]} (size:i {inner})))"
    )
    return st.one_of(plain, related, best, plain.map(lambda c: f"(not {c})"))


@settings(deadline=None, max_examples=60)
@given(st.lists(conditions("$0", 2), min_size=1, max_size=3))
def test_random_questions_come_together_again(found):
    test_every_way_gives_the_part(f"(lambda $0 e (and {' '.join(found)}))")


def test_what_is_not_said_stays_inside():
    parts = parts_of(parse_meaning(MEANINGS[7]))
    fragments = {str(way.fragment) for part in parts for way in part.ways}
    assert "(lambda $0 e (lambda $1 e (exists $2 (and ($0 $2) (loc:t $1 $2)))))" in fragments
    assert union_members(parse_meaning("(population:i texas:s)")) is None


def test_a_name_that_is_said_twice_of_one_thing_may_be_said_once():
    parts = parts_of(parse_meaning(MEANINGS[-1]))
    texts = [str(way.fragment) for part in parts for way in part.ways]
    assert "(lambda $0 e (and (from_airport $0 a:ci) (to_city $0 a:ci)))" in texts


def test_large_fragments_are_left_out():
    meaning = parse_meaning("(argmax $0 (and (state:t $0) (next_to:t $0 texas:s)) (size:i $0))")
    few = {str(way.fragment) for part in parts_of(meaning, 1) for way in part.ways}
    assert few < {str(way.fragment) for part in parts_of(meaning, 3) for way in part.ways}
    assert all(len(names_of(parse_meaning(text))) == 1 for text in few)
