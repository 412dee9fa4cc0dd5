"""The label chain as a structure to search: the native chain, and the sequences that it is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from margent import _core
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.tagger.constraints import Allowed
from margent.models.tagger.search import Bools, Doubles, Ids, SpanQueries

if TYPE_CHECKING:
    from margent.models.tagger.chain.weights import ChainWeights


@dataclass(frozen=True)
class ChainStructure:
    """`pairs`: (L + 1, L + 1) which label may follow which, the boundary of a sequence last; None: any."""

    weights: ChainWeights
    pairs: Bools | None
    beam: int | None
    native: _core.LinearChain

    def search(self, feature_map: FeatureMap, encoded: Encoded, allowed: Allowed | None, threads: int) -> ChainSearch:
        own = self.weights.unigrams
        rows = feature_map.rows(encoded, own)  # a kernel has others for each sequence
        chain = self.native if rows is own else self.weights.native(self.pairs, rows, self.beam)
        return ChainSearch(chain, encoded.examples(allowed=allowed), threads)

    def beyond(self, feature_map: FeatureMap, encoded: Encoded, limit: float, threads: int) -> Bools:
        own = self.weights.unigrams
        rows = feature_map.rows(encoded, own)
        if rows is own:
            if encoded.values is None:
                return np.zeros(encoded.n_sequences, dtype=bool)
            return self.native.beyond(encoded.examples(), limit, threads).astype(bool)
        assert isinstance(rows, np.ndarray)
        large = ~(np.abs(rows).max(axis=1, initial=0) <= limit)
        before = np.concatenate([[0], np.cumsum(large[encoded.ids])])  # each token has one feature, its observation
        return np.diff(before[encoded.sequence_ptr]) > 0


@dataclass(frozen=True)
class ChainSearch:
    """The labellings of some sequences by a chain; see `margent.models.tagger.search.Search`."""

    chain: _core.LinearChain
    examples: _core.Examples
    threads: int

    def best(self) -> tuple[Ids, Bools]:
        ids, scores = self.chain.best(self.examples, self.threads)
        return ids, scores > -np.inf

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        return self.chain.k_best(self.examples, k, self.threads)

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        nodes, _, log_z = self.chain.marginals(self.examples, scale, False, self.threads)
        return nodes, log_z > -np.inf

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        ids, log_z = self.chain.samples(self.examples, scale, seed, n, self.threads)
        return ids, log_z > -np.inf

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        return self.chain.span_log_probabilities(self.examples, scale, *queries, self.threads)
