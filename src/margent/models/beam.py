"""Inexact search with a beam, as a parameter of models."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_choice, check_whole
from margent.structures.beam_oracle import UPDATES

DECODINGS: tuple[str, ...] = ("viterbi", "sum", "posterior")
"""What the best labelling is: see `margent.models.tagger.decoding`."""
REFERENCES: tuple[str, ...] = ("derivation", "prefix")
"""What is right at a step where many derivations are: a prefix of the best of them, or the best of their prefixes."""


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
    reference: str = field(
        default="derivation",
        metadata={
            "help": "what a SemanticParser learns as right: the best right derivation, or at each step the best prefix "
            "of any",
            "choices": REFERENCES,
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "width", minimum=1)
        check_choice(self, "update", UPDATES)
        check_choice(self, "decode", DECODINGS)
        check_choice(self, "reference", REFERENCES)

    def check_reference(self, owner: str) -> None:
        """ValueError for a choice between right derivations, where an answer has one."""
        if self.reference != REFERENCES[0]:
            raise ValueError(
                f"search of {owner} should be a Beam with reference={REFERENCES[0]!r}, as an answer has one "
                f"derivation; got {self!r}"
            )
