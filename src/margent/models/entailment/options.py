"""Parameters of an entailment classifier that only make sense together."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_flag, check_whole

MOST_CANDIDATES = 64
MOST_COMPOSED = 8
"""Labels: a phrase has their number to the third of ways to get its relation from those of its parts."""


@storable
@dataclass(frozen=True)
class AlignmentFeatures:
    """What the linear classifier aligns and sees.

    >>> AlignmentFeatures(candidates=3)
    AlignmentFeatures(candidates=3, compose=False, min_count=2)
    """

    candidates: int = field(
        default=5, metadata={"help": "words of the premise that each word of the hypothesis may be aligned to"}
    )
    compose: bool = field(
        default=False,
        metadata={"help": "each word and phrase of the hypothesis has a relation, those of phrases composed of their "
                  "parts'; otherwise all words have that of the pair"},
    )  # fmt: skip
    min_count: int = field(default=2, metadata={"help": "leave out features seen less often in the training pairs"})

    def __post_init__(self) -> None:
        check_whole(self, "candidates", minimum=1, maximum=MOST_CANDIDATES)
        check_flag(self, "compose")
        check_whole(self, "min_count", minimum=1)
