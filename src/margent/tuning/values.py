"""What a parameter may be in a search: one of a list, or a number in a range."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

_DIGITS = 3  # of numbers drawn from a range: enough for a search, and short enough to type
_EDGE = 0.02  # the share of a range at either end that counts as its edge


class Value(NamedTuple):
    """A value to try, and what it is called in tables and files."""

    name: Any
    value: Any


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included, to choose from; rounded to three significant digits.

    log : on the log scale, where 0.01 to 0.1 is as far as 1 to 10
    integer : integers alone. Parameters that are integers by nature, such as `epochs`, need not say so.

    >>> Range(0.01, 10, log=True)
    Range(low=0.01, high=10, log=True, integer=False)
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"{name} of Range should be a finite number, got {value!r}")
        if self.low >= self.high:
            raise ValueError(f"a range should go up, got {self.low} to {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a range on the log scale should begin above 0, got {self.low} to {self.high}")
        if self.integer and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"a range of integers should have integers as its ends, got {self.low} to {self.high}")

    def suggest(self, trial: Any, name: str) -> Value:
        """What an Optuna trial has, or gets, for the parameter of this name."""
        if self.integer:
            number: float = trial.suggest_int(name, int(self.low), int(self.high), log=self.log)
        else:
            drawn = trial.suggest_float(name, float(self.low), float(self.high), log=self.log)
            number = min(max(float(f"{drawn:.{_DIGITS}g}"), float(self.low)), float(self.high))
        return Value(number, number)

    def probes(self) -> list[Any]:
        """Values that an owner who takes the range must take: its ends."""
        return [(int if self.integer else float)(end) for end in (self.low, self.high)]

    def edge(self, number: float) -> str | None:
        """ "lower" or "upper" where a number lies at that end of the range."""
        scale = math.log if self.log else float
        share = (scale(number) - scale(self.low)) / (scale(self.high) - scale(self.low))
        if min(share, 1 - share) > _EDGE:
            return None
        return "lower" if share < 0.5 else "upper"

    def described(self) -> Any:
        return {"from": self.low, "to": self.high, "log": self.log, "integer": self.integer}


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Value, ...]

    def suggest(self, trial: Any, name: str) -> Value:
        """What an Optuna trial has, or gets, for the parameter of this name. It knows values by their names."""
        names = [cell(value.name) for value in self.values]
        return self.values[names.index(trial.suggest_categorical(name, names))]

    def probes(self) -> list[Any]:
        return [value.value for value in self.values]

    def described(self) -> Any:
        return {cell(name): described(value) for name, value in self.values}


Values = Range | Choice


def values_of(parameter: str, given: Any, *, integer: bool = False) -> Values:
    """What a user gave for a parameter: a `Range`, a list of values, a dict of values by name, or one value.

    `integer`: the parameter is an integer by nature, so a range of it is one of integers.
    """
    if isinstance(given, Range):
        try:
            return replace(given, integer=given.integer or integer)
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
    name, count = Counter(cell(value.name) for value in named).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{parameter} should have different values to try, got {name} {count} times")
    return Choice(tuple(named))


def shown(value: Any) -> Any:
    """A value as tables and JSON can show it: itself where it is plain, otherwise in words."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, (str, bool, int, float)) else described(value)


def cell(value: Any) -> str:
    """A shown value as the text of a cell or a tick."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def described(value: Any) -> str:
    """A value in words that are the same in every process: functions by name, not by address."""
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)
