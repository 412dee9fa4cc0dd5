"""The passive-aggressive learner, on the best answer or the k best."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent import _core
from margent.learners.max_margin import MaxMargin


@dataclass(frozen=True)
class PassiveAggressive(MaxMargin):
    """Passive-aggressive updates on the k best answers (Crammer et al. 2006; paper 004, section 4.4).

    For each of the k answers with the largest score + loss, in turn, the new weights solve (22, 23)

        min  1/2 |w - w_before|^2 + C xi    s.t.  w . (F(gold) - F(answer)) >= loss - xi,  xi >= 0

    in closed form (24, 25): the smallest change after which the right answer wins by the loss of the other, but no
    step longer than C. Right answers among the k best are passed over.

    When to use it: always, to begin with; it is what `Tagger()` uses. Over the public tagging sets it was the best for
    its cost (docs/choosing.md). Costly mistakes are kept further away than cheap ones, and each step is as long as it
    must be. An epoch costs one search for the best answer per example, and for the k best where that is wrong; what the
    steps do to each other is known without a new search.

    Label costs make the loss: an answer costs the sum of the costs of its mistakes. The weight of an example multiplies
    C. The `loss` of the history is the hinge loss of the first answer, summed over the examples.
    """

    k: int = field(default=5, metadata={"help": "answers to learn from for each example"})

    def rule(self) -> _core.Rule:
        return _core.PassiveAggressiveRule(float(self.C), int(self.k), False)
