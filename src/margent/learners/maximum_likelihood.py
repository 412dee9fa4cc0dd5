"""Maximum likelihood by counting: a semi-Markov model whose parts are fitted to the right segments one by one."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.capability import Capabilities, Capability
from margent.learners.base import Learner
from margent.parameters import check_number, check_whole


@dataclass(frozen=True)
class MaximumLikelihood(Learner):
    """The generative semi-Markov model (paper 002, section 4): where large-margin training begins, and its baseline.

    Frames of each label and bin are Gaussian, durations of each label gamma distributed, labels a Markov chain; all are
    fitted to the right segments by counting, without any search. For a `Segmenter` of frames: as its learner, or as
    the start of another one, which is what it does unless told otherwise.

    With several components the frames of a bin are split in as many parts by k-means, and each frame belongs to the one
    that gives it the largest density (classification EM, `rounds` times).
    """

    shrinkage: float = field(
        default=20.0, metadata={"help": "frames of the overall covariance added to that of each Gaussian"}
    )
    smoothing: float = field(default=0.5, metadata={"help": "added to each count of a label after another"})
    rounds: int = field(default=10, metadata={"help": "of reassigning frames to components"})

    def __post_init__(self) -> None:
        for name in ("shrinkage", "smoothing"):
            check_number(self, name, minimum=0, above=True)
        check_whole(self, "rounds", minimum=1)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.FRAME_STATISTICS})
