"""A chain of hidden labels as a structure to search: what is found in it, said in the labels that are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.tagger.chain.search import ChainSearch, ChainStructure
from margent.models.tagger.constraints import Allowed
from margent.models.tagger.hidden.sublabels import Sublabels
from margent.models.tagger.search import Bools, Doubles, Ids, SpanQueries


@dataclass(frozen=True)
class HiddenStructure:
    """The chain of the hidden labels, and what they belong to."""

    chain: ChainStructure
    labels: Sublabels

    def search(self, feature_map: FeatureMap, encoded: Encoded, allowed: Allowed | None, threads: int) -> HiddenSearch:
        inner = self.chain.search(feature_map, encoded, self.labels.allowed(allowed), threads)
        return HiddenSearch(inner, self.labels)

    def beyond(self, feature_map: FeatureMap, encoded: Encoded, limit: float, threads: int) -> Bools:
        return self.chain.beyond(feature_map, encoded, limit, threads)


@dataclass(frozen=True)
class HiddenSearch:
    """The labellings of some sequences by a chain of hidden labels; see `margent.models.tagger.search.Search`.

    A labelling scores as the best of its hidden ones (paper 003, equation 4.1); its probability is that of all of them
    together. So the best labelling and the k best are by the one, and marginals, samples and spans by the other.
    """

    inner: ChainSearch
    labels: Sublabels

    def best(self) -> tuple[Ids, Bools]:
        ids, possible = self.inner.best()
        return self.labels.seen[ids], possible

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        """Different labellings, each with the score of its best hidden one."""
        ids, scores, _, counts = self._k_best(1.0, k)
        return ids, scores, counts

    def k_best_sums(self, scale: float, k: int) -> tuple[Ids, Doubles, Ids]:
        """The same labellings, each with the log of the sum of exp(scale * score) over its hidden ones."""
        ids, _, sums, counts = self._k_best(scale, k)
        return ids, sums, counts

    def _k_best(self, scale: float, k: int) -> tuple[Ids, Doubles, Doubles, Ids]:
        chain, examples, threads = self.inner.chain, self.inner.examples, self.inner.threads
        ids, scores, sums, counts = chain.hidden_k_best(examples, scale, self.labels.n_sublabels, k, threads)
        return self.labels.seen[ids], scores, sums, counts

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        nodes, possible = self.inner.marginals(scale)
        return np.add.reduceat(nodes, self.labels.first, axis=1), possible

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        ids, possible = self.inner.samples(scale, seed, n)
        return self.labels.seen[ids], possible

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        hidden = queries._replace(
            labels=self.labels.first[queries.labels],
            before=self.labels.beside(queries.before),
            after=self.labels.beside(queries.after),
        )
        inner = self.inner
        return inner.chain.span_log_probabilities(
            inner.examples, scale, *hidden, inner.threads, self.labels.n_sublabels
        )
