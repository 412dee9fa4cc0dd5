"""Stochastic gradient descent on a likelihood: the first step, and passes that can be interrupted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.likelihood import Likelihood
from margent.learners.slices import timed_slices

_SAMPLE = 1000
_FIRST, _SMALLEST, _LARGEST = 0.1, 1e-7, 100.0


def calibrated_step(likelihood: Likelihood, decay: float, random: np.random.Generator) -> float:
    """The first step eta that lowers the objective of a sample most in one pass over it (after Bottou's crfsgd).

    Tries 0.1, then twice as much and half as much again and again, each way until two in a row are no better than the
    best so far. A step after which the objective is not below that of the start says nothing of smaller ones, so going
    down does not end there but at 1e-7: the larger the features, the smaller the step must be. The weights stay as they
    were. Costs up to 30 passes over a sample of 1,000 examples; some eight as a rule.
    """
    sample = random.permutation(len(likelihood))[:_SAMPLE]
    start = likelihood.parameters()

    def objective() -> float:
        w = likelihood.parameters()
        value = likelihood.value(sample) + len(sample) * decay / 2 * _core.dot(w, w)
        return value if np.isfinite(value) else np.inf

    def after(eta: float) -> float:
        likelihood.set_parameters(start)
        likelihood.descend(sample, eta, decay, 0.0)
        return objective()

    try:
        before = objective()
        best, lowest = _FIRST, after(_FIRST)
        for factor in (2.0, 0.5):
            eta, vain = _FIRST * factor, 0
            while _SMALLEST <= eta <= _LARGEST and vain < 2:
                value = after(eta)
                if value < lowest:
                    best, lowest, vain = eta, value, 0
                elif factor > 1 or value < before:
                    vain += 1
                eta *= factor
    finally:
        likelihood.set_parameters(start)
    return best


def descend_pass(
    likelihood: Likelihood,
    examples: NDArray[np.int64],
    eta: float,
    decay: float,
    first: int,
    advance: Callable[[int], None],
) -> None:
    """One pass over the examples in the given order, `first` being how many came before.

    `advance` is called with how many are done.
    """
    done = 0
    for part in timed_slices(examples):
        likelihood.descend(part, eta, decay, float(first + done))
        done += len(part)
        advance(done)
