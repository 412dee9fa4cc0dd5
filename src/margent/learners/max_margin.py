"""What the learners from the k best answers have in common: C, k, and how the loop over the examples runs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from margent.learners.parameters import check_epochs, check_number, check_whole


@dataclass(frozen=True)
class MaxMargin:
    """The parameters of every k-best max-margin learner; those of the loop are given by name."""

    C: float = field(default=1.0, metadata={"help": "how far an example may pull; smaller: calmer, for noisy data"})
    k: int = field(default=1, metadata={"help": "answers to learn from for each example"})
    _: KW_ONLY
    epochs: int = field(default=10, metadata={"help": "passes over the training data"})
    average: bool = field(default=True, metadata={"help": "use the average of the weights over all steps"})
    shuffle: bool = field(default=True, metadata={"help": "new order of the examples in each epoch"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after so many epochs without gain on the development data"}
    )

    def __post_init__(self) -> None:
        check_number(self, "C", minimum=0, above=True)
        check_whole(self, "k", minimum=1)
        check_epochs(self)
