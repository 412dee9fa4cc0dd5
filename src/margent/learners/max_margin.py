"""What the max-margin learners from the k best answers have in common: C and k."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.learners.epoch_learner import EpochLearner
from margent.parameters import check_number, check_whole


@dataclass(frozen=True)
class MaxMargin(EpochLearner):
    """The parameters of every k-best max-margin learner."""

    C: float = field(default=1.0, metadata={"help": "how far an example may pull; smaller: calmer, for noisy data"})
    k: int = field(default=1, metadata={"help": "answers to learn from for each example"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "C", minimum=0, above=True)
        check_whole(self, "k", minimum=1)
