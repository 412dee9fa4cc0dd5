"""Facts as files: our own, and those of Prolog."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent.errors import CorpusError, MeaningError
from margent.formats import Limits, iter_prolog_facts, read_facts, write_facts
from margent.meaning import Facts

TEXT = '# places\nin austin texas\nin "new york" "a \\"b\\""\n\npopulation austin = 345496\nnear a b = 2.5\nat x -3\n'


def written(facts):
    target = io.BytesIO()
    write_facts(target, facts)
    return target.getvalue()


def test_facts_are_read_and_written():
    facts = read_facts(TEXT.encode())
    assert facts == Facts(
        {"in": [("austin", "texas"), ("new york", 'a "b"')], "at": [("x", -3)]},
        {"population": [("austin", 345496)], "near": [("a", "b", 2.5)]},
    )
    assert read_facts(written(facts)) == facts and written(facts) == written(read_facts(written(facts)))


names = st.text(alphabet='ab =#"\\é', min_size=1, max_size=4)
values = names | st.integers(-5, 5) | st.floats(-1e6, 1e6)


@given(
    st.dictionaries(names, st.lists(st.lists(values, min_size=1, max_size=3), max_size=3)),
    st.dictionaries(names, st.lists(st.lists(values, min_size=2, max_size=3), max_size=3)),
)
def test_what_is_written_is_read_again(relations, functions):
    facts = Facts(relations, functions)
    assert read_facts(written(facts)) == facts


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("in", "line 2: expected a predicate and what it holds of, got 'in'"),
        ("in = 5", "expected 'PREDICATE NAME ... = VALUE'"),
        ("size a = 5 6", "expected 'PREDICATE NAME ... = VALUE'"),
        ("size a =", "expected 'PREDICATE NAME ... = VALUE'"),
        ('in "a', "expected names between blanks or quotation marks"),
        ('in "a"b', "expected names between blanks or quotation marks"),
        ('in ""', "expected names between blanks or quotation marks"),
        ("p" + " a" * 21, "expected rows of up to 20"),
    ],
)
def test_what_are_no_facts_is_refused_with_its_line(line, message):
    with pytest.raises(CorpusError, match=message):
        read_facts(f"p a\n{line}\n".encode())
    with pytest.raises(MeaningError, match="names of one line"):
        write_facts(io.BytesIO(), Facts({"p": [("a\nb",)]}))


def test_facts_of_prolog():
    text = """% comment
    city('st. louis','mo', 452.8e+3). /* two
    lines */ river(red,-16.5,['texas','it''s', []]).
    """
    found = [(fact.name, fact.arguments, fact.line) for fact in iter_prolog_facts(text.encode())]
    assert found == [("city", ("st. louis", "mo", 452800), 2), ("river", ("red", -16.5, ["texas", "it's", []]), 3)]
    assert list(iter_prolog_facts(b"")) == list(iter_prolog_facts(b"% nothing")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a(X).", "line 1: expected facts of atoms, numbers and lists, got 'X"),
        ("a(b) :- c(d).", "expected facts of atoms"),
        ("\na(b", "line 2: expected '\\)', got the end"),
        ("a(b)", "expected '\\.', got the end"),
        ("a.", r"expected '\(', got '\.'"),
        ("5(a).", "expected the name of a predicate, got '5'"),
        ("a([b).", r"expected '\]', got '\)'"),
        ("a('b).", "expected facts of atoms"),
        ("a(1e999).", "expected a number that is not too large"),
        ("a(1x).", "expected facts of atoms"),
        ("a(" + "[" * 30, "at most 20 lists"),
        ("a(b(c)).", r"expected '\)', got '\('"),
        ("a(,).", "expected an atom, a number or a list"),
    ],
)
def test_what_is_no_fact_of_prolog_is_refused(text, message):
    with pytest.raises(CorpusError, match=message):
        list(iter_prolog_facts(text.encode()))
    with pytest.raises(CorpusError, match="larger than 5 bytes"):
        list(iter_prolog_facts(b"a(b). a(c).", limits=Limits(file=5)))
