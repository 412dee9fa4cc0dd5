"""The model file: what goes in comes out, an interrupted save harms nothing, and no bad file gets through."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import storage
from margent.errors import ModelFileError

PRELUDE = 32
HEADER = {"order": 1, "scheme": "iob2", "rate": 0.5, "averaged": True, "templates": ["U00:%x[0,0]", "B"], "more": {}}


def example_arrays() -> dict[str, np.ndarray]:
    return {
        "weights": np.arange(12, dtype=np.float32).reshape(4, 3),
        "empty": np.zeros((0, 5), np.int64),
        "scalar": np.array(7, np.uint16),
        "mask": np.array([True, False, True]),
        "starts": np.array([0, 2, 2, 5]),
        **storage.string_arrays("labels", ["O", "B-PER", "ÄÖ", "", "日本"]),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    result = tmp_path / "model.margent"
    storage.write(result, HEADER, example_arrays(), kind="tagger")
    return result


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    assert list(first) == list(second)
    for name in first:
        assert first[name].dtype == second[name].dtype
        assert first[name].shape == second[name].shape
        assert first[name].tobytes() == second[name].tobytes()


# --- round trips


def test_what_is_written_is_read(path: Path) -> None:
    file = storage.read(path, kind="tagger")
    assert (file.kind, file.version, file.header) == ("tagger", margent.__version__, HEADER)
    assert_same(file.arrays, example_arrays())
    assert_same(storage.read(path, mmap=False).arrays, example_arrays())
    assert_same(storage.read(path, verify=False).arrays, example_arrays())


DTYPES = st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8"])
ARRAYS = DTYPES.flatmap(lambda dtype: hnp.arrays(np.dtype(dtype), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(
    header=st.dictionaries(st.text(), JSON, max_size=4),
    arrays=st.dictionaries(st.text(min_size=1), ARRAYS, max_size=4),
    mapped=st.booleans(),
)
def test_every_header_and_array_round_trips(
    tmp_path_factory: pytest.TempPathFactory, header: dict[str, Any], arrays: dict[str, np.ndarray], mapped: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.margent"
    storage.write(path, header, arrays)
    file = storage.read(path, mmap=mapped)
    assert file.header == header
    assert_same(file.arrays, {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()})


@pytest.mark.parametrize("mapped", [True, False])
def test_arrays_are_aligned_and_read_only(path: Path, mapped: bool) -> None:
    for array in storage.read(path, mmap=mapped).arrays.values():
        assert array.ctypes.data % 64 == 0
        assert array.flags.c_contiguous and not array.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0


def test_arrays_of_any_layout_are_stored_in_c_order(tmp_path: Path) -> None:
    array = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1]
    storage.write(tmp_path / "m", {}, {"a": array, "b": np.asfortranarray(array)})
    file = storage.read(tmp_path / "m")
    assert np.array_equal(file.arrays["a"], array) and np.array_equal(file.arrays["b"], array)


def test_same_model_same_bytes(path: Path, tmp_path: Path) -> None:
    storage.write(tmp_path / "again", HEADER, example_arrays(), kind="tagger")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_views_outlive_the_file(path: Path) -> None:
    arrays = storage.read(path).arrays
    storage.write(path, {}, {"weights": np.zeros(1000)})
    assert_same(arrays, example_arrays())
    path.unlink()
    assert_same(arrays, example_arrays())


def test_a_reader_written_from_the_documentation_agrees(path: Path) -> None:
    raw = path.read_bytes()
    magic, version, header_length, size, body_sum, header_sum = struct.unpack("<8sIIQII", raw[:32])
    assert (magic, version, size) == (b"\x8fMGT\r\n\x1a\n", 1, len(raw))
    assert header_sum == zlib.crc32(raw[:28] + raw[32 : 32 + header_length])
    assert body_sum == zlib.crc32(raw[32 + header_length :])
    header = json.loads(raw[32 : 32 + header_length])
    row = next(row for row in header["arrays"] if row["name"] == "weights")
    values = struct.unpack_from("<12f", raw, row["offset"])
    assert (row["dtype"], row["shape"], values) == ("float32", [4, 3], tuple(range(12)))


# --- writing


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":  # In the middle of the arrays.
        checksum = zlib.crc32
        monkeypatch.setattr(
            zlib, "crc32", lambda data, start=0: fail() if len(data) > 10_000 else checksum(data, start)
        )
    else:
        monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        storage.write(path, {}, {"first": np.ones(3), "second": np.ones(5000)})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_ctrl_c_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        storage.write(tmp_path / "m", {}, {})
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="symbolic links and modes as POSIX has them")
def test_links_are_followed_and_the_umask_kept(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(path.name)
    old = os.umask(0o027)
    try:
        storage.write(link, {"new": True}, {})
    finally:
        os.umask(old)
    assert link.is_symlink() and storage.read(path).header == {"new": True}
    assert path.stat().st_mode & 0o777 == 0o640


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a regular file"):
        storage.write(tmp_path, {}, {})
    (tmp_path / "file").touch()
    for folder in ("nowhere", "file"):
        with pytest.raises(FileNotFoundError, match=f"there is no such folder to write the model to: .*{folder}'$"):
            storage.write(tmp_path / folder / "m", {}, {})


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "m"
    real = open

    def refused(name: Any, *arguments: Any, **options: Any) -> Any:
        if str(name).endswith(".tmp"):
            raise PermissionError(13, "Permission denied", str(name))
        return real(name, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.open", refused)
        with pytest.raises(PermissionError, match=r"Permission denied: .*m'$"):
            storage.write(path, {}, {})


@pytest.mark.parametrize(
    ("header", "arrays", "error", "words"),
    [
        ({}, {"a": np.array(["x"])}, TypeError, "stores only"),
        ({}, {"a": np.array([object()])}, TypeError, "stores only"),
        ({}, {"a": np.zeros(3, np.complex64)}, TypeError, "stores only"),
        ({}, {"a": np.zeros(3, [("x", "f4")])}, TypeError, "stores only"),
        ({}, {"a": np.zeros((1,) * 9)}, ValueError, "dimensions"),
        ({}, {"": np.zeros(3)}, ValueError, "name"),
        ({1: 2}, {}, TypeError, "plain JSON"),
        ({"a": (1, 2)}, {}, TypeError, "plain JSON"),
        ({"a": {1, 2}}, {}, TypeError, "JSON serializable"),
        ({"a": np.int64(1)}, {}, TypeError, "JSON serializable"),
        ({"a": float("nan")}, {}, ValueError, "JSON"),
        ({"a": 2**64}, {}, ValueError, "64 bits"),
        ({"a": "\ud800"}, {}, ValueError, "surrogates"),
        ({"a": "x" * (5 << 20)}, {}, ValueError, "store long text as arrays"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    tmp_path: Path, header: dict[Any, Any], arrays: dict[str, np.ndarray], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        storage.write(tmp_path / "m", header, arrays)
    assert os.listdir(tmp_path) == []


# --- typed access


def test_values_are_checked(path: Path) -> None:
    file = storage.read(path)
    assert file.value("order", int, minimum=1, maximum=8) == 1
    assert file.value("order", float) == 1.0
    assert file.value("scheme", str, choices=("iob1", "iob2")) == "iob2"
    assert file.value("averaged", bool) is True
    assert file.texts("templates") == ["U00:%x[0,0]", "B"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda file: file.value("gone", int), "no 'gone'"),
        (lambda file: file.value("averaged", int), "type int, but is True"),
        (lambda file: file.value("rate", int), "type int, but is 0.5"),
        (lambda file: file.value("order", int, minimum=2), "at least 2, but is 1"),
        (lambda file: file.value("order", int, maximum=0), "at most 0, but is 1"),
        (lambda file: file.value("scheme", str, choices=("iob1", "ioe1")), "one of iob1, ioe1, not 'iob2'"),
        (lambda file: file.texts("more"), "type list"),
        (lambda file: file.array("gone", np.float32, (4,)), "no array 'gone'"),
        (lambda file: file.array("weights", np.float64, (4, 3)), "type float64, but is float32"),
        (lambda file: file.array("weights", np.float32, (None,)), r"shape \(any\), but has \(4, 3\)"),
        (lambda file: file.array("weights", np.float32, (None, 4)), r"shape \(any, 4\)"),
        (lambda file: file.array("weights", np.float32, (4, 3), maximum=10), "at most 10"),
        (lambda file: file.array("weights", np.float32, (4, 3), minimum=1, maximum=99), "between 1 and 99"),
        (lambda file: file.row_starts("starts", 6), "rise from 0 to 6"),
        (lambda file: file.row_starts("starts", 5, rows=4), r"shape \(5\)"),
        (lambda file: file.strings("weights"), "type uint8"),
    ],
)
def test_a_wrong_field_is_named(path: Path, call: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words) as caught:
        call(storage.read(path))
    assert str(path) in str(caught.value)


def test_arrays_are_checked(path: Path, tmp_path: Path) -> None:
    file = storage.read(path)
    assert file.array("weights", np.float32, (None, 3), minimum=0, maximum=11, finite=True).shape == (4, 3)
    assert file.array("empty", np.int64, (None, 5), minimum=0).size == 0
    assert file.array("scalar", np.uint16, ()) == 7
    assert file.row_starts("starts", 5, rows=3).tolist() == [0, 2, 2, 5]
    assert file.strings("labels") == ["O", "B-PER", "ÄÖ", "", "日本"]
    assert file.packed_strings("labels")[1].tolist() == [1, 6, 10, 10, 16]
    storage.write(tmp_path / "nan", {}, {"a": np.array([1.0, np.nan])})
    for wrong in ({"finite": True}, {"minimum": 0}, {"maximum": 9}):
        with pytest.raises(ModelFileError, match="array 'a'"):
            storage.read(tmp_path / "nan").array("a", np.float64, (2,), **wrong)


@settings(deadline=None)
@given(st.lists(st.text()))
def test_strings_round_trip(strings: list[str]) -> None:
    assert storage.unpack_strings(*storage.pack_strings(strings)) == strings


@pytest.mark.parametrize(
    ("data", "ends"),
    [
        (b"abc", [2]),
        (b"abc", [4]),
        (b"abc", [2, 1, 3]),
        (b"abc", [-1, 3]),
        (b"abc", []),
        (b"", [1]),
        (b"abc", [-(2**63), 2**63 - 1, 3]),
        (b"a\xff", [2]),
        ("é".encode(), [1, 2]),
        (b"\xed\xa0\x80", [3]),
    ],
)
def test_bad_strings_are_refused(data: bytes, ends: list[int]) -> None:
    with pytest.raises(ModelFileError, match="string"):
        storage.unpack_strings(np.frombuffer(data, np.uint8), np.array(ends, np.int64))


# --- bad files


def seal(header: Any, body: bytes, **prelude: int) -> bytes:
    """Build a file whose checksums are right, whatever it says; `start` of the arrays is where the header ends."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    raw = raw.ljust(-(-(len(raw) + PRELUDE) // 64) * 64 - PRELUDE)
    return reseal(
        struct.pack("<8sIIQII", storage.MAGIC, 1, len(raw), PRELUDE + len(raw) + len(body), 0, 0) + raw + body
    )


