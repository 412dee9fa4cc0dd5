from __future__ import annotations

import io
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from margent.audio import read_sound, write_sound
from margent.audio.sound import Sound, resampled
from margent.errors import CorpusError, MissingExtraError

RAMP = np.array([0, 1, -1, 256, -32768, 32767], np.int64)


def sphere(samples: np.ndarray = RAMP, *, order: str = "01", drop: str = "", **fields: str) -> bytes:
    """A SPHERE file as the LDC makes them."""
    header = {
        "database_id": "-s5 TIMIT",
        "channel_count": "-i 1",
        "sample_count": f"-i {len(samples)}",
        "sample_rate": "-i 16000",
        "sample_n_bytes": "-i 2",
        "sample_byte_format": f"-s2 {order}",
        "sample_sig_bits": "-i 16",
        **fields,
    }
    lines = ["NIST_1A", "   1024", *(f"{name} {value}" for name, value in header.items() if name != drop), "end_head"]
    text = "\n".join(lines).encode() + b"\n"
    return text.ljust(1024) + samples.astype("<i2" if order == "01" else ">i2").tobytes()


def riff(raw: bytes, width: int, channels: int = 1, rate: int = 8000) -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(raw)
    return target.getvalue()


@pytest.mark.parametrize("order", ["01", "10"])
def test_sphere_files(order: str) -> None:
    sound = read_sound(sphere(order=order))
    assert sound.rate == 16000
    assert sound.samples.dtype == np.float32
    np.testing.assert_array_equal(sound.samples, (RAMP / 32768).astype(np.float32))
    two = read_sound(sphere(RAMP, order=order, channel_count="-i 2", sample_count="-i 3"))
    np.testing.assert_allclose(two.samples, RAMP.reshape(3, 2).mean(axis=1) / 32768, rtol=1e-6)
    assert read_sound(sphere(drop="channel_count")).samples.shape == (6,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (sphere(sample_coding="-s26 pcm,embedded-shorten-v2.00"), "compressed with shorten; expected plain PCM"),
        (sphere(sample_coding="-s4 ulaw"), "the samples are 'ulaw' of 2 bytes; expected 'pcm' of 2 bytes"),
        (sphere(sample_n_bytes="-i 1"), "'pcm' of 1 bytes; expected"),
        (sphere(drop="sample_rate"), "expected sample_rate in the header as an integer, got None"),
        (sphere(sample_count="-i x"), "expected sample_count in the header as an integer, got 'x'"),
        (sphere(sample_count="-i \xb2"), "expected sample_count in the header as an integer, got '\xc2\xb2'"),
        (sphere(drop="sample_byte_format"), "sample_byte_format is None; expected 01"),
        (sphere(sample_rate="-i 0"), "expected at least one channel and one sample per second"),
        (sphere()[:-2], "expected 6 samples, found 5; the file is cut short"),
        (sphere()[:500], "the file ends within its header; expected 1024 bytes"),
        (sphere().replace(b"end_head", b"end     "), "got 'end"),
        (sphere().replace(b"end_head", b"        "), "the header does not end"),
        (b"NIST_1A\n   abcd\n", "the size of its header"),
    ],
)
def test_what_is_wrong_in_a_sphere_file_is_said(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "SX1.WAV").write_bytes(content)
    with pytest.raises(CorpusError, match=rf"SX1\.WAV.*{message}"):
        read_sound(tmp_path / "SX1.WAV")


def test_wav_files_of_all_widths() -> None:
    """A half of full scale is a half, in any number of bytes."""
    half = {1: 192, 2: 1 << 14, 3: 1 << 22, 4: 1 << 30}
    for width, value in half.items():
        silence = 128 if width == 1 else 0
        raw = b"".join(v.to_bytes(width, "little") for v in (silence, value))
        assert read_sound(riff(raw, width)).samples.tolist() == [0.0, 0.5]
    assert read_sound(riff((-(1 << 22)).to_bytes(3, "little", signed=True), 3)).samples.tolist() == [-0.5]
    stereo = np.array([[16384, 0], [0, -16384]], "<i2").tobytes()
    assert read_sound(riff(stereo, 2, channels=2)).samples.tolist() == [0.25, -0.25]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    x = np.sin(np.arange(1000) / 9) * 0.7
    write_sound(tmp_path / "a.wav", x, 16000)
    sound = read_sound(tmp_path / "a.wav")
    assert sound.rate == 16000 and sound.seconds == 1000 / 16000
    np.testing.assert_allclose(sound.samples, x, atol=0.6 / 32768)
    write_sound(tmp_path / "loud.wav", [2.0, -2.0], 16000)
    np.testing.assert_allclose(read_sound(tmp_path / "loud.wav").samples, [1.0, -1.0], atol=1e-4)
    with pytest.raises(CorpusError, match=r"expected finite samples of shape \(n,\)"):
        write_sound(tmp_path / "b.wav", [float("nan")], 16000)


