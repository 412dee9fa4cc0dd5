"""The pruned charts of sentences: all trees that the grammar thinks possible, as forests, and questions to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.binarisation import BinaryNode
from margent.annotation.phrase_tree import PhraseTree
from margent.features.encoded import sequence_ptr
from margent.models.phrase_parser.data import PhraseData
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.phrase_parser.lexicon import Lexicon

Doubles = NDArray[np.float64]
EMPTY = PhraseTree((), ())


@dataclass(frozen=True, eq=False)
class PhraseCharts:
    """Of n sentences, those with words. `numbers`: which of the sentences these are."""

    grammar: TreebankGrammar
    data: PhraseData
    numbers: NDArray[np.int64]
    forests: _core.PhraseForests

    @classmethod
    def of(
        cls,
        grammar: TreebankGrammar,
        lexicon: Lexicon,
        data: PhraseData,
        margin: float,
        threads: int,
        right: Sequence[Sequence[BinaryNode]] | None = None,
    ) -> PhraseCharts:
        """All trees that score at least as much as the best of their sentence under the grammar less `margin`.

        `right`: the right tree of each sentence, binarised, which is in the chart whatever it scores. One pass of the
        CKY algorithm for each sentence of n words: O(n^3 rules).
        """
        numbers = np.flatnonzero([len(words) > 0 for words in data.words])
        chosen = data.part(numbers)
        known: dict[tuple[str, str | None], list[tuple[int, float]]] = {}
        rows: list[list[tuple[int, float]]] = []
        for token in chain.from_iterable(zip(words, tags) for words, tags in zip(chosen.words, chosen.tags)):
            if token not in known:
                known[token] = _tag_scores(grammar, lexicon, *token)
            rows.append(known[token])
        scored = list(chain.from_iterable(rows))
        trees = None if right is None else [grammar.right_rows(right[i]) for i in numbers.tolist()]
        forests = _core.PhraseForests(
            grammar.native,
            sequence_ptr([len(words) for words in chosen.words]),
            sequence_ptr([len(row) for row in rows]),
            np.array([symbol for symbol, _ in scored], dtype=np.int32),
            np.array([score for _, score in scored], dtype=np.float64),
            float(margin),
            None if trees is None else sequence_ptr([len(tree) for tree in trees]),
            None if trees is None else np.concatenate([np.zeros((0, 5), np.int32), *trees]),
            threads=threads,
        )
        return cls(grammar, chosen, numbers, forests)

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def edges(self) -> NDArray[np.int32]:
        """(E, 5) kind, begin, end, split, rule."""
        return np.column_stack([self.forests.kinds.astype(np.int32), self.forests.places])

    @cached_property
    def tokens(self) -> list[list[tuple[str, str]]]:
        """Word and tag of each token: as given, or else of the best tree under the grammar."""
        found = self.best(self.forests.scores, 1)
        return [list(zip(tree.words, tree.tags)) for ((_, tree),) in found]

    def best(self, scores: Doubles, threads: int) -> list[list[tuple[float, PhraseTree]]]:
        return self.k_best(scores, 1, threads)

    def k_best(self, scores: Doubles, k: int, threads: int) -> list[list[tuple[float, PhraseTree]]]:
        """For each sentence the k trees that score best, with their scores, best first; `scores` (E,) are of edges."""
        totals, ptr, edges, sentence_ptr = self.forests.k_best(scores, k, threads)
        found: list[list[tuple[float, PhraseTree]]] = []
        for s, (a, z) in enumerate(pairwise(sentence_ptr.tolist())):
            own = self.edges[self.forests.edge_ptr[s] :] if s else self.edges
            found.append([])
            for d in range(a, z):
                rows = own[edges[ptr[d] : ptr[d + 1]]].tolist()
                tree = self.grammar.tree(self.data.words[s], self.data.tags[s], rows)
                found[-1].append((float(totals[d]), tree))
        return found

    def spread(self, answers: Sequence[PhraseTree], n: int) -> list[PhraseTree]:
        """Trees of all n sentences: those without words have the empty tree."""
        trees = [EMPTY] * n
        for number, tree in zip(self.numbers.tolist(), answers):
            trees[number] = tree
        return trees

    # Probabilities

    @cached_property
    def _phrases(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], list[str]]:
        """Which phrases edges stand for: distinct rows (sentence, start, end, label), and of each pair of an edge with
        a phrase the numbers of both; and the labels."""
        labels: dict[str, int] = {}
        of_symbol = np.array(
            [labels.setdefault(s.label, len(labels)) if s.kind == "phrase" else -1 for s in self.grammar.symbols],
            dtype=np.int64,
        )
        kinds, rules = self.edges[:, 0], self.edges[:, 4]
        sentences = np.repeat(np.arange(len(self)), np.diff(self.forests.edge_ptr))
        two = np.flatnonzero(kinds == 1)
        pairs = [(two, of_symbol[self.grammar.binary[rules[two], 0]])]
        for rule in np.unique(rules[kinds == 2]).tolist():
            at = np.flatnonzero((kinds == 2) & (rules == rule))
            pairs += [(at, np.full(len(at), labels[s.label])) for s in self.grammar.labels_of_chain(rule)]
        edge = np.concatenate([at for at, _ in pairs])
        label = np.concatenate([of for _, of in pairs])
        edge, label = edge[label >= 0], label[label >= 0]
        rows = np.column_stack([sentences[edge], self.edges[edge, 1], self.edges[edge, 2], label])
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        return distinct, edge, which.reshape(-1), list(labels)

    def phrase_probabilities(self, scores: Doubles, threads: int) -> PhraseProbabilityTable:
        """How probable each phrase is under exp(score): its expected number, at most 1."""
        rows, edge, which, labels = self._phrases
        _, uses = self.forests.marginals(scores, threads)
        return PhraseProbabilityTable(
            rows, np.minimum(np.bincount(which, uses[edge], minlength=len(rows)), 1.0), labels
        )


@dataclass(frozen=True, eq=False)
class PhraseProbabilityTable:
    """rows (N, 4): sentence, start, end and label of each phrase, in this order; probabilities (N,)."""

    rows: NDArray[np.int64]
    probabilities: Doubles
    labels: list[str]

    @cached_property
    def _numbers(self) -> dict[tuple[int, int, int, str], int]:
        return {(s, a, b, self.labels[c]): i for i, (s, a, b, c) in enumerate(self.rows.tolist())}

    def of_trees(self, trees: Sequence[PhraseTree]) -> Doubles:
        """Of the phrases of one tree of each sentence, one after the other; the label above pieces has 1."""
        found = (self._numbers.get((s, *span), -1) for s, tree in enumerate(trees) for span in tree.phrases)
        numbers = np.fromiter(found, dtype=np.int64)
        return np.where(numbers >= 0, np.append(self.probabilities, 1.0)[numbers], 1.0)

    def by_sentence(self, n: int) -> Iterator[list[tuple[int, int, str, float]]]:
        """Phrases with their probabilities."""
        ends = np.searchsorted(self.rows[:, 0], np.arange(n + 1))
        for a, z in pairwise(ends.tolist()):
            yield [
                (b, e, self.labels[c], p)
                for (_, b, e, c), p in zip(self.rows[a:z].tolist(), self.probabilities[a:z].tolist())
            ]


def _tag_scores(grammar: TreebankGrammar, lexicon: Lexicon, word: str, tag: str | None) -> list[tuple[int, float]]:
    """Symbols of tags that a word may have: that which is given, if the grammar knows it."""
    if tag is not None and tag in grammar.tags:
        return [(grammar.tags[tag], 0.0)]
    return [(grammar.tags[name], score) for name, score in lexicon.scores(word).items() if name in grammar.tags]
