"""What the best labelling is: the one with the highest score, or the one that is best when scores are summed.

viterbi    the labelling with the highest score; with hidden labels, that of the best hidden one (paper 003, 4.1)
sum        with hidden labels: the labelling whose hidden ones are most probable together (4.2), among the
           `CANDIDATES` that are best by "viterbi", since no recursion finds it among all
posterior  at each token the label that is most probable, over all labellings that have it there. With pairs of labels
           that may not follow each other, the labelling without such a pair whose labels have the largest sum of
           probabilities

Probabilities are exp(scale * score) over the sum of all labellings, so that a temperature changes what "sum" and
"posterior" predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from margent import _core
from margent.features.encoded import Encoded
from margent.models.tagger.hidden.search import HiddenSearch
from margent.models.tagger.search import Bools, Doubles, Ids, Search, SpanQueries

CANDIDATES = 16


def decoded(search: Search, decode: str, scale: float, encoded: Encoded, pairs: Bools | None) -> Search:
    """The search whose best labelling is what `decode` says. `pairs`: (L + 1, L + 1) which label may follow which."""
    if decode == "posterior":
        return PosteriorSearch(search, scale, encoded, pairs)
    if decode == "sum" and isinstance(search, HiddenSearch):  # elsewhere a labelling has one score
        return SumSearch(search, scale, encoded)
    return search


@dataclass(frozen=True)
class _Wrapped:
    """Leaves everything as it is."""

    search: Search
    scale: float
    encoded: Encoded

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        return self.search.k_best(k)

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        return self.search.marginals(scale)

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        return self.search.samples(scale, seed, n)

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        return self.search.span_log_probabilities(scale, queries)


@dataclass(frozen=True)
class PosteriorSearch(_Wrapped):
    """The best labelling by the probability of each label; the k best by their scores."""

    pairs: Bools | None

    def best(self) -> tuple[Ids, Bools]:
        nodes, possible = self.search.marginals(self.scale)
        if self.pairs is None:
            return nodes.argmax(axis=1).astype(np.int32), possible
        n_labels = nodes.shape[1]
        width = _core.padded_width(n_labels)
        # A chain whose tokens have one feature each, the weights of which are their probabilities.
        weights = np.zeros((len(nodes), width), dtype=np.float32)
        weights[:, :n_labels] = np.where(nodes > 0, nodes, -np.inf)
        follows = np.zeros((n_labels + 1, width), dtype=np.float32)
        follows[:, :n_labels] = np.where(self.pairs[:, :n_labels], 0.0, -np.inf)
        ends = np.zeros((1, width), dtype=np.float32)
        ends[0, :n_labels] = np.where(self.pairs[:n_labels, n_labels], 0.0, -np.inf)
        tokens = np.arange(len(nodes) + 1)
        chain = _core.LinearChain(n_labels, 1, weights, None, follows, ends)
        ids, scores = chain.best(Encoded(self.encoded.sequence_ptr, tokens[:-1].astype(np.int32), tokens).examples(), 1)
        return ids, possible & (scores > -np.inf)


@dataclass(frozen=True)
class SumSearch(_Wrapped):
    """The best labelling, and the k best, by the sum over their hidden ones, among the best by score."""

    search: HiddenSearch

    def best(self) -> tuple[Ids, Bools]:
        ids, _, counts = self.k_best(1)
        return ids, counts > 0

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        """Of the `CANDIDATES`, or k if that is more: those with the largest sums, and their logs as scores."""
        n = max(k, CANDIDATES)
        ids, sums, counts = self.search.k_best_sums(self.scale, n)
        found, scores = np.zeros(k * self.encoded.n_tokens, dtype=np.int32), np.full((len(counts), k), -np.inf)
        for s, (a, b) in enumerate(pairwise(self.encoded.sequence_ptr.tolist())):
            order = np.argsort(-sums[s, : counts[s]], kind="stable")[:k]
            scores[s, : len(order)] = sums[s, order]
            block = ids[n * a : n * b].reshape(n, b - a)[order]
            found[k * a : k * a + block.size] = block.ravel()
        return found, scores, np.minimum(counts, k)
