"""Parsers over arcs: features against a plain twin, every question against the list of all trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.structures.random_trees import BITS, N_LABELS, FeatureWeights, Sentences, random_weights, templates

from margent import _core
from oracle import dependency_trees


def model_of(order, projective, single_root=True, kept=None, seed=0):
    return _core.TreeModel(templates(order)[1], random_weights(seed), BITS, N_LABELS, kept, projective, single_root)


CASES = [(2, True, True), (2, True, False), (1, True, True), (1, False, True), (1, False, False)]


@pytest.mark.parametrize(("order", "projective", "single_root"), CASES)
def test_answers_are_those_of_the_list_of_all_trees(order, projective, single_root):
    sentences = Sentences(order, [3, 0, 4, 1], projective=projective)
    model = model_of(order, projective, single_root)
    weights = FeatureWeights(model, order, sentences)
    assert len(set(weights.weights.values())) > 0.99 * len(weights.weights)  # names of their own have their own weights
    scores, heads, labels = model.best(sentences.native(known=False), 1)
    ranked = model.k_best(sentences.native(known=False), 7, 1)
    of_heads, of_labels, of_arcs = model.marginals(
        sentences.native(known=False), sentences.heads, sentences.labels, 0.5, 1
    )
    begin = 0
    for i, n in enumerate(sentences.lengths):
        rows = sentences.rows(i)
        listed = sorted(weights.listing(sentences, i, projective, single_root), key=lambda item: -item[0])
        assert scores[i] == pytest.approx(listed[0][0], abs=1e-4)
        assert (tuple(heads[rows]), tuple(labels[rows])) == listed[0][1]
        assert [score for score, _, _ in ranked[i]] == pytest.approx([s for s, _ in listed[:7]], abs=1e-4)
        assert [(tuple(h), tuple(x)) for _, h, x in ranked[i]] == [tree for _, tree in listed[:7]]
        total = math.fsum(math.exp(score / 2) for score, _ in listed)
        expected_heads, expected_labels, expected_arcs = np.zeros((n, n + 1)), np.zeros((n, N_LABELS)), np.zeros(n)
        for score, (tree, names) in listed:
            p = math.exp(score / 2) / total
            for w in range(n):
                expected_heads[w, tree[w]] += p
                expected_labels[w, names[w]] += p
                right = tree[w] == sentences.heads[rows][w] and names[w] == sentences.labels[rows][w]
                expected_arcs[w] += p * right
        found = of_heads[begin : begin + n * (n + 1)].reshape(n, n + 1)
        begin += n * (n + 1)
        assert np.allclose(found, expected_heads, atol=1e-5)
        assert np.allclose(of_labels.reshape(-1, N_LABELS)[rows], expected_labels, atol=1e-5)
        assert np.allclose(of_arcs[rows], expected_arcs, atol=1e-5)


def test_any_number_of_threads_gives_the_same_bits():
    sentences = Sentences(3, [4, 2, 5, 3, 1, 4, 5])
    model = model_of(2, True)
    given = sentences.native(known=False)
    one, more = model.best(given, 1), model.best(given, 4)
    assert all(np.array_equal(a, b) for a, b in zip(one, more))
    tree = (sentences.heads, sentences.labels)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(model.marginals(given, *tree, 1.0, 1), model.marginals(given, *tree, 1.0, 3))
    )


def filter_probabilities(chosen, weights, n_labels, words):
    """log p(h | m) and log p(l | h, m) of a filter with one template of heads and one of labels: arrays by h, m, l."""
    n = len(words)
    unlabelled = _core.PartTemplates([(*each[:4], False, *each[5:]) for each in chosen], 2)
    index = _core.TreeModel(unlabelled, np.arange(1 << BITS, dtype=np.float32), BITS, 1, None, False, False)
    heads, labels = np.full((n + 1, n + 1), -np.inf), np.full((n + 1, n + 1, n_labels), -np.inf)
    for head in range(n + 1):
        for word in range(1, n + 1):
            if head == word:
                continue
            tree = np.array([head if w == word else 0 if w == head else word for w in range(1, n + 1)], np.int32)
            example = _core.TreeExamples(np.array([0, n]), words, tree, np.zeros(n, np.int32), None, 1)
            for number, h, m, *_, place in index.contributions(example):
                if (h, m) == (head, word) and number == 0:
                    heads[h, m] = weights[int(place)]
                elif (h, m) == (head, word):
                    labels[h, m] = weights[int(place) : int(place) + n_labels]
    return (
        heads - np.logaddexp.reduce(heads, axis=0, keepdims=True),
        labels - np.logaddexp.reduce(labels, axis=2, keepdims=True),
    )


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_filter_leaves_the_most_probable_arcs_and_a_tree():
    sentences = Sentences(5, [6, 1, 4])
    chosen = [
        (0, [(0, 0, 0), (1, 0, 0)], True, True, False, False, -1),
        (0, [(0, 0, 1), (1, 0, 1)], True, False, True, False, -1),
    ]
    n_labels, most_heads, most_labels, threshold = 4, 3, 2, 0.1
    n_weights = (1 << BITS) + _core.padded_width(n_labels)
    weights = (2 * np.random.default_rng(1).normal(size=n_weights)).astype(np.float32)
    native = _core.PartTemplates(chosen, 2)
    everything = _core.ArcFilter(native, weights, BITS, n_labels, 100, 16, 1e-30).kept(sentences.native())
    assert [len(kept) for kept in everything] == [n_labels * n * n for n in sentences.lengths]
    found = _core.ArcFilter(native, weights, BITS, n_labels, most_heads, most_labels, threshold).kept(
        sentences.native()
    )
    for i, n in enumerate(sentences.lengths):
        words = np.ascontiguousarray(sentences.atoms[sentences.rows(i)])
        heads, labels = filter_probabilities(chosen, weights, n_labels, words)
        root = 1 + int(np.argmax(heads[0, 1:]))
        wanted = set()
        for word in range(1, n + 1):
            order = sorted(range(n + 1), key=lambda h: -heads[h, word])
            kept = [h for h in order[:most_heads] if heads[h, word] >= heads[order[0], word] + math.log(threshold)]
            best = heads[order[0], word] + labels[order[0], word].max()
            kept.append(0 if word == root else word + 1 if word < root else word - 1)
            for h in kept:
                ranked = sorted(range(n_labels), key=lambda x: -labels[h, word, x])[:most_labels]
                wanted.add((h, word, ranked[0]))
                wanted |= {
                    (h, word, x) for x in ranked if heads[h, word] + labels[h, word, x] >= best + math.log(threshold)
                }
        arcs = set(map(tuple, found[i].tolist()))
        assert arcs == wanted and len(arcs) == len(found[i])
        between = {arc[:2] for arc in arcs}
        assert any(set(zip(tree, range(1, n + 1))) <= between for tree in dependency_trees.trees(n, True, True))


def test_wrong_arguments_are_refused():
    sentences = Sentences(7, [3])
    with pytest.raises(ValueError, match="weights of the wrong shape"):
        _core.TreeModel(templates(1)[1], np.zeros(3, np.float32), BITS, 2, None, True, True)
    with pytest.raises(ValueError, match="second order are for projective trees"):
        model_of(2, False)
    with pytest.raises(ValueError, match="a template of something that its part does not have"):
        _core.PartTemplates([(0, [(2, 0, 0)], False, False, False, False, -1)], 2)
    with pytest.raises(ValueError, match="a template of something"):
        _core.PartTemplates([(0, [(0, 0, 2)], False, False, False, False, -1)], 2)
    with pytest.raises(ValueError, match="templates for other atoms"):
        model_of(1, True).best(_core.TreeExamples(sentences.ptr, np.zeros((3, 1), np.int32)), 1)
    for heads in ([0, 2, 1], [4, 1, 1], [-2, 1, 1]):
        with pytest.raises(ValueError, match="a head is out of range"):
            _core.TreeExamples(
                sentences.ptr, sentences.atoms, np.array(heads, np.int32), np.zeros(3, np.int32), None, 1
            )
