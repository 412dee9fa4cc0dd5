"""The forests that cube pruning leaves: all translations that were looked at, with their scores and features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.models.translator.options import CubePruning
from margent.models.translator.rule_table import DENSE_FEATURES
from margent.models.translator.sentences import EncodedSentences
from margent.models.translator.weights import TranslationWeights
from margent.structures import Forest, ForestBuilder

_SHAPE = ("node_ptr", "edge_ptr", "roots", "heads", "tail_ptr", "tails")


@dataclass(frozen=True, eq=False)
class TranslationForests:
    """One forest for each sentence; n nodes and m edges together, numbered from 0 within each.

    arrays : node_ptr, edge_ptr, roots, heads, tail_ptr, tails (shape); scores (m,); dense (m, 18), the dense features
        of edges; cells (n, 3), what each node stands for: 0 a phrase, 1 a sentence, 2 the whole, and its span
    """

    encoded: EncodedSentences
    arrays: dict[str, Any]

    def __len__(self) -> int:
        return len(self.arrays["roots"])

    @cached_property
    def native(self) -> _core.Forests:
        n = len(self.arrays["heads"])
        return _core.Forests(
            **{name: self.arrays[name] for name in _SHAPE},
            allowed=np.ones(n, np.uint8),
            feature_ptr=np.zeros(n + 1, np.int64),
            features=np.zeros(0, np.int32),
        )

    @property
    def scores(self) -> NDArray[np.float64]:
        """(m,) of edges under the weights of the model."""
        found: NDArray[np.float64] = self.arrays["scores"]
        return found

    def log_partition(self, scale: float = 1.0) -> NDArray[np.float64]:
        """(sentences,): the logarithm of the sum of exp(scale * score) over all derivations."""
        return np.asarray(self.native.log_partition(scale * self.scores, 1))

    def expected_features(self, scale: float = 1.0) -> NDArray[np.float64]:
        """(sentences, 18): the dense features that a derivation has on average, under exp(scale * score)."""
        _, uses = self.native.marginals(scale * self.scores, 1)
        edge_ptr = self.arrays["edge_ptr"]
        used = np.concatenate([uses[:, None] * self.arrays["dense"], np.zeros((1, len(DENSE_FEATURES)))])
        sums: NDArray[np.float64] = np.add.reduceat(used, edge_ptr[:-1]) * (np.diff(edge_ptr) > 0)[:, None]
        return sums

    def forest(self, sentence: int) -> Forest:
        """An ordinary forest, for `best`, `k_best`, `sample`, `marginals` and all that forests can."""
        arrays = self.arrays
        first, last = (int(p) for p in arrays["edge_ptr"][sentence : sentence + 2])
        builder = ForestBuilder()
        for _ in range(int(arrays["roots"][sentence]) + 1):
            builder.add_node()
        for edge in range(first, last):
            a, b = arrays["tail_ptr"][edge : edge + 2].tolist()
            builder.add_edge(int(arrays["heads"][edge]), arrays["tails"][a:b].tolist(), float(arrays["scores"][edge]))
        return builder.build(int(arrays["roots"][sentence]))


def translation_forests(
    encoded: EncodedSentences, weights: TranslationWeights, search: CubePruning, threads: int
) -> TranslationForests:
    return TranslationForests(encoded, encoded.native.forests(weights.table, int(search.pop_limit), threads))
