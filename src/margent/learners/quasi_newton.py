"""Limited-memory quasi-Newton minimisation: L-BFGS, and OWL-QN where the size of parameters has a price."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]
"""From a point (n,) to the value there and the gradient (n,)."""

# Sums in single precision are right to about this share of their value: smaller changes say nothing.
_NOISE = 1e-8
_SUFFICIENT, _CURVATURE = 1e-4, 0.9  # the conditions of Wolfe
_MOST_TRIALS = 30


class Point(NamedTuple):
    """An accepted point: where, the value with the L1 penalty, the gradient without it, evaluations so far."""

    parameters: Vector
    value: float
    gradient: Vector
    evaluations: int


def minimise(
    function: Function,
    start: Vector,
    *,
    l1: float = 0.0,
    memory: int = 8,
    threads: int = 1,
    changed: Callable[[Vector], bool] | None = None,
) -> Iterator[Point]:
    """Yields points of ever lower function(w) + l1 * |w|_1, the first being `start`; ends where it cannot go lower.

    Without L1 this is L-BFGS (Nocedal 1980; Nocedal and Wright, algorithms 7.4 and 7.5) with a line search for the
    conditions of Wolfe. With L1 it is OWL-QN (Andrew and Gao 2007): the steepest direction takes the penalty into
    account, the step stays within the orthant in which it begins, and a parameter that would change its sign becomes
    exactly zero. A step costs one evaluation as a rule, and 4 * memory passes over a vector of n numbers. Memory:
    2 * memory * n numbers in single precision. The same to the bit for any number of threads.

    `changed` is asked at each point after it was yielded, and says whether the function is another from now on: then it
    goes on with what it knows of the curvature, and later values may be higher.
    """
    value, gradient = function(start)
    point = Point(start, value + _penalty(start, l1), gradient, 1)
    inverse = _core.InverseHessian(len(start), memory, threads)
    while True:
        yield point
        if changed is not None and changed(point.parameters):
            value, gradient = function(point.parameters)
            point = Point(point.parameters, value + _penalty(point.parameters, l1), gradient, point.evaluations + 1)
        steepest = _steepest(point, l1)
        if not np.any(steepest):
            return
        direction = inverse.times(steepest)
        if l1:
            direction[direction * steepest <= 0] = 0.0
        found = _search(function, point, direction, steepest, 1.0, l1) if len(inverse) else None
        if found is None:  # nothing known yet, or rounding has the last word: straight down
            inverse.clear()
            found = _search(function, point, steepest, steepest, _dot(steepest, steepest) ** -0.5, l1)
        if found is None:
            return
        inverse.add(point.parameters, found.parameters, point.gradient, found.gradient)
        point = found


_dot = _core.dot  # unlike that of numpy, it does not depend on the threads of a library


def _penalty(w: Vector, l1: float) -> float:
    return l1 * float(np.abs(w).sum()) if l1 else 0.0


def _steepest(point: Point, l1: float) -> Vector:
    """The direction of steepest descent: minus the gradient; with L1, the shortest vector in minus the subgradient."""
    w, down = point.parameters, -point.gradient
    if not l1:
        return down
    shrunk: Vector = np.sign(down) * np.maximum(np.abs(down) - l1, 0.0)
    return np.where(w != 0, down - l1 * np.sign(w), shrunk)


def _search(
    function: Function, start: Point, direction: Vector, steepest: Vector, step: float, l1: float
) -> Point | None:
    """A point along the direction that is low enough and, without L1, past the steepest part; None: there is none.

    Where all trials are spent without one, the lowest of those that were low enough.
    """
    w, evaluations = start.parameters, start.evaluations
    orthant = np.where(w != 0, np.sign(w), np.sign(steepest)) if l1 else None
    low, high = 0.0, np.inf
    slope = -_dot(direction, steepest)
    if not slope < 0:
        return None
    slack = _NOISE * abs(start.value)
    lowest_found: Point | None = None
    for _ in range(_MOST_TRIALS):
        trial = step * direction
        trial += w  # in place, as all memory that is asked for anew costs as much as the sum
        if orthant is not None:
            trial[trial * orthant < 0] = 0.0
        value, gradient = function(trial)
        evaluations += 1
        value += _penalty(trial, l1)
        expected = step * slope if orthant is None else -_dot(steepest, trial - w)
        found = Point(trial, value, gradient, evaluations)
        if not value <= start.value + _SUFFICIENT * expected + slack:
            high = step
            # The lowest point of the parabola through what is known, kept away from both ends.
            rise = value - start.value - step * slope
            lowest = -slope * step * step / (2 * rise) if np.isfinite(rise) and rise > 0 else 0.0
            step = low + min(max(lowest - low, 0.1 * (high - low)), 0.5 * (high - low))
        elif orthant is None and _dot(gradient, direction) < _CURVATURE * slope - slack:
            if value < (start if lowest_found is None else lowest_found).value:
                lowest_found = found
            low = step
            step = 2 * step if high == np.inf else (low + high) / 2
        else:
            return found if value < start.value else None
    return None if lowest_found is None else lowest_found._replace(evaluations=evaluations)
