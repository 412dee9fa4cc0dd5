"""Edit distance between label strings: how many labels were replaced, left out and put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class EditCounts(NamedTuple):
    """What it takes to turn the predicted strings into the gold ones, counted over `gold` labels."""

    gold: int
    hits: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        """Substitutions, deletions and insertions together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Errors by gold label; it may exceed 1. Without gold labels it is 0 if nothing was put in, else infinite."""
        if not self.gold:
            return float("inf") if self.errors else 0.0
        return self.errors / self.gold

    def __add__(self, other: object) -> EditCounts:
        if not isinstance(other, EditCounts):
            return NotImplemented
        return EditCounts(*(mine + theirs for mine, theirs in zip(self, other)))


def edit_counts(gold: Sequence[str], predicted: Sequence[str]) -> EditCounts:
    """The fewest substitutions, deletions and insertions (each costs 1) between two strings of labels.

    A deletion is a gold label that was not predicted, an insertion a predicted one that is not in gold. Among the
    alignments with the fewest errors, one with the most hits is counted. Cost: O(len(gold) len(predicted)).

    >>> edit_counts(["h", "e", "l", "ou"], ["e", "l", "o", "u"])
    EditCounts(gold=4, hits=2, substitutions=1, deletions=1, insertions=1)
    """
    n, m = len(gold), len(predicted)
    number = {label: index for index, label in enumerate({*gold, *predicted})}
    right = np.array([number[label] for label in gold], dtype=np.int64)
    guess = np.array([number[label] for label in predicted], dtype=np.int64)
    # A cell holds errors * unit - hits of the best alignment of two prefixes, so that hits break ties. An insertion
    # comes from the cell on the left; min over a row of (cell + unit * distance) is a running minimum.
    unit = min(n, m) + 1
    ramp = unit * np.arange(m + 1)
    row = ramp.copy()
    for label in right:
        diagonal = row[:-1] + np.where(guess == label, -1, unit)
        row = row + unit
        row[1:] = np.minimum(row[1:], diagonal)
        row = np.minimum.accumulate(row - ramp) + ramp
    best = int(row[-1])
    errors = -(-best // unit)
    hits = errors * unit - best
    # n = hits + substitutions + deletions, m = hits + substitutions + insertions.
    insertions = hits - n + errors
    deletions = hits - m + errors
    return EditCounts(n, hits, errors - insertions - deletions, deletions, insertions)
