"""Model files as bytes, built without the library: whatever they say, their checksums are right."""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

MAGIC = b"\x8fMGT\r\n\x1a\n"
PRELUDE = 32
ALIGNMENT = 64


def seal(header: Any, body: bytes, version: int = 1) -> bytes:
    """A file of this header (JSON, or its bytes), padded so that the arrays begin where they may."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    raw = raw.ljust(-(-(len(raw) + PRELUDE) // ALIGNMENT) * ALIGNMENT - PRELUDE)
    size = PRELUDE + len(raw) + len(body)
    return reseal(struct.pack("<8sIIQII", MAGIC, version, len(raw), size, 0, 0) + raw + body)


def reseal(raw: bytes) -> bytes:
    """Make the checksums of a damaged file right again."""
    end = PRELUDE + struct.unpack_from("<I", raw, 12)[0]
    front = raw[:24] + struct.pack("<I", zlib.crc32(raw[end:]))
    return front + struct.pack("<I", zlib.crc32(front + raw[PRELUDE:end])) + raw[PRELUDE:]


def resized(raw: bytes) -> bytes:
    """Make the stated size of a damaged file right again too."""
    raw = raw.ljust(PRELUDE, b"\0")
    return reseal(edited(raw, 16, "<Q", len(raw)))


def edited(raw: bytes, offset: int, layout: str, value: int) -> bytes:
    return raw[:offset] + struct.pack(layout, value) + raw[offset + struct.calcsize(layout) :]


def header_of(raw: bytes) -> tuple[dict[str, Any], int]:
    """The JSON of a sound file, and where its arrays begin."""
    end = PRELUDE + struct.unpack_from("<I", raw, 12)[0]
    return json.loads(raw[PRELUDE:end]), end


def packed(kind: str, meta: Any, arrays: Mapping[str, np.ndarray], shapes: Mapping[str, list[int]] = {}) -> bytes:
    """A whole file. `shapes`: lies about the shapes of some arrays, whose bytes stay as they are."""
    table, parts, end = [], [], 0
    for name, array in arrays.items():
        shape = shapes.get(name, list(array.shape))
        nbytes = math.prod(shape) * array.itemsize if name in shapes else array.nbytes
        table.append({"name": name, "dtype": array.dtype.name, "shape": shape, "offset": 0, "nbytes": nbytes})
        start = -(-end // ALIGNMENT) * ALIGNMENT
        parts += [bytes(start - end), np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()]
        table[-1]["offset"] = start
        end = start + array.nbytes
    whole = {"margent": "0", "kind": kind, "meta": meta, "arrays": table}
    room = PRELUDE + len(json.dumps(whole)) + 20 * len(table)  # as large as it can get with the offsets in it
    begin = -(-room // ALIGNMENT) * ALIGNMENT
    for row in table:
        row["offset"] += begin
    return seal(json.dumps(whole).encode().ljust(begin - PRELUDE), b"".join(parts))
