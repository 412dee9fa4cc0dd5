"""Training words split into folds: what the joint model says of words that it has not counted.

A learner on top that sees the joint model at work on its own training words would learn to trust it: it knows them by
heart. So the words of each fold are shown under a model that has counted the other folds alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.models.transcriber.joint_grams import JointGrams
from margent.structures.cosegments import native_pairs

Symbols = tuple[int, ...]


class WordFolds:
    """The words of pairs (word, pronunciation), each once, in a random order, split into `n_folds` parts.

    `entries`: the right pronunciations of each word. `pairs` and `starts`: the same as native pairs, in the order of
    `words`; those of word i are [starts[i], starts[i + 1]). `discounts`: of the smoothing of `model`.
    """

    def __init__(
        self,
        model: JointGrams,
        discounts: NDArray[np.float64],
        spelled: Iterable[tuple[Sequence[int], Sequence[int]]],
        *,
        n_folds: int,
        seed: int,
    ) -> None:
        self._model, self._discounts = model, discounts
        self.entries: dict[Symbols, list[Symbols]] = {}
        for word, spoken in spelled:
            self.entries.setdefault(tuple(word), []).append(tuple(spoken))
        words = list(self.entries)
        self.words = [words[i] for i in np.random.default_rng(seed).permutation(len(words))]
        self.pairs: _core.SpellingPairs = native_pairs(
            [word for word in self.words for _ in self.entries[word]],
            [spoken for word in self.words for spoken in self.entries[word]],
        )
        self.starts = np.concatenate([[0], np.cumsum([len(self.entries[word]) for word in self.words], dtype=np.int64)])
        self.bounds: list[int] = np.linspace(0, len(words), min(n_folds, len(words)) + 1).astype(int).tolist()

    def models(self, threads: int) -> Iterator[tuple[list[Symbols], JointGrams]]:
        """The words of each fold, and the model without them. Each costs about an iteration of EM."""
        for begin, end in pairwise(self.bounds):
            first, last = int(self.starts[begin]), int(self.starts[end])
            yield self.words[begin:end], self._model.without(self.pairs, first, last, self._discounts, threads)
