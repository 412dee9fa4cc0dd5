"""What an oracle answers: the right answer of an example and its rivals, as feature vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

FeatureVector = Mapping[int, float]
"""Feature index to value; what is not named is 0."""


class Rival(NamedTuple):
    """A wrong answer, or the right one again when nothing is wrong (loss 0, errors 0)."""

    features: FeatureVector
    loss: float = 1.0
    errors: int = 1


class Answer(NamedTuple):
    """The gold side of an example and its rivals, best first.

    `n_positions`: at how many positions an answer can be wrong, for the accuracy in the history. `weight`: of this
    example.
    """

    gold: FeatureVector
    rivals: Sequence[Rival]
    n_positions: int = 1
    weight: float = 1.0
