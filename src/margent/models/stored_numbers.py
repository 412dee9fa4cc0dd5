"""Weights in a model file: in 32 bits or 16, and never so large that the score of a sequence is no finite number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.storage import ModelFile

# No training makes larger weights, and with these the score of a long sequence is still a finite number.
LARGEST = 1e25

_LEAST_COUNT = 1e-60  # far beyond products of weights of examples; of the largest, 1e60, still no share is 0


def stored_numbers(weights: NDArray[np.floating[Any]], half: bool) -> NDArray[Any]:
    """In 32 bits; `half`: rounded to 16, the largest weights cut off at what these can hold."""
    limit = np.finfo(np.float16).max
    return np.clip(weights, -limit, limit).astype(np.float16) if half else weights.astype(np.float32, copy=False)


def restored_numbers(file: ModelFile, name: str, half: bool, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """The array `name` of such weights, in 32 bits."""
    numbers = file.array(name, np.float16 if half else np.float32, shape, finite=True).astype(np.float32, copy=False)
    if numbers.size and max(numbers.max(), -numbers.min()) > LARGEST:
        raise file.error(f"array {name!r} should hold weights of at most {LARGEST:g}")
    return numbers


def restored_counts(file: ModelFile, name: str, n: int) -> NDArray[np.float64]:
    """Counts (n,), none of which is so small or large that its share of others, or a product of shares, is 0."""
    counts = file.array(name, np.float64, (n,), finite=True)
    if ((counts != 0) & ((counts < _LEAST_COUNT) | (counts > 1 / _LEAST_COUNT))).any():
        raise file.error(f"array {name!r} should hold counts of at least 0: each 0, or from {_LEAST_COUNT:g} on")
    return counts