def reseal(raw: bytes) -> bytes:
    """Make the checksums of a damaged file right again."""
    end = PRELUDE + struct.unpack_from("<I", raw, 12)[0]
    front = raw[:24] + struct.pack("<I", zlib.crc32(raw[end:]))
    return front + struct.pack("<I", zlib.crc32(front + raw[PRELUDE:end])) + raw[PRELUDE:]


def resized(raw: bytes) -> bytes:
    """Make the stated size of a damaged file right again too."""
    raw = raw.ljust(PRELUDE, b"\0")
    return reseal(edited(raw, 16, "<Q", len(raw)))


def parse(raw: bytes, verify: bool = True) -> storage.ModelFile:
    return storage._parse(np.frombuffer(raw, np.uint8), "m.margent", verify=verify)


def edited(raw: bytes, offset: int, layout: str, value: int) -> bytes:
    return raw[:offset] + struct.pack(layout, value) + raw[offset + struct.calcsize(layout) :]


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
        (lambda raw: reseal(edited(raw, 8, "<I", 2)), "newer Margent"),
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


# --- fuzzing

NUMBERS = [0, 1, -1, 7, 63, 64, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 1.0, 1e300]
ANYTHING = [
    *NUMBERS,
    True,
    None,
    "",
    "x",
    "float32",
    "int64",
    "bool",
    "object",
    [],
    {},
    [0],
    [2**62, 4],
    [-1],
    "\ud800",
]


