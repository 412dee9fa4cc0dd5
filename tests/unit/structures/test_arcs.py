"""Dependency trees: every question against the list of all of them, and against the forest."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent.structures.arcs
from margent.errors import ConstraintError
from margent.structures import arcs
from margent.structures.arcs import ArcScores
from oracle import dependency_trees, enumeration


def random_scores(seed, n_words, n_labels, order, projective, single_root, forbidden, ties, spread=2.0):
    rng = np.random.default_rng(seed)
    n = n_words + 1

    def array(*shape):
        values = rng.integers(-1, 2, shape).astype(float) if ties else rng.normal(size=shape) * spread
        values[rng.random(shape) < forbidden] = -np.inf
        return values

    labels = array(n, n, n_labels) if n_labels else None
    siblings = array(n, n, n) if order in ("siblings", "both") and projective else None
    grandparents = array(n, n, n) if order in ("grandparents", "both") and projective else None
    return ArcScores(array(n, n), labels, siblings, grandparents, projective=projective, single_root=single_root)


cases = st.builds(
    random_scores,
    seed=st.integers(0, 2**32 - 1),
    n_words=st.integers(0, 4),
    n_labels=st.integers(0, 2),
    order=st.sampled_from(["first", "siblings", "grandparents", "both"]),
    projective=st.booleans(),
    single_root=st.booleans(),
    forbidden=st.sampled_from([0.0, 0.05, 0.3]),
    ties=st.booleans(),
)


def listing(scores):
    return dependency_trees.scored_trees(
        scores.arcs, scores.labels, scores.siblings, scores.grandparents, scores.projective, scores.single_root
    )


def item(tree):
    return tuple(tree.heads.tolist()), () if tree.labels is None else tuple(tree.labels.tolist())


def expected_parts(scores, listed):
    """The probability of each part, by adding up those of the trees that have it."""
    n = len(scores.arcs)
    p_arcs, p_labels = np.zeros((n, n)), np.zeros((n, n, max(scores.n_labels, 1)))
    p_siblings, p_grandparents = np.zeros((n, n, n)), np.zeros((n, n, n))
    for p, (_, (heads, labels)) in zip(enumeration.probabilities(listed), listed):
        for word, head in enumerate(heads, 1):
            p_arcs[head, word] += p
            if labels:
                p_labels[head, word, labels[word - 1]] += p
            sibling = dependency_trees.inner_sibling(heads, word)
            p_siblings[head, head if sibling is None else sibling, word] += p
            if head:
                p_grandparents[heads[head - 1], head, word] += p
    return p_arcs, p_labels, p_siblings, p_grandparents


def check_against_listing(scores):
    listed = listing(scores)
    if not listed:
        for question in (arcs.best, arcs.log_partition, arcs.marginals, lambda s: arcs.k_best(s, 3)):
            with pytest.raises(ConstraintError, match="every tree has a forbidden arc"):
                question(scores)
        return
    found = arcs.best(scores)
    top = max(value for value, _ in listed)
    assert found.score == pytest.approx(top, abs=1e-9)
    assert {tree: value for value, tree in listed}[item(found)] == pytest.approx(top, abs=1e-9)
    assert arcs.score(scores, found.heads, found.labels) == pytest.approx(top, abs=1e-9)
    assert arcs.log_partition(scores) == pytest.approx(enumeration.log_partition(listed), abs=1e-9)
    answer = arcs.marginals(scores)
    assert answer.log_partition == pytest.approx(enumeration.log_partition(listed), abs=1e-9)
    for given_part, wanted in zip(answer[:4], expected_parts(scores, listed)):
        if given_part is not None:
            np.testing.assert_allclose(given_part, wanted, atol=1e-9)
    k = 7
    ranked = arcs.k_best(scores, k)
    values = sorted((value for value, _ in listed), reverse=True)[:k]
    assert [tree.score for tree in ranked] == pytest.approx(values, abs=1e-9)
    assert len({item(tree) for tree in ranked}) == len(ranked)
    of_item = {tree: value for value, tree in listed}
    assert all(of_item[item(tree)] == pytest.approx(tree.score, abs=1e-9) for tree in ranked)


@settings(max_examples=300, deadline=None)
@given(cases)
def test_questions_against_all_trees(scores):
    check_against_listing(scores)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("order", ["first", "siblings", "both", "crossing"])
@pytest.mark.parametrize("n_words", [5, 6])
def test_longer_sentences_against_all_trees(order, single_root, n_words):
    for seed in range(2):
        check_against_listing(random_scores(seed, n_words, 0, order, order != "crossing", single_root, 0.1, False))


@settings(max_examples=100, deadline=None)
@given(cases)
def test_kernels_against_the_forest(scores):
    """The dense kernels and the general pass over a packed forest give the same answers."""
    if not scores.projective:
        with pytest.raises(ValueError, match="no forest of polynomial size"):
            arcs.forest(scores)
        return
    forest, heads, modifiers, labels = arcs.forest(scores)
    listed = listing(scores)
    assert forest.count() == len(listed)
    if not listed:
        return
    derivation = forest.best()
    assert derivation.score == pytest.approx(arcs.best(scores).score, abs=1e-9)
    tree = [e for e in derivation.edges.tolist() if heads[e] >= 0]
    assert sorted(modifiers[tree].tolist()) == list(range(1, scores.n_words + 1))
    assert forest.log_partition() == pytest.approx(arcs.log_partition(scores), abs=1e-9)
    answer = arcs.marginals(scores)
    summed = np.zeros_like(answer.arcs)
    used = heads >= 0
    np.add.at(summed, (heads[used], modifiers[used]), forest.marginals()[used])
    np.testing.assert_allclose(summed, answer.arcs, atol=1e-9)
    if scores.n_labels:
        assert set(labels[used].tolist()) <= set(range(scores.n_labels))


@pytest.mark.parametrize("n_words", [12, 25])
@pytest.mark.parametrize("order", ["first", "siblings", "both"])
def test_long_sentences_against_the_forest(order, n_words):
    scores = random_scores(3, n_words, 3, order, True, True, 0.05, False)
    forest = arcs.forest(scores).forest
    assert arcs.best(scores).score == pytest.approx(forest.best().score, abs=1e-8)
    assert arcs.log_partition(scores) == pytest.approx(forest.log_partition(), abs=1e-8)
    assert [t.score for t in arcs.k_best(scores, 20)] == pytest.approx([d.score for d in forest.k_best(20)], abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(cases)
def test_marginals_are_the_gradient_of_log_partition(scores):
    try:
        answer = arcs.marginals(scores)
    except ConstraintError:
        return
    rng = np.random.default_rng(0)
    for name in ("arcs", "labels", "siblings", "grandparents"):
        values = getattr(scores, name)
        if values is None:
            continue
        direction = rng.normal(size=values.shape)
        step = 1e-5
        up, down = (arcs.log_partition(scores.replace(**{name: values + s * step * direction})) for s in (1, -1))
        slope = float((getattr(answer, name) * direction).sum())
        assert (up - down) / (2 * step) == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("spread", [30.0, 500.0])
def test_sums_over_spanning_trees_hold_for_peaked_scores(spread, single_root):
    """Determinants by elimination with subtractions fail here: the best heads are far from a tree."""
    for seed in range(10):
        scores = random_scores(seed, 4, 0, "first", False, single_root, 0.0, False, spread)
        values = scores.arcs.copy()
        values[[1, 2, 3, 4], [2, 1, 4, 3]] += 10 * spread  # two cycles that no tree can have
        scores = scores.replace(arcs=values)
        listed = listing(scores)
        assert arcs.log_partition(scores) == pytest.approx(enumeration.log_partition(listed), rel=1e-12, abs=1e-9)
        np.testing.assert_allclose(arcs.marginals(scores).arcs, expected_parts(scores, listed)[0], atol=1e-9)


@pytest.mark.parametrize("single_root", [True, False])
def test_sums_over_long_spanning_trees(single_root):
    """Probabilities of the heads of a word add up to 1, with few and with large differences between scores."""
    for spread in (0.1, 5.0, 200.0):
        scores = random_scores(1, 60, 2, "first", False, single_root, 0.2, False, spread)
        p = arcs.marginals(scores)
        np.testing.assert_allclose(p.arcs.sum(axis=0)[1:], 1, atol=1e-9)
        np.testing.assert_allclose(p.labels.sum(axis=2), p.arcs, atol=1e-12)
        assert p.arcs[0].sum() == pytest.approx(1, abs=1e-9) if single_root else p.arcs[0].sum() > 1 - 1e-9
        assert p.log_partition >= arcs.best(scores).score


@pytest.mark.parametrize("size", [1e9, 1e15, 1e20, 1e300])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("order", ["first", "siblings", "grandparents"])
def test_probabilities_hold_however_large_the_scores_are(order, projective, size):
    """Trees that score the same: where rounding takes the logarithm of their number, it must not multiply them."""
    n = 6
    labels = np.full((n, n, 3), size)
    pairs = {order: np.full((n, n, n), size)} if order != "first" and projective else {}
    found = arcs.marginals(ArcScores(np.full((n, n), size), labels, **pairs, projective=projective))
    np.testing.assert_allclose(found.arcs[:, 1:].sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(found.labels.sum(axis=2), found.arcs, atol=1e-12)


def test_uniform_trees_are_counted():
    """Cayley: n words have (n + 1)^(n - 1) trees, n^(n - 1) with one root; Eisner's by the Catalan-like numbers."""
    for n in range(1, 30):
        zeros = np.zeros((n + 1, n + 1))
        every = arcs.log_partition(ArcScores(zeros, projective=False, single_root=False))
        assert every == pytest.approx((n - 1) * np.log(n + 1), rel=1e-10, abs=1e-10)
        one = arcs.log_partition(ArcScores(zeros, projective=False))
        assert one == pytest.approx((n - 1) * np.log(n), rel=1e-10, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(cases, st.data())
def test_costs_and_constraints_are_conditions_on_the_list(scores, data):
    n = scores.n_words
    if n == 0:
        return
    gold = [data.draw(st.integers(0, n)) for _ in range(n)]
    names = [data.draw(st.integers(0, scores.n_labels - 1)) for _ in range(n)] if scores.n_labels else None
    costs = arcs.attachment_costs(gold, names, scores.n_labels, label_cost=0.25)
    word = data.draw(st.integers(1, n))
    head = data.draw(st.integers(0, n).filter(lambda h: h != word))
    changed = arcs.constrain(arcs.with_costs(scores, costs), fixed={word: head})

    def cost(tree):
        heads, labels = tree
        return sum(
            1 if h != g else 0.25 if labels and labels[i] != names[i] else 0
            for i, (h, g) in enumerate(zip(heads, gold))
        )

    listed = [(v + cost(tree), tree) for v, tree in listing(scores) if tree[0][word - 1] == head]
    if not listed:
        with pytest.raises(ConstraintError):
            arcs.best(changed)
        return
    assert arcs.best(changed).score == pytest.approx(max(v for v, _ in listed), abs=1e-9)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match=r"arcs has shape \(2, 3\)"):
        ArcScores(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"labels has shape \(2, 3, 4\)"):
        ArcScores(np.zeros((3, 3)), np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match=r"arcs\[0, 1\] is nan"):
        ArcScores([[0, np.nan], [0, 0]])
    with pytest.raises(ValueError, match="siblings are given for trees that need not be projective"):
        ArcScores(np.zeros((2, 2)), siblings=np.zeros((2, 2, 2)), projective=False)
    scores = ArcScores(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="word 1 does not reach the root"):
        arcs.score(scores, [2, 1])
    with pytest.raises(ValueError, match=r"heads\[0\] is 3"):
        arcs.score(scores, [3, 0])
    with pytest.raises(ValueError, match="labels are given"):
        arcs.score(scores, [0, 1], [0, 0])
    with pytest.raises(ValueError, match="k is 0"):
        arcs.k_best(scores, 0)
    with pytest.raises(ValueError, match=r"costs has shape \(2, 2\)"):
        arcs.with_costs(scores, np.zeros((2, 2)))
    with pytest.raises(ConstraintError, match="word 1 cannot have head 1"):
        arcs.constrain(scores, fixed={1: 1})


def test_examples():
    assert doctest.testmod(margent.structures.arcs).failed == 0
