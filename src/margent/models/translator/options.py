"""How translations are searched, and what is learned from wrong ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_choice, check_whole

UPDATES = ("max-violation", "local", "skip", "standard")
"""What is learned where the best translation that is found is wrong; see `CubePruning`."""
LONGEST = 200
"""A sentence has at most so many words."""


@storable
@dataclass(frozen=True)
class CubePruning:
    """The search of a `Translator`: how much of the forest of translations is made, in training and in prediction.

    update : where the best translation is wrong, the best right derivation is compared with the best wrong one,
        "max-violation": at the span where the wrong one is furthest ahead (paper 003, Section 5.2.2: MaxForce);
        "standard": of the whole sentence; "skip": of the whole sentence, but only where the wrong one is ahead;
        "local": no right one is needed, the best of the `k_best` translations by sentence BLEU is taken for it
    """

    pop_limit: int = field(default=100, metadata={"help": "translations made for each span, the best; 0: all"})
    span_limit: int = field(default=10, metadata={"help": "words that a rule spans at most"})
    most_options: int = field(default=30, metadata={"help": "translations of a source side tried at a span; 0: all"})
    update: str = field(
        default="max-violation",
        metadata={"help": "what to learn from where the search goes wrong", "choices": UPDATES},
    )
    k_best: int = field(default=100, metadata={"help": "translations that the local update chooses from"})
    batch: int = field(default=16, metadata={"help": "sentences that are translated before the weights move"})

    def __post_init__(self) -> None:
        check_whole(self, "pop_limit", minimum=0, maximum=10**9)
        check_whole(self, "span_limit", minimum=1, maximum=1000)
        check_whole(self, "most_options", minimum=0, maximum=10**9)
        check_choice(self, "update", UPDATES)
        check_whole(self, "k_best", minimum=2, maximum=10**6)
        check_whole(self, "batch", minimum=1, maximum=10**6)
