"""The hidden Markov support vector machine, and the perceptron in its dual form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from margent import _core
from margent.capability import Capabilities, Capability
from margent.learners.base import RuleLearner
from margent.parameters import check_choice, check_number, check_whole

_SLACKS = {None: 0, "l1": 1, "l2": 2}
_NEEDS = frozenset({Capability.RIVALS, Capability.WHOLE_ANSWERS})


@dataclass(frozen=True)
class HiddenMarkovSVM(RuleLearner):
    """The hidden Markov SVM (Altun, Tsochantaridis and Hofmann 2003: paper 001, sections 5 to 7). Made for `Kernel`.

    Among all weights under which the right labels of each sentence beat every wrong sequence y by a margin, the
    shortest ones, where each sentence may miss its margin by a slack xi_n that costs:

        slack="l1"    min  1/2 |w|^2 + C sum_n xi_n          (22 to 25)
        slack="l2"    min  1/2 |w|^2 + C/2 sum_n xi_n^2      (18 to 21)
        slack=None    min  1/2 |w|^2, without slack          (13, 14): for data that can be separated

        s.t.  F(gold_n) - F(y) >= margin(y) - xi_n  for all n and y,  xi_n >= 0

    The margin is 1 for every wrong sequence (loss="sequence", as in the paper) or its number of wrong labels
    (loss="hamming": the problem of `StructuredSVM` and `SDM`). Label costs count in both: with "sequence" the margin is
    the mean cost of the wrong labels, which the search does not see: it finds the wrong sequence of the largest score,
    which need not be the one that violates its margin most. Differs: the paper's (18) and (22) ask for 1 on both sides
    of a threshold, which is a margin of 2; ours is 1, as its (14).

    Algorithm 2, an example at a time: a search for the two best finds the wrong sequence that violates its margin most;
    it joins the working set of the example, whose dual variables are optimised by SMO, until no other violates its
    margin by more than `tol`, or `rounds` times. Sequences whose variable is zero leave. Each step raises the dual
    objective, `objective` in the history. Training ends when a pass over all examples changes nothing (unless
    development data are watched), or after `epochs`; with `gap`, when the duality gap is as small, as `SDM` does.
    Without slack, a sentence with a wrong sequence that has the features of the right one is an error.

    When to use it: with a `Kernel`, for small and awkward data: a few hundred sentences, or dense vectors that no line
    separates. On much text with many features a linear learner is as good and much faster.

    Costs: a search for the two best per example and pass, and a kernel row for each token where a support sequence
    differs from gold. Memory: the support sequences, and the kernel's cache. `Tagger.support_sequences` shows them.

    The weights are those of the optimum, not averaged, unless `average` is set. The weight of an example multiplies its
    C. Training that continues from given weights (`partial_fit`) starts with new dual variables and measures |w| from
    those weights.
    """

    keeps_support: ClassVar[bool] = True
    C: float = field(default=1.0, metadata={"help": "cost of violating the margin; smaller for noisy data"})
    slack: Literal["l1", "l2"] | None = field(
        default="l1",
        metadata={"help": "violations of the margin count as they are (l1), squared (l2), or are forbidden (none)"},
    )
    loss: Literal["sequence", "hamming"] = field(
        default="sequence",
        metadata={"help": "margin of a wrong sequence: 1 (sequence) or its number of wrong labels (hamming)"},
    )
    tol: float = field(default=0.001, metadata={"help": "how much a margin may be violated"})
    rounds: int = field(default=10, metadata={"help": "wrong sequences to search for per example and epoch"})
    gap: float | None = field(default=None, metadata={"help": "stop at this relative duality gap"})
    epochs: int = field(default=30, metadata={"help": "maximum number of passes over the training data"}, kw_only=True)
    average: bool = field(
        default=False, metadata={"help": "use the average of the weights over all steps"}, kw_only=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "C", minimum=0, above=True)
        if self.slack not in _SLACKS:
            raise ValueError(f"slack of HiddenMarkovSVM should be l1, l2 or None, got {self.slack!r}")
        check_choice(self, "loss", ("sequence", "hamming"))
        check_number(self, "tol", minimum=0, above=True)
        check_whole(self, "rounds", minimum=1)
        check_number(self, "gap", minimum=0, optional=True)
        if self.gap is not None and self.slack is None:
            raise ValueError(
                "gap of HiddenMarkovSVM needs slack: without it the primal has no value until all margins hold"
            )

    @property
    def needs(self) -> Capabilities:
        return _NEEDS

    def rule(self) -> _core.Rule:
        hamming = self.loss == "hamming"
        return _core.HiddenMarkovRule(float(self.C), _SLACKS[self.slack], hamming, float(self.tol), int(self.rounds))


@dataclass(frozen=True, kw_only=True)
class DualPerceptron(RuleLearner):
    """The perceptron in its dual form (paper 001, section 4, algorithm 1). Made for `Kernel`.

    Where the best answer is wrong, the dual variable of the right labels rises by one and that of the wrong ones falls
    by one. Scores need only delta (label pairs) and beta (observations and labels) of equations (9) to (11), so no
    sequences are enumerated. Training ends when a pass makes no error, or after `epochs`.

    When to use it: as a fast first try with a `Kernel`; `HiddenMarkovSVM` is better and needs more passes. Without a
    kernel it is `Perceptron(average=False)`. With `average`, which helps on noisy data, the dual variables that
    `Tagger.support_sequences` shows are still those of the last weights.

    Sample weights and label costs multiply the step, as for `Perceptron`.
    """

    keeps_support: ClassVar[bool] = True
    average: bool = field(default=False, metadata={"help": "use the average of the weights over all steps"})

    @property
    def needs(self) -> Capabilities:
        return _NEEDS

    def rule(self) -> _core.Rule:
        return _core.DualPerceptronRule()
