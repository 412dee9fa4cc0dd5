"""The features of segmentations by their definitions: one dense vector a segment, nothing clever."""

from __future__ import annotations

import numpy as np


def statistics(frame, full):
    """Upper triangle of [x x', x; x', 1], or squares, values and 1."""
    x = np.asarray(frame, dtype=float)
    if not full:
        return np.concatenate([x * x, x, [1.0]])
    products = [x[i] * x[j] for i in range(len(x)) for j in range(i, len(x))]
    return np.concatenate([products, x, [1.0]])


def bin_shares(duration, bins):
    """(bins, duration): how much of each frame lies in each bin, bins being of equal length."""
    shares = np.zeros((bins, duration))
    for k in range(bins):
        low, high = duration * k / bins, duration * (k + 1) / bins
        for t in range(duration):
            shares[k, t] = max(0.0, min(high, t + 1) - max(low, t))
    return shares


def frame_content(frames, begin, end, bins, full, mean):
    """(bins, statistics): means (or sums) of the statistics in each bin of a segment."""
    z = np.array([statistics(frame, full) for frame in frames[begin:end]])
    return (bins / (end - begin) if mean else 1.0) * bin_shares(end - begin, bins) @ z


def gamma_durations(duration):
    return np.array([np.log(duration), duration, 1.0])
