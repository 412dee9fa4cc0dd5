"""Parameters of a tagger that only make sense together."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.models.tagger.decoding import DECODINGS
from margent.parameters import check_choice, check_whole
from margent.structures.beam_oracle import UPDATES

MOST_HIDDEN = 256
"""No label may stand for more hidden ones."""


@storable
@dataclass(frozen=True)
class HiddenLabels:
    """Kinds of a label that the training data do not tell apart, found by the learner; see docs/hidden-labels.md.

    >>> HiddenLabels(3)
    HiddenLabels(n=3, restarts=1)
    """

    n: int = field(default=2, metadata={"help": "how many hidden labels each label stands for"})
    restarts: int = field(
        default=1,
        metadata={
            "help": "trainings from different random weights, of which the best is kept: by the development score, or "
            "else by what the learner lowers"
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "n", minimum=1, maximum=MOST_HIDDEN)
        check_whole(self, "restarts", minimum=1)


@storable
@dataclass(frozen=True)
class Beam:
    """Inexact search: only so many states (the last `order` labels) are kept at each token.

    In training and in prediction; pays where labels or orders are many. See docs/beam-search.md.
    """

    width: int = field(default=8, metadata={"help": "how many states are kept at each token"})
    update: str = field(
        default="max-violation",
        metadata={"help": "what is learned from where the search goes wrong", "choices": UPDATES},
    )
    decode: str = field(
        default="viterbi", metadata={"help": "what is predicted, as search= without a beam", "choices": DECODINGS}
    )

    def __post_init__(self) -> None:
        check_whole(self, "width", minimum=1)
        check_choice(self, "update", UPDATES)
        check_choice(self, "decode", DECODINGS)
