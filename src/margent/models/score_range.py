"""How large scores may be: sums of floats stay finite, and differences of scores are not lost in rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError

LARGEST_SCORE = 1e30
"""Of a part. Scores of whole sequences are then far from what a float can hold."""

LARGEST_SUM = 1e300
"""Of scores of frames up to a position, which are doubles."""

LARGEST_EXACT = 1e9
"""Of a token, where probabilities are wanted: a double of this size is right to 1e-7, and a probability, too."""

LARGEST_RUNNING_SUM = 1e11
"""Of the scores of frames up to a position, of which those of segments are differences: right to 1e-5."""


def for_probabilities(limit: float, scale: float) -> float:
    """The limit of scores that are then multiplied by `scale`: only what makes them smaller makes up for rounding."""
    return limit / min(scale, 1.0)


def out_of_range(beyond: NDArray[np.bool_], unit: str, limit: float, purpose: str = "added up") -> dict[int, Exception]:
    """By the number of a sequence whose scores go beyond the limit: that they do."""
    if not beyond.any():
        return {}
    return {
        i: CorpusError(
            f"{unit} {i}: its numbers are so large that scores go beyond {limit:g} and cannot be {purpose}; "
            "expected numbers of the size of those in training"
        )
        for i in np.flatnonzero(beyond).tolist()
    }
