"""The passive-aggressive learner, on the best answer or the k best."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.parameters import check_max_margin


@dataclass(frozen=True)
class PassiveAggressive:
    """Passive-aggressive updates on the k best answers (Crammer et al. 2006; paper 004, section 4.4).

    For each of the k answers with the largest score + loss, in turn, the new weights solve (22, 23)

        min  1/2 |w - w_before|^2 + C xi    s.t.  w . (F(gold) - F(answer)) >= loss - xi,  xi >= 0

    in closed form (24, 25): the smallest change after which the right answer wins by the loss of the other, but no
    step longer than C. Right answers among the k best are passed over.

    When to use it: after the perceptron, when some more time is at hand for a little more accuracy. Costly mistakes
    are kept further away than cheap ones, and each step is as long as it must be. An epoch costs one search for the k
    best per example; what the steps do to each other is known without a new search.

    Label costs make the loss: an answer costs the sum of the costs of its mistakes. The weight of an example multiplies
    C. The `loss` of the history is the hinge loss of the first answer, summed over the examples.
    """

    C: float = field(default=1.0, metadata={"help": "the longest step; smaller: calmer, for noisy data"})
    k: int = field(default=1, metadata={"help": "answers to learn from for each example"})
    epochs: int = field(default=10, metadata={"help": "passes over the training data"})
    average: bool = field(default=True, metadata={"help": "use the average of the weights over all steps"})
    shuffle: bool = field(default=True, metadata={"help": "new order of the examples in each epoch"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after so many epochs without gain on the development data"}
    )

    def __post_init__(self) -> None:
        check_max_margin(self)

    def rule(self) -> _core.Rule:
        return _core.PassiveAggressiveRule(float(self.C), int(self.k), False)
