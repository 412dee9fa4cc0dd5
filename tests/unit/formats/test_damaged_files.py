"""Damaged sounds, arrays and label files: one sentence that names the file, and no other kind of error."""

from __future__ import annotations

import io
import random
import struct
import wave
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from margent.audio import read_sound
from margent.errors import CorpusError, MissingExtraError
from margent.formats import read_labels, read_mlf, read_textgrid
from margent.formats.array_files import array_names, read_array


def wav(width: int = 2, channels: int = 1) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(16000)
        file.writeframes(bytes(width * channels * 50))
    return buffer.getvalue()


def aiff() -> bytes:
    rate = struct.pack(">HQ", 16383 + 13, int(16000 * 2**63 / 2**13))  # 80 bits of floating point
    common = struct.pack(">hIh", 1, 50, 16) + rate
    sound = struct.pack(">II", 0, 0) + bytes(100)
    body = b"AIFFCOMM" + struct.pack(">I", len(common)) + common + b"SSND" + struct.pack(">I", len(sound)) + sound
    return b"FORM" + struct.pack(">I", len(body)) + body


def npy(array: Any = None) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(20.0).reshape(10, 2) if array is None else array)
    return buffer.getvalue()


def npz(save: Callable[..., None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer, a=np.arange(20.0).reshape(10, 2), b=np.ones((3, 2)))
    return buffer.getvalue()


SPHERE = (
    b"NIST_1A\n   1024\nchannel_count -i 1\nsample_rate -i 16000\nsample_count -i 50\nsample_n_bytes -i 2\n"
    b"sample_byte_format -s2 01\nend_head\n"
).ljust(1024) + bytes(100)
TEXTGRID = (
    b'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 1.5\ntiers? <exists>\nsize = 1\n'
    b'item []:\n item [1]:\n class = "IntervalTier"\n name = "phones"\n xmin = 0\n xmax = 1.5\n intervals: size = 2\n'
    b' xmin = 0\n xmax = 0.5\n text = "a"\n xmin = 0.5\n xmax = 1.5\n text = "b"\n'
)


def in_file(read: Callable[[Path], object], path: Path) -> Callable[[bytes], object]:
    def reader(content: bytes) -> object:
        path.write_bytes(content)
        return read(path)

    return reader


def all_arrays(path: Path) -> list[Any]:
    return [read_array(path, name) for name in array_names(path)]


def readers(folder: Path) -> dict[str, tuple[bytes, Callable[[bytes], object]]]:
    return {
        "wav": (wav(), read_sound),
        "wav of 24 bits": (wav(3, 2), read_sound),
        "aiff": (aiff(), read_sound),
        "sphere": (SPHERE, read_sound),
        "npy": (npy(), in_file(read_array, folder / "x.npy")),
        "npz": (npz(np.savez), in_file(all_arrays, folder / "x.npz")),
        "compressed npz": (npz(np.savez_compressed), in_file(all_arrays, folder / "y.npz")),
        "textgrid": (TEXTGRID, read_textgrid),
        "audacity": (b"0.5\t1.0\thello\n1.0\t2.5\tb\n\\\t100\t200\n", lambda text: read_labels(text, "audacity")),
        "timit": (b"0 100 a\n100 200 b\n", lambda text: read_labels(text, "timit")),
        "htk": (b'0 100000 a 1.5\n100000 200000 "b c"\n', lambda text: read_labels(text, "htk")),
        "xwaves": (b"separator ;\n#\n 0.5 121 a\n 1.5 121 b;c\n", lambda text: read_labels(text, "xwaves")),
        "mlf": (b'#!MLF!#\n"*/a.lab"\n0 100000 a\n.\n', read_mlf),
    }


PIECES = [b"9" * 20, b"-1", b"nan", b"1e400", b"\xff" * 8, b'"', b"\n", b"\0", "²".encode(), b"\xb2", b"\x1c", bytes(8)]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """With some bytes changed, taken out or put in, or cut short."""
    raw = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, way = rng.randrange(len(raw) + 1), rng.randrange(5)
        if way == 0:
            raw[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1:
            del raw[at : at + rng.choice([1, 2, 8])]
        elif way == 2:
            raw[at:at] = rng.choice(PIECES)
        elif way == 3:
            raw[at : at + 4] = struct.pack(rng.choice("<>") + "I", rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1]))
        else:
            raw = raw[: max(at, 1)]
    return bytes(raw)


