"""Domains: what is known of names, simple types, domains made from meanings, and what is refused."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from margent import strict_json
from margent.errors import MeaningError
from margent.meaning import Domain, Seed, TypeHierarchy, parse_meaning, parse_type

HIERARCHY = TypeHierarchy({"lo": "e", "s": "lo", "c": "lo", "fl": "e", "ti": "i"})


def domain_of(names, **more):
    types = {name: [parse_type(text) for text in texts.split("|")] for name, texts in names.items()}
    return Domain(HIERARCHY, types, **more)


DOMAIN = domain_of(
    {"loc:t": "lo -> lo -> t", "fare": "fl -> i|fl -> i -> t", "texas:s": "s", "at:t": "s -> ti -> t|c -> ti -> t"},
    phrases={("Texas",): ["texas:s"], ("lone", "star", "state"): ["texas:s"], ("york",): ["york:s", "york:c"]},
    seeds=[(("how", "many"), parse_meaning("(lambda $0 <s,t> (count $0))"))],
    suffixes={"ap": "lo"},
    values={"clock": ["{}:ti"], "number": ["{}"]},
)


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("loc:t", ["lo -> lo -> t"]),
        ("fare", ["fl -> i", "fl -> i -> t"]),
        ("utah:s", ["s"]),
        ("1200:ti", ["ti"]),
        ("bos:ap", ["lo"]),
        ("-3.5", ["i"]),
        ("state:<s,t>", ["s -> t"]),
        ("state:<rv,t>", []),
        ("argmax:<<e,t>,<<e,i>,e>>", ["('a -> t) -> ('a -> i) -> 'a"]),
        ("equals:t", ["'a -> 'a -> t"]),
        ("river:t", []),
        ("x:top", []),
        ("java", []),
        ("and", []),
        ("or:<t*,t>", []),
    ],
)
def test_types_of_names_are_given_or_follow_from_how_they_are_written(name, types):
    assert [str(type_) for type_ in DOMAIN.types_of(name)] == types


def test_what_a_domain_says_goes_before_what_is_built_in():
    domain = domain_of({"count": "(fl -> t) -> ti", "7": "s"})
    assert [str(type_) for name in ("count", "7") for type_ in domain.types_of(name)] == ["(fl -> t) -> ti", "s"]


def test_simple_types_are_the_topmost_ones():
    simple = DOMAIN.simplified()
    assert set(simple.hierarchy.names) == {"e", "i", "t"}
    assert [str(type_) for type_ in simple.types["at:t"]] == ["e -> i -> t"]
    assert [str(simple.types_of(name)[0]) for name in ("utah:s", "1200:ti", "bos:ap", "texas:s")] == [
        "e",
        "i",
        "e",
        "e",
    ]
    assert simple.seeds[0].meaning == parse_meaning("(lambda $0 <e,t> (count $0))")
    assert (simple.phrases, simple.values) == (DOMAIN.phrases, DOMAIN.values)
    assert simple.simplified() == simple


def test_phrases_are_lower_case_and_their_names_in_order():
    assert DOMAIN.constants_of(["TEXAS"]) == ("texas:s",)
    assert DOMAIN.phrases[("york",)] == ("york:c", "york:s")
    for words in (["'texas'"], ["texas's"], ["lone", "star", "states"], ["Texas'"]):
        assert DOMAIN.constants_of(words) == ("texas:s",)
    assert DOMAIN.constants_of(["texa"]) == DOMAIN.constants_of(["s"]) == DOMAIN.constants_of([]) == ()
    assert DOMAIN.constants_of(["5", "pm"]) == ("1700:ti",) and DOMAIN.constants_of(["dallas"]) == ()


def test_a_domain_is_a_value():
    again = Domain.from_json(strict_json.decode(strict_json.encode(DOMAIN.to_json())))
    for other in (again, copy.deepcopy(DOMAIN), pickle.loads(pickle.dumps(DOMAIN))):
        assert other == DOMAIN and hash(other) == hash(DOMAIN)
    assert len({DOMAIN, again, DOMAIN.simplified(), domain_of({})}) == 3
    assert "4 names, 3 phrases, 1 seeds" in repr(DOMAIN)
    with pytest.raises(TypeError):
        DOMAIN.types["x"] = ()
    with pytest.raises(AttributeError):
        DOMAIN.seeds = ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": {"loc:t": "lo -> rv"}}, "'loc:t': the type lo -> rv has 'rv'; expected one of"),
        ({"names": {"and": "t -> t"}}, "got the connective 'and'"),
        ({"names": {}, "phrases": {("a b",): ["x"]}}, "words without blanks"),
        ({"names": {}, "phrases": {(): ["x"]}}, "1 to 50 words"),
        ({"names": {}, "phrases": {("a",) * 51: ["x"]}}, "1 to 50 words"),
        ({"names": {}, "phrases": {("a",): []}}, "expected the names of what is called so"),
        ({"names": {}, "phrases": {("a",): ["x\ny"]}}, "on one line"),
        ({"names": {}, "suffixes": {"x": "rv"}}, "expected a type of the hierarchy, got 'rv'"),
        ({"names": {}, "values": {"weight": ["{}"]}}, "expected a kind of value, one of number, "),
        ({"names": {}, "values": {"number": ["x"]}}, "one {} for the number"),
        ({"names": {}, "seeds": [Seed((), parse_meaning("x"))]}, "words of a seed"),
    ],
)
def test_what_makes_no_domain_is_refused(given, message):
    with pytest.raises(MeaningError, match=message):
        domain_of(**given)


def test_sizes_are_limited(monkeypatch):
    with pytest.raises(MeaningError, match="at most 2000 basic types"):
        Domain(TypeHierarchy({f"x{i}": "" for i in range(2001)}), {})
    with pytest.raises(MeaningError, match="at most 100 types of 'f'"):
        Domain(TypeHierarchy({f"x{i}": "" for i in range(101)}), {"f": tuple(parse_type(f"x{i}") for i in range(101))})
    monkeypatch.setattr("margent.meaning.domain.MOST_ENTRIES", 2)
    with pytest.raises(MeaningError, match="at most 2 names"):
        domain_of({"a": "s", "b": "s", "c": "s"})
    with pytest.raises(MeaningError, match="at most 2 phrases"):
        domain_of({}, phrases={("a",): ["x"], ("b",): ["x"], ("c",): ["x"]})


@pytest.mark.parametrize(
    "change",
    [
        {"types": []},
        {"types": {"x": "lo"}},
        {"types": {"x": [1]}},
        {"types": {"x": ["lo ->"]}},
        {"seeds": [["a"]]},
        {"seeds": [["a", "("]]},
        {"seeds": [7]},
        {"suffixes": {"x": 1}},
        {"hierarchy": {"a": ["b"], "b": ["a"]}},
        {"hierarchy": {f"x{i}": [] for i in range(3000)}},
        {"phrases": {"": ["x"]}},
        {"values": {"clock": []}},
        {"more": {}},
    ],
)
def test_json_that_is_no_domain_is_refused(change):
    with pytest.raises(MeaningError):
        Domain.from_json(json.loads(json.dumps({**DOMAIN.to_json(), **change})))
    with pytest.raises(MeaningError, match="expected a domain"):
        Domain.from_json(list(change))


def test_a_domain_from_meanings_has_simple_types():
    texts = [
        "(lambda $0 e (and (state:t $0) (next_to:t $0 new_york:s)))",
        "(argmax $0 (state:t $0) (size:i $0))",
        "(lambda $0 e (exists $1 (and (loc:t $0 $1) (> (size:i $1) (fare $0)))))",
        "(capital:c utah:s)",
        "(capital:t austin_tx:c)",
        "(lambda $0 e (fare $0 200:do))",
        "(lambda $0 e (= (fare $0) 300:do))",
        "(sum state:t height)",
        "(the $0 (or (river:t $0) (not (river:t (mouth $0)))))",
        "((lambda $0 <e,t> (count $0)) lake:t)",
        "(lambda $0:e (req_exp $0 2))",
        "3d_graphics",
    ]
    domain = Domain.from_meanings([parse_meaning(text) for text in texts])
    assert {name: [str(type_) for type_ in types] for name, types in domain.types.items()} == {
        "state:t": ["e -> t"],
        "next_to:t": ["e -> e -> t"],
        "new_york:s": ["e"],
        "size:i": ["e -> i"],
        "loc:t": ["e -> e -> t"],
        "fare": ["e -> i", "e -> e -> t"],
        "capital:c": ["e -> e"],
        "utah:s": ["e"],
        "capital:t": ["e -> t"],
        "austin_tx:c": ["e"],
        "200:do": ["e"],
        "300:do": ["i"],
        "height": ["e -> i"],
        "river:t": ["e -> t"],
        "mouth": ["e -> e"],
        "lake:t": ["e -> t"],
        "req_exp": ["e -> i -> t"],
        "3d_graphics": ["e"],
    }
    assert domain.phrases[("new", "york")] == ("new_york:s",) and domain.phrases[("3d", "graphics")] == ("3d_graphics",)
    assert dict(domain.suffixes) == {"s": "e", "c": "e"}
    assert [str(type_) for type_ in domain.types_of("nevada:s")] == ["e"]


def test_meanings_that_do_not_fit_together_change_nothing():
    good = [parse_meaning("(lambda $0 e (and (p $0) (q $0 x)))")]
    bad = [parse_meaning("(and (r x) (p x) (= x 3) (count x))"), parse_meaning("(lambda $0 e ($0 $0))")]
    domain = Domain.from_meanings(good + bad)
    assert [str(domain.types[name][-1]) for name in "pqxr"] == ["e -> t", "e -> e -> t", "e", "e -> e"]
    assert Domain.from_meanings([]) == Domain(TypeHierarchy({"e": "", "i": "", "t": ""}), {})
