"""Pairwise ranking optimisation: a classifier of pairs of candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from margent.metrics.bleu_statistics import smoothed_bleu
from margent.models.translator.tuning.candidates import Candidates
from margent.parameters import check_number, check_whole

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Pro:
    """PRO (Hopkins and May 2011).

    Of each sentence, `samples` pairs of candidates are drawn; of those whose smoothed sentence BLEU differs by at least
    `least_difference`, the `kept` that differ most train a logistic regression on differences of features,

        min over v of sum over pairs of log(1 + exp(-v . (f_better - f_worse))) + l2 / 2 |v|^2,

    by Newton's method. The new weights are a part `interpolation` of v and the rest of what they were.

    When to use it: it is stable, and takes more features than MERT. Sentence BLEU likes short translations, and so do
    these weights (Nakov, Guzmán and Vogel 2012).
    """

    samples: int = field(default=5000, metadata={"help": "pairs of candidates to draw for each sentence"})
    kept: int = field(default=50, metadata={"help": "pairs of a sentence to learn from"})
    least_difference: float = field(default=0.05, metadata={"help": "of sentence BLEU between the two of a pair"})
    l2: float = field(default=0.1, metadata={"help": "how strongly large weights are held back"})
    interpolation: float = field(default=0.1, metadata={"help": "share of the new weights, the rest are the old ones"})

    def __post_init__(self) -> None:
        check_whole(self, "samples", minimum=1)
        check_whole(self, "kept", minimum=1)
        check_number(self, "least_difference", minimum=0, maximum=1)
        check_number(self, "l2", minimum=0, above=True)
        check_number(self, "interpolation", minimum=0, maximum=1, above=True)

    def weights(self, candidates: Candidates, start: Doubles, random: np.random.Generator) -> Doubles:
        """The next weights (F,)."""
        differences = self.pairs(candidates, random)
        if not len(differences):
            return start
        found = regression(differences, self.l2, start)
        return np.asarray(self.interpolation * found + (1 - self.interpolation) * start)

    def pairs(self, candidates: Candidates, random: np.random.Generator) -> Doubles:
        """(P, F) the features of the better minus those of the worse candidate of each pair."""
        bleu = smoothed_bleu(candidates.statistics)
        found = [np.zeros((0, candidates.n_features))]
        for first, last in zip(candidates.ptr[:-1], candidates.ptr[1:]):
            drawn = first + random.integers(0, last - first, size=(self.samples, 2))
            gap = bleu[drawn[:, 0]] - bleu[drawn[:, 1]]
            wide = np.flatnonzero(np.abs(gap) >= max(self.least_difference, 1e-9))
            chosen = wide[np.argsort(-np.abs(gap[wide]), kind="stable")[: self.kept]]
            one, other = candidates.features[drawn[chosen].T]
            found.append((one - other) * np.sign(gap[chosen])[:, None])
        return np.concatenate(found)


def regression(differences: Doubles, l2: float, start: Doubles) -> Doubles:
    """(F,) the minimum of sum log(1 + exp(-v . d)) + l2 / 2 |v|^2 over rows d, by Newton steps that are halved where
    they do not help. The objective is strictly convex, so it does not depend on where one starts."""

    def objective(v: Doubles) -> float:
        return float(np.logaddexp(0, -differences @ v).sum() + l2 / 2 * v @ v)

    weights, value = start, objective(start)
    for _ in range(100):
        margin = differences @ weights
        p = np.exp(-np.logaddexp(0, margin))  # of the wrong order
        gradient = l2 * weights - differences.T @ p
        hessian = (differences * (p * (1 - p))[:, None]).T @ differences + l2 * np.eye(len(weights))
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-8 and (new := objective(weights - size * step)) > value - 1e-4 * size * float(gradient @ step):
            size /= 2
        if size <= 1e-8 or value - new < 1e-9 * max(1.0, abs(value)):
            break
        weights, value = weights - size * step, new
    return weights
