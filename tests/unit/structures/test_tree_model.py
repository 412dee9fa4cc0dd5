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


def test_a_filter_leaves_the_most_probable_heads_and_a_tree():
    sentences = Sentences(5, [6, 1, 4])
    chosen = [(0, [(0, 0, 0), (1, 0, 0)], True, True, -1)]
    weights = np.random.default_rng(1).normal(size=1 << BITS).astype(np.float32)
    native = _core.PartTemplates(chosen, 2)
    everything = _core.HeadFilter(native, weights, BITS, 100, 1e-30).kept(sentences.native())
    assert all(kept[:, 1:].sum() == n * n for kept, n in zip(everything, sentences.lengths))
    most, threshold = 2, 0.3
    kept = _core.HeadFilter(native, weights, BITS, most, threshold).kept(sentences.native())
    scorer = _core.TreeModel(native, np.append(weights, np.zeros(8, np.float32)), BITS, 1, None, False, False)
    for i, n in enumerate(sentences.lengths):
        scores = np.full((n + 1, n + 1), -np.inf)
        words = np.ascontiguousarray(sentences.atoms[sentences.rows(i)])
        for heads in dependency_trees.trees(n, False, False) if n < 5 else []:
            example = _core.TreeExamples(
                np.array([0, n]), words, np.array(heads, np.int32), np.zeros(n, np.int32), None, 1
            )
            for _, head, modifier, _, _, weight in scorer.contributions(example):
                scores[head, modifier] = weight
        if n < 5:
            root = 1 + int(np.argmax(scores[0, 1:] - scores[:, 1:].max(axis=0)))
            for word in range(1, n + 1):
                best = np.sort(scores[:, word])[::-1]
                wanted = {
                    h
                    for h in range(n + 1)
                    if scores[h, word] >= best[most - 1] and scores[h, word] >= best[0] + math.log(threshold)
                }
                wanted.add(0 if word == root else word + 1 if word < root else word - 1)
                assert set(np.flatnonzero(kept[i][:, word])) == wanted
        assert any(
            all(kept[i][h, w] for w, h in enumerate(heads, 1)) for heads in dependency_trees.trees(n, True, True)
        )


def test_wrong_arguments_are_refused():
    sentences = Sentences(7, [3])
    with pytest.raises(ValueError, match="weights of the wrong shape"):
        _core.TreeModel(templates(1)[1], np.zeros(3, np.float32), BITS, 2, None, True, True)
    with pytest.raises(ValueError, match="second order are for projective trees"):
        model_of(2, False)
    with pytest.raises(ValueError, match="a template of something that its part does not have"):
        _core.PartTemplates([(0, [(2, 0, 0)], False, False, -1)], 2)
    with pytest.raises(ValueError, match="a template of something"):
        _core.PartTemplates([(0, [(0, 0, 2)], False, False, -1)], 2)
    with pytest.raises(ValueError, match="templates for other atoms"):
        model_of(1, True).best(_core.TreeExamples(sentences.ptr, np.zeros((3, 1), np.int32)), 1)
    for heads in ([0, 2, 1], [4, 1, 1], [-2, 1, 1]):
        with pytest.raises(ValueError, match="a head is out of range"):
            _core.TreeExamples(
                sentences.ptr, sentences.atoms, np.array(heads, np.int32), np.zeros(3, np.int32), None, 1
            )