def mutate_bytes(raw: bytes, dice: random.Random) -> bytes:
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


def mutate_prelude(raw: bytes, dice: random.Random) -> bytes:
    offset, layout, bits = dice.choice([(8, "<I", 32), (12, "<I", 32), (16, "<Q", 64)])
    old = struct.unpack_from(layout, raw, offset)[0]
    return edited(raw, offset, layout, (old + dice.choice([-64, -1, 1, 64, dice.getrandbits(bits)])) % 2**bits)


def mutate_header(raw: bytes, dice: random.Random) -> bytes:
    """Change one to three fields of the header to values chosen to hurt; the checksums are made right by `seal`."""
    end = PRELUDE + struct.unpack_from("<I", raw, 12)[0]
    header = json.loads(raw[PRELUDE:end])
    for _ in range(dice.randint(1, 3)):
        rows = header["arrays"] if isinstance(header.get("arrays"), list) else []
        row = dice.choice(rows) if rows and dice.random() < 0.8 else header
        if not isinstance(row, dict) or not row:
            continue
        key = dice.choice(list(row))
        if key == "shape" and isinstance(row[key], list) and row[key] and dice.random() < 0.5:
            row[key][dice.randrange(len(row[key]))] = dice.choice(NUMBERS)
        elif type(row[key]) is int and dice.random() < 0.6:
            row[key] += dice.choice([-64, -8, -1, 1, 8, 64])
        elif isinstance(row[key], list) and row[key] and dice.random() < 0.5:
            row[key] = dice.choice([row[key][1:], row[key][::-1], row[key] + row[key][:1]])
        elif dice.random() < 0.2:
            del row[key]
        else:
            row[key] = dice.choice(ANYTHING)
    return seal(header, raw[end:])


