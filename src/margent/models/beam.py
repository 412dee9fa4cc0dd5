"""Inexact search with a beam, as a parameter of models."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_choice, check_whole
from margent.structures.beam_oracle import UPDATES

DECODINGS: tuple[str, ...] = ("viterbi", "sum", "posterior")
"""What the best labelling is: see `margent.models.tagger.decoding`."""


@storable
@dataclass(frozen=True)
class Beam:
    """Inexact search that keeps only the best few states at each step, in training and in prediction.

    In a `Tagger` a state is the last `order` labels, and a beam pays where labels or orders are many. In a `Parser` it
    is what is built of a tree, and there are far too many to keep them all. See docs/beam-search.md.
    """

    width: int = field(default=8, metadata={"help": "states kept at each step; 1: greedy search"})
    update: str = field(
        default="max-violation",
        metadata={"help": "what to learn from when the search goes wrong", "choices": UPDATES},
    )
    decode: str = field(
        default="viterbi",
        metadata={"help": "how labels are predicted, as search= does without a beam", "choices": DECODINGS},
    )

    def __post_init__(self) -> None:
        check_whole(self, "width", minimum=1)
        check_choice(self, "update", UPDATES)
        check_choice(self, "decode", DECODINGS)
