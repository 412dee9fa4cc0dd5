"""Derived columns on words of many scripts."""

from __future__ import annotations

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import Templates, _core
from margent.features.derived import DERIVATIONS
from margent.features.template_map import TemplateMap

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


def natively(word: str) -> dict[str, str | None]:
    """The derived columns as templates have them, of a word that is met for the first time."""
    features = TemplateMap(Templates([f"U{name}:%x[0,0.{name}]" for name in DERIVATIONS]))
    ids = features.encode([[word]], grow=True).ids
    values = dict(features.name(int(i))[1:].split(":", 1) for i in ids)
    return {name: values.get(name) for name in DERIVATIONS}


@pytest.mark.parametrize("word", WORDS)
def test_native_code_derives_the_same(word: str) -> None:
    assert natively(word) == {name: derive(word) for name, derive in DERIVATIONS.items()}


@settings(deadline=None, max_examples=300)
@given(word=st.text(st.characters(max_codepoint=127), max_size=12) | st.text(st.characters(codec="utf-8"), max_size=6))
def test_native_code_derives_the_same_of_any_word(word: str) -> None:
    assert natively(word) == {name: derive(word) for name, derive in DERIVATIONS.items()}


def test_python_is_asked_only_what_native_code_cannot_know() -> None:
    asked = []
    functions = {name: lambda word, name=name: asked.append((name, word)) for name in DERIVATIONS}
    names = sorted(DERIVATIONS)
    columns = _core.TemplateColumns([(0, None), *((0, name) for name in names)], functions)
    templates = [(i, False, [(0, i)]) for i in range(len(names) + 1)]
    encoder = _core.TemplateEncoder(templates, len(names) + 1)
    X = margent.Columns.from_sentences([["Plain-2", "naïf", "Plain-2", "naïf"]])
    encoder.encode(columns, X.table, [0], None, np.array([0, 4]), True)
    by_unicode = {"lower", "shape", "short_shape", "capitalisation", "digits", "hyphen"}
    assert sorted(asked) == sorted((name, "naïf") for name in by_unicode)


def test_words_that_were_not_seen_leave_the_columns_as_they_are() -> None:
    features = TemplateMap(Templates(["U:%x[0,0]", "US:%x[0,0.suffix2]", "UL:%x[0,0.lower]"]))
    features.encode([["walking", "the"]], grow=True)
    before = {name: array.tobytes() for name, array in features.stored()[1].items()}
    X = [["The", "talking", "the", "ÉLAN", "talking"]]
    found = features.encode(X)
    names = [
        [features.name(int(i)) for i in found.ids[found.ptr[t] : found.ptr[t + 1]]] for t in range(len(found.ptr) - 1)
    ]
    assert names == [["US:he", "UL:the"], ["US:ng"], ["U:the", "US:he", "UL:the"], [], ["US:ng"]]
    assert {name: array.tobytes() for name, array in features.stored()[1].items()} == before
