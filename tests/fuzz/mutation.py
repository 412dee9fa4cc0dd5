"""Files that lie: a few changes somewhere in the header, the arrays or the bytes of a file."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

NUMBERS = [
    0, 1, -1, 2, 3, 7, 16, 63, 64, 255, 4096, 10**4, 2**20, 2**31 - 1, 2**31, -(2**31), 2**32, -(2**40), 2**53, 2**62,
    2**63 - 1, 2**63, -(2**63), 2**64 - 1, 0.0, 0.5, -0.5, 1.0, 1.5, 1e-300, 1e25, 1e300,
]  # fmt: skip
"""Chosen to hurt: limits of types, and what may be multiplied beyond them."""

ANYTHING: list[Any] = [
    *NUMBERS, True, False, None, "", "x", "a", "N", "O", "iob2", "sparse", "dense", "templates", "attributes",
    "vectors", "frames", "tokens", "symbols", "generic", "perceptron", "crf", "full", "mean", [], {}, [0], ["N"], ["a"],
    ["a", "b", "c"], [["a"]], [["N", "V"]], [[0, 1]], {"name": "perceptron"}, {"N": 1}, {"a": 1}, {"frame": -1},
    {"templates": ["U:%x[0,0]"]}, ["U:%x[9,0]", "B"], ["U:%x[0,*]"] * 9, {"type": "Beam", "width": 2**31 - 1},
    "U:%x[" + " " * 4000, "U:" + "%x[" * 2000, "U:" + "%x[0,0]" * 2000, "a" * 5000, "9" * 5000, "\x1b[31m",
]  # fmt: skip

PIECES = ["", "%x[0,0]", "*", "9", "-", ".", "é", "\t", "\n", " ", "[", "]", "(", ")", '"', "\\", ":", ",", "\0"]


def mutate_value(value: Any, dice: random.Random, anything: list[Any] = ANYTHING) -> Any:
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
        if dice.random() < 0.02:
            return [*value[:at], *[value[at]] * dice.choice([100, 3000]), *value[at:]]
        return dice.choice([*choices, [*value[:at], mutate_value(value[at], dice, anything), *value[at + 1 :]]])
    if type(value) is int and dice.random() < 0.5:
        return value + dice.choice([-2, -1, 1, 2, 100])
    if isinstance(value, str) and value and dice.random() < 0.5:
        at = dice.randrange(len(value))
        times = dice.choice([1, 1, 1, 1, 1, 1, 1, 3000])
        return value[:at] + dice.choice(PIECES) * times + value[at + 1 :]
    return dice.choice(anything)


def mutate_arrays(arrays: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """One array with other numbers, another length, shape or type, or instead of another."""
    changed = dict(arrays)
    name = dice.choice(list(arrays))
    array = arrays[name].copy()
    kind = dice.randrange(16)
    if kind < 11 and array.size:
        flat = array.reshape(-1)
        for _ in range(dice.choice([1, 1, 2, 8])):
            at = dice.randrange(flat.size)
            flat[at] = _other_number(flat[at], array.dtype, dice)
    elif kind == 11 and array.ndim:
        array = array[: dice.randrange(len(array) + 1)]
    elif kind == 12 and array.ndim:
        array = np.concatenate([array, array[: dice.randrange(len(array) + 1)]])
    elif kind == 13:
        array = array.astype(dice.choice([np.int32, np.int64, np.float32, np.float16, np.uint8]), casting="unsafe")
    elif kind == 14 and array.ndim > 1:
        array = dice.choice([array.T, array.reshape(-1), array[:, : array.shape[1] // 2], array[..., :0]])
    else:
        changed[dice.choice(list(arrays))] = array
        return changed
    changed[name] = array
    return changed


def _other_number(number: Any, dtype: np.dtype[Any], dice: random.Random) -> Any:
    if dtype.kind == "f":
        return dice.choice([0, -1, 1, -0.5, 3, 20, 1e4, 6e4, 1e25, np.nan, np.inf, -np.inf])
    if dtype.kind == "b":
        return not number
    limits = np.iinfo(dtype)
    near = min(max(int(number) + dice.choice([-1, 1]), limits.min), limits.max)
    return dice.choice([0, near, limits.min, limits.max, near, dice.randrange(0, 100)])


def mutate_bytes(raw: bytes, dice: random.Random) -> bytes:
    """Flipped bits, a cut, and pieces that are moved, repeated, lost or random."""
    if not raw:
        return dice.randbytes(8)
    kind, at, data = dice.randrange(6), dice.randrange(len(raw)), bytearray(raw)
    other, length = dice.randrange(len(raw)), 1 << dice.randrange(8)
    if kind == 0:
        for _ in range(1 << dice.randrange(5)):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        data[at : at + length] = data[other : other + length]
    elif kind == 3:
        data[at:at] = data[other : other + length]
    elif kind == 4:
        del data[at : at + length]
    else:
        data[at : at + length] = dice.randbytes(length)
    return bytes(data)


_TEXT_PIECES = [
    *(piece.encode() for piece in PIECES), b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b"-DOCSTART-", b"_", b"# ", b"0", b"-1", b"1e400", b"nan", b"inf", b"99999999999999999999", b"1.5", b"=", b"|",
    b"<", b">", b"</", b"{", b"}", b"null", b"\\u0000", b"\\ud800", b"\x1b[31m", b"\x85", b"\xe2\x80\xa8", b"1-2",
    b"2.1", b"\xd9\xa1", b"B-", b"I-X", b"xmin = ", b"item [1]:", b'""', b"%x[", b"U:", b"*", b"/",
]  # fmt: skip


_LONGEST = 200_000
"""Bytes of a text."""


def mutate_text(raw: bytes, dice: random.Random) -> bytes:
    """Changes of a text by its lines, its words and its signs, some of them repeated thousands of times."""
    for _ in range(dice.choice([1, 1, 2, 4])):
        kind = dice.randrange(8)
        if kind == 0:
            raw = mutate_bytes(raw, dice)
        elif kind < 4:  # something else somewhere
            at = dice.randrange(len(raw) + 1)
            times = dice.choice([1, 1, 1, 1, 1, 1, 2, 40, 5000])
            raw = raw[:at] + dice.choice(_TEXT_PIECES) * times + raw[at + dice.choice([0, 0, 1, 4]) :]
        elif kind == 4:  # lines
            raw = b"\n".join(_edited(raw.split(b"\n"), dice))
        elif kind == 5:  # words of a line
            lines = raw.split(b"\n")
            at = dice.randrange(len(lines))
            between = dice.choice([b" ", b"\t"])
            lines[at] = between.join(_edited(lines[at].split(between), dice))
            raw = b"\n".join(lines)
        elif kind == 6:  # a number
            digits = [i for i, byte in enumerate(raw) if 48 <= byte < 58]
            if digits:
                at = dice.choice(digits)
                raw = raw[:at] + str(dice.choice(NUMBERS)).encode() + raw[at + 1 :]
        else:
            raw = dice.choice([raw * 2, raw + raw[::-1], raw.rstrip(b"\n"), raw.replace(b"\n", b"\r\n"), raw.upper()])
    return raw[:_LONGEST]


def _edited(items: list[bytes], dice: random.Random) -> list[bytes]:
    at, other = dice.randrange(len(items)), dice.randrange(len(items))
    times = min(dice.choice([1, 1, 2, 3, 2000]), 1 + _LONGEST // (1 + len(items[at])))
    return dice.choice(
        [
            items[:at] + items[at + 1 :],
            items[:at] + [items[at]] * times + items[at:],
            [*items[:at], items[other], *items[at + 1 :]],
            [*items[:at], dice.choice(_TEXT_PIECES), *items[at + 1 :]],
            items[::-1],
        ]
    )
