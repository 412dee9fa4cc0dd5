"""Parameters of a transcriber that only make sense together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import as_float, check_choice, check_flag, check_whole
from margent.structures.beam_oracle import UPDATES


@storable
@dataclass(frozen=True)
class AlignmentBeam:
    """The search over alignments of a word, letter by letter.

    >>> AlignmentBeam(width=100)
    AlignmentBeam(width=100, threshold=10.0, sum_alignments=True, update='max-violation')
    """

    width: int | None = field(
        default=40,
        metadata={
            "help": "states kept at each letter; None: all, which finds the best exactly, but where alignments are "
            "summed, or with direct decoding, a state is a pronunciation so far, and there can be exponentially many"
        },
    )
    threshold: float = field(
        default=10.0,
        metadata={
            "help": "states whose log-probability by the joint model is so far below the best at their letter are "
            "dropped; 0: none"
        },
    )
    sum_alignments: bool = field(
        default=True,
        metadata={
            "help": "alignments with the same phonemes count together; otherwise the best one decides, which is "
            "faster; with direct decoding it always does"
        },
    )
    update: str = field(
        default="max-violation",
        metadata={"help": "direct decoding: what to learn from when the search goes wrong", "choices": UPDATES},
    )

    def __post_init__(self) -> None:
        check_whole(self, "width", minimum=1, optional=True)
        if not 0 <= as_float(self.threshold) < math.inf:
            raise ValueError(
                f"threshold of AlignmentBeam should be a number from 0 to less than inf, got {self.threshold!r}"
            )
        check_flag(self, "sum_alignments")
        check_choice(self, "update", UPDATES)
