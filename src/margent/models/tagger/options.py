"""Parameters of a tagger that only make sense together."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_whole

MOST_HIDDEN = 256
"""No label may stand for more hidden ones."""


@storable
@dataclass(frozen=True)
class HiddenLabels:
    """Subclasses of labels that the training data do not distinguish, found by the learner; see docs/hidden-labels.md.

    >>> HiddenLabels(3)
    HiddenLabels(n=3, restarts=1)
    """

    n: int = field(default=2, metadata={"help": "number of hidden labels per label"})
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
