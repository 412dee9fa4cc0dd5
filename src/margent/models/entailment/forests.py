"""All alignments of pairs of sentences, with the relations that they give words and phrases, as forests.

Of a pair with the hypothesis nodes i (words, then phrases) and L labels, the forest has a node (i, r) for each node
and relation r, and a root. Its edges are

    (i, r) <- nothing                      word i has relation r, and is aligned to word j of the premise, or to none
    (i, r) <- (left, r1), (right, r2)      phrase i has relation r, its parts r1 and r2         (composed)
    root   <- (whole sentence, y)          the label of the pair is y                           (composed)
    root   <- (0, y), (1, y), ...          the label of the pair is y, as that of all words     (otherwise)

A derivation is an alignment with a relation of each node, and scores the weights of its edges' features: of a pair of
words, of the pair of sentences, each in one of L columns, or of a rule r1 r2 -> r, in one of L^3. The log of the sum of
exp(score) over the derivations with label y is the score of y under "latent CRF" learners, the best one under all
others. Both take one pass over q (k + 1) L + (q - 1) L^3 edges, q words with k candidates each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.encoded import sequence_ptr
from margent.models.entailment.feature_keys import FeatureKeys
from margent.models.entailment.word_pairs import EncodedPairs, WordPairs

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
_WORD, _RULE, _ROOT = range(3)


@dataclass(frozen=True, eq=False)
class AlignmentForests:
    """Of n pairs. Edges are in order of pairs: those of words, of phrases, of the label.

    kind : (E,) 0 of a word, 1 of a phrase, 2 of the label
    pair, node : (E,) whose: the number of the pair, and the node of the hypothesis
    premise : (E,) the word of the premise, counted from the first of its sentence; -1: none, and of other edges
    label : (E,) the relation or the label
    """

    native: _core.Forests
    n_labels: int
    n_features: int
    edge_ptr: Ints
    kind: NDArray[np.int8]
    pair: Ints
    node: Ints
    premise: Ints
    label: Ints

    @classmethod
    def of(
        cls,
        encoded: EncodedPairs,
        words: WordPairs,
        parts: FeatureKeys,
        rules: FeatureKeys,
        n_labels: int,
        compose: bool,
    ) -> AlignmentForests:
        """`parts`, `rules`: what has weights; those of rules come after those of all else."""
        L, n = n_labels, len(encoded)
        H, P = encoded.hypotheses, encoded.premises
        lengths = H.lengths
        n_nodes = np.maximum(2 * lengths - 1, lengths) if compose else lengths

        # Edges of words, of phrases, of labels: for each its label or rule in turn.
        ids, n_part_weights = parts.find(words.keys), len(parts) * L
        of_words = _Features.of(ids, L, 0)
        word = words.hypothesis - H.sequence_ptr[words.pair]
        pair, left, right = encoded.phrases.T if compose else np.zeros((3, 0), np.int64)
        n_rules = L**3
        rule_ids = rules.find(words.rule_keys[: len(pair)])
        of_rules = _Features.of(rule_ids, n_rules, n_part_weights)
        phrase = lengths[pair] + np.arange(len(pair)) - encoded.phrase_ptr[pair]
        whole = parts.find(words.whole_keys)
        known = whole >= 0
        counts = np.bincount(words.whole_pair[known], minlength=n)
        of_whole = _Features(counts, whole[known]).spread(L, 0)

        relation = np.tile(np.arange(L), len(word))
        rule = np.tile(np.arange(n_rules), len(pair))
        label = np.tile(np.arange(L), n)
        first, second, made = rule // L**2, rule // L % L, rule % L
        heads = np.concatenate([
            np.repeat(word, L) * L + relation,
            np.repeat(phrase, n_rules) * L + made,
            np.repeat(n_nodes * L, L),
        ])  # fmt: skip
        if compose:
            root_counts, root_tails = np.ones(n * L, np.int64), np.repeat(n_nodes - 1, L) * L + label
        else:
            root_counts = np.repeat(lengths, L)
            within = np.arange(int(root_counts.sum())) - np.repeat(np.cumsum(root_counts) - root_counts, root_counts)
            root_tails = within * L + np.repeat(label, root_counts)
        tails = _Features(
            np.concatenate([np.zeros(len(relation), np.int64), np.full(len(rule), 2), root_counts]),
            np.concatenate([
                np.column_stack([np.repeat(left, n_rules) * L + first, np.repeat(right, n_rules) * L + second]).ravel(),
                root_tails,
            ]),
        )  # fmt: skip
        pairs = np.concatenate([np.repeat(words.pair, L), np.repeat(pair, n_rules), np.repeat(np.arange(n), L)])
        kind = np.repeat(np.array([_WORD, _RULE, _ROOT], np.int8), [len(relation), len(rule), len(label)])
        features = _Features(
            np.concatenate([of_words.counts, of_rules.counts, of_whole.counts]),
            np.concatenate([of_words.ids, of_rules.ids, of_whole.ids]),
        )
        order = np.argsort(pairs, kind="stable")
        features, tails = features.in_order(order), tails.in_order(order)
        edge_ptr = sequence_ptr(np.bincount(pairs, minlength=n))
        native = _core.Forests(
            sequence_ptr(n_nodes * L + 1),
            edge_ptr,
            (n_nodes * L).astype(np.int32),
            heads[order].astype(np.int32),
            sequence_ptr(tails.counts),
            tails.ids.astype(np.int32),
            np.ones(len(order), np.uint8),
            sequence_ptr(features.counts),
            features.ids.astype(np.int32),
        )
        premise = np.where(words.premise >= 0, words.premise - P.sequence_ptr[words.pair], -1)
        return cls(
            native,
            L,
            n_part_weights + len(rules) * n_rules,
            edge_ptr,
            kind[order],
            pairs[order],
            np.concatenate([np.repeat(word, L), np.repeat(phrase, n_rules), np.repeat(n_nodes - 1, L)])[order],
            np.concatenate([np.repeat(premise, L), np.full(len(rule) + len(label), -1)])[order],
            np.concatenate([relation, made, label])[order],
        )

    def __len__(self) -> int:
        return len(self.edge_ptr) - 1

    def oracle(self, right: Ints, sample_weight: Doubles | None) -> _core.ForestOracle:
        """What learns that the label of pair i is `right[i]`, by whatever alignment and relations."""
        mask = (self.kind != _ROOT) | (self.label == right[self.pair])
        costs = np.where(mask, 0.0, 1.0)
        return _core.ForestOracle(self.native, None, mask.view(np.uint8), costs, sample_weight, self.n_features)

    def label_scores(self, weights: Doubles, summed: bool, threads: int) -> Doubles:
        """(n, L): the log of the sum of exp(score) over the derivations with each label, or the best score of one."""
        scores = self.native.scores(weights, threads)
        found = np.zeros((len(self), self.n_labels))
        for label in range(self.n_labels):
            own = np.where((self.kind == _ROOT) & (self.label != label), -np.inf, scores)
            found[:, label] = self.native.log_partition(own, threads) if summed else self.native.best(own, threads)[0]
        return found

    def expected(
        self, weights: Doubles, scale: float, premise_lengths: Ints, n_nodes: Ints, threads: int
    ) -> list[tuple[Doubles, Doubles]]:
        """Of each pair the alignment (q, p + 1), how probable it is that a word of the hypothesis is aligned to each
        word of the premise or, last, to none; and how probable each relation of each node is (nodes, L).

        Under exp(scale * score); without composition the relation of a node is the label."""
        _, uses = self.native.marginals(scale * self.native.scores(weights, threads), threads)
        found = []
        for i, (start, end) in enumerate(zip(self.edge_ptr[:-1].tolist(), self.edge_ptr[1:].tolist())):
            own = slice(start, end)
            kind, node, label, use = self.kind[own], self.node[own], self.label[own], uses[own]
            p, q = int(premise_lengths[i]), (int(n_nodes[i]) + 1) // 2
            of_word = kind == _WORD
            alignment = np.zeros((q, p + 1))
            np.add.at(alignment, (node[of_word], self.premise[own][of_word]), use[of_word])  # -1: the last column
            relations = np.zeros((int(n_nodes[i]), self.n_labels))
            inside = kind != _ROOT
            np.add.at(relations, (node[inside], label[inside]), use[inside])
            if not (kind == _RULE).any():
                relations[q:] = use[~inside]
            found.append((alignment, relations))
        return found

    def best(self, weights: Doubles, label: int | None, threads: int = 1) -> tuple[float, list[int]]:
        """Of one pair the best derivation, with this label if one is given: its score and its edges."""
        scores = self.native.scores(weights, threads)
        if label is not None:
            scores = np.where((self.kind == _ROOT) & (self.label != label), -np.inf, scores)
        totals, _, edges, _ = self.native.best(scores, threads)
        return float(totals[0]), edges.tolist()


@dataclass(frozen=True, eq=False)
class _Features:
    """A list of numbers for each of m things: how many, and all of them one after the other."""

    counts: Ints
    ids: NDArray[Any]

    @classmethod
    def of(cls, ids: NDArray[np.int32], columns: int, first: int) -> _Features:
        """Of rows of features, where -1 is none: each row `columns` times, for the weights of each column."""
        known = ids >= 0
        return cls(known.sum(axis=1), ids[known]).spread(columns, first)

    def spread(self, columns: int, first: int) -> _Features:
        counts = np.repeat(self.counts, columns)
        starts = np.repeat(np.cumsum(self.counts) - self.counts, columns)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        column = np.repeat(np.tile(np.arange(columns), len(self.counts)), counts)
        ids = self.ids[np.repeat(starts, counts) + within].astype(np.int64)
        return _Features(counts, first + ids * columns + column)

    def in_order(self, order: Ints) -> _Features:
        counts = self.counts[order]
        starts = (np.cumsum(self.counts) - self.counts)[order]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return _Features(counts, self.ids[np.repeat(starts, counts) + within])
