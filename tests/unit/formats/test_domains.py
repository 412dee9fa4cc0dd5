"""Domains as files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError, MeaningError
from margent.formats import Limits, read_domain, write_domain
from margent.meaning import Domain, Seed, TypeHierarchy, parse_meaning, parse_type

TEXT = """\
# a comment
type location
type state < location
type city < location
type price < i

predicate loc:t : location -> location -> t
predicate = : price -> price -> t
constant texas:s : state = Texas | state of texas
constant york : state
constant york : city = york
constant "visual c++" : location = visual c++
constant york = big = apple
word how many = (lambda $0 <e,t> (count $0))
suffix ti = price
value clock = {}:ti
value number = {}
"""


def test_a_domain_is_read_and_written():
    domain = read_domain(TEXT.encode())
    assert domain == Domain(
        TypeHierarchy({"location": "", "state": "location", "city": "location", "price": "i"}),
        {
            "loc:t": (parse_type("location -> location -> t"),),
            "=": (parse_type("price -> price -> t"),),
            "texas:s": (parse_type("state"),),
            "york": (parse_type("state"), parse_type("city")),
            "visual c++": (parse_type("location"),),
        },
        {
            ("texas",): ("texas:s",),
            ("state", "of", "texas"): ("texas:s",),
            ("york",): ("york",),
            ("visual", "c++"): ("visual c++",),
            ("big", "=", "apple"): ("york",),
        },
        (Seed(("how", "many"), parse_meaning("(lambda $0 <e,t> (count $0))")),),
        {"ti": "price"},
        {"clock": ("{}:ti",), "number": ("{}",)},
    )
    assert written(domain) == domain


def written(domain):
    target = io.BytesIO()
    write_domain(target, domain)
    return read_domain(target.getvalue())


names = st.text(alphabet='ab:= "\\#|$é', min_size=1, max_size=6)
words = st.lists(st.text(alphabet='ab=#:"', min_size=1, max_size=3), min_size=1, max_size=3).map(tuple)
basic = st.sampled_from(["a", "b", "t", "i"])
types = basic | st.tuples(basic, basic).map(" -> ".join)


@settings(deadline=None)
@given(
    st.dictionaries(names, st.lists(types, min_size=1, max_size=2)),
    st.dictionaries(words, st.lists(names, min_size=1, max_size=2)),
    st.lists(words.filter(lambda found: "=" not in found)),
)
def test_what_is_written_is_read_again(types, phrases, seeds):
    meaning = parse_meaning('(lambda $0 e (f $0 "a = b"))')
    domain = Domain(
        TypeHierarchy({"a": "b"}),
        {name: tuple(map(parse_type, given)) for name, given in types.items()},
        {found: tuple(given) for found, given in phrases.items()},
        tuple(Seed(found, meaning) for found in seeds),
    )
    assert written(domain) == domain


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "kind x",
            "line 2: expected one of type, predicate, constant, word, suffix, value at the beginning, got 'kind'",
        ),
        ("type", "expected 'type NAME' or 'type NAME < NAME, ...'"),
        ("type a b", "expected 'type NAME'"),
        ("type a < ", "expected 'type NAME'"),
        ("type state < x", "expected each type once, got 'state' again"),
        ("predicate", "expected a name"),
        ("predicate f", "expected ': TYPE' or '= WORDS' after the name 'f'"),
        ("predicate f : ", "expected a type, got the end"),
        ("predicate f : a ->", "in the type 'a ->': expected a type"),
        ("predicate f : rv -> t", "line 2: 'f': expected types that a line 'type ...' names, got 'rv'"),
        ('constant "a b : state', "expected a name, in quotation marks"),
        ('constant "a"b : state', "expected a blank after the name 'a'"),
        ("constant a : state = ", "expected words between"),
        ("constant a : state = x | ", "expected words between"),
        ("word how many", "expected 'word WORDS = MEANING'"),
        ("word = x", "expected 'word WORDS = MEANING'"),
        ("word how = (f", r"in the meaning '\(f': a bracket is not closed"),
        ("suffix ti", "expected 'suffix NAME = TYPE'"),
        ("suffix ti = rv", "line 2: suffix 'ti': expected a type that a line"),
        ("value weight = {}", "expected a kind of value, one of number"),
        ("value clock = x", "one {} for the number"),
        ("predicate and : t -> t", "got the connective 'and'"),
    ],
)
def test_what_is_no_domain_is_refused_with_its_line(line, message):
    with pytest.raises(CorpusError, match=message):
        read_domain(f"type state\n{line}\n".encode())


def test_circles_and_large_files_are_refused():
    with pytest.raises(CorpusError, match=r"<bytes>, line 2: the type . is below itself"):
        read_domain(b"type a < b\ntype b < a\n")
    with pytest.raises(CorpusError, match="line is longer than 10 characters"):
        read_domain(b"type abcdefgh\n", limits=Limits(line=10))
    with pytest.raises(CorpusError, match="line 2001: expected at most 2000 types"):
        read_domain("".join(f"type x{i}\n" for i in range(3000)).encode())


def test_what_cannot_be_read_again_is_not_written():
    for domain in (
        Domain(TypeHierarchy({}), {}, {("a", "|"): ["x"]}),
        Domain(TypeHierarchy({}), {}, seeds=(Seed(("a", "="), parse_meaning("x")),)),
        Domain(TypeHierarchy({"a b": ""}), {}),
        Domain(TypeHierarchy({}), {}, suffixes={"a=b": "i"}),
        Domain(TypeHierarchy({}), {}, values={"number": ("{} ",)}),
    ):
        with pytest.raises(MeaningError, match=r"expected .* without (the word|blanks)"):
            write_domain(io.BytesIO(), domain)
