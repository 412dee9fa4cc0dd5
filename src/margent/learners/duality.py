"""How far a learner is from the optimum of its problem: the primal objective, and the duality gap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from margent import _core

if TYPE_CHECKING:
    from margent.learners.training import Epoch

# Examples in one native call: short enough for Ctrl-C. Always as many, so that the sum is the same to the bit.
_SLICE = 1000


class WithGap(Protocol):
    """A learner of min 1/2 |w|^2 + C sum_n xi_n that can be told at which relative gap to stop."""

    @property
    def C(self) -> float: ...
    @property
    def gap(self) -> float | None: ...


def with_gap(epoch: Epoch, learner: WithGap, rule: _core.Rule, oracle: Any) -> Epoch:
    """The epoch with its primal objective and its gap, (primal - dual) / primal, for the weights as they are.

    Costs a search for each example, and one pass over what the rule keeps.
    """
    penalty = rule.penalty(oracle)
    if penalty is None:
        raise ValueError(f"{type(learner).__name__} has no dual objective, so it cannot be run to a gap")
    every = np.arange(len(oracle))
    slices = (every[start : start + _SLICE] for start in range(0, len(every), _SLICE))
    primal = penalty + learner.C * sum(rule.losses(oracle, part) for part in slices)
    dual = epoch.objective or 0.0  # None: there are no examples
    return replace(epoch, primal=primal, gap=(primal - dual) / primal if primal > 0 else 0.0)