def test_resampling_keeps_the_tone() -> None:
    t = np.arange(8000) / 8000
    target = io.BytesIO()
    write_sound(target, 0.5 * np.sin(2 * np.pi * 440 * t), 8000)
    sound = read_sound(target.getvalue(), rate=16000)
    assert sound.rate == 16000 and len(sound.samples) == 16000
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
    np.testing.assert_allclose(sound.samples[500:-500], expected[500:-500], atol=5e-3)
    for before, after in ((100, 16000), (1_000_000, 100)):
        with pytest.raises(CorpusError, match=f"a sound of {before} samples per second cannot be brought to {after}"):
            resampled(Sound(np.zeros(10, np.float32), before), after)
    odd = resampled(Sound(np.zeros(999_983, np.float32), 999_983), 16_001)  # without a common divisor
    assert len(odd.samples) == 16_001 and odd.rate == 16_001
    with pytest.raises(ValueError, match="expected a rate of 1 to 1000000"):
        read_sound(target.getvalue(), rate=0)


def test_other_formats_are_read_by_soundfile(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile", reason="the extra margent[audio] is not installed")
    x = np.linspace(-0.5, 0.5, 801, dtype=np.float32)
    for name, subtype in (("a.flac", "PCM_16"), ("a.wav", "FLOAT")):
        soundfile.write(tmp_path / name, x, 16000, subtype=subtype)
        sound = read_sound(tmp_path / name)
        assert sound.rate == 16000
        np.testing.assert_allclose(sound.samples, x, atol=1 / 32768)
    with pytest.raises(CorpusError, match="<bytes>: expected a sound file"):
        read_sound(b"no sound at all")


@pytest.mark.parametrize("missing", [1, 2, 801])
def test_a_wav_file_that_is_cut_short_is_told(missing: int) -> None:
    target = io.BytesIO()
    write_sound(target, np.zeros(800), 16000)
    content = target.getvalue()
    with pytest.raises(CorpusError, match=f"cut short: its header says 1600 bytes .* there are {1600 - missing}"):
        read_sound(content[:-missing])


def test_a_wav_file_from_a_pipe_is_as_long_as_it_is() -> None:
    target = io.BytesIO()
    write_sound(target, np.zeros(800), 16000)
    content = target.getvalue()
    streamed = content[:40] + (0xFFFFFFFF).to_bytes(4, "little") + content[44:]
    assert len(read_sound(streamed).samples) == 800


def test_damaged_headers_of_wav_files_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    target = io.BytesIO()
    write_sound(target, np.zeros(800), 16000)
    content = target.getvalue()
    for damaged, message in (
        (b"RIFF\0\0\0\0WAVEfmt ", "header"),
        (content[:30], "ends within its header"),
        (content[:36], "its header is damaged"),
        (content[:22] + b"\0\0" + content[24:], "its header is damaged"),
    ):
        with pytest.raises(CorpusError, match=message):
            read_sound(damaged)


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'margent\[audio\]'"):
        read_sound(b"fLaC" + bytes(100))


def test_an_empty_file_is_said_to_be_empty() -> None:
    with pytest.raises(CorpusError, match="<bytes>: the file is empty"):
        read_sound(b"")
    with pytest.raises(CorpusError, match="the file has 0 samples per second; expected 1 to 1000000"):
        read_sound(riff(b"\0\0", 2, rate=1).replace((1).to_bytes(4, "little") + (2).to_bytes(4, "little"), bytes(8)))
