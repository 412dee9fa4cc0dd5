"""Cepstra: a mel spectrum as a dozen numbers that hardly depend on one another, with how they change.

The usual 39 values of a frame of speech are 12 cepstral coefficients and the logarithm of the energy, then the slopes
of these 13 (delta), then the slopes of the slopes (acceleration).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from margent.audio.mel import log_mel
from margent.errors import CorpusError

Floats = npt.NDArray[np.float32]


def speech_frames(samples: npt.ArrayLike, rate: int, *, normalise: bool = True) -> Floats:
    """The 39 values of each 10 ms of a sound, shape (T, 39): `frames_of_log_mel` of its `log_mel`.

    Frame t stands for the time from 0.01 t to 0.01 (t + 1) seconds, and sees 25 ms.

    >>> speech_frames(np.zeros(16000), 16000).shape
    (100, 39)
    """
    return frames_of_log_mel(log_mel(samples, rate), normalise=normalise)


def frames_of_log_mel(log_mel: npt.ArrayLike, *, normalise: bool = True) -> Floats:
    """The 39 values of each frame from its mel spectrum: (T, bands) to (T, 39).

    12 cepstra, log energy, their deltas, their accelerations; with `normalise`, each with mean 0 and variance 1 over
    the utterance.
    """
    static = cepstra(log_mel)
    slope = deltas(static)
    frames = np.concatenate([static, slope, deltas(slope)], axis=1)
    return normalised(frames) if normalise else frames


def cepstra(log_mel: npt.ArrayLike, n: int = 12) -> Floats:
    """The first `n` cepstral coefficients and the log energy of each frame: (T, bands) to (T, n + 1).

    c_k = sqrt(2 / B) sum_b m_b cos(pi k (b + 1/2) / B) for k = 1 .. n (the discrete cosine transform of type 2).
    Differs from HTK: the energy is that of all bands together, log sum_b exp(m_b), so that a mel spectrum is enough
    to compute it; and the coefficients are not liftered, which normalisation would undo.
    """
    spectra = np.asarray(log_mel, dtype=np.float64)
    if spectra.ndim != 2 or not spectra.shape[1] > n:
        raise CorpusError(
            f"the mel spectra have the shape {spectra.shape}; expected (T, bands) with more than {n} bands"
        )
    bands = spectra.shape[1]
    angles = np.pi / bands * np.outer(np.arange(bands) + 0.5, np.arange(1, n + 1))
    highest = spectra.max(axis=1, keepdims=True)
    energy = highest + np.log(np.exp(spectra - highest).sum(axis=1, keepdims=True))
    return np.concatenate([spectra @ (np.sqrt(2 / bands) * np.cos(angles)), energy], axis=1).astype(np.float32)


def deltas(frames: npt.ArrayLike, width: int = 2) -> Floats:
    """The slope of each value over time, by regression on `width` frames to both sides: (T, D) to (T, D).

    d_t = sum_k k (x_{t+k} - x_{t-k}) / (2 sum_k k^2) for k = 1 .. width; the first and the last frame are repeated
    beyond the ends.
    """
    x = np.asarray(frames, dtype=np.float32)
    if x.ndim != 2:
        raise CorpusError(f"the frames have the shape {x.shape}; expected (T, D)")
    if width < 1:
        raise ValueError(f"expected width >= 1, got {width}")
    if not len(x):
        return x
    padded = np.pad(x, ((width, width), (0, 0)), mode="edge")
    slope = np.zeros_like(x)
    for k in range(1, width + 1):
        slope += k * (padded[width + k :][: len(x)] - padded[width - k :][: len(x)])
    slope /= 2 * sum(k * k for k in range(1, width + 1))
    return slope


def normalised(frames: npt.ArrayLike) -> Floats:
    """Each column with mean 0 and variance 1 over the frames of an utterance: mean and variance normalisation.

    It takes away what microphone, room and loudness do to all frames alike. A column that never changes becomes 0.
    """
    x = np.asarray(frames, dtype=np.float64)
    if x.ndim != 2:
        raise CorpusError(f"the frames have the shape {x.shape}; expected (T, D)")
    if not len(x):
        return x.astype(np.float32)
    spread = x.std(axis=0)
    spread[spread < 1e-6] = np.inf  # rounding noise of a constant is not to be blown up
    return np.asarray((x - x.mean(axis=0)) / spread, dtype=np.float32)
