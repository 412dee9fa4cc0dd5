"""Frames and tokens to be segmented."""

from __future__ import annotations

import numpy as np

from margent.annotation import Span


def speech(seed=0, n=12, dimensions=3):
    """Frames of three labels with means, spreads and durations of their own, in a preferred order."""
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0, 0], [2.5, 0, 1], [0, 2.5, -1]])[:, :dimensions]
    X, y = [], []
    for _ in range(n):
        frames, segments, end, label = [], [], 0, int(rng.integers(3))
        for _ in range(rng.integers(4, 8)):
            lasts = int(rng.integers(2, 5) + 2 * label)
            begin, end = end, end + lasts
            drift = np.linspace(-1, 1, lasts)[:, None] * np.array([0, 0, 1.0])[:dimensions]
            frames.append(means[label] + drift + rng.normal(size=(lasts, dimensions)) * 0.6)
            segments.append(Span(begin, end, "abc"[label]))
            label = (label + int(rng.choice([1, 2], p=[0.8, 0.2]))) % 3
        X.append(np.concatenate(frames))
        y.append(segments)
    return X, y


SENTENCES = [
    ["John", "Smith", "lives", "in", "New", "York", "City", "."],
    ["Mary", "Jones", "moved", "from", "Paris", "to", "New", "York", "."],
    ["In", "Paris", ",", "Peter", "Brown", "met", "Mary", "Smith", "."],
    ["Nobody", "likes", "rain", "."],
]
ENTITIES = [
    [(0, 2, "PER"), (4, 7, "LOC")],
    [(0, 2, "PER"), (4, 5, "LOC"), (6, 8, "LOC")],
    [(1, 2, "LOC"), (3, 5, "PER"), (6, 8, "PER")],
    [],
]
