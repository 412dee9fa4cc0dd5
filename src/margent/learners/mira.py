"""MIRA, the margin infused relaxed algorithm, on the k best answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.max_margin import MaxMargin
from margent.parameters import check_number


@dataclass(frozen=True)
class MIRA(MaxMargin):
    """k-best MIRA, the margin infused relaxed algorithm (Crammer et al. 2005; paper 004, section 4.1).

    For each example, the new weights solve (13, 14)

        min  1/2 |w - w_before|^2 + C xi    s.t.  w . (F(gold) - F(y)) >= loss(y) - xi  for y of the k best,  xi >= 0

    all k constraints at once, by sequential minimal optimisation of the dual (15 to 20) until no pair of answers
    violates the KKT conditions by more than `tol`. Hinge losses that differ by less than 1e-10 of the largest (at least
    1) count as equal, and below 1e-12 of it there is nothing to gain, also with tol = 0. The k best are those with the
    largest score + loss; right answers among them are passed over.

    When to use it: where `PassiveAggressive` with k > 1 is good. MIRA finds the one best compromise between the k
    answers, and its steps do not depend on their order. With k = 1 and tol = 0 both are the same. An epoch costs one
    search for the k best per example, k^2 inner products of short vectors, and some passes over k numbers.

    Label costs make the loss: an answer costs the sum of the costs of its mistakes. The weight of an example multiplies
    C. The `loss` of the history is the hinge loss of the first answer, summed over the examples.
    """

    k: int = field(default=5, metadata={"help": "answers to learn from for each example"})
    tol: float = field(default=0.001, metadata={"help": "tolerance for solving the problem of one example"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "tol", minimum=0)

    def rule(self) -> _core.Rule:
        return _core.MiraRule(float(self.C), int(self.k), float(self.tol))