@pytest.mark.parametrize("name", readers(Path()))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, where numbers are as large as they can be
def test_nothing_but_the_error_for_a_corpus(name: str, tmp_path: Path) -> None:
    content, read = readers(tmp_path)[name]
    try:
        read(content)
    except MissingExtraError:
        pytest.skip("soundfile is not installed")
    rng = random.Random(name)
    for _ in range(300):
        try:
            read(damaged(content, rng))
        except (CorpusError, MissingExtraError) as error:
            assert "\n" not in str(error)


# Found by damaging files at random; each raised something else.
FOUND: dict[str, tuple[Callable[[Path], object], bytes, str]] = {
    "seeks in a wav": (
        read_sound, wav().replace(b"data", b"dat\0").replace(struct.pack("<I", 16), struct.pack("<I", 2**32 - 2), 1),
        "damaged|sound file",
    ),
    "numbers of 12 bytes": (read_sound, wav()[:34] + struct.pack("<H", 96) + wav()[36:], "96 bits|damaged"),
    "digits that are none": (read_sound, SPHERE.replace(b"16000", b"1600\xb2"), "sample_rate in the header"),
    "too many digits": (read_sound, SPHERE.replace(b"-i 50\n", b"-i " + b"9" * 500 + b"\n"), "sample_count"),
    "a header without end": (read_array, npy().replace(b"), }", b"),  "), "NumPy's format"),
    "more than there is": (
        read_array, npy().replace(b"(10, 2), }      ", b"(2000000000, 2)}"), "2000000000 frames of 2 values, and",
    ),
    "negative": (read_array, npy().replace(b"(10, 2), } ", b"(-10, -2),}"), "-10 frames of -2 values"),
    "python objects": (read_array, npy(np.array([[None, {}]], dtype=object)), r"the shape \(1, 2\) of object"),
    "text": (read_array, npy(np.array([["a"]])), r"expected numbers of shape \(frames, values\)"),
    "not finite": (read_array, npy(np.array([[0.0, 1], [0, np.nan]])), "frame 1 has a value that is not finite"),
    "blanks that are none": (lambda path: read_labels(path, "audacity"), b"\x1c0.5\t1.0\thello\n", ""),
    "a time beyond all": (lambda path: read_labels(path, "audacity"), b"0.5\t1e400\thello\n", "line 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name: str, tmp_path: Path) -> None:
    read, content, message = FOUND[name]
    (tmp_path / "damaged").write_bytes(content)
    if not message:
        read(tmp_path / "damaged")
        return
    with pytest.raises(CorpusError, match=message) as caught:
        read(tmp_path / "damaged")
    assert str(caught.value).startswith(str(tmp_path / "damaged"))


def test_members_that_lie(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "lies.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", npy())
    with pytest.raises(CorpusError, match=r"lies.npz\[a\]: the array is compressed in a way"):
        read_array(tmp_path / "lies.npz", "a")
    with pytest.raises(CorpusError, match="damaged"):
        read_array(tmp_path / "lies.npz", "b")


def test_a_sound_that_sends_its_reader_before_its_beginning(capfd: pytest.CaptureFixture[str]) -> None:
    """soundfile prints what goes wrong there, for it cannot tell."""
    rng = random.Random(3)
    for _ in range(300):
        with suppress(CorpusError, MissingExtraError):
            read_sound(damaged(aiff(), rng))
    assert "Exception ignored" not in capfd.readouterr().err
