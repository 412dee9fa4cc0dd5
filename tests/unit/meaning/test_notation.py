"""Notations: what is read is what is written; what is wrong is refused with its place."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.meaning import (
    NOTATIONS,
    Abstraction,
    Application,
    Constant,
    MeaningError,
    Variable,
    meaning_text,
    parse_meaning,
)
from unit.meaning.terms import random_term

SAME = [
    "(argmax $0 (and (state:t $0) (loc:t $0 usa:co)) (size:i $0))",
    "(argmax $0:e (and (state:t $0) (loc:t $0 usa:co)) (size:i $0))",
    "(argmax (lambda $0:e (and (state:t $0) (loc:t $0 usa:co))) (lambda $0:e (size:i $0)))",
]


def test_one_meaning_in_three_notations():
    meanings = [parse_meaning(text) for text in SAME]
    assert meanings[0] == meanings[1] == meanings[2]
    assert [meaning_text(meanings[0], notation) for notation in NOTATIONS] == SAME
    assert str(meanings[0]) == SAME[0] and repr(meanings[0]) == f"parse_meaning({SAME[0]!r})"


@pytest.mark.parametrize(
    "text",
    [
        "texas:s",
        "(lambda $0 e (state:t $0))",
        "(lambda $0 i (exists $1 (population:t $1 $0)))",
        "(lambda x e (and (airline x) (services x denver:ci)))",
        "(lambda $0 <e,t> (argmax $0 size:i))",
        '(lambda $0 e (language $0 "visual c++"))',
        "((lambda $0 e (f $0)) $1)",
        "((argmax $0) f g)",
        '(and ($0 "$0") (f "(" "a\\"b" "lambda"))',
        "(< (arrival_time $0) 1200:ti)",
        "(exists (lambda $0 i (f $0)))",
        '(lambda x e (f x "x"))',
        "(lambda $0 e e)",
    ],
)
def test_what_is_read_is_written_again(text):
    assert meaning_text(parse_meaning(text)) == text


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(NOTATIONS))
def test_what_is_written_is_read_again(seed, notation):
    term = random_term(random.Random(seed), "e -> t", depth=6)
    assert parse_meaning(meaning_text(term, notation)) == term


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(names, names, st.sampled_from(NOTATIONS))
def test_names_of_any_kind(first, second, notation):
    try:
        term = Abstraction("x", Application(Constant(first), (Constant(second), Variable("x"))))
    except MeaningError:
        assert any(ord(character) < 32 or character in "\x85\u2028\u2029" for character in first + second)
        return
    assert parse_meaning(meaning_text(term, notation)) == term


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*'()"$\\ :<>,ab01', "lambda ", "argmax ", "$0 ", " e "]), max_size=40).map("".join))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        meaning = parse_meaning(text)
    except MeaningError as error:
        assert str(error).startswith("in the meaning ") and "expected" in str(error)
    else:
        assert parse_meaning(meaning_text(meaning)) == meaning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an expression, got nothing"),
        ("()", "got nothing between two brackets"),
        ("(f)", "expected at least one argument after the function, got none"),
        ("(f a", r"a bracket is not closed; expected '\)' at the end \(character 1\)"),
        ("f a)", r"a bracket is closed that was not opened; expected no '\)' \(character 4\)"),
        ("a b", r"expected one expression, got another after it \(character 3\)"),
        ('(f "a)', r"a quotation mark is not closed; expected another \(character 4\)"),
        ("(lambda $0)", "expected a variable, perhaps its type, and an expression after 'lambda'"),
        ("(lambda (f $0) e a)", "expected a variable"),
        ("(lambda $0 e> (f $0))", "expected a type such as e or <e,t>, got 'e>'"),
        ("(lambda $0:e e (f $0))", "expected one type of the variable"),
        ("(f $)", "expected the name of a variable such as"),
        ("(" * 5000 + "a" + ")" * 5000, "at most 100 brackets within each other"),
        ("(f " * 90 + "(count $0 " * 20, "at most 100 brackets"),
    ],
)
def test_what_is_not_a_meaning_is_refused(text, message):
    with pytest.raises(MeaningError, match=message) as caught:
        parse_meaning(text)
    assert len(str(caught.value)) < 700


def test_deep_and_large_expressions_are_refused_where_they_are_made():
    term = Constant("a")
    with pytest.raises(MeaningError, match="nested more than 100 deep"):
        for _ in range(200):
            term = Application(Constant("f"), (term,))
    with pytest.raises(MeaningError, match="more than 100000 parts"):
        Application(Constant("f"), tuple([Constant("a")] * 100_001))
    with pytest.raises(MeaningError, match="expected a notation, one of lambda, annotated, typed, got 'prolog'"):
        meaning_text(Constant("a"), "prolog")
    with pytest.raises(MeaningError, match="expected at least one argument"):
        Application(Constant("f"), ())
    for name in ("", "a b", "$", "lambda", "a:b"):
        with pytest.raises(MeaningError, match="name of a variable"):
            Variable(name)


def test_expressions_are_values():
    import copy
    import pickle

    term = parse_meaning("(lambda $0 e (and (state:t $0) (loc:t $0 texas:s)))")
    assert len({term, copy.deepcopy(term), pickle.loads(pickle.dumps(term))}) == 1
    assert term != "state" and term.size == 10 and term.depth == 3
    assert list(term.constants()) == ["and", "state:t", "loc:t", "texas:s"]
    assert (Constant("texas:s").base, Constant("loc:<lo,<lo,t>>").suffix) == ("texas", "<lo,<lo,t>>")
    with pytest.raises(AttributeError, match="does not change"):
        term.body = term
    with pytest.raises(AttributeError, match="does not change"):
        del term.body
    nested = Application(Application(Constant("f"), (Constant("a"),)), (Constant("b"),))
    assert nested == parse_meaning("(f a b)")
