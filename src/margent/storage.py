"""The model file: a JSON header and named arrays in one file that is data, never code.

    magic | version | sizes | checksums | JSON header | array | array | ...          (docs/model-file.md has the bytes)

`write` puts a model on disk in one step: the old file stays whole until the new one is complete. `read` copies it into
memory, or maps it where it is asked to and hands out read-only views of its weights, so that processes share the pages.
What native code indexes with is copied even then: a mapped file that is overwritten in place may change what a model
answers, but not where it reads.

Nothing in the file is believed. The checksums find accidents. A hostile file has right checksums, so each size,
offset and name is checked against the bytes that are really there before it is used, and nothing is allocated by a
count that the file states. What only the model can know (is this feature id in range?) its loader checks through the
typed access of `ModelFile`, one line for each array or value:

    file = storage.read("ner.margent", kind="tagger")
    order = file.value("order", int, minimum=1, maximum=8)
    labels = file.strings("labels")
    weights = file.array("weights", np.float32, (None, len(labels)), finite=True)
"""

from __future__ import annotations

import io
import math
import mmap as _mmap
import os
import stat
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from margent import __version__, strict_json
from margent.atomic_file import atomic_file
from margent.errors import ModelFileError

__all__ = [
    *("ModelFile", "Source", "Target", "check_storable", "pack_strings", "read", "string_arrays", "unpack_strings"),
    "write",
]

Array = npt.NDArray[Any]
T = TypeVar("T")

