"""Adaptive regularisation: a variance for each weight."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.base import RuleLearner
from margent.parameters import check_number


@dataclass(frozen=True, kw_only=True)
class AROW(RuleLearner):
    """Adaptive regularisation of weight vectors (Crammer, Kulesza and Dredze 2009; Mejer and Crammer 2010).

    Each weight has a variance. For each example, the best wrong answer (by score + loss) moves the weights to the
    solution of

        min  1/2 sum_i (w_i - w_before_i)^2 / variance_i + 1/(2 r) max(0, loss - w . (F(gold) - F(answer)))^2

    with variances that begin with 1, and the variances of the features in which the two answers differ shrink:
    1/variance_i += (difference_i)^2 / r. Weights of features that were seen often move little after that; those of rare
    ones still learn.

    When to use it: many rare features, few passes, labels with mistakes, as no single example can move the weights far.
    An epoch costs one search per example, and memory for a variance for each weight that ever moved.

    Label costs make the loss. An example of weight c has r / c instead of r. The `loss` of the history is the hinge
    loss of the best wrong answer, summed over the examples.
    """

    r: float = field(default=100.0, metadata={"help": "regularisation r: larger trusts a single example less"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "r", minimum=0, above=True)

    def rule(self) -> _core.Rule:
        return _core.ArowRule(float(self.r))
