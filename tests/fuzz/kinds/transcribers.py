"""Small transcribers with and without a learner on top, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import AlignmentBeam, Perceptron, Transcriber
from margent.datasets import make_pronunciations

WORDS, SPOKEN = make_pronunciations(40, seed=0, noise=0)
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[Transcriber, Any, Any]] = {
    "joint": (Transcriber(order=2), WORDS, SPOKEN),
    "reranker": (Transcriber(order=1, learner=ONE), WORDS, SPOKEN),
    "direct": (
        Transcriber(order=1, learner=ONE, decoder="direct", search=AlignmentBeam(width=4)),
        WORDS,
        SPOKEN,
    ),
}

LARGE = ("reranker", "direct")
"""Those with 4 MB of weights, which only compact files leave out."""
