"""How well the borders between segments were found, whatever their labels."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple


class BoundaryScore(NamedTuple):
    """How many predicted borders lie at a gold one (`correct`), how many gold and how many predicted ones there are.

    A ratio with nothing to divide by is 0.
    """

    correct: int
    gold: int
    found: int

    @property
    def precision(self) -> float:
        """The share of the predicted borders that are right."""
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold borders that were found, also called hit rate."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.correct / (self.gold + self.found) if self.correct else 0.0

    @property
    def over_segmentation(self) -> float:
        """How many borders too many were predicted, by gold border: 0.1 for 10 % too many, negative for too few."""
        return self.found / self.gold - 1 if self.gold else 0.0

    @property
    def r_value(self) -> float:
        """The R-value: 1 for a perfect segmentation, and unlike F1 not to be raised by borders strewn at random.

        R = 1 - (|r1| + |r2|) / 2, where r1 = sqrt((1 - HR)^2 + OS^2) is the distance to the ideal point and
        r2 = (HR - 1 - OS) / sqrt(2) that to the line without false borders; HR is the recall, OS the
        over-segmentation (Räsänen, Laine and Altosaar, "An improved speech segmentation quality measure: the R-value",
        Interspeech 2009). It is negative if far too many borders are predicted, and 0 if there is none to find.
        """
        if not self.gold:
            return 0.0
        missed, over = 1 - self.recall, self.over_segmentation
        return 1 - (sqrt(missed**2 + over**2) + abs(missed + over) / sqrt(2)) / 2

    def __add__(self, other: object) -> BoundaryScore:
        if not isinstance(other, BoundaryScore):
            return NotImplemented
        return BoundaryScore(*(mine + theirs for mine, theirs in zip(self, other)))


def boundary_counts(gold: Sequence[float], predicted: Sequence[float], tolerance: float = 0) -> BoundaryScore:
    """Pair predicted with gold borders that lie at most `tolerance` away, each used once, as many pairs as possible.

    Both are sorted positions in one unit (frames, say). Walking along both from the left and pairing whenever it is
    possible gives the most pairs: the earlier of two borders that cannot be paired fits nothing that follows.
    Cost: O(len(gold) + len(predicted)).

    >>> boundary_counts([10, 20, 30], [11, 12, 29], tolerance=2)
    BoundaryScore(correct=2, gold=3, found=3)
    """
    i = j = correct = 0
    while i < len(gold) and j < len(predicted):
        if abs(gold[i] - predicted[j]) <= tolerance:
            correct, i, j = correct + 1, i + 1, j + 1
        elif gold[i] < predicted[j]:
            i += 1
        else:
            j += 1
    return BoundaryScore(correct, len(gold), len(predicted))
