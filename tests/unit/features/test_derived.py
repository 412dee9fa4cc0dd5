"""Derived columns on words of many scripts."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.features.derived import DERIVATIONS

WORDS = {
    #                shape          short        capitalisation digits   hyphen    length
    "McDonald's-2": ("XxXxxxxx'x-0", "XxXx'x-0", "mixed", "some", "hyphen", "10+"),
    "Europe": ("Xxxxxx", "Xx", "title", None, None, "5-6"),
    "USA": ("XXX", "X", "upper", None, None, "3"),
    "I": ("X", "X", "initial", None, None, "1"),
    "the": ("xxx", "x", "lower", None, None, "3"),
    "élan": ("xxxx", "x", "lower", None, None, "4"),
    "Élan": ("Xxxx", "Xx", "title", None, None, "4"),
    "e\u0301lan": ("xxxx", "x", "lower", None, None, "5-6"),  # a combining accent
    "Αθήνα": ("Xxxxx", "Xx", "title", None, None, "5-6"),
    "ΑΘΗΝΑ": ("XXXXX", "X", "upper", None, None, "5-6"),
    "中国": ("aa", "a", None, None, None, "2"),
    "شمس": ("aaa", "a", None, None, None, "3"),
    "1,250.5": ("0,000.0", "0,0.0", None, "mostly", None, "7-9"),
    "1984": ("0000", "0", None, "all", None, "4"),
    "١٩٨٤": ("0000", "0", None, "all", None, "4"),  # Arabic-Indic digits
    "१२": ("00", "0", None, "all", None, "2"),  # Devanagari digits
    "B2B": ("X0X", "X0X", "upper", "some", None, "3"),
    "well-known": ("xxxx-xxxxx", "x-x", "lower", None, "hyphen", "10+"),
    "1990–91": ("0000–00", "0–0", None, "mostly", "hyphen", "7-9"),  # an en dash
    "--": ("--", "-", None, None, None, "2"),
    "-": ("-", "-", None, None, None, "1"),
    "...": ("...", ".", None, None, None, "3"),
    "ǅungla": ("Xxxxxx", "Xx", "title", None, None, "5-6"),  # a title-case letter
    "": ("", "", None, None, None, "0"),
}


@pytest.mark.parametrize("word", WORDS)
def test_properties_of_a_word(word: str) -> None:
    names = ("shape", "short_shape", "capitalisation", "digits", "hyphen", "length")
    assert tuple(DERIVATIONS[name](word) for name in names) == WORDS[word]


def test_affixes_are_of_characters_and_only_where_the_word_is_long_enough() -> None:
    assert [DERIVATIONS[f"prefix{n}"]("naïf") for n in range(1, 6)] == ["n", "na", "naï", "naïf", None]
    assert [DERIVATIONS[f"suffix{n}"]("中国人") for n in range(1, 6)] == ["人", "国人", "中国人", None, None]
    assert DERIVATIONS["prefix1"]("") is None and DERIVATIONS["suffix5"]("") is None
    assert DERIVATIONS["prefix1"]("😀a") == "😀"


def test_lower_is_that_of_unicode() -> None:
    assert DERIVATIONS["lower"]("ΑΘΗΝΑΣ") == "αθηνας"  # the last sigma has another form
    assert DERIVATIONS["lower"]("ÉLAN") == "élan"
    assert DERIVATIONS["lower"]("İ") == "i̇"


@settings(deadline=None, max_examples=300)
@given(word=st.text(st.characters(codec="utf-8"), max_size=8))
def test_every_word_has_well_formed_properties(word: str) -> None:
    for name, derive in DERIVATIONS.items():
        value = derive(word)
        assert value is None or (isinstance(value, str) and value.encode() is not None), name
    shape = DERIVATIONS["shape"](word)
    assert shape is not None and len(shape) == sum(unicodedata.category(c)[0] != "M" for c in word)
    short = DERIVATIONS["short_shape"](word)
    assert short is not None and all(a != b for a, b in itertools.pairwise(short))
    assert (DERIVATIONS["capitalisation"](word) is None) == (
        not any(c.isupper() or c.islower() or c.istitle() for c in word)
    )
