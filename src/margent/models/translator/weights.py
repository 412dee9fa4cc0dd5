"""What a translator learned about rules: weights of dense and sparse features, and the search by them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.part_templates import PartTemplates
from margent.features.token_atoms import TokenAtoms
from margent.models.translator.options import CubePruning, DenseStart
from margent.models.translator.rule_table import DENSE_FEATURES
from margent.models.translator.sentences import EncodedSentences
from margent.models.translator.templates import compiled

INITIAL = MappingProxyType(
    {
        "language model": 1.0,
        "language model: unknown word": -2.0,
        "target length": 1.9,
        "glue": -0.8,
        "pass-through": -3.0,
        "lexical rule": -0.3,
        "hierarchical rule": -0.3,
        "log p(target | source)": 0.2,
        "log p(source | target)": 0.5,
        "log lex(target | source)": 0.4,
        "log lex(source | target)": 0.4,
        "source count": -0.3,
    }
)
"""Weights of dense features to begin with; all others are 0. They were found on the development part of Tatoeba
Chinese-English, one after the other."""


class Found(NamedTuple):
    """A translation: its score, words by number, the steps of its derivation and what the language model adds to each.

    steps : (n, 7) rule (below 0: made by the decoder), source-trie node, begin, end, whether the source side begins and
        whether it ends with a nonterminal, number of nonterminals; parts before what is made of them
    """

    score: float
    words: list[int]
    steps: NDArray[np.int32]
    log_probabilities: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TranslationWeights:
    """templates : of sparse features; atoms : of source words; table : weights by the keys of features"""

    templates: PartTemplates
    atoms: TokenAtoms
    table: _core.FeatureRows

    @cached_property
    def native_templates(self) -> _core.RuleTemplates:
        return compiled(self.templates, self.atoms.names)

    @cached_property
    def _by_key(self) -> dict[int, float]:
        arrays = self.table.arrays()
        keys = arrays["keys"][np.diff(arrays["row_ptr"]) > 0]
        return dict(zip(keys.tolist(), arrays["weights"].tolist()))

    @property
    def dense(self) -> dict[str, float]:
        """The weights of dense features by name."""
        weights = self._by_key
        return {name: weights.get(_core.dense_feature_key(k), 0.0) for k, name in enumerate(DENSE_FEATURES)}

    def translated(
        self, encoded: EncodedSentences, search: CubePruning, k: int, threads: int, distinct: bool = True
    ) -> list[list[Found]]:
        """Up to k translations of each sentence, best first; none of one without words."""
        counts, scores, word_ptr, words, step_ptr, (steps, log_probabilities), _ = encoded.native.translate(
            self.table, k, distinct, int(search.pop_limit), False, threads
        )
        found: list[list[Found]] = []
        spans = zip(pairwise(word_ptr.tolist()), pairwise(step_ptr.tolist()), scores.tolist())
        for n in counts.tolist():
            found.append([])
            for _ in range(n):
                (a, b), (c, d), score = next(spans)
                found[-1].append(Found(score, words[a:b].tolist(), steps[c:d], log_probabilities[c:d]))
        return found


def initial_weights(start: DenseStart) -> NDArray[np.float64]:
    """(18,): the weights of dense features that training begins with."""
    given = {**INITIAL, **(start.weights or {})}
    unknown = next((name for name in given if name not in DENSE_FEATURES), None)
    if unknown is not None:
        raise ValueError(
            f"weights of DenseStart: {unknown!r} is no dense feature; expected {', '.join(DENSE_FEATURES)}"
        )
    return float(start.scale) * np.array([float(given.get(name, 0.0)) for name in DENSE_FEATURES])


def weight_rows(keys: Any, weights: Any) -> dict[str, Any]:
    """What `FeatureRows` takes: each row has one weight."""
    ptr = np.arange(len(keys) + 1, dtype=np.int64)
    return {"keys": keys, "row_ptr": ptr, "columns": np.zeros(len(keys), np.int32), "weights": weights}


def best_translations(
    weights: TranslationWeights, encoded: EncodedSentences, search: CubePruning, threads: int
) -> list[list[str]]:
    """The best translation of each sentence; no words for one that has none."""
    found = weights.translated(encoded, search, 1, threads)
    return [encoded.words(i, each[0].words) if each else [] for i, each in enumerate(found)]
