"""Numbers, ordinals, times and amounts in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent.meaning.values import READERS

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
UNITS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number):
    if number >= 1_000_000:
        rest = number % 1_000_000
        return [*spelled(number // 1_000_000), "million", *(spelled(rest) if rest else [])]
    if number >= 1000:
        return [*spelled(number // 1000), "thousand", *(spelled(number % 1000) if number % 1000 else [])]
    if number >= 100:
        return [UNITS[number // 100], "hundred", *(spelled(number % 100) if number % 100 else [])]
    if number >= 20:
        return [TENS[number // 10 - 2], *([UNITS[number % 10]] if number % 10 else [])]
    return [UNITS[number]]


@given(st.integers(0, 999_999_999))
def test_numbers_in_words_and_digits(number):
    for words in (spelled(number), [str(number)], [f"{number:,}"]):
        assert READERS["number"](words) == (number,)
    assert READERS["dollars"]([*spelled(number), "dollars"]) == (number,)
    assert READERS["ordinal"](spelled(number)) == ()


@pytest.mark.parametrize(
    "text",
    ["texas", "and", "five and", "five five", "twenty eleven", "hundred thousand thousand", "thousand", "-5", "5."],
)
def test_other_words_are_no_numbers(text):
    assert READERS["number"](text.split()) == ()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("first", (1,)),
        ("twelfth", (12,)),
        ("twentieth", (20,)),
        ("twenty-first", (21,)),
        ("thirty first", (31,)),
        ("22nd", (22,)),
        ("twenty thirtieth", ()),
        ("five sixth", ()),
        ("one", ()),
    ],
)
def test_ordinals(text, values):
    assert READERS["ordinal"](text.split()) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("noon", (1200,)),
        ("12 noon", (1200,)),
        ("midnight", (2400, 0)),
        ("5 pm", (1700,)),
        ("5 o'clock pm", (1700,)),
        ("5 pm o'clock", (1700,)),
        ("12 am", (0,)),
        ("12 pm", (1200,)),
        ("530", (530, 1730)),
        ("5:30 a.m.", (530,)),
        ("1145am", (1145,)),
        ("1850", (1850,)),
        ("2 in the afternoon", (1400,)),
        ("9 at night", (2100,)),
        ("seven thirty", (730, 1930)),
        ("five", (500, 1700)),
        ("575", ()),
        ("25", ()),
        ("25 pm", ()),
        ("13 am", ()),
        ("noon pm", ()),
        ("o'clock", ()),
        ("7 pm 8", ()),
    ],
)
def test_times_of_day(text, values):
    assert READERS["clock"](text.split()) == values


@pytest.mark.parametrize(("text", "values"), [("$40k", (40000,)), ("40 k", (40000,)), ("k", ()), ("$ 5,000", (5000,))])
def test_amounts(text, values):
    assert READERS["amount"](text.split()) == values


@given(st.lists(st.text(alphabet="0123456789amp:'o$k ,.-x", min_size=1).filter(lambda word: word.split() == [word])))
def test_any_words_can_be_asked_for(words):
    for reader in READERS.values():
        assert all(isinstance(value, (int, str)) for value in reader(words))
