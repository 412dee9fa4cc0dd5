"""Tables of k-gram scores as a structure to search: the forests of all labellings, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.errors import ConstraintError
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.tagger.constraints import Allowed
from margent.models.tagger.search import Bools, Doubles, Ids, SpanQueries
from margent.processors import in_threads
from margent.spectral.bi_symbols import UNSEEN, BiSymbols
from margent.spectral.forest import k_gram_forest
from margent.spectral.symbol_map import UNKNOWN, symbol_numbers
from margent.structures.forest import Derivation, Forest

if TYPE_CHECKING:
    from margent.spectral.weights import KGramWeights

Integers = NDArray[np.int64]

BOUNDARY = -2
"""The symbol, and the label, before the first and after the last token."""

# The number of a candidate that is a label, less its number among the labels.
_ANY_LABEL = UNSEEN - 1

# Sequences are searched together until their forests have about this many edges, and so many forests are kept: enough
# for the development data that a calibration asks about again and again.
_EDGES_AT_ONCE = 1 << 18
_KEPT = 8

_SMALLEST = np.finfo(np.float64).tiny


def with_boundaries(sequence: NDArray[np.integer[Any]], n_boundaries: int) -> list[int]:
    """A sequence with boundaries on both sides."""
    return [*[BOUNDARY] * n_boundaries, *sequence.tolist(), *[BOUNDARY] * n_boundaries]


@dataclass(frozen=True)
class KGramStructure:
    """`pairs`: (L + 1, L + 1) which label may follow which, the boundary of a sequence last; None: any."""

    weights: KGramWeights
    pairs: Bools | None

    def search(self, feature_map: FeatureMap, encoded: Encoded, allowed: Allowed | None, threads: int) -> TaggingSearch:
        return TaggingSearch(self.weights, self.pairs, encoded, allowed, threads)

    def beyond(self, feature_map: FeatureMap, encoded: Encoded, limit: float, threads: int) -> Bools:
        return np.zeros(encoded.n_sequences, dtype=bool)  # symbols have no numbers


class TaggingSearch:
    """The labellings of some sequences by a table of k-grams; see `margent.models.tagger.search.Search`.

    A symbol has the labels that it was seen with in training. Where none of them is allowed, and where the symbol is
    unknown, no k-gram in which it has a part scores anything: it has one label, the most frequent that is allowed; or,
    where pairs of labels are forbidden, which may forbid that one, all that are allowed.
    """

    def __init__(
        self,
        weights: KGramWeights,
        pairs: Bools | None,
        encoded: Encoded,
        allowed: Allowed | None,
        threads: int,
    ) -> None:
        self._weights, self._pairs, self._starts, self._threads = weights, pairs, encoded.sequence_ptr, threads
        self._n, self._symbols = encoded.n_sequences, symbol_numbers(encoded)
        bi_symbols = weights.table.bi_symbols
        self._candidates = bi_symbols if pairs is None else _WithAnyLabel(bi_symbols, weights.label_counts)
        self._fallback = np.full(len(self._symbols), weights.most_frequent_label)
        self._allowed: Bools | None = None
        if allowed is not None:
            self._restrict(*allowed)
        self._kept: dict[tuple[int, int], _Group] = {}

    def _restrict(self, ids: Ids, ptr: Integers) -> None:
        """Keeps to the allowed labels: those of a token (none named: all), or else the most frequent of them."""
        weights = self._weights
        self._allowed = np.ones((len(self._symbols), weights.n_labels + 1), dtype=bool)
        for token in np.flatnonzero(np.diff(ptr)).tolist():
            row = ids[ptr[token] : ptr[token + 1]]
            self._allowed[token] = False
            self._allowed[token, row] = True
            own = weights.table.bi_symbols.candidates(int(self._symbols[token]))
            if not self._allowed[token, weights.labels_of_bi_symbols[own[own != UNSEEN]]].any():
                self._symbols[token] = UNKNOWN
                self._fallback[token] = row[np.argmax(weights.label_counts[row])]

    @cached_property
    def _sequences(self) -> list[list[int]]:
        return [
            with_boundaries(self._symbols[a:b], self._weights.n_boundaries) for a, b in pairwise(self._starts.tolist())
        ]

    @cached_property
    def _groups(self) -> list[tuple[int, int]]:
        """The sequences, from each of these numbers to the next, that are searched together."""
        candidates, k = self._candidates.candidates, self._weights.n_boundaries + 1
        ends, n_edges = [0], 0
        for s, sequence in enumerate(self._sequences):
            counts = [len(candidates(symbol)) for symbol in sequence]
            n_edges += sum(prod(counts[max(0, t - k) : t]) for t in range(1, len(counts) + 1))
            if n_edges >= _EDGES_AT_ONCE or s == self._n - 1:
                ends.append(s + 1)
                n_edges = 0
        return list(pairwise(ends))

    # The questions

    def best(self) -> tuple[Ids, Bools]:
        ids, possible = np.zeros(len(self._symbols), dtype=np.int32), np.zeros(self._n, dtype=bool)
        if self._allowed is None and self._pairs is None:  # then the table knows it by itself
            outputs = self._weights.table.predict(self._sequences, threads=self._threads)
            inner = slice(self._weights.n_boundaries, -self._weights.n_boundaries or None)
            return np.array([label for y in outputs for label in y[inner]], dtype=np.int32), ~possible

        def search(group: _Group) -> None:
            group.write_labels(group.forest.best(), ids)
            possible[group.first : group.last] = True

        self._for_each_group(search)
        return ids, possible

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        ids, counts = np.zeros(k * len(self._symbols), dtype=np.int32), np.zeros(self._n, dtype=np.int32)
        scores = np.full((self._n, k), -np.inf)

        def search(group: _Group) -> None:
            found = group.forest.k_best(k)
            counts[group.first] = len(found)
            scores[group.first, : len(found)] = [derivation.score for derivation in found]
            self._write_several(group, found, ids, k)

        self._for_each_group(search, alone=True)
        return ids, scores, counts

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        nodes, possible = np.zeros((len(self._symbols), self._weights.n_labels)), np.zeros(self._n, dtype=bool)

        def sum_up(group: _Group) -> None:
            uses = group.scaled(scale).marginals()
            inner = group.tokens >= 0
            np.add.at(nodes, (group.tokens[inner], group.labels[inner]), uses[inner])
            possible[group.first : group.last] = True

        self._for_each_group(sum_up)
        return nodes, possible

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        ids, possible = np.zeros(n * len(self._symbols), dtype=np.int32), np.zeros(self._n, dtype=bool)

        def draw(group: _Group) -> None:
            own = np.random.SeedSequence([seed, group.first]).generate_state(1, np.uint64)  # for each place another
            self._write_several(group, group.scaled(scale).sample(n, int(own[0])), ids, n)
            possible[group.first] = True

        self._for_each_group(draw, alone=True)
        return ids, possible

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        """A run of one label with any neighbours has its marginal; others take a pass over their sequence each."""
        nodes, possible = self.marginals(scale)
        tokens = self._starts[queries.sequences] + queries.begins
        single = (queries.ends - queries.begins == 1) & queries.before.all(axis=1) & queries.after.all(axis=1)
        result = np.full(len(tokens), -np.inf)
        alone = np.flatnonzero(single & possible[queries.sequences])
        found = nodes[tokens[alone], queries.labels[queries.ptr[alone]]]
        result[alone] = np.log(np.clip(found, _SMALLEST, 1.0))
        others = np.flatnonzero(~single & possible[queries.sequences])
        for s in np.unique(queries.sequences[others]).tolist():
            group = self._group(s, s + 1)
            forest = group.scaled(scale)
            total = forest.log_partition()
            for r in others[queries.sequences[others] == s].tolist():
                kept = forest.restrict(group.edges_with_span(queries, r, int(tokens[r]), int(self._starts[s + 1])))
                with suppress(ConstraintError):  # impossible: it stays -inf
                    result[r] = min(kept.log_partition() - total, 0.0)
        return result

    # Their forests

    def _for_each_group(self, answer: Callable[[_Group], None], *, alone: bool = False) -> None:
        """Has a question answered for all sequences, in groups or each `alone`; each answer has its own place.

        One of a sequence that has no labelling is left out, and the others in its group are then asked alone.
        """

        def ask(span: tuple[int, int]) -> None:
            try:
                answer(self._group(*span))
            except ConstraintError:
                if span[1] - span[0] > 1:
                    for s in range(*span):
                        ask((s, s + 1))

        spans = [(s, s + 1) for s in range(self._n)] if alone else self._groups
        in_threads(ask, spans, self._threads)

    def _write_several(self, group: _Group, found: list[Derivation], ids: Ids, n: int) -> None:
        """TaggingSearch of the one sequence of a group to their place among n for each sequence."""
        a, b = self._starts[group.first : group.last + 1].tolist()
        for i, derivation in enumerate(found):
            group.write_labels(derivation, ids[n * a + i * (b - a) :], a)

    def _group(self, first: int, last: int) -> _Group:
        group = self._kept.get((first, last))
        if group is None:
            group = self._made_group(first, last)
            if len(self._kept) < _KEPT:
                self._kept[first, last] = group
        return group

    def _made_group(self, first: int, last: int) -> _Group:
        weights, sequences = self._weights, self._sequences[first:last]
        tables = {length: scores for length, scores in weights.table.scores.items() if length}
        # Which label stood before is only known to forests that look at pairs.
        lengths = set(tables) if self._pairs is None else {*tables, 2}
        found = k_gram_forest(self._candidates, sequences, lengths)
        tokens = self._tokens_of_places(first, last)[found.positions]
        labels = np.where(
            found.symbols < UNSEEN,
            _ANY_LABEL - found.symbols,
            weights.labels_of_bi_symbols[np.maximum(found.symbols, UNSEEN)],
        )
        unseen = (found.symbols == UNSEEN) & (tokens >= 0)
        labels[unseen] = self._fallback[tokens[unseen]]
        scores = np.zeros(found.forest.n_edges)
        for length, of_length in tables.items():
            grams = found.grams[length]
            scores += np.where(grams == UNSEEN, 0.0, of_length.ravel()[grams])
        if self._allowed is not None:
            inner = tokens >= 0
            scores[inner] = np.where(self._allowed[tokens[inner], labels[inner]], scores[inner], -np.inf)
        if self._pairs is not None:
            scores = np.where(self._follows(found.forest, found.positions, labels), scores, -np.inf)
        return _Group(first, last, found.forest.with_scores(scores), tokens, labels)

    def _tokens_of_places(self, first: int, last: int) -> Integers:
        """The token at each place of some sequences with their boundaries, which are -1.

        There is one more -1 at the end, for edges without a place, whose position is -1.
        """
        boundary = np.full(self._weights.n_boundaries, -1)
        parts = [(boundary, np.arange(a, b), boundary) for a, b in pairwise(self._starts[first : last + 1].tolist())]
        return np.concatenate([*(part for three in parts for part in three), [-1]])

    def _follows(self, forest: Forest, positions: Integers, labels: Integers) -> Bools:
        """(E,) whether an edge's label may follow the one before; an edge that closes a sequence is its boundary."""
        assert self._pairs is not None
        boundary = self._weights.n_labels
        pairs = self._pairs.copy()
        pairs[boundary, boundary] = True
        own = np.where(positions < 0, boundary, labels)
        at_node = np.full(forest.n_nodes, boundary)
        at_node[forest.heads] = own
        before = np.full(forest.n_edges, boundary)
        one = np.diff(forest.tail_ptr) == 1
        before[one] = at_node[forest.tails[forest.tail_ptr[:-1][one]]]
        allowed: Bools = pairs[before, own]
        return allowed


