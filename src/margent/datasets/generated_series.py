"""Sensor-like series with labelled segments, drawn from a known model.

What tells the labels apart is spread over everything that a model of whole segments can see and a model of single
frames cannot: two labels of a pair have the same values in all, but rise where the other falls; and how long segments
of a label last and how noisy they are differs from label to label.

Uniform random numbers alone, and arithmetic that is the same everywhere: same seed, same series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SeriesModel:
    """A semi-Markov model of series with D channels and L labels.

    A segment of label y lasts d frames, from least[y] to most[y] and mostly half way between. Its frame t = 0 .. d - 1
    has the values level[y] + slope[y] * ((t + 1/2) / d - 1/2) + noise[y] * e, where e is noise of variance 1. The next
    segment has the label y' with the probability transition[y, y'], which is 0 for y' = y.

    level, slope: (L, D); noise: (L,); least, most: (L,) integers; transition: (L, L), rows sum to 1.
    """

    labels: tuple[str, ...]
    level: Floats
    slope: Floats
    noise: Floats
    least: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    transition: Floats


def make_series(
    n: int,
    n_labels: int = 6,
    n_channels: int = 3,
    *,
    segments: int | tuple[int, int] = (6, 14),
    noise: float = 1.0,
    seed: int = 0,
) -> tuple[list[npt.NDArray[np.float32]], list[Segmentation], SeriesModel]:
    """Return `n` series as arrays (T, n_channels), their segmentations, and the `SeriesModel` they were drawn from.

    Parameters
    ----------
    segments : int or (fewest, most)
        How many segments a series has.
    noise : float
        Multiplies the noise: with 0.3 single frames are enough, with 2 only whole segments tell the labels apart.

    The labels come in pairs, L0 and L1, L2 and L3: those of a pair have the same level, and opposite slopes.

    >>> X, y, model = make_series(20, seed=1)
    >>> X[0].shape == (y[0][-1].end, 3)
    True
    """
    low, high = (segments, segments) if isinstance(segments, int) else segments
    if n < 0 or n_labels < 2 or n_channels < 1 or not 1 <= low <= high or not noise >= 0:
        raise ValueError(
            f"expected n >= 0, n_labels >= 2, n_channels >= 1, segments >= 1 and noise >= 0, got n={n}, "
            f"n_labels={n_labels}, n_channels={n_channels}, segments={segments}, noise={noise}"
        )
    generator = np.random.Generator(np.random.PCG64(seed))
    model = _draw_model(n_labels, n_channels, noise, generator)
    steps = np.cumsum(model.transition, axis=1)
    X, y = [], []
    for _ in range(n):
        series: list[Floats] = []
        spans: Segmentation = []
        label = int(generator.random() * n_labels)
        for _ in range(low + int(generator.random() * (high - low + 1))):
            start = spans[-1].end if spans else 0
            values = _segment(model, label, generator)
            series.append(values)
            spans.append(Span(start, start + len(values), model.labels[label]))
            label = min(int(np.searchsorted(steps[label], generator.random(), side="right")), n_labels - 1)
        X.append(np.concatenate(series).astype(np.float32))
        y.append(spans)
    return X, y, model


def _draw_model(n_labels: int, n_channels: int, noise: float, generator: np.random.Generator) -> SeriesModel:
    pairs = (n_labels + 1) // 2
    level = np.repeat(3 * generator.random((pairs, n_channels)) - 1.5, 2, axis=0)[:n_labels]
    size = 2 + 2 * generator.random((pairs, n_channels))
    sign = np.where(generator.random((pairs, n_channels)) < 0.5, -1.0, 1.0)
    slope = np.stack([size * sign, -size * sign], axis=1).reshape(2 * pairs, n_channels)[:n_labels]
    least = 4 + (12 * generator.random(n_labels)).astype(np.int64)
    most = 2 * least + (12 * generator.random(n_labels)).astype(np.int64)
    drawn = generator.random((n_labels, n_labels))
    transition = drawn * drawn * drawn
    np.fill_diagonal(transition, 0.0)
    transition /= np.cumsum(transition, axis=1)[:, -1:]
    return SeriesModel(
        tuple(f"L{index}" for index in range(n_labels)),
        level,
        slope,
        noise * (0.6 + 0.8 * generator.random(n_labels)),
        least,
        most,
        transition,
    )


def _segment(model: SeriesModel, label: int, generator: np.random.Generator) -> Floats:
    # The mean of three uniform numbers for the duration, the sum of twelve for the noise: bells of known variance
    # without a logarithm or a cosine, which are not the same to the last bit everywhere.
    share = generator.random(3).mean()
    duration = int(model.least[label] + share * (model.most[label] - model.least[label] + 1))
    place = (np.arange(duration) + 0.5) / duration - 0.5
    bell = generator.random((12, duration, model.level.shape[1])).sum(axis=0) - 6.0
    return np.asarray(model.level[label] + np.outer(place, model.slope[label]) + model.noise[label] * bell)