FORMAT_VERSION = 2
# As in PNG: the first byte is not ASCII, and the line ends break if the file went through a text-mode transfer.
MAGIC = b"\x8fMGT\r\n\x1a\n"
# version, header length, file size, checksum of the arrays, checksum of everything before them.
PRELUDE = struct.Struct("<8sIIQII")
ALIGNMENT = 64
MAX_HEADER = 4 << 20
# An entry of the header whose JSON is longer lies beside the arrays, under this name and its own (since version 2).
LONG_ENTRY, LONG = 16 << 10, "header:"
MAX_DIMENSIONS = 8
# What the lengths of an empty array that are not 0 may come to, in bytes.
MAX_EMPTY = 1 << 24
DTYPES = {
    np.dtype(code).name: np.dtype(code).newbyteorder("<")
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: `kind` of model, `version` of the Margent that wrote it, `header` and `arrays`.

    The arrays are read-only; with `mmap=True` they are views of the file, aligned to 64 bytes. Its methods check one
    thing each and raise `ModelFileError` with the path of the file when it is not as the caller needs it.
    """

    path: str
    kind: str
    version: str
    header: dict[str, Any]
    arrays: dict[str, Array]

    def error(self, reason: str) -> ModelFileError:
        """Return the error to raise when this file is at fault: `raise file.error("it has two labels named 'O'")`."""
        return _error(self.path, reason)

    def value(
        self,
        key: str,
        kind: type[T],
        *,
        choices: Collection[T] | None = None,
        minimum: float | None = None,
        maximum: float | None = None,
    ) -> T:
        """Return `header[key]`, which must be of type `kind`; an int passes as a float, a bool never as a number."""
        if key not in self.header:
            raise self.error(f"its header has no {key!r}")
        value = self.header[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self.error(f"{key!r} in its header should be of type {kind.__name__}, but is {_show(value)}")
        if choices is not None and value not in choices:
            raise self.error(
                f"{key!r} in its header should be one of {', '.join(map(str, choices))}, not {_show(value)}"
            )
        if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):  # type: ignore[operator]
            raise self.error(f"{key!r} in its header should be {_range(minimum, maximum)}, but is {_show(value)}")
        return value

    def texts(self, key: str) -> list[str]:
        """Return `header[key]`, which must be a list of strings."""
        values = self.value(key, list)
        if not all(type(value) is str for value in values):
            raise self.error(f"{key!r} in its header should hold strings only")
        return values

    def array(
        self,
        name: str,
        dtype: npt.DTypeLike,
        shape: tuple[int | None, ...],
        *,
        minimum: float | None = None,
        maximum: float | None = None,
        finite: bool = False,
    ) -> Array:
        """Return the array `name`, which must have this dtype and shape (None: any length along that axis).

        `minimum` and `maximum` (both inclusive) are for ids that native code will index with; `finite` forbids NaN
        and infinities. Each of these options costs one pass over the array.
        """
        if name not in self.arrays:
            raise self.error(f"it has no array {name!r}")
        array, expected = self.arrays[name], np.dtype(dtype)
        if array.dtype != expected:
            raise self.error(f"array {name!r} should be of type {expected.name}, but is {array.dtype.name}")
        if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape)):
            wanted = ", ".join("any" if want is None else str(want) for want in shape)
            raise self.error(f"array {name!r} should have shape ({wanted}), but has {array.shape}")
        if finite and not np.isfinite(array).all():
            raise self.error(f"array {name!r} should hold finite numbers only")
        # Written so that NaN, which compares false with everything, is out of range.
        low_ok = minimum is None or not array.size or bool(array.min() >= minimum)
        high_ok = maximum is None or not array.size or bool(array.max() <= maximum)
        if not (low_ok and high_ok):
            raise self.error(f"array {name!r} should hold numbers {_range(minimum, maximum)}")
        return array

    def row_starts(self, name: str, total: int, rows: int | None = None) -> Array:
        """Return the int64 array `name` of shape (rows + 1,): row i of a table of `total` entries is [i] to [i + 1].

        It must begin with 0, never fall, and end with `total`, as the row pointer of a CSR matrix does.
        """
        starts = self.array(name, np.int64, (None if rows is None else rows + 1,))
        if not starts.size or starts[0] != 0 or starts[-1] != total or (starts[1:] < starts[:-1]).any():
            raise self.error(f"array {name!r} should rise from 0 to {total}")
        return starts

    def strings(self, name: str) -> list[str]:
        """Return the strings stored by `string_arrays(name, ...)`."""
        return unpack_strings(*self._packed(name), path=self.path, name=name)

    def packed_strings(self, name: str) -> tuple[Array, Array]:
        """Return (bytes, ends) of the strings stored by `string_arrays(name, ...)`, checked but not made into `str`."""
        data, ends = self._packed(name)
        _check_strings(data, ends, self.path, name)
        return data, ends

    def _packed(self, name: str) -> tuple[Array, Array]:
        return self.array(name, np.uint8, (None,)), self.array(f"{name}.ends", np.int64, (None,))


Target: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
"""Where a model file is written: its path, or a binary file that is open for writing."""
Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]"
"""Where a model is read from: the path of its file, the file's bytes, or a binary file that is open for reading."""


def write(
    target: Target, header: Mapping[str, Any], arrays: Mapping[str, npt.ArrayLike], *, kind: str = "model"
) -> None:
    """Write a model file, or leave what was there as it is.

    `header` must be plain JSON: str keys, lists (not tuples), finite numbers, integers within 64 bits; of any size, as
    long entries lie beside the arrays. `arrays` may be of any layout and byte order; bool, 8 to 64-bit integers and 16
    to 64-bit floats are allowed. See `atomic_file` for how the new file takes the place of the old.

    Raises `TypeError` or `ValueError` if the header or an array cannot be stored, `OSError` if the disk refuses.
    """
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    short, long = _parted(header)
    stored |= long
    raw_header, offsets = _lay_out(short, stored, kind)
    with _opened(target) as file:
        file.write(bytes(PRELUDE.size) + raw_header)
        body_checksum = 0
        for array, offset in zip(stored.values(), offsets):
            plain = np.ascontiguousarray(array, DTYPES[array.dtype.name]).reshape(-1).view(np.uint8)
            for chunk in (bytes(offset - file.tell()), plain.data):
                body_checksum = zlib.crc32(chunk, body_checksum)
                file.write(chunk)
        version = FORMAT_VERSION if any(name.startswith(LONG) for name in stored) else 1
        prelude = PRELUDE.pack(MAGIC, version, len(raw_header), file.tell(), body_checksum, 0)
        header_checksum = zlib.crc32(raw_header, zlib.crc32(prelude[:-4]))
        file.seek(0)
        file.write(prelude[:-4] + struct.pack("<I", header_checksum))


@contextmanager
def _opened(target: Target) -> Iterator[IO[bytes]]:
    """A file that is in its place only when all of it is there; what goes into an open one comes at once."""
    if isinstance(target, (str, os.PathLike)):
        with atomic_file(target) as file:
            yield file
    else:
        memory = io.BytesIO()
        yield memory
        target.write(memory.getvalue())


def read(source: Source, *, mmap: bool = False, verify: bool = True, kind: str | None = None) -> ModelFile:
    """Read a model file and check it whole.

    With `mmap=True` arrays of floats are views of the mapped file, which must then not be truncated or overwritten in
    place while the model is in use (replaced as `write` does it may be): the system would end the process. Otherwise
    all are in memory of their own, which takes no longer, as every byte is looked at anyway. `verify=False` skips the
    checksum of the arrays (about a second for each GB), not that of the header nor any other check. `kind`: refuse a
    model of another kind.

    Raises `ModelFileError` for anything but a sound model file, `FileNotFoundError` if there is none.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _of_kind(_in_memory(source, mmap=mmap, verify=verify), kind)
    name = os.fspath(source)
    if not stat.S_ISREG(os.stat(name).st_mode):  # Before opening: a pipe would wait for its writer for ever.
        raise _error(name, "it is not a regular file")
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise _error(name, "it is empty")
        if mmap:
            buffer = np.frombuffer(_mmap.mmap(file.fileno(), size, access=_mmap.ACCESS_READ), np.uint8)
        else:
            buffer = _aligned_room(size)
            buffer = buffer[: file.readinto(buffer.data)]
        model = _parse(buffer, name, verify=verify, mapped=mmap)
    return _of_kind(model, kind)


def _in_memory(source: Any, *, mmap: bool, verify: bool) -> ModelFile:
    """Of bytes, or of what is left to read of an open file."""
    name = "the file given" if hasattr(source, "read") else "the bytes given"
    if mmap:
        raise ValueError("mmap=True needs the path of a file, got an open file or bytes")
    data = source.read() if hasattr(source, "read") else source
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"expected a path, bytes or a binary file, got {type(source).__name__}")
    if not len(data):
        raise _error(name, "it is empty")
    buffer = _aligned_room(memoryview(data).nbytes)
    buffer[:] = np.frombuffer(data, np.uint8)
    return _parse(buffer, name, verify=verify, mapped=False)


def _of_kind(model: ModelFile, kind: str | None) -> ModelFile:
    if kind is not None and model.kind != kind:
        raise model.error(f"it holds a {_show(model.kind)}, not a {kind!r}")
    return model


def check_storable(value: Any, what: str) -> None:
    """`ValueError` where the header of a model file cannot hold a value: to be asked before the work, not after it."""
    try:
        _check_plain(strict_json.encode(value), value)
    except (TypeError, ValueError) as problem:
        reason = "it holds text that is not valid" if isinstance(problem, UnicodeError) else str(problem)
        raise ValueError(f"{what} cannot be stored in a model file: {reason}") from None


def pack_strings(strings: Iterable[str]) -> tuple[Array, Array]:
    """Return (bytes, ends): all strings as UTF-8 one after another, uint8, and where each ends, int64 of shape (n,)."""
    encoded = [string.encode() for string in strings]
    ends = np.cumsum([len(item) for item in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def unpack_strings(data: Array, ends: Array, *, path: str = "<memory>", name: str = "strings") -> list[str]:
    """Return the list that `pack_strings` was given; `ModelFileError` (naming `path` and `name`) if it cannot be."""
    text = _check_strings(data, ends, path, name)
    bounds = [0, *ends.tolist()]
    if text.isascii():  # One byte a character, so that byte positions are character positions.
        return [text[start:end] for start, end in pairwise(bounds)]
    raw = data.tobytes()
    return [raw[start:end].decode() for start, end in pairwise(bounds)]


def string_arrays(name: str, strings: Iterable[str]) -> dict[str, Array]:
    """Return the two arrays to hand to `write`, from which `ModelFile.strings(name)` gets the strings back."""
    data, ends = pack_strings(strings)
    return {name: data, f"{name}.ends": ends}


def _check_strings(data: Array, ends: Array, path: str, name: str) -> str:
    """Check that `ends` cut `data` into UTF-8 strings, and return them all as one."""
    if data.dtype != np.uint8 or ends.dtype != np.int64 or data.ndim != 1 or ends.ndim != 1:
        raise _error(path, f"the strings {name!r} should be a uint8 and an int64 vector")
    last = int(ends[-1]) if ends.size else 0
    if last != data.size or (ends.size and ends[0] < 0) or (ends[1:] < ends[:-1]).any():
        raise _error(path, f"the ends of the strings {name!r} do not rise from 0 to {data.size}")
    try:
        text = data.tobytes().decode()
    except UnicodeDecodeError as problem:
        raise _error(path, f"the strings {name!r} are not UTF-8 at byte {problem.start}") from None
    # The whole being UTF-8, a part is unless it begins with a continuation byte, 10xxxxxx.
    starts = ends[ends < data.size]
    if ((data[starts] & 0xC0) == 0x80).any():
        raise _error(path, f"a string of {name!r} ends in the middle of a character")
    return text


def _storable(name: str, array: npt.ArrayLike) -> Array:
    result = np.asarray(array)
    if not isinstance(name, str) or not name or name.startswith(LONG):
        raise ValueError(
            f"the name of an array must be a string that is not empty nor begins as {LONG!r}, got {name!r}"
        )
    if result.dtype.name not in DTYPES:
        raise TypeError(f"array {name!r} is of type {result.dtype}, but a model file stores only {', '.join(DTYPES)}")
    if result.ndim > MAX_DIMENSIONS:
        raise ValueError(
            f"array {name!r} has {result.ndim} dimensions, but a model file stores at most {MAX_DIMENSIONS}"
        )
    if not result.size and math.prod(max(length, 1) for length in result.shape) * result.itemsize >= MAX_EMPTY:
        raise ValueError(f"array {name!r} of shape {result.shape} is empty, but longer than a model file stores")
    return result


def _lay_out(header: dict[str, Any], arrays: Mapping[str, Array], kind: str) -> tuple[bytes, list[int]]:
    """Return the JSON header as bytes and the offset of each array.

    The header holds the offsets and the offsets depend on its length, so the JSON is made longer with spaces, which
    mean nothing there: it gets the room that the largest possible offsets would need.
    """
    table = [
        {"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "offset": 0, "nbytes": array.nbytes}
        for name, array in arrays.items()
    ]
    whole = {"margent": __version__, "kind": kind, "meta": header, "arrays": table}
    room = PRELUDE.size + len(strict_json.encode(whole)) + 20 * len(table)
    end = start = _aligned(room)
    offsets = []
    for row in table:
        row["offset"] = _aligned(end)
        offsets.append(row["offset"])
        end = row["offset"] + row["nbytes"]
    raw = strict_json.encode(whole).ljust(start - PRELUDE.size)
    if len(raw) > MAX_HEADER:
        raise ValueError(f"the header is {len(raw)} bytes long, but may be {MAX_HEADER}: store long text as arrays")
    _check_plain(raw, whole)
    return raw, offsets


def _parse(buffer: Array, path: str, *, verify: bool, mapped: bool) -> ModelFile:
    """Check a whole model file that lies in `buffer`, uint8 of shape (size,), and return views of it.

    `mapped`: the bytes may change under us, so that all but floats are copied before they are looked at.
    """
    size, view = buffer.size, buffer.data
    if bytes(view[: len(MAGIC)]) != MAGIC[:size]:
        if bytes(view[:4]) == MAGIC[:4]:
            raise _error(path, "its line ends were changed, as by a transfer in text mode")
        raise _error(path, "it does not begin as a Margent model file")
    if size < PRELUDE.size:
        raise _error(path, f"it is truncated: it has only {size} bytes")
    _, version, header_length, file_size, body_checksum, header_checksum = PRELUDE.unpack(view[: PRELUDE.size])
    if version > FORMAT_VERSION:
        raise _error(path, f"it was made by a newer Margent (format {version}, this one reads up to {FORMAT_VERSION})")
    if version < 1:
        raise _error(path, f"its format version is {version}, which never existed")
    if size < file_size:
        raise _error(path, f"it is truncated: {size} of {file_size} bytes")
    if size > file_size:
        raise _error(path, f"it has {size - file_size} bytes after its end")
    if header_length > min(MAX_HEADER, size - PRELUDE.size):
        raise _error(path, f"its header is too long ({header_length} bytes)")
    body_start = PRELUDE.size + header_length
    raw_header = bytes(view[PRELUDE.size : body_start])
    if zlib.crc32(raw_header, zlib.crc32(view[: PRELUDE.size - 4])) != header_checksum:
        raise _error(path, "it is corrupted: the checksum of its header is wrong")
    if verify and zlib.crc32(view[body_start:]) != body_checksum:
        raise _error(path, "it is corrupted: the checksum of its arrays is wrong")

    try:
        whole = strict_json.decode(raw_header)
    except ValueError as problem:
        raise _error(path, f"its header {problem}") from None
    fields = {"margent": str, "kind": str, "meta": dict, "arrays": list}
    if type(whole) is not dict or {key: type(value) for key, value in whole.items()} != fields:
        raise _error(path, "its header should be an object with margent, kind, meta and arrays")
    arrays: dict[str, Array] = {}
    end = body_start
    for row in whole["arrays"]:
        name, dtype, shape, nbytes = _check_row(row, path)
        if name in arrays:
            raise _error(path, f"it has two arrays named {_show(name)}")
        start = _aligned(end)
        if row["offset"] != start:
            raise _error(path, f"array {_show(name)} should begin at byte {start}, but its offset is {row['offset']}")
        end = start + nbytes
        if end > size:
            raise _error(path, f"array {_show(name)} ends at byte {end}, outside the file of {size} bytes")
        part = buffer[start:end]
        if mapped and nbytes and dtype.kind != "f":
            part = _aligned_room(nbytes)
            part[:] = buffer[start:end]
        if dtype.kind == "b" and part.size and part.max() > 1:
            raise _error(path, f"array {_show(name)} of type bool holds a byte that is neither 0 nor 1")
        array = part.view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)
        array.flags.writeable = False
        arrays[name] = array
    if end != size:
        raise _error(path, f"it has {size - end} bytes that belong to no array")
    header = whole["meta"]
    for name in [name for name in arrays if name.startswith(LONG) and version > 1]:
        header[name.removeprefix(LONG)] = _long_entry(arrays.pop(name), path, name)
    return ModelFile(path, whole["kind"], whole["margent"], header, arrays)


def _parted(header: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Array]]:
    """The entries of a header that are short, and the JSON of the others as arrays."""
    short, long = {}, {}
    for key, value in header.items():
        raw = strict_json.encode(value)
        if len(raw) <= LONG_ENTRY:
            short[key] = value
            continue
        _check_plain(raw, value)
        long[f"{LONG}{key}"] = np.frombuffer(raw, np.uint8)
    return short, long


def _long_entry(array: Array, path: str, name: str) -> Any:
    if array.dtype != np.uint8 or array.ndim != 1:
        raise _error(path, f"array {_show(name)} should be text")
    try:
        return strict_json.decode(array.tobytes())
    except ValueError as problem:
        raise _error(path, f"the text of {_show(name)} {problem}") from None


def _check_plain(raw: bytes, value: Any) -> None:
    try:
        unchanged = strict_json.decode(raw) == value
    except ValueError as problem:
        raise ValueError(f"the header {problem}") from None
    if not unchanged:
        raise TypeError("the header must be plain JSON: its keys must be strings and its sequences lists, not tuples")


def _check_row(row: Any, path: str) -> tuple[str, np.dtype[Any], tuple[int, ...], int]:
    """Check one row of the array table by itself, and return name, dtype, shape and size in bytes."""
    fields = {"name": str, "dtype": str, "shape": list, "offset": int, "nbytes": int}
    if type(row) is not dict or {key: type(value) for key, value in row.items()} != fields:
        raise _error(path, f"a row of its array table should have {', '.join(fields)}, but is {_show(row)}")
    name, shape, nbytes = row["name"], row["shape"], row["nbytes"]
    if not name:
        raise _error(path, "an array has an empty name")
    if row["dtype"] not in DTYPES:
        raise _error(path, f"array {_show(name)} is of the unknown type {_show(row['dtype'])}")
    dtype = DTYPES[row["dtype"]]
    if len(shape) > MAX_DIMENSIONS or not all(type(length) is int and length >= 0 for length in shape):
        raise _error(path, f"array {_show(name)} has the impossible shape {_show(shape)}")
    # An empty array must not smuggle in lengths that overflow, or for which memory would be asked elsewhere.
    most = 1 << 62 if 0 not in shape else MAX_EMPTY
    if math.prod(max(length, 1) for length in shape) * dtype.itemsize >= most:
        raise _error(path, f"array {_show(name)} has the impossible shape {_show(shape)}")
    if math.prod(shape) * dtype.itemsize != nbytes:
        raise _error(path, f"array {_show(name)} of shape {_show(shape)} cannot have {nbytes} bytes")
    return name, dtype, tuple(shape), nbytes


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


def _aligned_room(size: int) -> Array:
    room = np.empty(size + ALIGNMENT, np.uint8)
    shift = -room.ctypes.data % ALIGNMENT
    return room[shift : shift + size]


def _error(path: str, reason: str) -> ModelFileError:
    return ModelFileError(f"cannot read the model file {path}: {reason}")


def _range(minimum: float | None, maximum: float | None) -> str:
    if maximum is None:
        return f"at least {minimum}"
    return f"at most {maximum}" if minimum is None else f"between {minimum} and {maximum}"


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
