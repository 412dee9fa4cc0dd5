"""Random sentences, templates and weights of parsers over arcs, and what their features weigh."""

from __future__ import annotations

import itertools

import numpy as np

from margent import _core
from oracle import dependency_trees, tree_features

BITS = 16
TEMPLATES = [
    (0, [(0, 0, 0), (1, 0, 0)], True, False, False, False, -1),
    (0, [(0, -1, 1), (1, 2, 1)], True, True, False, False, -1),
    (0, [(1, 0, 0)], False, True, False, False, 1),
    (0, [], False, False, False, False, 0),
    (0, [(0, 0, 1), (1, 0, 0)], True, False, True, False, -1),
    (0, [(1, 1, 0)], False, True, True, False, 0),
    (1, [(2, 0, 0), (1, 0, 0)], True, True, False, False, -1),
    (1, [(0, 0, 1), (2, -1, 1), (1, 0, 1)], False, False, False, False, -1),
    (1, [(2, 0, 0)], True, False, True, True, -1),
    (1, [], False, True, False, True, -1),
    (2, [(3, 0, 0), (1, 0, 0)], True, True, False, False, -1),
    (2, [(3, 1, 1), (0, 0, 1), (1, -1, 0)], False, False, False, False, -1),
    (2, [(0, 0, 0)], False, False, True, True, -1),
    (2, [(3, 0, 1)], True, False, True, False, -1),
]
"""Of all kinds; atoms 0 and 1."""
N_LABELS = 2


def templates(order):
    chosen = [each for each in TEMPLATES if order == 2 or each[0] == 0]
    return chosen, _core.PartTemplates(chosen, 2)


class Sentences:
    """Some sentences of random atoms; heads and labels are random trees, some of them unknown (-1)."""

    def __init__(self, seed, lengths, *, projective=True, unknown=0.0, n_labels=N_LABELS):
        rng = np.random.default_rng(seed)
        self.lengths, self.n_labels = lengths, n_labels
        self.ptr = np.cumsum([0, *lengths]).astype(np.int64)
        total = int(self.ptr[-1])
        self.atoms = rng.integers(0, 3, (total, 2)).astype(np.int32)
        self.heads = np.zeros(total, np.int32)
        self.labels = rng.integers(0, n_labels, total).astype(np.int32)
        for i, n in enumerate(lengths):
            listed = list(dependency_trees.trees(n, projective, True))
            self.heads[self.rows(i)] = listed[rng.integers(len(listed))]
        self.heads[rng.random(total) < unknown] = -1
        self.labels[rng.random(total) < unknown] = -1
        self.weights = rng.uniform(0.5, 2, len(lengths)).astype(np.float32)

    def rows(self, i):
        return slice(int(self.ptr[i]), int(self.ptr[i + 1]))

    def native(self, *, known=True):
        given = (self.heads, self.labels, self.weights) if known else (None, None, None)
        return _core.TreeExamples(self.ptr, self.atoms, *given, self.n_labels)


def random_weights(seed, spread=0.7):
    return (np.random.default_rng(seed).normal(size=1 << BITS) * spread).astype(np.float32)


class FeatureWeights:
    """The weight of each feature of some sentences by its full name, as a model gives it for one tree after another."""

    def __init__(self, model, order, sentences):
        self.templates = templates(order)[0]
        self.weights = {}
        for i, n in enumerate(sentences.lengths):
            rows = sentences.rows(i)
            words = sentences.atoms[rows]
            for heads in dependency_trees.trees(n, False, False):
                for labels in itertools.product(range(sentences.n_labels), repeat=n):
                    self._learn(model, words, heads, labels, sentences.n_labels)

    def _learn(self, model, words, heads, labels, n_labels):
        ptr = np.array([0, len(words)], np.int64)
        tree = (np.array(heads, np.int32), np.array(labels, np.int32))
        example = _core.TreeExamples(ptr, np.ascontiguousarray(words), *tree, None, n_labels)
        found = {tuple(named): weight for *named, weight in model.contributions(example)}
        expected = {}
        for part in tree_features.parts(heads, labels):
            for number, template in enumerate(self.templates):
                for name, value in tree_features.part_features(number, template, part, words):
                    expected[(number, *part[1:], value)] = name
        assert found.keys() == expected.keys()
        for key, name in expected.items():
            assert self.weights.setdefault(name, found[key]) == found[key]

    def score(self, heads, labels, words):
        counts = tree_features.tree_features(self.templates, heads, labels, words)
        return sum(self.weights[name] * count for name, count in counts.items())

    def listing(self, sentences, i, projective, single_root=True):
        """[(score, (heads, labels))] of all trees of a sentence."""
        n, words = sentences.lengths[i], sentences.atoms[sentences.rows(i)]
        return [
            (self.score(heads, labels, words), (heads, labels))
            for heads in dependency_trees.trees(n, projective, single_root)
            for labels in itertools.product(range(sentences.n_labels), repeat=n)
        ]
