"""Sentences that the restrictions of a tagger leave no labelling: the restrictions are lifted for them alone.

The tag dictionary goes first, then the pairs of labels that may not follow each other. What the caller says of a
sentence always holds: where the pairs leave no labelling that meets it, there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import Encoded, rows_of, sequence_ptr
from margent.features.feature_map import FeatureMap
from margent.models.tagger.constraints import Allowed, Restrictions, both_allowed
from margent.models.tagger.decoding import decoded
from margent.models.tagger.search import Bools, Doubles, Ids, Search, SpanQueries, Structure

Numbers = NDArray[np.int64]


class Level(NamedTuple):
    """One way to search sentences.

    asked : (n,) whether it is for a sentence
    allowed : the labels that tokens may have; None: any
    pairs : whether there are pairs of labels that may not follow each other
    beam : whether only what survives in a beam is looked at
    lifted : the restrictions that do not hold any more, in words
    """

    asked: Bools
    allowed: Allowed | None
    pairs: bool
    beam: bool
    lifted: str


Make = Callable[[Encoded, Level], Search]
"""The search of some sentences; `allowed` is that of these sentences."""


def levels_of(restrictions: Restrictions, encoded: Encoded, *, pairs: bool, beam: bool) -> list[Level]:
    """The ways to search, each for those sentences that the ones before leave no labelling."""
    seen, given = restrictions.seen, restrictions.given
    known = np.zeros(encoded.n_sequences, dtype=bool)
    if given is not None:  # of which sentences the caller said something
        ends = given[1][encoded.sequence_ptr]
        known = ends[1:] > ends[:-1]
    everything = np.ones_like(known)
    levels = [Level(everything, both_allowed(seen, given), pairs, beam, "")]
    dictionary = "the tag dictionary"
    if seen is not None and (pairs or given is not None):
        levels.append(Level(everything, given, pairs, beam, dictionary))
    if pairs and beam and known.any():  # a beam may miss the labellings that there are
        levels.append(Level(known, given, pairs, False, dictionary if seen is not None else ""))
    if pairs:
        lifted = f"{dictionary} and constrain" if seen is not None else "constrain"
        levels.append(Level(~known, given, False, beam, lifted))
    return levels


class FallbackSearch:
    """The labellings of some sentences, each searched by the first of several levels that leaves it any; see
    `margent.models.tagger.search.Search`.

    The first question finds out the levels: all sentences are asked about at the first one, and those that have no
    labelling there once more, by themselves, at the next.
    """

    def __init__(self, encoded: Encoded, levels: Sequence[Level], make: Make) -> None:
        self._encoded, self._levels, self._make = encoded, levels, make
        self._first = make(encoded, levels[0])
        self._chosen: NDArray[np.int64] | None = None  # (n,) the level of each sentence; -1: none has a labelling

    def lifted(self) -> dict[str, Numbers]:
        """The sentences for which restrictions were lifted, by what these were; after the first question."""
        found: dict[str, Numbers] = {}
        if self._chosen is not None and len(self._levels) > 1:
            for number, level in enumerate(self._levels):
                sentences = np.flatnonzero(self._chosen == number)
                if level.lifted and len(sentences):
                    found[level.lifted] = np.union1d(found.get(level.lifted, sentences), sentences)
        return found

    def best(self) -> tuple[Ids, Bools]:
        ids = np.zeros(self._encoded.n_tokens, dtype=np.int32)

        def ask(search: Search, numbers: Numbers) -> Bools:
            ids[self._rows(numbers)], possible = search.best()
            return possible

        return ids, self._ask(ask)

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        n = self._encoded.n_sequences
        ids, scores = np.zeros(k * self._encoded.n_tokens, dtype=np.int32), np.full((n, k), -np.inf)
        counts = np.zeros(n, dtype=np.int32)

        def ask(search: Search, numbers: Numbers) -> Bools:
            ids[self._rows(numbers, k)], scores[numbers], counts[numbers] = search.k_best(k)
            return counts[numbers] > 0

        self._ask(ask)
        return ids, scores, counts

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        nodes: Doubles | None = None

        def ask(search: Search, numbers: Numbers) -> Bools:
            nonlocal nodes
            found, possible = search.marginals(scale)
            if nodes is None:
                nodes = found  # the first question is about all sentences
            else:
                nodes[self._rows(numbers)] = found
            return possible

        possible = self._ask(ask)
        assert nodes is not None
        return nodes, possible

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        ids = np.zeros(n * self._encoded.n_tokens, dtype=np.int32)

        def ask(search: Search, numbers: Numbers) -> Bools:
            ids[self._rows(numbers, n)], possible = search.samples(scale, seed, n)
            return possible

        return ids, self._ask(ask)

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        if self._chosen is None:
            self.best()
        assert self._chosen is not None
        result = np.full(len(queries.sequences), -np.inf)
        levels = self._chosen[queries.sequences]
        for level in np.unique(levels[levels >= 0]).tolist():
            rows = np.flatnonzero(levels == level)
            part, search = _part_of(queries, rows), self._first
            if level:
                numbers = np.flatnonzero(self._chosen == level)
                search = self._search(level, numbers)
                part = part._replace(sequences=np.searchsorted(numbers, part.sequences))
            result[rows] = search.span_log_probabilities(scale, part)
        return result

    def _ask(self, question: Callable[[Search, Numbers], Bools]) -> Bools:
        """Asks about each sentence at its level, and writes down the levels when asked for the first time.

        Returns (n,) which sentences have a labelling.
        """
        n = self._encoded.n_sequences
        possible: Bools = question(self._first, np.arange(n))
        if len(self._levels) == 1:
            self._chosen = possible.astype(np.int64) - 1
            return possible
        possible = possible.copy()
        known, chosen = self._chosen, np.where(possible, 0, -1).astype(np.int64)
        for level in range(1, len(self._levels)):
            waiting = self._levels[level].asked & ~possible if known is None else known == level
            numbers = np.flatnonzero(waiting)
            if len(numbers):
                possible[numbers] = question(self._search(level, numbers), numbers)
                chosen[numbers[possible[numbers]]] = level
        if known is None:
            self._chosen = chosen
        return possible

    def _search(self, level: int, numbers: Numbers) -> Search:
        """Of some sentences, at a level."""
        chosen = self._levels[level]
        if chosen.allowed is not None:
            ids, ptr = chosen.allowed
            tokens = rows_of(self._encoded.sequence_ptr, numbers)
            chosen = chosen._replace(allowed=(ids[rows_of(ptr, tokens)], sequence_ptr(np.diff(ptr)[tokens])))
        return self._make(self._encoded.part(numbers), chosen)

    def _rows(self, numbers: Numbers, n: int = 1) -> Numbers | slice:
        """Where the tokens of some sentences are, each sentence having room for n labellings."""
        if len(numbers) == self._encoded.n_sequences:  # as a rule: all
            return slice(None)
        return rows_of(n * self._encoded.sequence_ptr, numbers)


def fallback_search(
    encoded: Encoded,
    levels: Sequence[Level],
    structure: Callable[[bool, bool], Structure],
    feature_map: FeatureMap,
    threads: int,
    decode: str,
    scale: float,
    pairs: Bools | None,
) -> FallbackSearch:
    """The search by weights that are ready with and without pairs and beam (`structure`), with that labelling as the
    best which `decode` says. `pairs`: which label may follow which, where pairs hold."""

    def make(part: Encoded, level: Level) -> Search:
        search = structure(level.pairs, level.beam).search(feature_map, part, level.allowed, threads)
        return decoded(search, decode, scale, part, pairs if level.pairs else None)

    return FallbackSearch(encoded, levels, make)


def said_of_lifted(lifted: Mapping[str, Numbers]) -> str:
    """For which sentences restrictions were lifted, in a sentence; later sentences are like them."""
    parts = [
        f"{what} for {len(sentences)} sentence{'s' if len(sentences) != 1 else ''} (the first: {sentences[0]})"
        for what, sentences in lifted.items()
    ]
    return (
        f"the restrictions of this Tagger left no labelling, and were lifted: {', '.join(parts)}; "
        "this is said once, and later sentences are treated alike"
    )


def _part_of(queries: SpanQueries, rows: Numbers) -> SpanQueries:
    return SpanQueries(
        queries.sequences[rows],
        queries.begins[rows],
        queries.ends[rows],
        sequence_ptr(np.diff(queries.ptr)[rows]),
        queries.labels[rows_of(queries.ptr, rows)],
        queries.before[rows],
        queries.after[rows],
    )
