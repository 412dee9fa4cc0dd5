"""Reading and writing sound.

WAV files of integers (PCM) are read by Python's own `wave`, NIST SPHERE files (TIMIT) by `margent.audio.sphere`.
Everything else (FLAC, OGG, MP3, AIFF, WAV of floats ...) is read by `soundfile`: `pip install 'margent[audio]'`.
"""

from __future__ import annotations

import io
import os
import wave
from fractions import Fraction
from typing import IO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from margent.audio.sphere import SPHERE_MAGIC, read_sphere
from margent.errors import CorpusError, MissingExtraError
from margent.extras import optional

Floats = npt.NDArray[np.float32]

SoundLike: TypeAlias = "str | os.PathLike[str] | bytes | IO[bytes]"
"""A path, the bytes themselves, or a file open for reading bytes."""


MOST_SAMPLES = 1_000_000
"""Each second."""
_MOST_FINER, _MOST_COARSER = 64, 1000
_LARGEST_FACTOR = 100_000
_STREAMED = 0x7FFF0000
"""Programs that write to a pipe cannot know how long a sound will be, and say that it has as many bytes or more."""


class Sound(NamedTuple):
    """One channel of sound: `samples` (n,) float32 between -1 and 1, `rate` of them each second."""

    samples: Floats
    rate: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate


def read_sound(source: SoundLike, rate: int | None = None) -> Sound:
    """Read a sound file as one channel; several channels are averaged.

    Parameters
    ----------
    source : path, bytes or binary file
        The format is seen from its first bytes.
    rate : int or None
        Resample to this many samples per second. None: as in the file.
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        with open(source, "rb") as file:
            content = file.read()
    else:
        name = "<bytes>" if isinstance(source, bytes) else str(getattr(source, "name", "<file>"))
        content = source if isinstance(source, bytes) else source.read()
    if not content:
        raise CorpusError(f"{name}: the file is empty; expected a sound")
    if content.startswith(SPHERE_MAGIC):
        samples, found = read_sphere(content, name)
    elif content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        samples, found = _read_wave(content, name)
    else:
        samples, found = _read_with_soundfile(content, name)
    if not 0 < found <= MOST_SAMPLES:
        raise CorpusError(f"{name}: the file has {found} samples per second; expected 1 to {MOST_SAMPLES}")
    mono = samples.mean(axis=1, dtype=np.float32) if samples.shape[1] != 1 else samples[:, 0]
    return Sound(mono, found) if rate is None else resampled(Sound(mono, found), rate)


def write_sound(target: str | os.PathLike[str] | IO[bytes], samples: npt.ArrayLike, rate: int) -> None:
    """Write one channel of samples between -1 and 1 as a WAV file of 16 bits; what is louder is cut off."""
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1 or not np.isfinite(x).all():
        raise CorpusError(f"expected finite samples of shape (n,), got the shape {x.shape}")
    whole = np.clip(np.rint(32768 * x), -32768, 32767).astype("<i2")
    with wave.open(target if not isinstance(target, os.PathLike) else os.fspath(target), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.tobytes())


def resampled(sound: Sound, rate: int) -> Sound:
    """The sound with another number of samples per second, filtered so that nothing is folded back."""
    if not 0 < rate <= MOST_SAMPLES:
        raise ValueError(f"expected a rate of 1 to {MOST_SAMPLES} samples per second, got {rate}")
    if rate == sound.rate:
        return sound
    resample_poly = optional("scipy.signal", "another sampling rate needs", "audio").resample_poly
    if rate > _MOST_FINER * sound.rate or sound.rate > _MOST_COARSER * rate:
        raise CorpusError(
            f"a sound of {sound.rate} samples per second cannot be brought to {rate}; expected at most {_MOST_FINER} "
            f"times as many, or a {_MOST_COARSER}th"
        )
    # Differs: a ratio of two large numbers without a common divisor is rounded, by less than 0.1 ms in an hour, for the
    # filter is as long as they are large.
    if rate < sound.rate:
        ratio = Fraction(rate, sound.rate).limit_denominator(_LARGEST_FACTOR)
    else:
        ratio = 1 / Fraction(sound.rate, rate).limit_denominator(_LARGEST_FACTOR)
    return Sound(resample_poly(sound.samples, ratio.numerator, ratio.denominator).astype(np.float32), rate)


def _read_wave(content: bytes, name: str) -> tuple[Floats, int]:
    try:
        with wave.open(io.BytesIO(content)) as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            frames = file.getnframes()
            raw = file.readframes(frames)
    except EOFError:
        raise CorpusError(f"{name}: the WAV file ends within its header; expected more") from None
    except Exception as error:  # `wave` has an error of its own for some of what can be wrong
        if isinstance(error, wave.Error) and str(error).startswith("unknown format"):
            return _read_with_soundfile(content, name)  # not integers: soundfile knows more kinds
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise CorpusError(f"{name}: expected a WAV file, but its header is damaged ({what})") from None
    if width > 4:
        raise CorpusError(f"{name}: the samples have {8 * width} bits; expected 8, 16, 24 or 32")
    wanted = frames * width * channels
    if len(raw) < wanted < _STREAMED:
        raise CorpusError(
            f"{name}: the WAV file is cut short: its header says {wanted} bytes of samples, and there are {len(raw)}"
        )
    raw = raw[: len(raw) // (width * channels) * width * channels]
    if width == 1:
        samples = (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    else:
        # Numbers of 3 bytes are put into the upper bytes of 4.
        size = 4 if width == 3 else width
        padded = np.zeros((len(raw) // width, size), np.uint8)
        padded[:, size - width :] = np.frombuffer(raw, np.uint8).reshape(-1, width)
        samples = padded.view(f"<i{size}")[:, 0].astype(np.float64) / 2.0 ** (8 * size - 1)
    return samples.reshape(-1, channels).astype(np.float32), rate


class _Bytes(io.BytesIO):
    """A damaged header sends the reader before the beginning, where an error would be lost in native code."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        start = (0, self.tell(), len(self.getbuffer()))[whence] if whence in (0, 1, 2) else 0
        return super().seek(max(start + offset, 0))


def _read_with_soundfile(content: bytes, name: str) -> tuple[Floats, int]:
    try:
        import soundfile
    except (ImportError, OSError) as error:  # OSError: its native library is missing
        raise MissingExtraError(
            f"{name}: it is neither a WAV file of integers nor a NIST SPHERE file; other sound files need "
            f"soundfile; install it with: pip install 'margent[audio]'"
        ) from error
    try:
        samples, rate = soundfile.read(_Bytes(content), dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise CorpusError(f"{name}: expected a sound file ({error.error_string})") from None
    except (RuntimeError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise CorpusError(f"{name}: expected a sound file, but it is damaged ({error})") from None
    return samples, int(rate)
