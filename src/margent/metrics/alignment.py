"""How well word alignments agree with those made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from margent.annotation.word_alignment import WordAlignment


class AlignmentReport(NamedTuple):
    """Counts of links over all sentence pairs (Och and Ney 2003).

    predicted : links that were predicted
    sure : links that are sure in the gold alignments
    predicted_sure : predicted links that are sure
    predicted_right : predicted links that are sure or possible
    """

    predicted: int
    sure: int
    predicted_sure: int
    predicted_right: int

    @property
    def precision(self) -> float:
        return self.predicted_right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.predicted_sure / self.sure if self.sure else 0.0

    @property
    def error_rate(self) -> float:
        """AER = 1 - (|A and S| + |A and P|) / (|A| + |S|), P with all of S; 0 where there is nothing to find."""
        total = self.predicted + self.sure
        return 1 - (self.predicted_sure + self.predicted_right) / total if total else 0.0

    def __str__(self) -> str:
        return f"AER {self.error_rate:.3f}, precision {self.precision:.3f}, recall {self.recall:.3f}"


def alignment_scores(gold: Iterable[WordAlignment], predicted: Iterable[WordAlignment]) -> AlignmentReport:
    """Compares alignments with gold ones, whose possible links are neither demanded nor wrong.

    >>> gold = [WordAlignment.parse("0-0 1-1 2?1")]
    >>> round(alignment_scores(gold, [WordAlignment.parse("0-0 2-1")]).error_rate, 3)
    0.25
    """
    counts = [0, 0, 0, 0]
    for right, found in zip(gold, predicted, strict=True):
        links = found.links
        for place, number in enumerate(
            (len(links), len(right.links), len(links & right.links), len(links & (right.links | right.possible)))
        ):
            counts[place] += number
    return AlignmentReport(*counts)
