"""Checks of parameters: one sentence that names parameter, owner, wanted and got."""

from __future__ import annotations

import math
from collections.abc import Iterable, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

LARGEST = 1e25
"""No parameter may be larger: weights of that size are the largest that a model file may hold."""
LARGEST_WHOLE = 2**31 - 1
"""What native code can count to."""
MOST_ANSWERS = 1 << 20
"""So many answers to one example can be asked for, where it is not known how many it has."""
MOST_ROOM = 1 << 28
"""So many labels can be in all answers to one question together."""


def check_whole(owner: Any, name: str, *, minimum: int, maximum: int = LARGEST_WHOLE, optional: bool = False) -> None:
    """The parameter must be an integer from `minimum` to `maximum`, or None where `optional`."""
    what = f"{name} of {type(owner).__name__}"
    check_count(what, getattr(owner, name), minimum, maximum=maximum, optional=optional)


def check_count(what: str, value: Any, minimum: int, *, maximum: int | None = None, optional: bool = False) -> None:
    """`value` must be an integer from `minimum` to `maximum`, or None where `optional`."""
    if optional and value is None:
        return
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    large = whole and maximum is not None and value > maximum
    if not whole or value < minimum or large:
        bound = f"of at most {maximum}" if large else f"of at least {minimum}"
        wanted = f"an integer {bound}" + (" or None" if optional else "")
        raise ValueError(f"{what} should be {wanted}, got {value!r}")


def check_room(what: str, value: int, n_tokens: int) -> None:
    """So many answers (`what`) about so many tokens must not be more than fit into memory."""
    if value * n_tokens > MOST_ROOM:
        raise ValueError(
            f"{what} should be an integer of at most {max(MOST_ROOM // n_tokens, 1)} for {n_tokens} tokens at once, "
            f"got {value}"
        )


def check_number(
    owner: Any, name: str, *, minimum: float, maximum: float = LARGEST, above: bool = False, optional: bool = False
) -> None:
    """The parameter must be a number from `minimum` to `maximum`, or larger than `minimum` where `above`.

    None is right too where `optional`.
    """
    value = getattr(owner, name)
    if optional and value is None:
        return
    number = as_float(value)
    if not minimum <= number <= maximum or (above and number == minimum):
        least = f"{'above' if above else 'of at least'} {minimum}"
        wanted = (f"of at most {maximum:g}" if number > maximum else least) + (" or None" if optional else "")
        raise ValueError(f"{name} of {type(owner).__name__} should be a number {wanted}, got {value!r}")


def in_order(values: Iterable[Any]) -> list[Any]:
    """The values in their order; those of a set, which has another one in each process, sorted by how they print."""
    return sorted(values, key=repr) if isinstance(values, Set) else list(values)


def as_float(value: Any) -> float:
    """A real number as a float, infinite where it is too large for one; NaN for what is not a number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def is_text(value: Any) -> bool:
    """Whether it is a str that a file can hold: one without halves of surrogate pairs."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_flag(owner: Any, name: str) -> None:
    """The parameter must be True or False."""
    value = getattr(owner, name)
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} of {type(owner).__name__} should be True or False, got {value!r}")


def check_choice(owner: Any, name: str, choices: tuple[str, ...]) -> None:
    """The parameter must be one of these words."""
    check_word(f"{name} of {type(owner).__name__}", getattr(owner, name), choices)


def check_word(what: str, value: Any, choices: tuple[str, ...]) -> None:
    """`value` must be one of these words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{what} should be one of {', '.join(choices)}, got {value!r}")
