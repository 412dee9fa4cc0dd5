"""Derived columns: properties of a word's spelling, computed once per distinct word.

Each function maps a word to a short string, or to None where the word does not have the property (then templates that
name the column make no feature for this token). Words are sequences of Unicode code points, never of bytes; letters,
marks and digits are told apart by their Unicode category.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Derivation = Callable[[str], "str | None"]

MAX_AFFIX = 5


class _ShapeTable(dict[int, "str | None"]):
    """Character to its class, filled as characters are met: X upper, x lower, a other letter, 0 digit, else itself."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        if category in ("Lu", "Lt"):
            result: str | None = "X"
        elif category == "Ll":
            result = "x"
        elif category[0] == "L":
            result = "a"
        elif category[0] == "N":
            result = "0"
        elif category[0] == "M":
            result = None  # combining marks belong to the letter before them
        else:
            result = chr(code)
        self[code] = result
        return result


_SHAPES = _ShapeTable()
_REPEATS = re.compile(r"(.)\1+", re.DOTALL)
_LENGTHS = ("0", "1", "2", "3", "4", "5-6", "5-6", "7-9", "7-9", "7-9")


def lower(word: str) -> str:
    """The word in lower case."""
    return word.lower()


def shape(word: str) -> str:
    """Each character by its class: `McDonald's-2` is `XxXxxxxx'x-0`."""
    return word.translate(_SHAPES)


def short_shape(word: str) -> str:
    """The shape with runs of one class shortened to one: `McDonald's-2` is `XxXx'x-0`."""
    return _REPEATS.sub(r"\1", word.translate(_SHAPES))


def capitalisation(word: str) -> str | None:
    """`lower`, `upper`, `initial` (one capital letter), `title` (a capital first), `mixed`; None: no cased letter."""
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "initial"
    first, rest = word[:1], word[1:]
    if (first.isupper() or first.istitle()) and rest == rest.lower():
        return "title"
    return "mixed" if word.lower() != word.upper() else None


def digits(word: str) -> str | None:
    """`all`, `mostly` (digits with punctuation only, as in 1,250.5), `some`, or None for words without digits."""
    if word.isdecimal():
        return "all"
    if not any(c.isdecimal() for c in word):
        return None
    return "some" if any(c.isalpha() for c in word) else "mostly"


def hyphen(word: str) -> str | None:
    """`hyphen` for words with a hyphen or dash inside, else None."""
    inside = word[1:-1]
    return "hyphen" if any(unicodedata.category(c) == "Pd" for c in inside) else None


def length(word: str) -> str:
    """The length in characters, in classes: 1, 2, 3, 4, 5-6, 7-9, 10+."""
    return _LENGTHS[len(word)] if len(word) < len(_LENGTHS) else "10+"


def _prefix(n: int) -> Derivation:
    def prefix(word: str) -> str | None:
        return word[:n] if len(word) >= n else None

    return prefix


def _suffix(n: int) -> Derivation:
    def suffix(word: str) -> str | None:
        return word[-n:] if len(word) >= n else None

    return suffix


DERIVATIONS: dict[str, Derivation] = {
    "lower": lower,
    "shape": shape,
    "short_shape": short_shape,
    "capitalisation": capitalisation,
    "digits": digits,
    "hyphen": hyphen,
    "length": length,
    **{f"prefix{n}": _prefix(n) for n in range(1, MAX_AFFIX + 1)},
    **{f"suffix{n}": _suffix(n) for n in range(1, MAX_AFFIX + 1)},
}
"""The derived columns by name, as templates name them: `%x[0,0.suffix3]`."""
