"""The passive-aggressive learner that looks again after each step."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.max_margin import MaxMargin


@dataclass(frozen=True)
class RestrictedPassiveAggressive(MaxMargin):
    """Restricted passive-aggressive updates on the k best answers (paper 004, section 4.4, algorithm 4).

    Solves the problems of `PassiveAggressive`, (22, 23), but leaves out an answer whose margin is violated less than
    that of the answer the weights would give by then (26 to 28). So the losses of the answers given while learning
    keep to the bound of theorem 1, as with k = 1; with k = 1 it is the same as `PassiveAggressive`.

    When to use it: where that bound matters, or to see what the restriction does. An epoch costs one search for the k
    best per example and, for k > 1, one more after each step: in practice `PassiveAggressive` is as good and faster.

    Label costs make the loss; the weight of an example multiplies C.
    """

    k: int = field(default=5, metadata={"help": "answers to learn from for each example"})

    def rule(self) -> _core.Rule:
        return _core.PassiveAggressiveRule(float(self.C), int(self.k), True)
