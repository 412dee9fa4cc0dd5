"""BLEU of translations from its sufficient statistics, which add up over sentences (Papineni et al. 2002)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

ORDER = 4
N_STATISTICS = 2 + 2 * ORDER

Statistics = NDArray[np.float64]
"""(10,): length of the translation, of its reference, matching grams of 1 to 4 words, grams of 1 to 4 words."""


class References:
    """The references of one source sentence, their grams counted once.

    >>> references = References([["a", "house"], ["a", "big", "house"]])
    >>> references.statistics(["a", "house", "house"]).tolist()
    [3.0, 3.0, 2.0, 1.0, 0.0, 0.0, 3.0, 2.0, 1.0, 0.0]
    """

    def __init__(self, references: Iterable[Sequence[str]]) -> None:
        listed = [tuple(reference) for reference in references]
        if not listed:
            raise ValueError("a source sentence without references was given; expected at least one")
        self.lengths = sorted({len(reference) for reference in listed})
        self._most: Counter[tuple[str, ...]] = Counter()
        for reference in listed:
            self._most |= _grams(reference)

    def length(self, n: int) -> int:
        """The length of the reference nearest in length to n words; of two equally near the shorter."""
        return min(self.lengths, key=lambda length: (abs(length - n), length))

    def statistics(self, translation: Sequence[str]) -> Statistics:
        """What BLEU has to know of a translation. A gram matches as often as in the reference that has it most."""
        n = len(translation)
        found = np.zeros(N_STATISTICS)
        found[:2] = n, self.length(n)
        most = self._most
        for gram, count in _grams(translation).items():
            if gram in most:
                found[1 + len(gram)] += min(count, most[gram])
        found[2 + ORDER :] = np.maximum(n - np.arange(ORDER), 0)
        return found


def corpus_bleu(statistics: npt.ArrayLike) -> NDArray[np.float64]:
    """BLEU of statistics (..., 10), from 0 to 1, without smoothing: what is 0 without a match of each length.

    BLEU = exp(min(0, 1 - r / c)) * (prod over n = 1 .. 4 of matches_n / grams_n) ^ (1 / 4)
    """
    given = np.asarray(statistics, np.float64)
    matches, grams = given[..., 2 : 2 + ORDER], given[..., 2 + ORDER :]
    good = np.asarray((matches > 0).all(axis=-1))
    precision = np.where(good[..., None], matches, 1.0) / np.where(good[..., None], grams, 1.0)
    length = np.where(given[..., 0] > 0, given[..., 0], 1.0)
    brevity = np.minimum(0.0, 1 - given[..., 1] / length)
    return np.where(good, np.exp(brevity + np.log(precision).mean(axis=-1)), 0.0)


def smoothed_bleu(statistics: npt.ArrayLike, add: float = 1.0) -> NDArray[np.float64]:
    """BLEU of single sentences (..., 10), from 0 to 1: `add` is added to the matches and grams of two and more words.

    Lin and Och (2004); as sacrebleu's smooth_method="add-k". Without any matching word it is 0.
    """
    given = np.array(statistics, np.float64)
    given[..., 3 : 2 + ORDER] += add
    given[..., 3 + ORDER :] += add
    return corpus_bleu(given)


def _grams(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for length in range(1, ORDER + 1):
        found.update(tuple(words[place : place + length]) for place in range(len(words) - length + 1))
    return found