def mutate_header_text(raw: bytes, dice: random.Random) -> bytes:
    """Damage the JSON as text, below its grammar, with right checksums."""
    end = PRELUDE + struct.unpack_from("<I", raw, 12)[0]
    return seal(mutate_bytes(raw[PRELUDE:end].rstrip(), dice), raw[end:])


MUTATIONS = {
    "accident": (mutate_bytes, 6_000),
    "sealed": (lambda raw, dice: resized(mutate_bytes(raw, dice)), 4_000),
    "prelude": (lambda raw, dice: reseal(mutate_prelude(raw, dice)), 2_000),
    "header": (mutate_header, 8_000),
    "text": (mutate_header_text, 6_000),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_no_mutation_does_more_than_raise_the_right_error(path: Path, name: str) -> None:
    """26,000 bad files in all: each is refused with `ModelFileError`, or is sound and every byte of it is in range."""
    mutate, count = MUTATIONS[name]
    raw, dice = path.read_bytes(), random.Random(f"margent {name}")
    refused = 0
    for _ in range(count):
        mutant = mutate(raw, dice)
        try:
            file = parse(mutant)
        except ModelFileError as problem:
            refused += 1
            assert "m.margent" in str(problem) and len(str(problem)) < 400
            continue
        assert sum(array.nbytes for array in file.arrays.values()) <= len(mutant)
        for array in file.arrays.values():
            array.tobytes()
        if name == "accident":
            assert mutant == raw
        for strings in ("labels", "more"):
            with contextlib.suppress(ModelFileError):
                file.strings(strings)
    assert refused > count / 20
