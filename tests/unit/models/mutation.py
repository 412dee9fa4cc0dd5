"""Files that lie: one change somewhere in the header or the arrays of a model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np


def mutate_value(value: Any, dice: random.Random, anything: Sequence[Any]) -> Any:
    """One change somewhere inside a JSON value, perhaps to one of `anything`."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        changed = dict(value)
        if dice.random() < 0.1:
            del changed[key]
        else:
            changed[key] = mutate_value(value[key], dice, anything)
        return changed
    if isinstance(value, list) and value and dice.random() < 0.7:
        at = dice.randrange(len(value))
        choices = [value[:at], value[::-1], [*value, value[at]], value[:at] + value[at + 1 :]]
        return dice.choice([*choices, [*value[:at], mutate_value(value[at], dice, anything), *value[at + 1 :]]])
    if type(value) is int and dice.random() < 0.5:
        return value + dice.choice([-2, -1, 1, 2, 100])
    if isinstance(value, str) and value and dice.random() < 0.5:
        at = dice.randrange(len(value))
        return value[:at] + dice.choice(["", "%x[0,0]", "*", "9", "-", ".", "é"]) + value[at + 1 :]
    return dice.choice(anything)


def mutate_arrays(arrays: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """One array with other numbers, another length or type, or instead of another."""
    changed = dict(arrays)
    name = dice.choice(list(arrays))
    array = arrays[name].copy()
    kind = dice.randrange(10)
    if kind < 6 and array.size:
        flat = array.reshape(-1)
        for _ in range(dice.choice([1, 1, 2, 8])):
            at = dice.randrange(flat.size)
            if array.dtype.kind == "f":
                flat[at] = dice.choice([0, -1, 1e4, 6e4, np.nan, np.inf, -np.inf])
            elif array.dtype.kind == "b":
                flat[at] = not flat[at]
            else:
                limits = np.iinfo(array.dtype)
                near = min(max(int(flat[at]) + dice.choice([-1, 1]), limits.min), limits.max)
                flat[at] = dice.choice([0, near, limits.min, limits.max, near, dice.randrange(0, 100)])
    elif kind == 6:
        array = array[: dice.randrange(len(array) + 1)]
    elif kind == 7:
        array = np.concatenate([array, array[: dice.randrange(len(array) + 1)]])
    elif kind == 8:
        array = array.astype(dice.choice([np.int32, np.int64, np.float32, np.float16, np.uint8]), casting="unsafe")
    else:
        changed[dice.choice(list(arrays))] = array
        return changed
    changed[name] = array
    return changed
