"""Arrays of frames in NumPy's files: one in a .npy file, several with names in a .npz file. Never pickled objects.

NumPy's own reader trusts the header, which may ask for any amount of memory; here it must fit the file.
"""

from __future__ import annotations

import os
import struct
import warnings
import zlib
from math import prod
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as numpy_format
from numpy.typing import NDArray

from margent.errors import CorpusError, LimitError
from margent.formats.limits import DEFAULT_LIMITS, EXPANSION_FROM, Limits

# What damaged archives and headers raise in Python and NumPy; RuntimeError: an encrypted member.
_DAMAGED = (
    *(BadZipFile, zlib.error, EOFError, OSError, KeyError, ValueError, TypeError, OverflowError),
    *(SyntaxError, TokenError, RuntimeError, NotImplementedError, MemoryError, IndexError, struct.error),
)
_SUFFIX = ".npy"


def array_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the arrays in a .npz file."""
    name = os.fspath(path)
    with open(path, "rb") as file, _archive(file, name) as archive:
        return [each.removesuffix(_SUFFIX) for each in archive.namelist()]


def read_array(
    path: str | os.PathLike[str], key: str | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> NDArray[Any]:
    """The array of frames (T, D) in a .npy file, or that of a name in a .npz file.

    Raises `CorpusError` for a damaged file, for other shapes, and for what is not a finite number.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        if key is None:
            array = _read(file, os.fstat(file.fileno()).st_size, name)
        else:
            with _archive(file, name) as archive:
                name = f"{name}[{key}]"
                array = _member(archive, key, name, limits)
    if not np.isfinite(array).all():
        frame = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise CorpusError(f"{name}: frame {frame} has a value that is not finite")
    return array


def _archive(file: IO[bytes], name: str) -> ZipFile:
    try:
        return ZipFile(file)
    except _DAMAGED as error:
        raise CorpusError(f"{name}: expected arrays in NumPy's format ({error})") from None


def _member(archive: ZipFile, key: str, name: str, limits: Limits) -> NDArray[Any]:
    try:
        found: ZipInfo = archive.getinfo(key + _SUFFIX if key + _SUFFIX in archive.namelist() else key)
        if found.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise CorpusError(f"{name}: the array is compressed in a way that NumPy does not know")
        if found.file_size > max(EXPANSION_FROM, limits.expansion * found.compress_size):
            raise LimitError(f"{name}: {limits.exceeded('expansion')}")
        with archive.open(found) as member:
            return _read(member, found.file_size, name)
    except (CorpusError, LimitError):
        raise
    except _DAMAGED as error:
        raise CorpusError(f"{name}: expected arrays in NumPy's format, but the file is damaged ({error})") from None


def _read(file: IO[bytes], size: int, name: str) -> NDArray[Any]:
    """The array in a file of so many bytes, once its header is known to fit."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            shape, fortran_order, kind = _header(file)
    except _DAMAGED as error:
        told = str(error).split("\n", 1)[0][:200]
        raise CorpusError(f"{name}: expected an array in NumPy's format ({told})") from None
    if len(shape) != 2 or kind.kind not in "iuf":
        raise CorpusError(f"{name}: expected numbers of shape (frames, values), got the shape {shape} of {kind}")
    wanted, there = prod(shape) * kind.itemsize, size - file.tell()
    if min(shape) < 0 or wanted > there:
        raise CorpusError(f"{name}: its header says {shape[0]} frames of {shape[1]} values, and the file ends before")
    raw = file.read(wanted)
    if len(raw) < wanted:
        raise CorpusError(f"{name}: the file is cut short: {wanted} bytes of numbers were expected, found {len(raw)}")
    return np.frombuffer(raw, kind).reshape(shape, order="F" if fortran_order else "C")


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = numpy_format.read_magic(file)
    if version == (1, 0):
        return numpy_format.read_array_header_1_0(file)
    if version == (2, 0):
        return numpy_format.read_array_header_2_0(file)
    raise ValueError(f"arrays of numbers have the version 1.0 or 2.0, not {version[0]}.{version[1]}")
