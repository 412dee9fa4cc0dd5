"""The temperature that makes confidences true: one number, fitted on data that were held out.

Probabilities are exp(score / T) over the sum of all answers. T is where the confidences c(T) of what was found have the
smallest log loss:

    minimise over T   - sum over right finds of log c(T) - sum over wrong finds of log(1 - c(T)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

SMALLEST, LARGEST = 1e-30, 1e30  # temperatures beyond these are for no scores that training makes
SURE = 1 - 1e-12  # closer to 1 a confidence is rounding


def fitted_temperature(
    log_confidences: Callable[[float], NDArray[np.float64]],
    right: NDArray[np.bool_],
    sample_weight: NDArray[np.float64],
    margins: NDArray[np.float64],
) -> float:
    """The temperature of confidences; 1 if no other is better.

    `log_confidences(1 / T)`: (n,) of each find; `right`: (n,) whether it is right; `sample_weight`: (n,) above 0;
    `margins`: by how much the best answers score more than the next, the size of differences that matter.

    So that a few finds that are all right do not make T zero and every confidence 1, two more are added, one right and
    one wrong, both with the mean of all log-probabilities (much as Platt 1999 does for classifiers). Scores c times as
    large have a T c times as large. Costs about ten evaluations.
    """
    n, share = len(right), sample_weight / sample_weight.sum()
    hits, misses = share * (n * right + 1), share * (n * ~right + 1)

    @cache
    def loss(log_temperature: float) -> float:
        log_c = log_confidences(2.0**-log_temperature)
        return -float(hits @ log_c + misses @ np.log1p(-np.minimum(np.exp(log_c), SURE)))

    margins = margins[margins > 0]
    typical = float(np.clip(np.median(margins), SMALLEST, LARGEST)) if len(margins) else 1.0
    best = lowest_point(loss, math.log2(typical))
    return min(max(2.0**best, SMALLEST), LARGEST) if loss(best) < loss(0.0) else 1.0


def lowest_point(function: Callable[[float], float], start: float, steps: int = 60) -> float:
    """Where a smooth function with one valley is lowest: steps of 1 downhill, then parabolas through three points.

    Within about 0.002, in about ten evaluations.
    """
    step = 1.0 if function(start + 1) < function(start) else -1.0
    while steps and function(start + step) < function(start):
        start, steps = start + step, steps - 1
    for width in (1.0, 0.25, 0.0625):
        left, middle, right = function(start - width), function(start), function(start + width)
        bend = left - 2 * middle + right
        vertex = start + float(np.clip(width * (left - right) / (2 * bend), -width, width)) if bend > 0 else start
        start = min((vertex, start, start - width, start + width), key=function)
    return start
