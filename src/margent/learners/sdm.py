"""The sequential dual method for the structural SVM."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.max_margin import MaxMargin
from margent.parameters import check_number, check_whole


@dataclass(frozen=True)
class SDM(MaxMargin):
    """The k-best sequential dual method (Balamurugan et al. 2011; paper 004, section 4.2, algorithm 2).

    Solves the structural SVM (1 to 5)

        min  1/2 |w|^2 + C sum_n xi_n    s.t.  w . (F(gold_n) - F(y)) >= loss(y) - xi_n  for all n and y,  xi_n >= 0

    by its dual, one example at a time: the k answers with the largest score + loss join those kept from earlier epochs,
    and the dual variables of this example are optimised until the KKT conditions hold within `tol` (17 to 20), ties
    taken as by `MIRA`. The first epoch is that of `MIRA` for the same `tol`; later ones take back what earlier steps
    did too much.

    When to use it: when the optimum of the SVM itself is wanted, with C as the one thing that matters, and epochs may
    cost more. An epoch costs one search for the k best per example and the square of the working set in inner products.

    Memory: the feature differences of the answers with a dual variable above zero; the others are dropped at once. More
    than `working_set` for one example are merged, the two of least weight into one, which changes neither the weights
    nor the dual objective. The history has the dual objective after each epoch as `objective`; it never falls. With
    partial labels an answer is kept with the completion of gold that it was found with.

    With `gap`, each epoch is followed by a search for each example, which gives the primal objective and the relative
    duality gap, (primal - dual) / primal, as `primal` and `gap` in the history; training ends when the gap is as small
    as that; gap=0 reports and never ends it. Both are of the last weights, to which the dual variables belong, not of
    their average: to have the weights that the gap is about, give `average=False`. With partial labels the problem is
    not convex: the dual is that of the completions found so far, no bound, and the gap may be below zero.

    Label costs make the loss; the weight of an example multiplies its C. Training that continues from given weights
    (`partial_fit`) starts with new dual variables and measures |w| from those weights.
    """

    tol: float = field(default=0.001, metadata={"help": "tolerance for solving the problem of one example"})
    working_set: int = field(default=50, metadata={"help": "wrong answers kept for each example"})
    gap: float | None = field(default=None, metadata={"help": "stop at this relative duality gap"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "tol", minimum=0)
        check_whole(self, "working_set", minimum=1)
        check_number(self, "gap", minimum=0, optional=True)

    def rule(self) -> _core.Rule:
        return _core.DualRule(float(self.C), int(self.k), float(self.tol), int(self.working_set), 0, 0.0, 0)
