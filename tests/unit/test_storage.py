"""The model file: what goes in comes out, an interrupted save harms nothing, and no bad file gets through."""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.model_files import HEADER, example_arrays, written

import margent
from margent import storage
from margent.errors import ModelFileError

PRELUDE = 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path)


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
    link, new = tmp_path / "latest", tmp_path / "new"
    link.symlink_to(path.name)
    path.chmod(0o600)
    old = os.umask(0o027)
    try:
        storage.write(link, {"new": True}, {})
        storage.write(new, {}, {})
    finally:
        os.umask(old)
    assert link.is_symlink() and storage.read(path).header == {"new": True}
    assert path.stat().st_mode & 0o777 == 0o600  # as it was
    assert new.stat().st_mode & 0o777 == 0o640


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        storage.write(tmp_path, {}, {})
    (tmp_path / "file").touch()
    for folder in ("nowhere", "file"):
        with pytest.raises(FileNotFoundError, match=f"there is no such folder to write to: .*{folder}/m'$"):
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


def test_a_header_may_be_of_any_size(tmp_path):
    header = {"history": [{"epoch": i, "loss": 0.5} for i in range(200_000)], "names": ["é" * 1400] * 3000, "order": 1}
    path = tmp_path / "m.margent"
    storage.write(path, header, {"a": np.arange(3)})
    assert path.stat().st_size > storage.MAX_HEADER
    file = storage.read(path)
    assert file.header == header
    assert list(file.arrays) == ["a"]


@pytest.mark.parametrize("raw", [b"[1", b"\xff", b'{"a":NaN}', b"[" * 100_000])
def test_a_bad_long_entry_is_refused(tmp_path, raw, monkeypatch):
    path = tmp_path / "m.margent"
    monkeypatch.setattr(storage, "_parted", lambda header: ({}, {"header:x": np.frombuffer(raw, np.uint8)}))
    storage.write(path, {"x": 1}, {})
    with pytest.raises(ModelFileError, match="'header:x'"):
        storage.read(path)


def test_a_mapped_file_that_is_overwritten_changes_no_index(tmp_path):
    path = tmp_path / "m.margent"
    storage.write(path, {}, {"ids": np.arange(1000), "weights": np.ones(1000, np.float32)})
    file = storage.read(path, mmap=True)
    size = path.stat().st_size
    with open(path, "r+b") as other:  # as `cp other m.margent` does
        other.write(b"\x7f" * size)
    assert (file.arrays["ids"] == np.arange(1000)).all()
    assert not (file.arrays["weights"] == 1).all()  # a view, as asked for


def test_files_are_read_into_memory_unless_asked_otherwise(tmp_path):
    path = tmp_path / "m.margent"
    storage.write(path, {}, {"weights": np.ones(17 << 20, np.float32)})
    file = storage.read(path)
    os.truncate(path, 0)  # would end the process where the file is mapped, of whatever size
    assert (file.arrays["weights"] == 1).all()
