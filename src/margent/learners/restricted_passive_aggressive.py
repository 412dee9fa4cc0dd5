"""The passive-aggressive learner that looks again after each step."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.parameters import check_max_margin


@dataclass(frozen=True)
class RestrictedPassiveAggressive:
    """Restricted passive-aggressive updates on the k best answers (paper 004, section 4.4, algorithm 4).

    Solves the problems of `PassiveAggressive`, (22, 23), but leaves out an answer whose margin is violated less than
    that of the answer the weights would give by then (26 to 28). So the losses of the answers given while learning
    keep to the bound of theorem 1, as with k = 1; with k = 1 it is the same as `PassiveAggressive`.

    When to use it: where that bound matters, or to see what the restriction does. An epoch costs one search for the k
    best per example and, for k > 1, one more after each step: in practice `PassiveAggressive` is as good and quicker.

    Label costs make the loss; the weight of an example multiplies C.
    """

    C: float = field(default=1.0, metadata={"help": "the longest step; smaller: calmer, for noisy data"})
    k: int = field(default=5, metadata={"help": "answers to learn from for each example"})
    epochs: int = field(default=10, metadata={"help": "passes over the training data"})
    average: bool = field(default=True, metadata={"help": "use the average of the weights over all steps"})
    shuffle: bool = field(default=True, metadata={"help": "new order of the examples in each epoch"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after so many epochs without gain on the development data"}
    )

    def __post_init__(self) -> None:
        check_max_margin(self)

    def rule(self) -> _core.Rule:
        return _core.PassiveAggressiveRule(float(self.C), int(self.k), True)
