"""Stochastic gradient descent on a likelihood: the first step, and passes that can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.likelihood import Likelihood

# How long one native call may run: long enough to cost nothing, short enough for Ctrl-C and a live progress bar.
_SLICE_SECONDS = 0.2
_SAMPLE = 1000
_MOST_TRIALS = 20


def calibrated_step(likelihood: Likelihood, decay: float, random: np.random.Generator) -> float:
    """The first step eta that lowers the objective of a sample most in one pass over it (Bottou's crfsgd).

    Tries 0.1, then twice as much again and again as long as that is better, or half as much. The weights stay as they
    were. Costs up to 20 passes over a sample of 1,000 examples; a handful as a rule.
    """
    sample = random.permutation(len(likelihood))[:_SAMPLE]
    start = likelihood.parameters()

    def after(eta: float) -> float:
        likelihood.set_parameters(start)
        likelihood.descend(sample, eta, decay, 0.0)
        w = likelihood.parameters()
        value = likelihood.value(sample) + len(sample) * decay / 2 * _core.dot(w, w)
        return value if np.isfinite(value) else np.inf

    try:
        best, lowest = 0.1, after(0.1)
        for factor in (2.0, 0.5):
            first = best
            for _ in range(_MOST_TRIALS // 2):
                value = after(best * factor)
                if not value < lowest:
                    break
                best, lowest = best * factor, value
            if best != first:
                break
    finally:
        likelihood.set_parameters(start)
    return best


def descend_pass(
    likelihood: Likelihood,
    order: NDArray[np.int64],
    eta: float,
    decay: float,
    first: int,
    advance: Callable[[int], None],
) -> None:
    """One pass in the given order, `first` being how many examples came before; `advance` hears how many are done."""
    done, size = 0, 64
    while done < len(order):
        before = time.perf_counter()
        likelihood.descend(order[done : done + size], eta, decay, float(first + done))
        done = min(done + size, len(order))
        advance(done)
        seconds = max(time.perf_counter() - before, 1e-9)
        size = max(1, min(4 * size, int(size * _SLICE_SECONDS / seconds)))
