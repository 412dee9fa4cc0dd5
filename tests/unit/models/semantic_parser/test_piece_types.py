"""The types of pieces: general in the sets that they ask for, and bounded by what these may hold."""

from __future__ import annotations

import pytest

from margent.meaning import Domain, TypeHierarchy, infer_type, normal_form, parse_meaning, parse_type
from margent.meaning.type_application import applied, matches
from margent.models.semantic_parser.piece_types import piece_type

KINDS = TypeHierarchy({"lo": "e", "s": "lo", "c": "lo", "r": "lo", "n": "e"})
DOMAIN = Domain(
    KINDS,
    {
        "state": [parse_type("s -> t")],
        "river": [parse_type("r -> t")],
        "name": [parse_type("n -> t")],
        "size": [parse_type("lo -> i")],
        "len": [parse_type("r -> i")],
        "in": [parse_type("lo -> s -> t")],
        "capital": [parse_type("s -> c")],
    },
)


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("(lambda $0 e (argmax $0 size))", "('a:lo -> t) -> 'a:lo"),
        ("(lambda $0 e (argmax $0 len))", "('a:r -> t) -> r"),
        ("(lambda $0 e (lambda $1 e (argmax $1 $0)))", "('a -> i) -> ('a -> t) -> 'a"),
        ("(lambda $0 e (argmax $0 (lambda $1 e (count $2 (in $2 $1)))))", "('a:s -> t) -> s"),
        ("(lambda $0 e (argmax $0 (lambda $1 e (count $2 (in $1 $2)))))", "('a:lo -> t) -> 'a:lo"),
        ("(lambda $0 e (lambda $1 e (argmax $0 (lambda $2 e (count $3 (and ($1 $3) (in $2 $3)))))))",
         "('a:lo -> t) -> ('b:s -> t) -> 'a:lo"),
        ("(lambda $0 e (capital (the $0)))", "('a:s -> t) -> c"),
        ("(lambda $0 e (lambda $1 e (in $1 (the $0))))", "('a:s -> t) -> lo -> t"),
        ("the", "('a -> t) -> 'a"),
        ("count", "('a -> t) -> i"),
        ("(lambda $0 e (lambda $1 e (not ($0 $1))))", "('a -> t) -> 'a -> t"),
        ("(lambda $0 e (lambda $1 e (in $0 $1)))", "lo -> s -> t"),
    ],
)  # fmt: skip
def test_types_of_pieces(piece, expected):
    assert str(piece_type(normal_form(parse_meaning(piece)), DOMAIN)) == expected


PIECES = ["(lambda $0 e (argmax $0 size))", "(lambda $0 e (argmax $0 len))", "(lambda $0 e (capital (the $0)))"]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", ["state", "river", "name"])
def test_what_is_applied_has_the_type_of_the_whole(piece, name):
    """Types that go together step by step are those that the whole meaning has, and none where it has none."""
    function = piece_type(normal_form(parse_meaning(piece)), DOMAIN)
    found = applied(function, DOMAIN.types_of(name)[0], KINDS)
    whole = normal_form(parse_meaning(f"({piece} {name})"))
    fits = (piece, name) in {(PIECES[0], "state"), (PIECES[0], "river"), (PIECES[1], "river"), (PIECES[2], "state")}
    assert (found is not None) == fits
    if found is not None:
        assert str(found) == str(infer_type(whole, DOMAIN))


def test_the_largest_state_has_a_capital():
    largest = piece_type(normal_form(parse_meaning(PIECES[0])), DOMAIN)
    state = applied(largest, DOMAIN.types_of("state")[0], KINDS)
    assert state is not None and str(state) == "s"
    assert matches(parse_type("s"), state, KINDS)
    assert str(applied(DOMAIN.types_of("capital")[0], state, KINDS)) == "c"
