"""Checks of learner parameters: one sentence that names parameter, owner, wanted and got."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_whole(owner: Any, name: str, *, minimum: int, optional: bool = False) -> None:
    """The parameter must be a whole number of at least `minimum`, or None where `optional`."""
    value = getattr(owner, name)
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        wanted = f"a whole number of at least {minimum}" + (" or None" if optional else "")
        raise ValueError(f"{name} of {type(owner).__name__} should be {wanted}, got {value!r}")


def check_number(owner: Any, name: str, *, minimum: float, above: bool = False, optional: bool = False) -> None:
    """The parameter must be a finite number of at least `minimum`, or larger than that where `above`.

    None is right too where `optional`.
    """
    value = getattr(owner, name)
    if optional and value is None:
        return
    number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < minimum or (above and value == minimum):
        wanted = f"{'above' if above else 'of at least'} {minimum}" + (" or None" if optional else "")
        raise ValueError(f"{name} of {type(owner).__name__} should be a number {wanted}, got {value!r}")


def check_flag(owner: Any, name: str) -> None:
    """The parameter must be True or False."""
    value = getattr(owner, name)
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} of {type(owner).__name__} should be True or False, got {value!r}")


def check_choice(owner: Any, name: str, choices: tuple[str, ...]) -> None:
    """The parameter must be one of these words."""
    value = getattr(owner, name)
    if value not in choices:
        raise ValueError(f"{name} of {type(owner).__name__} should be one of {', '.join(choices)}, got {value!r}")


def check_epochs(owner: Any) -> None:
    """The parameters that every learner of the training loop has."""
    check_whole(owner, "epochs", minimum=1)
    check_flag(owner, "average")
    check_flag(owner, "shuffle")
    check_whole(owner, "patience", minimum=1, optional=True)
