"""What an entailment classifier asks of the weights that it has learned, of whatever kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from margent.features.feature_map import Stored
from margent.models.contribution import Contribution
from margent.models.entailment.data import PairData

Doubles = NDArray[np.float64]


class PairDetails(NamedTuple):
    """alignment : (q, p + 1), how probable it is that a word or node of the hypothesis is aligned to each word or node
        of the premise or, last, to none of them
    relations : (2 w - 1, L), how probable each relation is for each node of the hypothesis of w words
    """

    alignment: Doubles
    relations: Doubles


class EntailmentWeights(Protocol):
    """What was learned, a frozen value."""

    name: ClassVar[str]
    """Of the kind, in model files."""

    @property
    def size(self) -> str:
        """In words."""

    def label_scores(self, data: PairData, threads: int) -> Doubles:
        """(n, L): exp of them, over the sum of those of a pair, are probabilities at temperature 1."""

    def details(self, data: PairData, scale: float, threads: int) -> list[PairDetails]:
        """Of each pair, with scores times `scale`."""

    def contributions(self, data: PairData, winner: int, rival: int, labels: Sequence[str]) -> list[Contribution]:
        """Of one pair, what adds to the margin of one label over another; nothing where no features are known."""

    def top_features(self, label: int, top: int) -> list[tuple[str, float]]:
        """What says a label most, with weights."""

    def stored(self, compact: bool) -> Stored:
        """Header entries and arrays for a model file."""
