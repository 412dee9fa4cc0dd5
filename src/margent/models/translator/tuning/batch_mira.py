"""Batch MIRA: the margin-infused algorithm on lists of candidates, with hope and fear."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from margent.metrics.bleu_statistics import corpus_bleu
from margent.models.translator.tuning.candidates import Candidates
from margent.parameters import check_number, check_whole

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BatchMira:
    """k-best batch MIRA (Cherry and Foster 2012, algorithm 1).

    For each sentence in random order, hope h and fear r are the candidates with the largest w . f + b and w . f - b,
    where b is `scale` times BLEU with the statistics of recent sentences added; then

        w += min(C, max(0, (b_h - b_r) - w . (f_h - f_r)) / |f_h - f_r|^2) (f_h - f_r).

    After each of the `epochs` the mean of all weights so far is tried, and the one with the best BLEU is kept.

    When to use it: as PRO, with many features too.
    """

    C: float = field(default=0.01, metadata={"help": "aggressiveness: the largest step for one sentence"})
    epochs: int = field(default=30, metadata={"help": "passes over the candidates"})
    decay: float = field(default=0.999, metadata={"help": "what is left of the statistics of a sentence after another"})
    scale: float = field(default=10.0, metadata={"help": "the score that a difference of 1 in BLEU should make"})

    def __post_init__(self) -> None:
        check_number(self, "C", minimum=0, above=True)
        check_whole(self, "epochs", minimum=1)
        check_number(self, "decay", minimum=0, maximum=1)
        check_number(self, "scale", minimum=0, above=True)

    def weights(self, candidates: Candidates, start: Doubles, random: np.random.Generator) -> Doubles:
        """The next weights (F,)."""
        weights, total, n = start.copy(), np.zeros_like(start), 0
        recent = np.ones(candidates.statistics.shape[1])
        best, best_bleu = start, -1.0
        for _ in range(self.epochs):
            for sentence in random.permutation(len(candidates)):
                rows = slice(*candidates.ptr[sentence : sentence + 2])
                features, statistics = candidates.features[rows], candidates.statistics[rows]
                score = features @ weights
                bleu = self.scale * corpus_bleu(statistics + recent)
                hope, fear = int(np.argmax(score + bleu)), int(np.argmax(score - bleu))
                difference = features[hope] - features[fear]
                squared = float(difference @ difference)
                loss = float(bleu[hope] - bleu[fear] - difference @ weights)
                if squared > 0 and loss > 0:
                    weights += min(self.C, loss / squared) * difference
                total += weights
                n += 1
                recent = self.decay * (recent + statistics[int(np.argmax(score))])
            mean = total / n
            found = float(corpus_bleu(candidates.chosen_statistics(mean)))
            if found > best_bleu:
                best, best_bleu = mean, found
        return best
