"""Successive halving: many candidates on little data, the best of them on more, the last few on all of it.

Jamieson and Talwalkar 2016, "Non-stochastic best arm identification and hyperparameter optimization", algorithm 1. The
budget is the number of training sentences. Epochs would not do: they are themselves searched, and mean something else
for each learner.

Differs: the last rung holds at least two candidates, so that the winner is chosen on all the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Rung(NamedTuple):
    """A step of the ladder: how many candidates are tried, each on how many training sentences."""

    candidates: int
    sentences: int


def rungs(candidates: int, sentences: int, factor: int, least: int) -> list[Rung]:
    """The ladder for so many candidates and training sentences.

    Each rung has 1 / `factor` of the candidates of the one before and `factor` times its sentences; the last has all
    sentences and at least two candidates, the first at least `least` sentences. A factor of 1 means one rung: every
    candidate on all the data.

    Cost, in trainings on all the data: about candidates / factor**(n_rungs - 1) for each of the rungs.

    >>> rungs(27, 9000, factor=3, least=100)
    [Rung(candidates=27, sentences=1000), Rung(candidates=9, sentences=3000), Rung(candidates=3, sentences=9000)]
    """
    counts, budgets = [candidates], [sentences]
    while factor > 1 and counts[-1] >= 2 * factor and sentences // factor ** len(budgets) >= least:
        counts.append(counts[-1] // factor)
        budgets.append(sentences // factor ** len(budgets))
    return [Rung(*rung) for rung in zip(counts, reversed(budgets))]


def best_of(scores: Mapping[int, float | None], keep: int) -> list[int]:
    """The `keep` candidates with the highest scores, best first; equal ones by number. None: failed, never kept."""
    ranked = sorted((-score, number) for number, score in scores.items() if score is not None)
    return [number for _, number in ranked[:keep]]


def mean_and_error(scores: Iterable[float]) -> tuple[float, float | None]:
    """The mean over folds and its standard error; no error from a single score."""
    values = list(scores)
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, (variance / len(values)) ** 0.5
