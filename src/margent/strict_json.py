"""JSON read with suspicion: what Python's parser lets through and a hostile file could use is refused.

Not allowed: NaN and infinities (also as 1e999), a key that occurs twice, integers of more than 64 bits, nesting deeper
than 32, halves of surrogate pairs (no text can hold them), and bytes that are not UTF-8.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 32


def encode(value: Any) -> bytes:
    """Return `value` as compact UTF-8 JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(raw: bytes) -> Any:
    """Return the value that `raw` spells, or raise `ValueError` with a reason that goes on "the text ..."."""
    try:
        value = json.loads(
            raw.decode(), object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_real
        )
        _check_depth(value)
        encode(value)  # Fails on a lone surrogate, which "\\ud800" can spell.
    except RecursionError:
        raise ValueError(f"is nested more than {MAX_DEPTH} deep") from None
    except UnicodeError:
        raise ValueError("is not UTF-8") from None
    except ValueError as problem:
        raise ValueError(f"is not valid JSON ({problem})") from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def _integer(digits: str) -> int:
    # No 64-bit integer has more than 20 characters, and the time int() takes grows with the square of their number.
    value = int(digits) if len(digits) <= 20 else 1 << 64
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError("an integer has more than 64 bits")
    return value


def _real(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    return value


def _check_depth(value: Any) -> None:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
    if any(isinstance(value, (dict, list)) for value in level):
        raise RecursionError


def _children(parent: Any) -> Iterable[Any]:
    if isinstance(parent, dict):
        return parent.values()
    return parent if isinstance(parent, list) else ()
