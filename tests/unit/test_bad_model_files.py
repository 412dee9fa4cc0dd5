"""Truncated, damaged and hostile model files: none gets through, and each is told what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz.model_bytes import edited, reseal, seal
from tests.unit.model_files import HEADER, written

from margent import storage
from margent.errors import ModelFileError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path)


def parse(raw: bytes, verify: bool = True) -> storage.ModelFile:
    return storage._parse(np.frombuffer(raw, np.uint8), "m.margent", verify=verify, mapped=False)


def test_missing_files_folders_and_pipes(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        storage.read(tmp_path / "gone")
    with pytest.raises(ModelFileError, match="not a regular file"):
        storage.read(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="not a regular file"):
            storage.read(tmp_path / "pipe")


def test_another_kind_is_refused(path: Path) -> None:
    with pytest.raises(ModelFileError, match="holds a 'tagger', not a 'parser'"):
        storage.read(path, kind="parser")


@pytest.mark.parametrize("mapped", [True, False])
def test_every_truncation_is_found(path: Path, mapped: bool) -> None:
    raw = path.read_bytes()
    for size in [*range(80), *range(80, len(raw), 37), len(raw) - 1]:
        path.write_bytes(raw[:size])
        with pytest.raises(ModelFileError, match=r"truncated|empty") as caught:
            storage.read(path, mmap=mapped)
        assert str(path) in str(caught.value)


def test_every_flipped_bit_is_found(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for position in range(len(raw)):
        raw[position] ^= 1 << position % 8
        with pytest.raises(ModelFileError):
            parse(bytes(raw))
        raw[position] ^= 1 << position % 8
    assert parse(bytes(raw)).header == HEADER


def test_without_verification_the_header_is_still_checked(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[100] ^= 1
    with pytest.raises(ModelFileError, match="header"):
        parse(bytes(raw), verify=False)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda raw: b"x" * 500, "does not begin"),
        (lambda raw: raw.replace(b"\r\n", b"\n"), "line ends"),
        (lambda raw: raw.replace(b"\n", b"\r\n"), "line ends"),
        (lambda raw: b"\xef\xbb\xbf" + raw, "does not begin"),
        (lambda raw: raw + b"\0", "1 bytes after its end"),
        (lambda raw: reseal(edited(raw, 8, "<I", storage.FORMAT_VERSION + 1)), "newer Margent"),
        (lambda raw: edited(raw, 8, "<I", 2**32 - 1)[:40], "newer Margent"),
        (lambda raw: reseal(edited(raw, 8, "<I", 0)), "never existed"),
        (lambda raw: edited(raw, 12, "<I", 2**32 - 1), "header is too long"),
        (lambda raw: edited(raw, 12, "<I", len(raw) - 31), "header is too long"),
        (lambda raw: edited(raw, 16, "<Q", 2**64 - 1), "truncated"),
        (lambda raw: edited(raw, 16, "<Q", 0), "after its end"),
        (lambda raw: reseal(edited(raw, 12, "<I", 0)), "not valid JSON"),
    ],
)
def test_a_bad_prelude_is_explained(path: Path, damage: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words) as caught:
        parse(damage(path.read_bytes()))
    assert "m.margent" in str(caught.value) and "\n" not in str(caught.value)


def test_a_header_over_the_limit_is_refused() -> None:
    with pytest.raises(ModelFileError, match="header is too long"):
        parse(seal(b" " * (storage.MAX_HEADER + 1), b""))


def with_meta(text: str) -> bytes:
    return b'{"margent":"1","kind":"m","arrays":[],"meta":{"a":%s}}' % text.encode("utf-8", "surrogatepass")


def test_the_bare_header_of_these_tests_is_sound() -> None:
    assert parse(seal(with_meta("[1, -1.5e3, null]"), b"")).header == {"a": [1, -1500.0, None]}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'"text"', "should be an object"),
        (b"[]", "should be an object"),
        (b"null", "should be an object"),
        (b"{}", "should be an object"),
        (with_meta("1")[:-1], "not valid JSON"),
        (with_meta("1") + b"1", "not valid JSON"),
        (with_meta("1").replace(b'"kind":"m"', b'"kind":1'), "should be an object"),
        (with_meta("1").replace(b"[]", b"{}"), "should be an object"),
        (with_meta("1").replace(b'"margent"', b'"other"'), "should be an object"),
        (with_meta("1,}"), "not valid JSON"),
        (with_meta("NaN"), "not finite"),
        (with_meta("-Infinity"), "not finite"),
        (with_meta("1e999"), "not finite"),
        (with_meta("9" * 100_000), "64 bits"),
        (with_meta("18446744073709551616"), "64 bits"),
        (with_meta('1, "a": 2'), "occurs twice"),
        (with_meta("[" * 100 + "]" * 100), "nested"),
        (with_meta("[" * 200_000 + "]" * 200_000), "nested"),
        (with_meta('{"a":' * 200_000), "nested"),
        (with_meta("[" * 200_000), "nested"),
        (with_meta('"\\ud800"'), "not UTF-8"),
        (with_meta('"\ud800"'), "not UTF-8"),
    ],
)
def test_a_bad_header_is_explained(header: bytes, words: str) -> None:
    with pytest.raises(ModelFileError, match=words) as caught:
        parse(seal(header, b""))
    assert len(str(caught.value)) < 300


def table(*rows: Any) -> dict[str, Any]:
    return {"margent": "1", "kind": "m", "meta": {}, "arrays": list(rows)}


GOOD = {"name": "a", "dtype": "float32", "shape": [2, 3], "offset": 192, "nbytes": 24}


def test_the_table_of_these_tests_is_sound() -> None:
    assert parse(seal(table(GOOD), bytes(24))).arrays["a"].shape == (2, 3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"offset": 191}, "should begin at byte 192"),
        ({"offset": 256}, "should begin at byte 192"),
        ({"offset": 0}, "should begin at byte 192"),
        ({"offset": -64}, "should begin at byte 192"),
        ({"offset": 2**63}, "should begin at byte 192"),
        ({"offset": 192.0}, "row of its array table"),
        ({"offset": True}, "row of its array table"),
        ({"offset": None}, "row of its array table"),
        ({"nbytes": 23}, "cannot have 23 bytes"),
        ({"nbytes": -24}, "cannot have -24 bytes"),
        ({"nbytes": 24.0}, "row of its array table"),
        ({"nbytes": "24"}, "row of its array table"),
        ({"shape": [6], "nbytes": 25}, "cannot have"),
        ({"shape": [7], "nbytes": 28}, "outside the file"),
        ({"shape": [5], "nbytes": 20}, "4 bytes that belong to no array"),
        ({"shape": [0], "nbytes": 0}, "24 bytes that belong to no array"),
        ({"shape": [2**60], "nbytes": 2**62}, "impossible shape"),
        ({"shape": [2**32, 2**30], "nbytes": 0}, "impossible shape"),
        ({"shape": [2**50], "nbytes": 2**52}, "outside the file"),
        ({"shape": [0, 2**63], "nbytes": 0}, "impossible shape"),
        ({"shape": [0, 2**40, 2**40], "nbytes": 0}, "impossible shape"),
        ({"shape": [2**40, 0], "nbytes": 0}, "impossible shape"),
        ({"shape": [0, 2**24], "nbytes": 0}, "impossible shape"),
        ({"shape": [-2, -3]}, "impossible shape"),
        ({"shape": [2.0, 3]}, "impossible shape"),
        ({"shape": [True, 6]}, "impossible shape"),
        ({"shape": [[2], 3]}, "impossible shape"),
        ({"shape": [1] * 9 + [6]}, "impossible shape"),
        ({"shape": [1] * 100_000}, "impossible shape"),
        ({"shape": 6}, "row of its array table"),
        ({"dtype": "object"}, "unknown type 'object'"),
        ({"dtype": "O"}, "unknown type 'O'"),
        ({"dtype": "<f4"}, "unknown type"),
        ({"dtype": "longdouble"}, "unknown type"),
        ({"dtype": "x" * 100_000}, "unknown type"),
        ({"dtype": ["f4"]}, "row of its array table"),
        ({"name": ""}, "empty name"),
        ({"name": 1}, "row of its array table"),
        ({"extra": 1}, "row of its array table"),
    ],
)
def test_a_bad_row_with_right_checksums_is_explained(change: dict[str, Any], words: str) -> None:
    raw = seal(table({**GOOD, **change}), bytes(24))
    with pytest.raises(ModelFileError, match=words) as caught:
        parse(raw)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([GOOD, GOOD], "two arrays named 'a'|should begin"),
        ([{**GOOD, "offset": 256}, {**GOOD, "name": "b", "offset": 256}], "'b' should begin at byte 320"),
        ([{**GOOD, "offset": 256}, {**GOOD, "name": "b", "offset": 280}], "'b' should begin at byte 320"),
        ([{**GOOD, "offset": 320}, {**GOOD, "name": "b", "offset": 256}], "'a' should begin at byte 256"),
        (["a"], "row of its array table"),
        ([[]], "row of its array table"),
        ([None] * 200_000, "row of its array table"),
    ],
)
def test_a_bad_table_with_right_checksums_is_explained(rows: list[Any], words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        parse(seal(table(*rows), bytes(24 + 64)))


def test_a_bool_that_is_no_bool_is_refused() -> None:
    row = {**GOOD, "dtype": "bool", "shape": [24]}
    assert parse(seal(table(row), b"\1" * 24)).arrays["a"].all()
    with pytest.raises(ModelFileError, match="neither 0 nor 1"):
        parse(seal(table(row), b"\1" * 23 + b"\2"))