class _WithAnyLabel:
    """Bi-symbols, and for an unknown symbol each label as a candidate: the numbers below UNSEEN.

    The more frequent come first, which is where ties go.
    """

    def __init__(self, bi_symbols: BiSymbols, label_counts: Integers) -> None:
        self._bi_symbols = bi_symbols
        self._any: Integers = _ANY_LABEL - np.argsort(-label_counts, kind="stable")

    def __len__(self) -> int:
        return len(self._bi_symbols)

    def candidates(self, symbol: Hashable) -> Integers:
        return self._any if symbol == UNKNOWN else self._bi_symbols.candidates(symbol)


class _Group(NamedTuple):
    """The forest of sequences first to last - 1.

    tokens, labels : (E,) which token an edge gives which label; token -1: a boundary, or an edge that closes or joins
    """

    first: int
    last: int
    forest: Forest
    tokens: Integers
    labels: Integers

    def scaled(self, scale: float) -> Forest:
        return self.forest.with_scores(scale * self.forest.scores)

    def write_labels(self, derivation: Derivation, ids: Ids, start: int = 0) -> None:
        """To `ids`, whose first is that of token `start`."""
        edges = derivation.edges[self.tokens[derivation.edges] >= 0]
        ids[self.tokens[edges] - start] = self.labels[edges]

    def edges_with_span(self, queries: SpanQueries, r: int, token: int, end: int) -> Bools:
        """(E,) the edges that are left where run r must be, from `token` on, in a sequence that ends before `end`."""
        labels = queries.labels[queries.ptr[r] : queries.ptr[r + 1]]
        keep = np.ones(len(self.tokens), dtype=bool)
        for i, label in enumerate(labels.tolist()):
            keep &= (self.tokens != token + i) | (self.labels == label)
        after = token + len(labels)
        for beside, may in ((token - 1, queries.before[r]), (after, queries.after[r])):
            inside = queries.begins[r] > 0 if beside < token else after < end
            if inside:
                keep &= (self.tokens != beside) | may[self.labels].astype(bool)
            elif not may[-1]:
                keep[:] = False
        return keep
