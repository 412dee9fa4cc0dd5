"""What the max-margin learners from the k best answers have in common: C and k."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.learners.base import RuleLearner
from margent.parameters import check_number, check_whole


@dataclass(frozen=True)
class MaxMargin(RuleLearner):
    """The parameters of every k-best max-margin learner."""

    C: float = field(default=1.0, metadata={"help": "aggressiveness C: the largest step for one example"})
    k: int = field(default=1, metadata={"help": "answers to learn from for each example"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "C", minimum=0, above=True)
        check_whole(self, "k", minimum=1)
