"""What a parameter may be in a search: one of a list, or a number in a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

_DIGITS = 3  # of numbers drawn from a range: enough for a search, and short enough to type


class Value(NamedTuple):
    """A value to try, and what it is called in tables and files."""

    name: Any
    value: Any


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included, to draw from; rounded to three significant digits.

    log : draw the logarithm evenly, so that 0.01 to 0.1 is as likely as 1 to 10
    whole : draw whole numbers. Parameters that are whole numbers by nature, such as `epochs`, need not say so.

    >>> Range(0.01, 10, log=True)
    Range(low=0.01, high=10, log=True, whole=False)
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"{name} of Range should be a finite number, got {value!r}")
        if self.low >= self.high:
            raise ValueError(f"a range should go up, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a range on the log scale should begin above 0, got {self.low} to {self.high}")
        if self.whole and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"a range of whole numbers should have such ends, got {self.low} to {self.high}")

    def draw(self, random: np.random.Generator) -> Value:
        """A number of the range."""
        if self.whole and not self.log:
            number: float = int(random.integers(int(self.low), int(self.high), endpoint=True))
        elif self.log:
            number = math.exp(random.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = random.uniform(self.low, self.high)
        if self.whole:
            number = round(number)
        else:
            number = min(max(float(f"{number:.{_DIGITS}g}"), float(self.low)), float(self.high))
        return Value(number, number)

    def described(self) -> Any:
        return {"from": self.low, "to": self.high, "log": self.log, "whole": self.whole}


@dataclass(frozen=True)
class Choice:
    """One of some values, each as likely as the others."""

    values: tuple[Value, ...]

    def draw(self, random: np.random.Generator) -> Value:
        """One of the values."""
        return self.values[int(random.integers(len(self.values)))]

    def described(self) -> Any:
        return {str(name): described(value) for name, value in self.values}


Values = Range | Choice


def values_of(parameter: str, given: Any, *, whole: bool = False) -> Values:
    """What a user gave for a parameter: a `Range`, a list of values, a dict of values by name, or one value.

    `whole`: the parameter is a whole number by nature, so a range of it is one of whole numbers.
    """
    if isinstance(given, Range):
        try:
            return replace(given, whole=given.whole or whole)
        except ValueError as error:
            raise ValueError(f"the range of {parameter}: {error}") from None
    if isinstance(given, Mapping):
        named = [Value(str(name), value) for name, value in given.items()]
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        named = [Value(shown(value), value) for value in given]
    else:
        named = [Value(shown(given), given)]
    if not named:
        raise ValueError(f"{parameter} should have at least one value to try, got {given!r}")
    return Choice(tuple({repr(value.name): value for value in named}.values()))


def shown(value: Any) -> Any:
    """A value as tables and JSON can show it: itself where it is plain, otherwise in words."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (str, bool, int, float)) else described(value)


def cell(value: Any) -> str:
    """A shown value as the text of a cell or a tick."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def described(value: Any) -> str:
    """A value in words that are the same in every process: functions by name, not by address."""
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)
