"""Answers to meanings: against a search through all things, and as people expect them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import execution as twin

from margent.errors import MeaningError
from margent.meaning import (
    Abstraction,
    Application,
    Constant,
    Expression,
    Facts,
    Variable,
    answer,
    normal_form,
    parse_meaning,
)

THINGS = ["a", "b", "c", 0, 1, 2, 3]
RELATIONS = {"p": 1, "q": 1, "r": 2, "s": 2}
FUNCTIONS = {"f": 1, "g": 1}


def apply(word, *arguments) -> Expression:
    return Application(Constant(word), arguments)


def formula(dice, around, depth) -> Expression:
    kind = dice.random()
    if depth > 0 and kind < 0.3:
        parts = [formula(dice, around, depth - 1) for _ in range(dice.choice([1, 2, 2, 3]))]
        return apply(dice.choice(["and", "and", "or"]), *parts)
    if depth > 0 and kind < 0.4:
        return apply("not", formula(dice, around, depth - 1))
    if depth > 0 and kind < 0.6:
        return apply(dice.choice(["exists", "exists", "exists", "forall"]), function(dice, around, depth - 1))
    if kind < 0.75:
        word = dice.choice("=<>")
        # A variable that equals a count may be a number of which there are no facts: plain search does not try these.
        return apply(word, *(term(dice, around, depth - 1, computed=word != "=") for _ in range(2)))
    name = dice.choice(list(RELATIONS))
    return apply(name, *(term(dice, around, depth - 1) for _ in range(RELATIONS[name])))


def function(dice, around, depth) -> Expression:
    name = dice.choice(["$0", "$1", "$2"])
    return Abstraction(name, formula(dice, (*around, name), depth))


def term(dice, around, depth, computed=True) -> Expression:
    kind = dice.random()
    if around and kind < 0.6:
        return Variable(dice.choice(around))
    if depth <= 0 or kind < 0.7:
        return Constant(str(dice.choice(THINGS)))
    if kind < 0.85:
        return apply(dice.choice(list(FUNCTIONS)), term(dice, around, depth - 1))
    word = dice.choice(["the", "max", "min", "argmax", "argmin", *(["count", "sum"] if computed else [])])
    if word in ("argmax", "argmin", "sum"):
        name = dice.choice(["$0", "$1", "$2"])
        key = Abstraction(name, term(dice, (*around, name), depth - 1))
        return apply(word, function(dice, around, depth - 1), key)
    return apply(word, function(dice, around, depth - 1))


def as_tuples(part):
    if isinstance(part, Variable):
        return ("var", part.name)
    if isinstance(part, Constant):
        return ("const", int(part.name) if part.name.isdigit() else part.name)
    if isinstance(part, Abstraction):
        return ("lam", part.variable, as_tuples(part.body))
    return ("app", part.function.name, [as_tuples(each) for each in part.arguments])


def random_facts(dice):
    relations = {
        name: {tuple(dice.choice(THINGS) for _ in range(n)) for _ in range(5)} for name, n in RELATIONS.items()
    }
    functions = {name: {(dice.choice(THINGS), dice.choice(THINGS)) for _ in range(5)} for name in FUNCTIONS}
    return relations, functions


@settings(deadline=None, max_examples=400)
@given(st.randoms(use_true_random=False))
def test_answers_are_those_of_a_search_through_all_things(dice):
    relations, functions = random_facts(dice)
    facts = Facts({**relations, "thing": [(thing,) for thing in THINGS]}, functions)
    plain = (
        {(n, *row) for n in relations for row in relations[n]},
        {(n, *row) for n in functions for row in functions[n]},
    )
    kind = dice.random()
    if kind < 0.5:
        meaning = function(dice, (), 3)
        expected = twin.members(as_tuples(meaning), {}, plain, THINGS)
    elif kind < 0.7:
        meaning = formula(dice, (), 3)
        expected = twin.holds(as_tuples(meaning), {}, plain, THINGS)
    else:
        meaning = apply("the", function(dice, (), 2)) if kind < 0.8 else apply("argmax", *[function(dice, (), 2)] * 2)
        if kind >= 0.8:
            meaning = apply("argmax", function(dice, (), 2), Abstraction("$0", term(dice, ("$0",), 2)))
        expected = twin.term(as_tuples(meaning), {}, plain, THINGS)
    for each in (meaning, normal_form(meaning)):
        found = answer(each, facts)
        assert (found if isinstance(expected, bool) else set(found)) == expected, meaning


FACTS = Facts(
    {
        "city": [["austin"], ["dallas"], ["paris"], ["waco"]],
        "state": [["texas"], ["utah"]],
        "in": [["austin", "texas"], ["dallas", "texas"], ["waco", "texas"]],
        "next": [["austin", "waco"], ["waco", "dallas"]],
        "opens": [["museum", "900:ti"]],
    },
    {"size": [["austin", 345], ["dallas", 904], ["paris", 904]], "capital": [["texas", "austin"]]},
)


def ask(text, facts=FACTS):
    return answer(parse_meaning(text), facts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(lambda $0 e (and (city $0) (in $0 texas)))", ("austin", "dallas", "waco")),
        ("(lambda $0 e (and (city $0) (not (in $0 texas))))", ("paris",)),
        ("(argmax $0 (city $0) (size $0))", ("dallas", "paris")),
        ("(argmax city size)", ("dallas", "paris")),
        ("(argmax (and city (lambda $0 e (in $0 texas))) size)", ("dallas",)),
        ("(and (city austin) (in austin texas))", True),
        ("(in paris texas)", False),
        ("(size austin)", (345,)),
        ("(size waco)", ()),
        ("(count city)", (4,)),
        ("(sum city size)", (2153,)),
        ("(size (the $0 (in $0 texas)))", (345, 904)),
        ("(capital (the $0 (exists $1 (and (in $1 $0) (> (size $1) 900)))))", ("austin",)),
        ("(lambda $0 e (lambda $1 e (and (next $0 $1) (in $1 texas))))", (("austin", "waco"), ("waco", "dallas"))),
        ("(lambda $0 e (exists $1 (and (in $1 texas) (= (size $1) $0))))", (345, 904)),
        ("(max $0 (exists $1 (and (in $1 texas) (= (size $1) $0))))", (904,)),
        ("(lambda $0 e (= (count $1 (in $1 texas)) $0))", (3,)),
        ("(lambda $0 e (< (size $0) 400))", ("austin",)),
        ("(lambda $0 e (= (capital $0) austin))", ("texas",)),
        ("(lambda $0 e (in (capital $0) texas))", ("texas",)),
        ("(opens museum 900:ti)", True),
        ("(forall $0 (or (not (city $0)) (exists $1 (or (in $0 $1) (= $0 paris)))))", True),
        ("(in waco)", ("texas",)),
        ("(= waco)", ("waco",)),
        ("next", (("austin", "waco"), ("waco", "dallas"))),
        ("city", ("austin", "dallas", "paris", "waco")),
        (
            "(lambda $0 e ((or (lambda $1 e (city $1)) state) $0))",
            ("austin", "dallas", "paris", "texas", "utah", "waco"),
        ),
        ("texas", ("texas",)),
        ("(min $0 (state $0))", ()),
    ],
)
def test_answers_as_people_expect_them(text, expected):
    assert ask(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(lake $0)", "expected a meaning without free variables, got \\$0"),
        ("(lake texas)", "the database has no relation lake of 1 argument"),
        ("(in texas texas texas)", "the database has no relation in of 3 arguments"),
        ("(exists $0 (in $0))", "the database has no relation in of 1 argument"),
        ("(size (lake texas))", "the database has no function lake of 1 argument"),
        ("(lambda $0 <e,t> (count $0))", "expected"),
        ("(lambda $0 e $0)", "expected what can be true or false, got \\$"),
        ("(and texas (city austin))", "expected what can be true or false, got texas"),
        ("(size (and (city austin) (city austin)))", "expected a thing or a number"),
        ("(argmax city)", "expected 2 arguments of argmax"),
        ("(= texas texas utah)", "expected two things to compare"),
        ("(not (city austin) (city austin))", "expected one argument"),
    ],
)
def test_what_cannot_be_answered_is_said_in_a_sentence(text, message):
    with pytest.raises(MeaningError, match=message):
        ask(text)


def test_endless_questions_are_ended():
    many = Facts({"p": [[i] for i in range(300)]})
    text = "(lambda $0 e (lambda $1 e (lambda $2 e (not (and (p $0) (p $1) (p $2) (= $0 $1))))))"
    with pytest.raises(MeaningError, match="takes too long"):
        answer(parse_meaning(text), many, most_steps=100_000)


class Doubles:
    """A database that works its rows out."""

    def relation(self, name, n_arguments):
        return [(i,) for i in range(5)] if (name, n_arguments) == ("small", 1) else None

    def function(self, name, n_arguments):
        return [(i, 2 * i) for i in range(5)] if (name, n_arguments) == ("twice", 1) else None

    def things(self):
        return range(10)


def test_any_database_with_rows_can_be_asked():
    assert answer(parse_meaning("(lambda $0 e (and (small $0) (small (twice $0))))"), Doubles()) == (0, 1, 2)
    assert answer(parse_meaning("(lambda $0 e (not (small $0)))"), Doubles()) == (5, 6, 7, 8, 9)


def test_facts_are_values_and_refuse_what_is_no_row():
    assert Facts({"p": [["5"], ["x:s"]]}) == Facts({"p": {("x:s",), (5,)}}) != Facts({"p": [["5"]]})
    assert hash(Facts({"p": [[5]]})) == hash(Facts({"p": [["5:i"]]}))
    assert repr(FACTS) == "Facts(16 facts of 5 relations and 2 functions)"
    for bad in (
        {"p": ["abc"]},
        {"p": [[]]},
        {"p": [["a"] * 21]},
        {"p": [[None]]},
        {"p": [[float("nan")]]},
        {"p": [[float("inf")]]},
    ):
        with pytest.raises(MeaningError, match=r"expected (rows|names and numbers)"):
            Facts(bad)
    with pytest.raises(MeaningError, match="arguments and a value"):
        Facts({}, {"f": [["a"]]})
