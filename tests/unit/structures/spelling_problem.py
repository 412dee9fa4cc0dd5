"""Random words to be pronounced: for the tests of the search by learned weights, and of what is learned with it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from tests.oracle import cosegment_search as twin
from tests.oracle.cosegments import graphones_of_arrays

from margent import _core
from margent.structures.cosegments import native_pairs

BITS, INSERTIONS = 7, 1
UPDATES = {name: getattr(_core.BeamUpdate, name) for name in ("standard", "early", "max_violation", "skip")}
SIZES = {
    "one letter": [(1, 0), (1, 1)],
    "insertions": [(0, 1), (1, 0), (1, 1)],
    "several letters": [(1, 1), (2, 1), (1, 2)],
}


class Problem:
    """Random words with their pronunciations, graphones, a random model of their pairs, and the same for a twin."""

    def __init__(self, seed: int, sizes: list[tuple[int, int]], n: int = 4, length: int = 2) -> None:
        random = np.random.default_rng(seed)
        self.words, self.right, rows = [], [], []
        while len(self.words) < n:
            word = tuple(random.integers(0, 2, random.integers(1, length + 1)).tolist())
            many = random.integers(1, 3)
            right = {tuple(random.integers(0, 2, random.integers(1, len(word) + 1)).tolist()) for _ in range(many)}
            if word not in self.words:
                self.words.append(word)
                self.right.append(right)
                rows += [(word, one) for one in sorted(right)]
            n -= random.random() < 0.1  # there may be no more words
        self.pairs = native_pairs([word for word, _ in rows], [one for _, one in rows])
        self.starts = np.cumsum([0, *map(len, self.right)])
        self.native = _core.Graphones.discovered(self.pairs, np.array(sizes, np.int32))
        self.graphones = graphones_of_arrays(*self.native.arrays())
        end, start = len(self.graphones), len(self.graphones) + 1
        counts = _core.GramCounts()
        for before in (*range(end), start):
            for graphone in range(end + 1):
                counts.add([before, graphone], float(random.random() + 0.05))
        self.model = _core.GramModel.of(counts, end)
        self.model.estimate(np.array([[0.1, 0.1, 0.1]] * 2))
        self.weights = random.normal(size=2**BITS + 1).astype(np.float32)
        self.plain: list[float] = self.weights.astype(np.float64).tolist()
        self.oracle = self.oracle_with(0, "standard")

    def oracle_with(self, beam: int, update: str) -> _core.CosegmentOracle:
        fold = np.zeros(len(self.words), np.int32)
        examples = _core.TranscriptionExamples(self.pairs, self.starts, fold, (self.model,))
        oracle = _core.CosegmentOracle(self.native, examples, BITS, beam, 0.0, INSERTIONS, UPDATES[update])
        oracle.start_from(self.weights.astype(np.float64))
        return oracle

    def search(self, word: Any, k: int, beam: int) -> list[tuple[float, tuple[int, ...], tuple[int, ...]]]:
        (n,), scores, *rows = _core.search_words(
            self.native, self.model, native_pairs([word], [()]), self.weights, k, beam, 0.0, INSERTIONS, 1
        )
        phonemes, alignments = ([tuple(ids[a:b].tolist()) for a, b in pairwise(ptr)] for ptr, ids in rows)
        assert n == len(scores)
        return list(zip(scores.tolist(), phonemes, alignments))

    def features(self, word: Any, alignment: Any) -> dict[int, float]:
        return twin.features(word, alignment, self.graphones, self.model.log_probability, BITS)

    def best_alignments(self, word: Any) -> dict[tuple[int, ...], tuple[float, tuple[int, ...]]]:
        """For each pronunciation the score of its best alignment, and the alignment."""
        best: dict[tuple[int, ...], tuple[float, tuple[int, ...]]] = {}
        for alignment in twin.all_alignments(word, self.graphones, INSERTIONS):
            spoken, value = (
                twin.spoken(alignment, self.graphones),
                twin.score(self.plain, self.features(word, alignment)),
            )
            if spoken not in best or value > best[spoken][0]:
                best[spoken] = value, alignment
        return best
