"""Small segmenters of frames and of tokens, for tests of their files."""

from __future__ import annotations

from typing import Any

import numpy as np

from margent import (
    CRF,
    Durations,
    FrameFeatures,
    MaximumLikelihood,
    Perceptron,
    SegmentConstraints,
    Segmenter,
    TokenFeatures,
)

RNG = np.random.default_rng(0)
FRAMES = [RNG.normal(size=(n, 2)) + np.repeat([[0, 0], [2, 1]], [n // 2, n - n // 2], axis=0) for n in (6, 8, 5, 7)]
SEGMENTS = [[(0, len(x) // 2, "a"), (len(x) // 2, len(x), "b")] for x in FRAMES]
WORDS = [["Ann", "Lee", "left", "Kyiv"], ["rain"], ["Bob", "saw", "New", "York"]]
SPANS = [[(0, 2, "PER"), (3, 4, "LOC")], [], [(0, 1, "PER"), (2, 4, "LOC")]]
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[Segmenter, Any, Any]] = {
    "frames": (Segmenter(FrameFeatures(bins=2), ONE), FRAMES, SEGMENTS),
    "bins by label": (
        Segmenter(
            FrameFeatures(bins={"a": 2}, covariance="diagonal"), CRF(epochs=1), durations=Durations(max={"a": 7})
        ),
        FRAMES,
        SEGMENTS,
    ),
    "components": (
        Segmenter(FrameFeatures(bins=1, components=2, content="mean"), ONE, repeat=False, start=MaximumLikelihood()),
        FRAMES,
        SEGMENTS,
    ),
    "likelihood": (Segmenter(FrameFeatures(durations=None), MaximumLikelihood(), transitions=False), FRAMES, SEGMENTS),
    "tokens": (Segmenter(TokenFeatures(string=False), ONE, outside="O"), WORDS, SPANS),
    "names": (
        Segmenter(
            TokenFeatures(names={"city": ["New York", "Kyiv"]}, similar=0.6),
            ONE,
            outside="O",
            durations=Durations(min=1),
        ),
        WORDS,
        SPANS,
    ),
}


def constraints(segmenter: Segmenter) -> list[Any]:
    """What the first sequence may be given to know."""
    return [SegmentConstraints(boundaries=[1])]
