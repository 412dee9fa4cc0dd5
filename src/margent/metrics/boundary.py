"""How well the boundaries between segments were found, whatever their labels."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from margent.metrics.score import Score


class BoundaryScore(Score):
    """How many predicted boundaries lie at a gold one (`correct`), how many gold and predicted ones there are."""

    __slots__ = ()

    @property
    def over_segmentation(self) -> float:
        """How many boundaries too many were predicted, by gold boundary: 0.1 for 10 % too many, negative: too few."""
        return self.found / self.gold - 1 if self.gold else 0.0

    @property
    def r_value(self) -> float:
        """The R-value: 1 for a perfect segmentation, and unlike F1 not to be raised by boundaries strewn at random.

        R = 1 - (|r1| + |r2|) / 2, where r1 = sqrt((1 - HR)^2 + OS^2) is the distance to the ideal point and
        r2 = (HR - 1 - OS) / sqrt(2) that to the line without false boundaries; HR is the recall, OS the
        over-segmentation (Räsänen, Laine and Altosaar, "An improved speech segmentation quality measure: the R-value",
        Interspeech 2009). It is negative if far too many boundaries are predicted, and 0 if there is none to find.
        """
        if not self.gold:
            return 0.0
        missed, over = 1 - self.recall, self.over_segmentation
        return 1 - (sqrt(missed**2 + over**2) + abs(missed + over) / sqrt(2)) / 2


def boundary_counts(gold: Sequence[float], predicted: Sequence[float], tolerance: float = 0) -> BoundaryScore:
    """Pair predicted with gold boundaries that lie at most `tolerance` away, each used once, as many pairs as possible.

    Both are sorted positions in one unit (frames, say). Walking along both from the left and pairing whenever it is
    possible gives the most pairs: the earlier of two boundaries that cannot be paired fits nothing that follows.
    Cost: O(len(gold) + len(predicted)).

    >>> boundary_counts([10, 20, 30], [11, 12, 29], tolerance=2)
    BoundaryScore(label='boundaries', correct=2, gold=3, found=3)
    """
    i = j = correct = 0
    while i < len(gold) and j < len(predicted):
        if abs(gold[i] - predicted[j]) <= tolerance:
            correct, i, j = correct + 1, i + 1, j + 1
        elif gold[i] < predicted[j]:
            i += 1
        else:
            j += 1
    return BoundaryScore("boundaries", correct, len(gold), len(predicted))
