"""What all learners that go through the examples one by one have in common: how the loop runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from margent.parameters import check_flag, check_whole


class Declared:
    """What a learner says of itself unless it says otherwise: see `margent.learners.protocol.Learner`."""

    probabilistic: ClassVar[bool] = False
    keeps_support: ClassVar[bool] = False
    one_right_answer: ClassVar[bool] = False
    structure: ClassVar[str] = "chain"


@dataclass(frozen=True, kw_only=True)
class EpochLearner(Declared):
    """The parameters of the loop over the examples; they are given by name."""

    epochs: int = field(default=10, metadata={"help": "passes over the training data"})
    average: bool = field(default=True, metadata={"help": "use the average of the weights over all steps"})
    shuffle: bool = field(default=True, metadata={"help": "new order of the examples in each epoch"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after so many epochs without gain on the development data"}
    )

    def __post_init__(self) -> None:
        check_whole(self, "epochs", minimum=1)
        check_flag(self, "average")
        check_flag(self, "shuffle")
        check_whole(self, "patience", minimum=1, optional=True)
