"""The oracle of dependency trees and its likelihood against the list of all trees; gradients against differences."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from tests.unit.structures.random_trees import (
    BITS,
    N_LABELS,
    FeatureWeights,
    Sentences,
    random_weights,
    templates,
)

import margent
from margent import _core
from oracle import tree_features

LABEL_COST = 0.25


class Problem:
    """An oracle with random weights, and what the features of its sentences weigh by their names."""

    def __init__(
        self, order=2, projective=True, single_root=True, unknown=0.0, seed=0, lengths=(3, 4, 2, 1), kept=None
    ):
        self.sentences = Sentences(seed, list(lengths), projective=projective, unknown=unknown)
        self.order, self.projective, self.single_root = order, projective, single_root
        native = templates(order)[1]
        self.weights = random_weights(seed)
        self.model = _core.TreeModel(native, self.weights, BITS, N_LABELS, None, projective, single_root)
        problem = _core.TreeProblem(native, self.sentences.native(), kept, projective, single_root, BITS, LABEL_COST)
        self.oracle = _core.TreeOracle(problem)
        self.oracle.start_from(self.weights.astype(np.float64))
        self.features = FeatureWeights(self.model, order, self.sentences)

    def words(self, i):
        return self.sentences.atoms[self.sentences.rows(i)]

    def known(self, i):
        rows = self.sentences.rows(i)
        return self.sentences.heads[rows].tolist(), self.sentences.labels[rows].tolist()

    def listing(self, i):
        return self.features.listing(self.sentences, i, self.projective, self.single_root)

    def loss(self, i, tree):
        total = 0.0
        for head, label, right_head, right_label in zip(*tree, *self.known(i)):
            if right_head not in (-1, head):
                total += 1
            elif right_label not in (-1, label):
                total += LABEL_COST
        return total

    def right(self, i):
        return [(score, tree) for score, tree in self.listing(i) if self.loss(i, tree) == 0]

    def named(self, tree, i):
        """The features of a tree by the values of their weights, which are all different."""
        counts = tree_features.tree_features(self.features.templates, *tree, self.words(i))
        by_weight = Counter()
        for name, count in counts.items():
            by_weight[self.features.weights[name]] += count
        return by_weight


CASES = [
    {"order": 2},
    {"order": 1, "unknown": 0.4},
    {"order": 2, "unknown": 0.4, "seed": 1},
    {"order": 1, "projective": False, "seed": 2},
    {"order": 1, "projective": False, "single_root": False, "unknown": 0.3, "seed": 3},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("k", "cost"), [(1, 0.0), (1, 2.0), (4, 1.0), (1000, 0.5)])
def test_rivals_and_gold_are_those_of_the_list(case, k, cost):
    problem = Problem(**case)
    for i, n in enumerate(problem.sentences.lengths):
        gold_score, rivals = problem.oracle.ask(i, k, cost)
        right = max(problem.right(i))
        assert gold_score == pytest.approx(right[0], abs=1e-4)
        ranked = sorted(problem.listing(i), key=lambda item: -item[0] - cost * problem.loss(i, item[1]))[:k]
        assert len(rivals) == len(ranked)
        for (score, loss, errors, delta), (expected, tree) in zip(rivals, ranked):
            assert score == pytest.approx(expected, abs=1e-4) and loss == pytest.approx(problem.loss(i, tree))
            assert (errors > 0) == (loss > 0) and errors <= n
            difference = problem.named(right[1], i)
            difference.subtract(problem.named(tree, i))
            expected_delta = {weight: count for weight, count in difference.items() if count}
            assert {problem.weights[w]: v for w, v in delta.items()} == pytest.approx(expected_delta)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("best_completion", [False, True])
def test_the_likelihood_is_that_of_the_list_and_its_gradient_that_of_differences(case, best_completion):
    problem = Problem(**case)
    likelihood = problem.oracle.likelihood(best_completion=best_completion)
    expected = 0.0
    for i, weight in enumerate(problem.sentences.weights):
        every = math.log(math.fsum(math.exp(score) for score, _ in problem.listing(i)))
        right = [score for score, _ in problem.right(i)]
        gold = max(right) if best_completion else math.log(math.fsum(map(math.exp, right)))
        expected += float(weight) * (every - gold)
        assert likelihood.value(np.array([i])) == pytest.approx(float(weight) * (every - gold), abs=1e-4)
    w = problem.weights.astype(np.float64)
    value, gradient = likelihood.evaluate(w)
    assert value == pytest.approx(expected, abs=1e-3)
    rng, step = np.random.default_rng(0), 1e-5
    used = np.flatnonzero(gradient)
    untouched = np.flatnonzero(gradient == 0)
    for index in (*rng.choice(used, 12, replace=False), untouched[0]):
        up, down = w.copy(), w.copy()
        up[index] += step
        down[index] -= step
        slope = (likelihood.evaluate(up)[0] - likelihood.evaluate(down)[0]) / (2 * step)
        assert gradient[index] == pytest.approx(slope, abs=2e-6)


def test_the_likelihood_is_the_same_to_the_bit_for_any_number_of_threads():
    problem = Problem(unknown=0.3, lengths=(3, 4, 2, 1, 4, 3, 2))
    w = problem.weights.astype(np.float64)
    values = [problem.oracle.likelihood(threads=threads).evaluate(w) for threads in (1, 3)]
    assert values[0][0] == values[1][0] and np.array_equal(values[0][1], values[1][1])


def test_a_tree_that_is_not_searched_for_teaches_nothing():
    problem = Problem(order=1, lengths=(4, 3))
    problem.sentences.heads[:4] = [3, 4, 0, 3]  # the arcs of words 1 and 2 cross
    examples = problem.sentences.native()
    for projective, n_rivals in ((True, 0), (False, 1)):
        given = _core.TreeProblem(templates(1)[1], examples, None, projective, True, BITS, LABEL_COST)
        oracle = _core.TreeOracle(given)
        assert len(oracle.ask(0, 1, 1.0)[1]) == n_rivals
        assert (oracle.likelihood().value(np.array([0])) > 0) == (n_rivals == 1)
    problem.sentences.heads[:4] = [0, 1, 0, 3]
    given = _core.TreeProblem(templates(1)[1], examples, None, True, True, BITS, LABEL_COST)
    assert _core.TreeOracle(given).ask(0, 1, 1.0)[1] == []


def test_a_filter_keeps_what_is_known_to_be_right_and_all_else_is_as_without():
    chosen = _core.PartTemplates([(0, [(0, 0, 0), (1, 0, 0)], True, True, False, False, -1)], 2)
    small = np.random.default_rng(0).normal(size=(1 << BITS) + 8).astype(np.float32)
    loose = _core.ArcFilter(chosen, small, BITS, N_LABELS, 100, 16, 1e-30)
    tight = _core.ArcFilter(chosen, small, BITS, N_LABELS, 1, 1, 1.0)
    for unknown in (0.0, 0.4):
        free, filtered, narrow = (Problem(kept=kept, unknown=unknown, seed=7) for kept in (None, loose, tight))
        for i in range(4):
            assert filtered.oracle.ask(i, 3, 1.0) == free.oracle.ask(i, 3, 1.0)
            if not unknown:
                assert narrow.oracle.ask(i, 1, 1.0)[0] == free.oracle.ask(i, 1, 1.0)[0]
            arcs = set(map(tuple, tight.kept(narrow.sentences.native())[i].tolist()))
            for word, (head, label) in enumerate(zip(*narrow.known(i)), 1):
                arcs |= {
                    (h if head < 0 else head, m, x if label < 0 else label)
                    for h, m, x in tuple(arcs)
                    if m == word and (head >= 0 or label >= 0)
                }
            _, rivals = narrow.oracle.ask(i, 1000, 0.0)
            possible = [
                score
                for score, (heads, labels) in narrow.listing(i)
                if all((h, w, x) in arcs for w, (h, x) in enumerate(zip(heads, labels), 1))
            ]
            assert sorted(score for score, *_ in rivals) == pytest.approx(sorted(possible), abs=1e-4)


def test_gold_can_be_fixed():
    problem = Problem(unknown=0.5, seed=4)
    assert problem.oracle.fix_gold() == 4 and problem.oracle.fix_gold() == 0
    before = [problem.oracle.ask(i, 1, 0.0)[0] for i in range(4)]
    best = [max(problem.right(i)) for i in range(4)]
    assert before == pytest.approx([score for score, _ in best], abs=1e-4)
    problem.oracle.start_from(-problem.weights.astype(np.float64))
    fixed = [problem.oracle.ask(i, 1, 0.0) for i in range(4)]
    assert [score for score, _ in fixed] == pytest.approx([-score for score in before], abs=1e-4)
    rivals = [reply[1][0] for reply in fixed]
    assert all(errors > 0 for (score, _, errors, _), (gold, _) in zip(rivals, fixed) if score > gold + 1e-9)
    problem.oracle.free_gold()
    worst = [min(problem.right(i))[0] for i in range(4)]
    assert [problem.oracle.ask(i, 1, 0.0)[0] for i in range(4)] == pytest.approx([-s for s in worst], abs=1e-4)


def test_the_likelihood_of_a_filter_is_that_of_heads_and_labels_of_words():
    sentences = Sentences(6, [4, 1, 3], unknown=0.2)
    chosen = [
        (0, [(0, 0, 0), (1, 0, 0)], True, True, False, False, -1),
        (0, [(1, 1, 1)], True, False, False, False, -1),
        (0, [(0, 0, 1), (1, 0, 1)], False, False, True, False, -1),
    ]
    oracle = _core.ArcFilterOracle(_core.PartTemplates(chosen, 2), sentences.native(), 10)
    likelihood = oracle.likelihood()
    uniform = 0.0
    for i, (n, weight) in enumerate(zip(sentences.lengths, sentences.weights)):
        rows = sentences.rows(i)
        heads = sentences.heads[rows] >= 0
        labels = heads & (sentences.labels[rows] >= 0)
        uniform += float(weight) * (math.log(n) * int(heads.sum()) + math.log(N_LABELS) * int(labels.sum()))
    n_weights = likelihood.n_parameters
    assert likelihood.evaluate(np.zeros(n_weights))[0] == pytest.approx(uniform)
    w = np.random.default_rng(0).normal(size=n_weights)
    value, gradient = likelihood.evaluate(w)
    for index in np.random.default_rng(1).choice(np.flatnonzero(gradient), 16, replace=False):
        step = np.zeros_like(w)
        step[index] = 1e-5
        slope = (likelihood.evaluate(w + step)[0] - likelihood.evaluate(w - step)[0]) / 2e-5
        assert gradient[index] == pytest.approx(slope, abs=1e-5)
    many = oracle.likelihood(threads=3).evaluate(w)
    assert many[0] == value and np.array_equal(many[1], gradient)


LEARNERS = [margent.MIRA(epochs=20, k=2), margent.Perceptron(epochs=30), margent.CRF(epochs=20)]


@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_find_trees_that_features_tell(learner):
    """The first atom of a word tells its head: words of value 0 are roots, all others hang on the word before."""
    sentences = Sentences(8, [4, 5, 3, 4])
    for i in range(4):
        rows = sentences.rows(i)
        sentences.atoms[rows, 0] = [0, *(1 + j % 2 for j in range(sentences.lengths[i] - 1))]
        sentences.heads[rows] = range(sentences.lengths[i])
        sentences.labels[rows] = sentences.atoms[rows, 0] % 2
    native = templates(2)[1]
    problem = _core.TreeProblem(native, sentences.native(), None, True, True, BITS, LABEL_COST)
    result = margent.train(learner, _core.TreeOracle(problem), progress=False)
    weights = np.asarray(result.weights, np.float32)
    model = _core.TreeModel(native, weights, BITS, N_LABELS, None, True, True)
    _, heads, labels = model.best(sentences.native(known=False), 1)
    assert np.array_equal(heads, sentences.heads) and np.array_equal(labels, sentences.labels)
