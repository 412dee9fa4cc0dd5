"""The structural SVM by subgradient steps or by block-coordinate Frank-Wolfe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from margent import _core
from margent.learners.base import RuleLearner
from margent.parameters import check_flag, check_number


@dataclass(frozen=True)
class StructuredSVM(RuleLearner):
    """The structural SVM with margin rescaling, the problem of `SDM` and `LaRank`,

        min  1/2 |w|^2 + C sum_n xi_n    s.t.  w . (F(gold_n) - F(y)) >= loss(y) - xi_n  for all n and y,  xi_n >= 0

    with one search for the best answer per example and no problem to solve after it.

    method="frank-wolfe": block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013, algorithm 4). The part w_n of the
    weights that is due to example n moves towards C (F(gold) - F(y)), y the answer with the largest score + loss, or
    towards 0 if that is gold, by the step that raises the dual most. No step size to choose, the dual objective never
    falls (`objective` in the history), and with `gap` each epoch is followed by a search for each example that gives
    `primal` and the relative duality `gap`; training ends when it is as small as that (never for gap=0). Both are of
    the last weights, not of their average. With partial labels the dual is that of the completions found so far, and
    the gap no bound. Memory: w_n of each example, 16 bytes for each weight that one of its wrong answers has ever
    touched.

    method="subgradient": Pegasos (Shalev-Shwartz et al. 2011). Step t is w <- (1 - 1/t) w + C n / t (F(gold) - F(y)), n
    the number of examples; `project` brings weights back into the ball that the optimum is in, for one search per
    example before the first step. Shrinking is a change of scale, so that a step costs what the example touches.
    Nothing is kept for the examples. Early steps are long: after few epochs both the last weights and their average are
    far from the optimum.

    The average is weighted: the weights after step t count t times.

    When to use it: "frank-wolfe" as a fast `SDM` with nothing to tune but C; "subgradient" when memory is short.

    Label costs make the loss; the weight of an example multiplies its C. Training that continues from given weights
    (`partial_fit`, or a generative start): Frank-Wolfe measures |w| from them; subgradient steps shrink them with all
    others, and begin as after `warm_start` epochs. For a good start take many epochs, and as many times the C: steps
    are as long at first, stay so for longer, and the start is forgotten more slowly.
    """

    C: float = field(default=1.0, metadata={"help": "aggressiveness C: the largest step for one example"})
    method: Literal["frank-wolfe", "subgradient"] = field(
        default="frank-wolfe", metadata={"help": "how the problem is solved: frank-wolfe or subgradient"}
    )
    project: bool = field(
        default=False, metadata={"help": "subgradient: keep the weights inside a ball that contains the optimum"}
    )
    warm_start: float = field(
        default=1.0, metadata={"help": "subgradient: how many epochs the weights of a warm start count for"}
    )
    gap: float | None = field(default=None, metadata={"help": "frank-wolfe: stop at this relative duality gap"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "C", minimum=0, above=True)
        if self.method not in ("frank-wolfe", "subgradient"):
            raise ValueError(f"method of StructuredSVM should be frank-wolfe or subgradient, got {self.method!r}")
        check_flag(self, "project")
        check_number(self, "warm_start", minimum=0)
        check_number(self, "gap", minimum=0, optional=True)
        if self.project and self.method != "subgradient":
            raise ValueError("project of StructuredSVM is for method='subgradient'; frank-wolfe does not use it")
        if self.warm_start != 1 and self.method != "subgradient":
            raise ValueError("warm_start of StructuredSVM is for method='subgradient'; frank-wolfe does not use it")
        if self.gap is not None and self.method != "frank-wolfe":
            raise ValueError("gap of StructuredSVM needs method='frank-wolfe'; subgradient steps have no dual")

    def rule(self) -> _core.Rule:
        if self.method == "subgradient":
            return _core.SubgradientRule(float(self.C), bool(self.project), float(self.warm_start))
        return _core.FrankWolfeRule(float(self.C))
