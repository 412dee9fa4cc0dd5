"""Strict JSON: ordinary values pass, and what Python's parser would let through does not."""

from __future__ import annotations

import pytest

from margent import strict_json


def test_ordinary_values_round_trip() -> None:
    value = {"a": [1, -2.5, None, True, "ÄÖ日😀"], "b": {"c": []}, "big": 2**64 - 1, "small": -(2**63)}
    assert strict_json.decode(strict_json.encode(value)) == value
    assert strict_json.decode(b'"\\ud83d\\ude00"') == "😀"


def test_the_depth_limit_is_exact() -> None:
    limit = strict_json.MAX_DEPTH
    assert strict_json.decode(b"[" * limit + b"]" * limit)
    with pytest.raises(ValueError, match=f"nested more than {limit} deep"):
        strict_json.decode(b"[" * (limit + 1) + b"]" * (limit + 1))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"NaN", "not finite"),
        (b"-1e400", "not finite"),
        (b"18446744073709551616", "64 bits"),
        (b"-9223372036854775809", "64 bits"),
        (b"1" * 1_000_000, "64 bits"),
        (b'{"a":1,"a":1}', "occurs twice"),
        (b'{"\\u0061":1,"a":1}', "occurs twice"),
        (b'"\\udc00"', "not UTF-8"),
        (b'{"\\ud800":1}', "not UTF-8"),
        (b'"\xc0\x80"', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"{'a':1}", "not valid JSON"),
        (b"[" * 1_000_000, "nested"),
    ],
)
def test_what_is_refused(raw: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        strict_json.decode(raw)
