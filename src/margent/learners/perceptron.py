"""The averaged structured perceptron, on the best answer or the k best."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.base import RuleLearner
from margent.parameters import check_number, check_whole


@dataclass(frozen=True, kw_only=True)
class Perceptron(RuleLearner):
    """The structured perceptron with averaged weights (Collins 2002; paper 003, section 3.1; paper 004, section 4.5).

    For each example, find the best answer under the current weights; if it is wrong, add the features of the right
    answer and subtract those of the wrong one. The weights used afterwards are the average over all steps.

    When to use it: to begin with. It is the fastest learner and has nothing to tune. An epoch costs one search per
    example, and an update touches only the tokens that are wrong.

    With k > 1 the k best answers take their turn: each that is wrong and does not lose to the right one by then moves
    the weights (equation 36). Right answers among the k best are passed over. On data that some weights of length 1
    separate with margin gamma there are at most (R / gamma)^2 such moves, R the longest of them (theorem 2).

    With example weights or label costs, the step on an example is its weight times the mean cost of its mistakes.
    """

    margin: float = field(
        default=0.0, metadata={"help": "in training, add this much to the score of an answer for each unit of its cost"}
    )
    k: int = field(default=1, metadata={"help": "answers to learn from for each example"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "margin", minimum=0)
        check_whole(self, "k", minimum=1)

    def rule(self) -> _core.Rule:
        return _core.PerceptronRule(float(self.margin), int(self.k))
