from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.tuning.values import Choice, Range, cell, described, shown, values_of


@given(
    low=st.integers(1, 50), width=st.integers(1, 1000), log=st.booleans(), whole=st.booleans(), seed=st.integers(0, 9)
)
@settings(deadline=None, max_examples=60)
def test_drawn_numbers_are_in_the_range(low, width, log, whole, seed):
    values = Range(low, low + width, log=log, whole=whole)
    for _ in range(20):
        name, value = values.draw(np.random.default_rng(seed))
        assert low <= value <= low + width and name == value
        assert type(value) is (int if whole else float)
        assert whole or value in (low, low + width) or value == float(f"{value:.3g}")


def test_both_ends_of_whole_numbers_are_drawn():
    random = np.random.default_rng(0)
    for log in (False, True):
        assert {Range(1, 3, log=log, whole=True).draw(random).value for _ in range(200)} == {1, 2, 3}


def test_the_log_scale_gives_each_power_of_ten_its_share():
    random = np.random.default_rng(0)
    drawn = [math.floor(math.log10(Range(0.001, 1, log=True).draw(random).value)) for _ in range(3000)]
    assert all(900 < drawn.count(power) < 1100 for power in (-3, -2, -1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 2, "high": 2}, "a range should go up, got 2 to 2"),
        ({"low": 2, "high": 1}, "a range should go up, got 2 to 1"),
        ({"low": 0, "high": 1, "log": True}, "should begin above 0, got 0 to 1"),
        ({"low": 0, "high": float("inf")}, "high of Range should be a finite number, got inf"),
        ({"low": "0", "high": 1}, "low of Range should be a finite number, got '0'"),
        ({"low": True, "high": 2}, "low of Range should be a finite number, got True"),
        ({"low": 0.5, "high": 2, "whole": True}, "a range of whole numbers should have such ends, got 0.5 to 2"),
    ],
)
def test_wrong_ranges(arguments, message):
    with pytest.raises(ValueError, match=message):
        Range(**arguments)


def test_values_as_users_give_them():
    assert values_of("k", [1, 2, 2]) == Choice(((1, 1), (2, 2)))
    assert values_of("k", (1,)) == values_of("k", 1) == Choice(((1, 1),))
    assert values_of("features", "ner") == Choice((("ner", "ner"),))
    assert values_of("features", {"mine": ["U:%x[0,0]"]}) == Choice((("mine", ["U:%x[0,0]"]),))
    assert values_of("C", np.array([0.5])) == Choice(((0.5, 0.5),))
    assert values_of("epochs", Range(1, 5), whole=True) == Range(1, 5, whole=True)
    assert values_of("average", [True, 1]).values == ((True, True), (1, 1))  # equal to Python, not to a person


def test_wrong_values():
    with pytest.raises(ValueError, match=r"k should have at least one value to try, got \[\]"):
        values_of("k", [])
    with pytest.raises(ValueError, match="the range of k: a range of whole numbers should have such ends"):
        values_of("k", Range(0.5, 2), whole=True)


def test_values_in_words():
    assert described(len) == "builtins.len"
    assert shown(np.float64(0.5)) == 0.5 and type(shown(np.float64(0.5))) is float
    assert shown(("a", None)) == "('a', None)"
    assert [cell(value) for value in (True, False, None, 0.5, "ner")] == ["yes", "no", "", "0.5", "ner"]
