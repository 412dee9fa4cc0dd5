"""Mel spectra: how much power a sound has in each of a few bands, every 10 ms, on a logarithmic scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError

Floats = npt.NDArray[np.float32]

LOWEST, HIGHEST = 60.0, 7800.0
"""The range of the bands in Hz."""

_AT_ONCE = 4096
"""Frames that are transformed together: an hour of sound needs no more memory than a minute."""


def log_mel(samples: npt.ArrayLike, rate: int, *, window: float = 0.025, step: float = 0.01, bands: int = 40) -> Floats:
    """Logarithms of the power in mel bands, shape (T, bands), T = floor(n / (rate * step)).

    Frame t is made of the samples in a Hamming window of `window` seconds around the middle of the time from t *
    step to (t + 1) * step, to the nearest sample, so that labels in seconds and frames agree without any shift;
    beyond its ends the sound is silent. Before, the sound is differenced (x[i] - 0.97 x[i-1]). The power spectrum
    is summed in triangular bands that are spaced evenly in mel, 2595 log10(1 + f / 700), from 60 to 7,800 Hz or
    half the rate. A value is log(1 + power), with the power that samples of 16 bits would have: digital silence is
    0.

    Parameters
    ----------
    samples : (n,) between -1 and 1
    rate : int
        Samples per second.

    Cost: O(T W log W) for windows of W samples.
    """
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1:
        raise CorpusError(f"the samples have the shape {x.shape}; expected one channel, of shape (n,)")
    if not np.isfinite(x).all():
        raise CorpusError("the samples are not all finite; expected numbers between -1 and 1")
    width, hop = round(window * rate), round(step * rate)
    if rate <= 0 or width < 2 or hop < 1 or bands < 1:
        raise ValueError(
            f"expected a positive rate, window and step and at least one band, got rate={rate}, "
            f"window={window}, step={step}, bands={bands}"
        )
    emphasised = 32768.0 * x
    emphasised[1:] -= 0.97 * emphasised[:-1].copy()
    n_frames, before = int(len(x) / (step * rate) + 1e-9), (width - hop) // 2
    padded = np.pad(emphasised, (max(before, 0), width + hop))
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    # A step need not be whole samples: 10 ms at 22,050 Hz are 220.5, and rounded once would drift by seconds an hour.
    begins = np.rint(np.arange(n_frames) * (step * rate)).astype(np.int64) + max(-before, 0)
    size = 1 << (width - 1).bit_length()
    filters, hamming = mel_filters(rate, size, bands).T, np.hamming(width)
    spectra = np.empty((n_frames, bands), np.float32)
    for start in range(0, n_frames, _AT_ONCE):
        power = np.abs(np.fft.rfft(windows[begins[start : start + _AT_ONCE]] * hamming, size)) ** 2
        spectra[start : start + _AT_ONCE] = np.log1p(power @ filters)
    return spectra


def mel_filters(rate: int, size: int, bands: int = 40) -> npt.NDArray[np.float64]:
    """The weight of each of size / 2 + 1 frequencies in each band: triangles of height 1, shape (bands, size / 2 + 1).

    A band goes from the middle of the one below it to the middle of the one above.
    """
    highest = min(HIGHEST, rate / 2)
    if highest <= LOWEST:
        raise ValueError(f"expected a rate of more than {2 * LOWEST:g} samples per second, got {rate}")
    low, high = (2595 * np.log10(1 + f / 700) for f in (LOWEST, highest))
    edges = 700 * (10 ** (np.linspace(low, high, bands + 2) / 2595) - 1)
    frequencies = np.arange(size // 2 + 1) * rate / size
    rising = (frequencies - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))
