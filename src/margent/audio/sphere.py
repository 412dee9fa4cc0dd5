"""NIST SPHERE files, the sound format of TIMIT and other corpora of the LDC: a header of text, then samples.

NIST_1A
   1024                          the size of the header in bytes
sample_rate -i 16000             a name, the kind (-i number, -s5 string of 5 bytes, -r real), the value
sample_byte_format -s2 01
end_head
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError

SPHERE_MAGIC = b"NIST_1A\n"


def _is_number(text: str) -> bool:
    """Whether it is an integer that a file may really have: no digits of other scripts, and not thousands of them."""
    return text.isascii() and text.isdecimal() and len(text) < 16


def sphere_header(content: bytes, name: str) -> tuple[int, dict[str, str]]:
    """The size of the header in bytes, and its fields."""
    size = content[8:16].strip()
    if not content.startswith(SPHERE_MAGIC) or not _is_number(size.decode("latin-1")):
        raise CorpusError(f"{name}: expected a NIST SPHERE file, which begins with NIST_1A and the size of its header")
    if len(content) < int(size):
        raise CorpusError(f"{name}: the file ends within its header; expected {int(size)} bytes of it")
    fields: dict[str, str] = {}
    lines = content[16 : int(size)].decode("latin-1").split("\n")
    for number, line in enumerate(lines, 3):
        words = line.split(maxsplit=2)
        if words == ["end_head"]:
            return int(size), fields
        if not words or words[0].startswith(";"):
            continue
        if len(words) != 3:
            raise CorpusError(f"{name}, line {number}: expected a name, a kind and a value, got {line!r}")
        fields[words[0]] = words[2].strip()
    raise CorpusError(f"{name}: the header does not end; expected a line 'end_head'")


def read_sphere(content: bytes, name: str) -> tuple[npt.NDArray[np.float32], int]:
    """The samples (n, channels) between -1 and 1 of a SPHERE file of 16-bit PCM, and how many there are each second."""
    size, fields = sphere_header(content, name)

    def number(field: str, otherwise: int | None = None) -> int:
        text = fields.get(field)
        if text is None and otherwise is not None:
            return otherwise
        if text is None or not _is_number(text):
            raise CorpusError(f"{name}: expected {field} in the header as an integer, got {text!r}")
        return int(text)

    coding = fields.get("sample_coding", "pcm")
    if "shorten" in coding:
        raise CorpusError(
            f"{name}: the samples are compressed with shorten; expected plain PCM (sph2pipe -p or sox decompress them)"
        )
    if coding != "pcm" or number("sample_n_bytes") != 2:
        raise CorpusError(
            f"{name}: the samples are {coding!r} of {fields.get('sample_n_bytes')} bytes; expected 'pcm' of 2 bytes"
        )
    order = {"01": "<i2", "10": ">i2"}.get(fields.get("sample_byte_format", ""))
    if order is None:
        given = fields.get("sample_byte_format")
        raise CorpusError(f"{name}: sample_byte_format is {given!r}; expected 01 (little-endian) or 10 (big-endian)")
    channels, rate, count = number("channel_count", 1), number("sample_rate"), number("sample_count")
    if not channels or not rate:
        raise CorpusError(f"{name}: expected at least one channel and one sample per second, got {channels} and {rate}")
    there = (len(content) - size) // (2 * channels)
    if there < count:
        raise CorpusError(f"{name}: expected {count} samples, found {there}; the file is cut short")
    samples = np.frombuffer(content, order, count * channels, size)
    return (samples.astype(np.float32) / np.float32(32768)).reshape(count, channels), rate
