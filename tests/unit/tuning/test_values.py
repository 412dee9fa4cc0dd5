from __future__ import annotations

import math

import numpy as np
import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.tuning.values import Choice, Range, cell, described, shown, values_of


def drawn(values, n, seed=0):
    """Values that Optuna's random sampler draws."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    return [values.suggest(study.ask(), "x") for _ in range(n)]


@given(
    low=st.integers(1, 50), width=st.integers(1, 1000), log=st.booleans(), integer=st.booleans(), seed=st.integers(0, 9)
)
@settings(deadline=None, max_examples=40)
def test_drawn_numbers_are_in_the_range(low, width, log, integer, seed):
    for name, value in drawn(Range(low, low + width, log=log, integer=integer), 10, seed):
        assert low <= value <= low + width and name == value
        assert type(value) is (int if integer else float)
        assert integer or value in (low, low + width) or value == float(f"{value:.3g}")


def test_both_ends_of_integers_are_drawn():
    for log in (False, True):
        assert {value for _, value in drawn(Range(1, 3, log=log, integer=True), 100)} == {1, 2, 3}


def test_the_log_scale_gives_each_power_of_ten_its_share():
    powers = [math.floor(math.log10(value)) for _, value in drawn(Range(0.001, 1, log=True), 900)]
    assert all(240 < powers.count(power) < 360 for power in (-3, -2, -1))


@pytest.mark.parametrize(
    ("values", "number", "edge"),
    [
        (Range(0, 1), 0.0, "lower"),
        (Range(0, 1), 0.019, "lower"),
        (Range(0, 1), 0.021, None),
        (Range(0, 1), 0.99, "upper"),
        (Range(0.001, 1000, log=True), 1.0, None),
        (Range(0.001, 1000, log=True), 0.0013, "lower"),
        (Range(0.001, 1000, log=True), 700.0, None),
        (Range(0.001, 1000, log=True), 900.0, "upper"),
        (Range(1, 9, integer=True), 9, "upper"),
        (Range(1, 9, integer=True), 8, None),
    ],
)
def test_edges(values, number, edge):
    assert values.edge(number) == edge


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 2, "high": 2}, "a range should go up, got 2 to 2"),
        ({"low": 2, "high": 1}, "a range should go up, got 2 to 1"),
        ({"low": 0, "high": 1, "log": True}, "should begin above 0, got 0 to 1"),
        ({"low": 0, "high": float("inf")}, "high of Range should be a finite number, got inf"),
        ({"low": "0", "high": 1}, "low of Range should be a finite number, got '0'"),
        ({"low": True, "high": 2}, "low of Range should be a finite number, got True"),
        ({"low": 0.5, "high": 2, "integer": True}, "should have integers as its ends, got 0.5 to 2"),
    ],
)
def test_wrong_ranges(arguments, message):
    with pytest.raises(ValueError, match=message):
        Range(**arguments)


def test_values_as_users_give_them():
    assert values_of("k", [1, 2]) == Choice(((1, 1), (2, 2)))
    assert values_of("k", (1,)) == values_of("k", 1) == Choice(((1, 1),))
    assert values_of("features", "ner") == Choice((("ner", "ner"),))
    assert values_of("features", {"mine": ["U:%x[0,0]"]}) == Choice((("mine", ["U:%x[0,0]"]),))
    assert values_of("C", np.array([0.5])) == Choice(((0.5, 0.5),))
    assert values_of("epochs", Range(1, 5), integer=True) == Range(1, 5, integer=True)
    both = values_of("average", [True, 1])  # equal to Python, not to a person
    assert both.values == ((True, True), (1, 1))
    assert {repr(value) for _, value in drawn(both, 20)} == {"True", "1"}


def test_wrong_values():
    with pytest.raises(ValueError, match=r"k should have at least one value to try, got \[\]"):
        values_of("k", [])
    with pytest.raises(ValueError, match="k should have different values to try, got 2 2 times"):
        values_of("k", [1, 2, 2])
    with pytest.raises(ValueError, match="the range of k: a range of integers should have integers as its ends"):
        values_of("k", Range(0.5, 2), integer=True)


def test_values_in_words():
    assert described(len) == "builtins.len"
    assert shown(np.float64(0.5)) == 0.5 and type(shown(np.float64(0.5))) is float
    assert shown(("a", None)) == "('a', None)"
    assert [cell(value) for value in (True, False, None, 0.5, "ner")] == ["yes", "no", "none", "0.5", "ner"]
