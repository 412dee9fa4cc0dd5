"""Words that every domain knows: quantifiers, superlatives, comparisons, numbers, and their polymorphic types."""

from __future__ import annotations

import re

from margent.meaning.expression import split_name
from margent.meaning.types import BaseType, Type, parse_type

TRUTH, INTEGER = BaseType("t"), BaseType("i")

BUILT_IN: dict[str, Type] = {
    name: parse_type(text)
    for name, text in {
        "not": "t -> t",
        "exists": "('a -> t) -> t",
        "forall": "('a -> t) -> t",
        "the": "('a -> t) -> 'a",
        "count": "('a -> t) -> i",
        "argmax": "('a -> t) -> ('a -> i) -> 'a",
        "argmin": "('a -> t) -> ('a -> i) -> 'a",
        "sum": "('a -> t) -> ('a -> i) -> i",
        "max": "('a -> t) -> 'a",
        "min": "('a -> t) -> 'a",
        **dict.fromkeys(("=", "<", ">", "<=", ">=", "equals"), "'a -> 'a -> t"),
    }.items()
}
"""`and` and `or` are not among them: they take any number of arguments, truth values or sets. What is to be compared by
`argmax` and added up by `sum` is of type i or of a kind of it."""

CONNECTIVES = ("and", "or")

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?\Z")


def built_in_name(name: str) -> str | None:
    """The built-in word that a name is, with or without its type: ``argmax`` of ``argmax:<<e,t>,<<e,i>,e>>``."""
    if name in BUILT_IN or name in CONNECTIVES:
        return name
    base, suffix = split_name(name)
    if suffix[:1] == "<" or (base == "equals" and suffix == "t"):
        return base if base in BUILT_IN or base in CONNECTIVES else None
    return None


def is_number(name: str) -> bool:
    """Whether the name of a constant is a number: ``5``, ``-1.5``."""
    return _NUMBER.match(name) is not None
