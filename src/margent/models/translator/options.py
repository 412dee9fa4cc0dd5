"""How translations are searched, and what is learned from wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import as_float, check_choice, check_number, check_whole

UPDATES = ("max-violation", "local", "skip", "standard")
"""What is learned where the best translation that is found is wrong; see `CubePruning`."""
REFERENCES = ("derivation", "part")
"""What is right of a span: what the best right derivation has there, or the best of what any has."""
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
    reference: str = field(
        default="derivation",
        metadata={
            "help": "what max-violation compares: parts of the best right derivation, or at each span the best of any",
            "choices": REFERENCES,
        },
    )
    k_best: int = field(default=100, metadata={"help": "translations that the local update chooses from"})
    batch: int = field(default=16, metadata={"help": "sentences that are translated before the weights move"})

    def __post_init__(self) -> None:
        check_whole(self, "pop_limit", minimum=0, maximum=10**9)
        check_whole(self, "span_limit", minimum=1, maximum=1000)
        check_whole(self, "most_options", minimum=0, maximum=10**9)
        check_choice(self, "update", UPDATES)
        check_choice(self, "reference", REFERENCES)
        check_whole(self, "k_best", minimum=2, maximum=10**6)
        check_whole(self, "batch", minimum=1, maximum=10**6)


@storable
@dataclass(frozen=True)
class DenseStart:
    """The weights of dense features that training begins with, and how much it moves them.

    There are few of them, and no weights of so few make all right translations win; each mistake that cannot be avoided
    moves them. The many sparse features can tell the mistakes apart. So the weights of dense features are given, and
    stay, unless `step` says otherwise.

    weights : by name, see `margent.models.translator.weights.INITIAL`, which is taken for those that are not given
    """

    scale: float = field(
        default=1000.0, metadata={"help": "factor of these weights: the larger, the less sparse features add to them"}
    )
    step: float = field(default=0.0, metadata={"help": "part of a step that they make with the others; 0: they stay"})
    weights: Mapping[str, float] | None = field(
        default=None, metadata={"help": "weights of dense features by name; others: the usual ones"}
    )

    def __post_init__(self) -> None:
        check_number(self, "scale", minimum=0, maximum=1e6)
        check_number(self, "step", minimum=0, maximum=1e3)
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise ValueError(f"weights of DenseStart should be a dict from name to weight, got {self.weights!r}")
        for name, weight in (self.weights or {}).items():
            if not abs(as_float(weight)) < 1e6:
                raise ValueError(f"weights of DenseStart: {name!r} should have a finite weight, got {weight!r}")
