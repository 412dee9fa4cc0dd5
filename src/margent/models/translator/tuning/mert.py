"""Minimum error rate training: BLEU itself, along one line after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from margent.metrics.bleu_statistics import corpus_bleu
from margent.models.translator.tuning.candidates import Candidates
from margent.models.translator.tuning.line_search import Pieces, best_step, pieces_of_candidates
from margent.parameters import check_flag, check_number, check_whole

Doubles = NDArray[np.float64]
PiecesAlong = Callable[[Doubles, Doubles], Pieces]
"""From weights and a direction to the best candidates along the line."""


@dataclass(frozen=True, kw_only=True)
class Mert:
    """MERT (Och 2003) on n-best lists, or on hypergraphs (Kumar et al. 2009; Macherey et al. 2008).

        max over w of BLEU(argmax over candidates of w . f)

    The objective is a staircase. Along a line w + x d, the best candidate of a sentence is that of the upper envelope
    of lines, so that the best x of all is found exactly. Lines go along each feature and into random directions, in
    turn, until none of them helps; then from other starting points, of which the best end counts.

    When to use it: for a dozen of features, on hundreds of sentences.
    """

    forests: bool = field(default=False, metadata={"help": "lines through forests of all translations, not lists"})
    restarts: int = field(default=3, metadata={"help": "random starting points besides the present weights"})
    directions: int = field(default=8, metadata={"help": "random directions besides those of features"})
    rounds: int = field(default=10, metadata={"help": "at most so often all directions are tried"})
    spread: float = field(default=0.5, metadata={"help": "how far starting points are from the present weights"})

    def __post_init__(self) -> None:
        check_flag(self, "forests")
        for name in ("restarts", "directions"):
            check_whole(self, name, minimum=0, maximum=1000)
        check_whole(self, "rounds", minimum=1, maximum=1000)
        check_number(self, "spread", minimum=0)

    def weights(self, candidates: Candidates, start: Doubles, random: np.random.Generator) -> Doubles:
        """The weights (F,) that choose the best of each sentence's candidates."""
        best, best_bleu = start, float(corpus_bleu(candidates.chosen_statistics(start)))
        scale = self.spread * np.maximum(np.abs(start), 0.1)
        for restart in range(self.restarts + 1):
            first = start if restart == 0 else start + scale * random.normal(size=len(start))

            def along(weights: Doubles, direction: Doubles) -> Pieces:
                return pieces_of_candidates(candidates, weights, direction)

            for weights, bleu in self.ascent(along, first, random):
                if bleu > best_bleu + 1e-9:
                    best, best_bleu = weights, bleu
        return best

    def ascent(
        self, along: PiecesAlong, start: Doubles, random: np.random.Generator
    ) -> Iterator[tuple[Doubles, float]]:
        """The weights, and BLEU, after each line search that made it larger."""
        weights = start
        bleu = -1.0
        for _ in range(self.rounds):
            moved = False
            for direction in self._directions(len(start), random):
                found = best_step(along(weights, direction))
                if found.bleu > bleu + 1e-6:
                    weights = weights + found.step * direction
                    bleu = found.bleu
                    moved = True
                    yield weights, bleu
            if not moved:
                return

    def _directions(self, n: int, random: np.random.Generator) -> Iterator[Doubles]:
        """Unit vectors of all features in random order, then random ones."""
        for feature in random.permutation(n):
            yield np.eye(n)[feature]
        for _ in range(self.directions):
            direction = random.normal(size=n)
            yield direction / np.linalg.norm(direction)
