"""Speech of a made-up language, from a small formant synthesiser: endless, free, with exact phone boundaries.

It is not meant to sound like a person. It has what makes speech hard to cut: sounds that glide into each other, voices
of different pitch and size, stops that are mostly silence, hisses that differ in colour alone, noise behind it all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation
from margent.audio import Sound

Floats = npt.NDArray[np.float64]

_RATE = 16000
_HOP = _RATE // 100
"""Samples of a frame of 10 ms; phones last whole frames, so that their boundaries are exact."""


class _Phone(NamedTuple):
    """How a phone is made: its three formants in Hz, how loud the voice is, how loud the hiss is and around which
    frequency and how wide (Hz), and its shortest and longest duration in frames. A stop hisses in its last third."""

    formants: tuple[int, int, int]
    voice: float
    hiss: float
    centre: int
    width: int
    frames: tuple[int, int]


_PHONES = {
    "a": _Phone((730, 1090, 2440), 1.0, 0.0, 0, 0, (8, 16)),
    "e": _Phone((530, 1840, 2480), 0.9, 0.0, 0, 0, (7, 14)),
    "i": _Phone((280, 2290, 3010), 0.7, 0.0, 0, 0, (6, 13)),
    "o": _Phone((570, 840, 2410), 0.9, 0.0, 0, 0, (7, 15)),
    "u": _Phone((300, 870, 2240), 0.7, 0.0, 0, 0, (6, 13)),
    "m": _Phone((250, 1100, 2200), 0.3, 0.0, 0, 0, (5, 9)),
    "n": _Phone((250, 1600, 2600), 0.3, 0.0, 0, 0, (4, 8)),
    "l": _Phone((360, 1300, 2800), 0.5, 0.0, 0, 0, (4, 8)),
    "s": _Phone((400, 1700, 2600), 0.0, 0.25, 6000, 1500, (7, 13)),
    "sh": _Phone((400, 1800, 2500), 0.0, 0.30, 3200, 1000, (7, 13)),
    "f": _Phone((400, 1100, 2300), 0.0, 0.08, 4500, 4000, (6, 11)),
    "z": _Phone((350, 1700, 2600), 0.25, 0.15, 6000, 1500, (5, 10)),
    "p": _Phone((400, 1000, 2300), 0.0, 0.15, 1000, 900, (6, 10)),
    "t": _Phone((400, 1750, 2600), 0.0, 0.30, 4500, 1500, (6, 10)),
    "k": _Phone((350, 1900, 2300), 0.0, 0.25, 2200, 700, (6, 11)),
    "pau": _Phone((500, 1500, 2500), 0.0, 0.0, 0, 0, (8, 25)),
}
_VOWELS = ("a", "e", "i", "o", "u")
_STOPS = ("p", "t", "k")
_ONSETS = ("m", "n", "l", "s", "sh", "f", "z", "p", "t", "k")
_CODAS = ("n", "l", "s", "t")

GENERATED_PHONES = tuple(_PHONES)
"""The labels that `make_speech` uses; "pau" is silence."""


def make_speech(
    n: int, *, words: int | tuple[int, int] = (2, 4), seed: int = 0
) -> tuple[list[Sound], list[Segmentation]]:
    """Return `n` utterances as sounds at 16 kHz, and their segmentations in frames of 10 ms.

    An utterance is a pause, some words of one to three syllables, some of them with a pause after them, and a pause.
    Each is said by another voice. Same seed, same labels everywhere; the samples may differ in the last bits from one
    machine to another.

    Parameters
    ----------
    words : int or (fewest, most)
        How many words an utterance has.

    >>> sounds, segments = make_speech(2, seed=1)
    >>> len(sounds[0].samples) == 160 * segments[0][-1].end
    True
    """
    low, high = (words, words) if isinstance(words, int) else words
    if n < 0 or not 1 <= low <= high:
        raise ValueError(f"expected n >= 0 and words >= 1 or a pair (fewest, most), got n={n}, words={words}")
    generator = np.random.Generator(np.random.PCG64(seed))
    sounds, segmentations = [], []
    for _ in range(n):
        phones = _sentence(low + int(generator.random() * (high - low + 1)), generator)
        segments: Segmentation = []
        tempo = 0.85 + 0.3 * generator.random()
        for phone in phones:
            shortest, longest = _PHONES[phone].frames
            frames = max(3, round(tempo * (shortest + generator.random(2).mean() * (longest - shortest))))
            start = segments[-1].end if segments else 0
            segments.append(Span(start, start + frames, phone))
        sounds.append(Sound(_spoken(segments, generator).astype(np.float32), _RATE))
        segmentations.append(segments)
    return sounds, segmentations


def _sentence(n_words: int, generator: np.random.Generator) -> list[str]:
    def one_of(names: tuple[str, ...]) -> str:
        return names[int(generator.random() * len(names))]

    phones = ["pau"]
    for word in range(n_words):
        for _ in range(1 + int(generator.random() * 3)):
            if generator.random() < 0.85 or phones[-1] in _VOWELS:
                phones.append(one_of(tuple(name for name in _ONSETS if name != phones[-1])))
            phones.append(one_of(_VOWELS))
        if generator.random() < 0.4:
            phones.append(one_of(_CODAS))
        if generator.random() < 0.3 and word < n_words - 1:
            phones.append("pau")
    return [*phones, "pau"]


def _spoken(segments: Segmentation, generator: np.random.Generator) -> Floats:
    """The sound of a segmentation, by harmonics of a pitch under three resonances, and noise in bands."""
    n = segments[-1].end * _HOP
    phones = [_PHONES[s.label] for s in segments]
    counts = [(s.end - s.start) * _HOP for s in segments]
    size = 0.9 + 0.25 * generator.random()  # of the mouth: all formants move together
    # Sounds glide into each other: the formants over 40 ms, the voice over 15 ms.
    formants = [size * _smooth(np.repeat([p.formants[i] for p in phones], counts), 640) for i in range(3)]
    voice = _smooth(np.repeat([p.voice for p in phones], counts), 240)
    pitch = (90 + 110 * generator.random()) * np.linspace(1.1, 0.85, n)
    pitch = pitch * (1 + 0.06 * np.sin(2 * np.pi * (3 * np.arange(n) / _RATE + generator.random())))
    phase = 2 * np.pi * np.cumsum(pitch) / _RATE
    # sin(k x) from those of k - 1 and k - 2; the resonances change slowly, and are worked out each millisecond.
    slow = slice(None, None, _RATE // 1000)
    sound, before, current = np.zeros(n), np.zeros(n), np.sin(phase)
    twice = 2 * np.cos(phase)
    for harmonic in range(1, int(4000 / pitch.max()) + 1):
        response = sum(
            weight / (1 + ((harmonic * pitch[slow] - formant[slow]) / (50 + 0.06 * formant[slow])) ** 2)
            for weight, formant in zip((1.0, 0.5, 0.25), formants)
        )
        sound += np.repeat(response, _RATE // 1000) * current
        before, current = current, twice * current - before
    sound *= 0.25 * voice
    for segment, phone in zip(segments, phones):
        if phone.hiss:
            start, end = segment.start * _HOP, segment.end * _HOP
            if segment.label in _STOPS:
                start += 2 * (end - start) // 3
            envelope = _smooth(np.ones(end - start), min(240, (end - start) // 2), outside=0.0)
            sound[start:end] += (
                phone.hiss * envelope * _band_noise(end - start, size * phone.centre, phone.width, generator)
            )
    background = 10 ** (-3.2 + 0.6 * generator.random())
    sound += background * (2 * generator.random(n) - 1)
    return np.asarray(sound * (0.3 + 0.4 * generator.random()))


def _smooth(track: npt.NDArray[np.generic], width: int, outside: float | None = None) -> Floats:
    """The mean over `width` samples around each; beyond the ends the track goes on as it ends, or is `outside`."""
    values = np.asarray(track, dtype=np.float64)
    if width < 2:
        return values
    before = width // 2
    edges = (values[0], values[-1]) if outside is None else (outside, outside)
    padded = np.concatenate([np.full(before, edges[0]), values, np.full(width - before, edges[1])])
    total = np.concatenate([[0.0], np.cumsum(padded)])
    return np.asarray((total[width:] - total[:-width])[: len(values)] / width)


def _band_noise(n: int, centre: float, width: float, generator: np.random.Generator) -> Floats:
    """White noise through a bell of frequencies, with the mean power of its loudest part about 1."""
    spectrum = np.fft.rfft(2 * generator.random(n) - 1)
    frequencies = np.fft.rfftfreq(n, 1 / _RATE)
    shaped = np.fft.irfft(spectrum * np.exp(-(((frequencies - centre) / width) ** 2)), n)
    return np.asarray(shaped / (np.sqrt((shaped**2).mean()) + 1e-12))
