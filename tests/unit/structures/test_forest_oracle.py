"""Learning from forests: every answer against the list of all derivations, every learner against a plain oracle."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent.capability import METHODS
from margent.errors import ConstraintError
from margent.structures import Forest, ForestBatch, ForestBuilder, ForestOracle
from oracle import enumeration
from oracle.forests import PlainExample, PlainForest

N_FEATURES = 8
SEEDS = st.integers(0, 2**32 - 1)


def random_forest(rng):
    """3 to 200 derivations; some edges forbidden, some without features, values in single precision."""
    while True:
        n_nodes = int(rng.integers(1, 6))
        heads, tails, features = [], [], []
        for node in range(n_nodes):
            for _ in range(rng.integers(1, 4)):
                heads.append(node)
                tails.append(rng.integers(0, node, rng.integers(0, 3)).tolist() if node else [])
                ids = rng.choice(N_FEATURES, rng.integers(0, 4), replace=False).tolist()
                features.append(dict(zip(ids, rng.normal(size=len(ids)).astype(np.float32).tolist())))
        plain = PlainForest(heads, tails, features, set(np.flatnonzero(rng.random(len(heads)) < 0.1).tolist()))
        if 3 <= len(plain.listed(np.zeros(N_FEATURES))) <= 200:
            return plain


def random_examples(seed, masks, n=4):
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(n):
        forest = random_forest(rng)
        listed = forest.listed(np.zeros(N_FEATURES))
        chosen = [listed[i][1] for i in rng.integers(0, len(listed), rng.integers(1, 4))]
        only = {edge for edges in chosen for edge in edges} if masks else None
        right = forest if masks else random_forest(rng)
        costs = np.round(rng.random(len(forest.heads)) * (rng.random(len(forest.heads)) < 0.7), 3)
        costs = [0.0 if masks and e in only else float(c) for e, c in enumerate(costs)]
        examples.append(PlainExample(forest, right, only, costs, float(np.round(rng.random() + 0.5, 3))))
    return examples, rng.normal(size=N_FEATURES)


def to_forest(plain):
    builder = ForestBuilder()
    for _ in range(plain.root + 1):
        builder.add_node()
    for e, (head, tails, features) in enumerate(zip(plain.heads, plain.tails, plain.features)):
        builder.add_edge(head, tails, -np.inf if e in plain.forbidden else 0.0, features)
    return builder.build()


def to_oracle(examples, weights=None):
    masks = [None if x.only is None else [e in x.only for e in range(len(x.costs))] for x in examples]
    oracle = ForestOracle(
        [to_forest(x.forest) for x in examples],
        [to_forest(x.right) for x in examples] if examples[0].only is None else masks,
        costs=[x.costs for x in examples],
        n_features=N_FEATURES,
        sample_weight=[x.weight for x in examples],
    )
    if weights is not None:
        oracle.start_from(weights)
    return oracle


class PlainOracle:
    """The same problem as an oracle in Python that lists all derivations."""

    n_features = N_FEATURES

    def __init__(self, examples):
        self.examples = examples

    def __len__(self):
        return len(self.examples)

    def answer(self, i, weights, k, cost):
        example = self.examples[i]
        gold = example.gold(weights)[1]
        found = example.rivals(weights, k, cost)
        rivals = [margent.Rival(example.forest.features_of(e), loss, errors) for _, loss, errors, e in found]
        places = max(len(gold), len(found[0][3]))
        return margent.Answer(example.right.features_of(gold), rivals, places, example.weight)


@settings(deadline=None, max_examples=150)
@given(SEEDS, st.booleans(), st.integers(1, 6), st.sampled_from([0.0, 1.0, 2.5]))
def test_answers_agree_with_enumeration(seed, masks, k, cost):
    examples, weights = random_examples(seed, masks)
    oracle = to_oracle(examples, weights)
    for i, example in enumerate(examples):
        gold_score, rivals = oracle.ask(i, k, cost)
        expected_score, gold = example.gold(weights)
        assert gold_score == pytest.approx(expected_score)
        wanted = example.rivals(weights, k, cost)
        reached = [score + cost * loss for score, loss, _, _ in rivals]
        assert reached == pytest.approx([score + cost * loss for score, loss, _, _ in wanted])
        known = {}  # derivations with the same edges in other places have the same score, loss and features
        for score, loss, errors, edges in example.rivals(weights, 10**6, cost):
            known.setdefault((round(score, 9), round(loss, 9), errors), []).append(edges)
        for score, loss, errors, delta in rivals:
            deltas = []
            for edges in known[round(score, 9), round(loss, 9), errors]:
                difference = np.zeros(N_FEATURES)
                for feature, value in example.right.features_of(gold).items():
                    difference[feature] += value
                for feature, value in example.forest.features_of(edges).items():
                    difference[feature] -= value
                deltas.append(difference)
            ours = np.zeros(N_FEATURES)
            ours[list(delta)] = list(delta.values())
            assert min(np.abs(ours - one).max() for one in deltas) < 1e-9


@settings(deadline=None, max_examples=100)
@given(SEEDS, st.integers(1, 6), st.integers(1, 3))
def test_questions_to_a_batch_agree_with_enumeration(seed, k, threads):
    examples, weights = random_examples(seed, masks=True)
    plain = [example.forest for example in examples]
    batch = ForestBatch([to_forest(one) for one in plain], N_FEATURES)
    listed = [one.listed(weights) for one in plain]
    found = batch.best(weights, threads=threads)
    assert [d.score for d in found] == pytest.approx([enumeration.best(one)[0] for one in listed])
    ranked = batch.k_best(weights, k, threads=threads)
    for ours, one in zip(ranked, listed):
        assert [d.score for d in ours] == pytest.approx([score for score, _ in enumeration.k_best(one, k)])
        known = {edges: score for score, edges in one}
        assert [known[tuple(d.edges)] for d in ours] == pytest.approx([d.score for d in ours])
    np.testing.assert_allclose(
        batch.log_partition(weights, threads=threads), [enumeration.log_partition(one) for one in listed], rtol=1e-12
    )
    for ours, one, forest in zip(batch.marginals(weights, threads=threads), listed, plain):
        np.testing.assert_allclose(ours, enumeration.edge_marginals(one, len(forest.heads)), atol=1e-12)
    expected = sum(forest.expected_features(one, N_FEATURES) for forest, one in zip(plain, listed))
    np.testing.assert_allclose(batch.expected_features(weights, threads=threads), expected, atol=1e-9)


@settings(deadline=None, max_examples=100)
@given(SEEDS, st.booleans(), st.booleans())
def test_the_likelihood_and_its_gradient_agree_with_enumeration(seed, masks, best_alone):
    examples, weights = random_examples(seed, masks)
    likelihood = to_oracle(examples).likelihood(best_completion=best_alone)
    value, gradient = likelihood.evaluate(weights)
    listed = [example.log_loss(weights, best_alone) for example in examples]
    assert value == pytest.approx(sum(one for one, _ in listed))
    np.testing.assert_allclose(gradient, sum(one for _, one in listed), atol=1e-9)
    assert likelihood.value() == pytest.approx(value)
    order = np.array([2, 0, 2])
    assert likelihood.value(order) == pytest.approx(sum(listed[i][0] for i in order))

    # One step of stochastic gradient descent after the other.
    eta, decay, plain, total = 0.1, 0.02, weights.copy(), 0.0
    for t, i in enumerate(order):
        one, slope = examples[i].log_loss(plain, best_alone)
        rate = eta / (1 + decay * eta * (5 + t))
        plain, total = plain * (1 - rate * decay) - rate * slope, total + one
    assert likelihood.descend(order, eta, decay, 5.0) == pytest.approx(total)
    np.testing.assert_allclose(likelihood.parameters(), plain, atol=1e-9)


@pytest.mark.parametrize("masks", [True, False])
def test_the_gradient_is_that_of_finite_differences(masks):
    examples, weights = random_examples(11, masks, n=6)
    likelihood = to_oracle(examples).likelihood()
    _, gradient = likelihood.evaluate(weights)
    step = 1e-5 * np.eye(N_FEATURES)
    differences = [(likelihood.evaluate(weights + h)[0] - likelihood.evaluate(weights - h)[0]) / 2e-5 for h in step]
    assert np.abs(gradient).max() > 0.1
    np.testing.assert_allclose(gradient, differences, atol=1e-6)


def test_results_are_the_same_to_the_bit_for_any_number_of_threads():
    examples, weights = random_examples(3, masks=True, n=150)
    results = []
    for threads in (1, 2, 5):
        oracle = to_oracle(examples)
        value, gradient = oracle.likelihood(threads=threads).evaluate(weights)
        batch = oracle.forests
        answers = [
            batch.log_partition(weights, threads=threads),
            batch.expected_features(weights, threads=threads),
            np.concatenate([d.edges for d in batch.best(weights, threads=threads)]),
            np.concatenate([d.edges for ds in batch.sample(weights, 3, 7, threads=threads) for d in ds]),
        ]
        learned = margent.train(margent.CRF(epochs=8), to_oracle(examples), threads=threads).weights
        results.append([value, gradient.tobytes(), *(a.tobytes() for a in answers), learned.tobytes()])
    assert results[0] == results[1] == results[2]


def test_samples_of_a_batch_follow_the_distribution_of_each_forest():
    from scipy import stats

    examples, weights = random_examples(5, masks=True, n=3)
    forests = [to_forest(example.forest) for example in examples]
    n, drawn = 20_000, ForestBatch(forests, N_FEATURES).sample(weights, 20_000, seed=3)
    tested = 0
    for example, derivations in zip(examples, drawn):
        listed = example.forest.listed(weights)
        seen = Counter(tuple(d.edges) for d in derivations)
        assert set(seen) <= {edges for _, edges in listed}
        expected = np.array(enumeration.probabilities(listed)) * n
        observed = np.array([seen[edges] for _, edges in listed])
        common = expected >= 5
        pooled = [np.append(x[common], x[~common].sum()) for x in (observed, expected)]
        keep = pooled[1] > 0
        if keep.sum() > 1:
            tested += 1
            assert stats.chisquare(pooled[0][keep], pooled[1][keep]).pvalue > 1e-3
    assert tested >= 2
    twice = ForestBatch([forests[0]] * 2, N_FEATURES)
    first, second = twice.sample(weights, 30, seed=1)
    assert [d.edges.tolist() for d in first] != [d.edges.tolist() for d in second]


LEARNERS = [
    margent.Perceptron(epochs=3),
    margent.Perceptron(epochs=3, margin=1.0, average=False),
    margent.PassiveAggressive(epochs=3),
    margent.PassiveAggressive(epochs=3, k=3),
    margent.RestrictedPassiveAggressive(epochs=3),
    margent.MIRA(epochs=3, k=3),
    margent.SDM(epochs=3),
    margent.LaRank(epochs=3),
    margent.StructuredSVM(epochs=3),
    margent.StructuredSVM(epochs=3, method="subgradient"),
]


@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_each_learner_does_as_with_a_plain_oracle(learner, masks):
    examples, _ = random_examples(21, masks, n=12)
    ours, plain = to_oracle(examples), PlainOracle(examples)
    # Equal scores at the start would leave the choice to the order of the search: both begin away from 0.
    weights = np.random.default_rng(0).normal(size=N_FEATURES)
    expected = margent.train(learner, StartedFrom(plain, weights))
    ours.start_from(weights)
    found = margent.train(learner, ours)
    assert np.abs(found.weights - weights).max() > 1e-2
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-8)
    for a, b in zip(found.history, expected.history, strict=True):
        assert a.loss == pytest.approx(b.loss)
        assert a.accuracy == pytest.approx(b.accuracy)  # updates may differ by some of the size of rounding


def test_a_dual_learner_keeps_the_edges_of_wrong_derivations():
    examples, _ = random_examples(4, masks=True, n=10)
    for x in examples:  # one right derivation each: the gold side never changes
        x.only = set(x.forest.listed(np.zeros(N_FEATURES))[-1][1])
        x.costs = [float(e not in x.only) for e in range(len(x.costs))]
    examples = [x for x in examples if len(x.right.listed(np.zeros(N_FEATURES), x.only)) == 1]
    assert len(examples) > 5
    found = margent.train(margent.DualPerceptron(epochs=3, average=False), to_oracle(examples))
    total = np.zeros(N_FEATURES)
    for i, value, edges in found.support:
        for vector, sign in ((examples[i].gold(total)[1], 1), (edges.tolist(), -1)):
            for feature, x in examples[i].forest.features_of(vector).items():
                total[feature] += sign * value * x
    assert len(found.support) > 5
    np.testing.assert_allclose(found.weights, total, atol=1e-9)


class WithWeights(margent._core.PythonOracle):
    """An oracle in Python whose weights are there from the start."""

    capabilities = METHODS["answer"]


def StartedFrom(plain, weights):
    native = WithWeights(plain, N_FEATURES)
    native.start_from(weights)
    return native


@pytest.mark.parametrize(
    "learner",
    [
        margent.CRF(epochs=300, tol=0),
        margent.CRF(epochs=300, tol=0, method="owlqn", l1=0.5),
        margent.CRF(epochs=300, tol=0, completion="best"),
    ],
    ids=repr,
)
def test_a_crf_ends_where_the_gradient_is_zero(learner):
    examples, start = random_examples(8, masks=True, n=8)
    oracle = to_oracle(examples, start)
    weights = margent.train(learner, oracle).weights
    best_alone = learner.completion == "best"
    slope = sum(x.log_loss(weights, best_alone)[1] for x in examples) + 2 * learner.l2 * weights
    if learner.l1:
        moved = weights != 0
        assert moved.any() and not moved.all()
        np.testing.assert_allclose(slope[moved], -learner.l1 * np.sign(weights[moved]), atol=2e-3)
        assert (np.abs(slope[~moved]) <= learner.l1 + 2e-3).all()
    else:
        np.testing.assert_allclose(slope, 0, atol=2e-3)


def test_a_crf_by_stochastic_descent_comes_near():
    examples, _ = random_examples(8, masks=True, n=8)

    def objective(weights):
        return sum(x.log_loss(weights)[0] for x in examples) + 0.3 * weights @ weights

    exact = margent.train(margent.CRF(epochs=300, tol=0), to_oracle(examples)).weights
    stochastic = margent.train(margent.CRF(method="sgd", epochs=100, tol=0), to_oracle(examples)).weights
    assert objective(stochastic) < objective(np.zeros(N_FEATURES)) - 0.5
    assert objective(stochastic) == pytest.approx(objective(exact), rel=0.02)


def test_the_latent_svm_lowers_its_objective_round_by_round():
    examples, start = random_examples(17, masks=True, n=10)
    for x in examples:
        x.costs = [float(e not in x.only) for e in range(len(x.costs))]

    def objective(weights, C):
        missed = 0.0
        for x in examples:
            score, loss, _, _ = x.rivals(weights, 1, 1.0)[0]
            missed += x.weight * (score + loss - x.gold(weights)[0])
        return weights @ weights / 2 + C * missed

    C = 2.0
    found = margent.train(margent.LatentSVM(C=C, epochs=5, gap=0.01, passes=200), to_oracle(examples, start))
    values = [epoch.objective for epoch in found.history]
    assert values == sorted(values, reverse=True)
    assert objective(start, C) > objective(found.weights, C) == pytest.approx(values[-1])


def test_a_fixed_gold_side_stays_what_it_is_until_it_is_free():
    examples, weights = random_examples(29, masks=True, n=12)
    other = -weights
    oracle = to_oracle(examples, weights)
    golds = [x.gold(weights)[1] for x in examples]
    differ = sum(x.gold(other)[1] != gold for x, gold in zip(examples, golds))
    assert differ > 0
    better = 0
    assert oracle.fix_gold() == len(examples)
    assert oracle.fix_gold() == 0
    oracle.start_from(other)
    for i, (x, gold) in enumerate(zip(examples, golds)):
        known = {edges: score for score, edges in x.right.listed(other, x.only)}
        gold_score, [(score, loss, errors, _)] = oracle.ask(i, 1, 0.0)
        assert gold_score == pytest.approx(known[gold])
        expected_score, expected_loss, expected_errors, _ = x.rivals(other, 1, 0.0)[0]
        assert (score, loss) == (pytest.approx(expected_score), pytest.approx(expected_loss))
        assert errors == max(expected_errors, score > known[gold] + 1e-9)  # right, but not the one that is fixed
        better += errors > expected_errors
    assert better > 0
    assert oracle.fix_gold() == differ
    oracle.free_gold()
    oracle.start_from(weights)
    assert oracle.ask(0, 1, 1.0)[0] == pytest.approx(examples[0].gold(weights)[0])


def test_edges_outside_the_mask_cost_one_and_weights_default_to_one():
    examples, weights = random_examples(2, masks=True)
    masks = [[e in x.only for e in range(len(x.costs))] for x in examples]
    forests = [to_forest(x.forest) for x in examples]
    plain = ForestOracle(forests, masks, n_features=N_FEATURES)
    spelled = ForestOracle(
        ForestBatch(forests, N_FEATURES),
        masks,
        costs=[[float(not right) for right in mask] for mask in masks],
        sample_weight=np.ones(len(forests)),
    )
    for oracle in (plain, spelled):
        oracle.start_from(weights)
    assert [plain.ask(i, 4, 1.0) for i in range(4)] == [spelled.ask(i, 4, 1.0) for i in range(4)]
    learned = [margent.train(margent.Perceptron(epochs=2), oracle).weights for oracle in (plain, spelled)]
    np.testing.assert_array_equal(*learned)


def test_features_of_arrays_are_those_of_the_builder():
    forest = Forest([0, 0], [0, 0, 0], [], features=([0, 2, 2], [3, 1], [2.0, 0.5]))
    assert ForestBatch([forest]).n_features == 4
    assert [d.score for d in ForestBatch([forest]).k_best([9.0, 2.0, 9.0, 1.0], 5)[0]] == [3.0, 0.0]
    assert forest.with_scores([0, -np.inf]).features is forest.features
    ones = Forest([0, 0], [0, 0, 0], [], features=([0, 2, 2], [3, 3]))
    assert ForestBatch([ones, forest]).best([0.0, 0.0, 0.0, 1.0])[0].score == 2.0


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (([0, 1], [1]), "ptr of features has 2 entries"),
        (([0, 2, 1], [1, 2]), "ptr of features has 3 entries"),
        (([0, 0, 1], [-1]), "ids of features holds -1"),
        (([0, 0, 1], [1], [np.nan]), "value 0 of features is not finite"),
        (([0, 0, 1], [1], [1.0, 2.0]), "values of features has shape"),
        ([[0, 0, 1], [1]], r"expected \(ptr, ids\) or \(ptr, ids, values\)"),
    ],
)
def test_invalid_features_are_named(features, message):
    with pytest.raises(ValueError, match=message):
        Forest([0, 0], [0, 0, 0], [], features=features)


def test_invalid_problems_are_named():
    builder = ForestBuilder()
    first, second = builder.add_node(), builder.add_node()
    builder.add_edge(first, features=[0])
    builder.add_edge(second, [first], features={2: 1.5})
    builder.add_edge(second)
    for features, message in [([-1], "a feature of edge 3 is -1"), ({0: np.inf}, "edge 3 has a value that is not fin")]:
        with pytest.raises(ValueError, match=message):
            builder.add_edge(second, features=features)
    forest = builder.build()
    good = [[True, True, False]]
    for ask, message in [
        (lambda: ForestBatch([]), "no forest was given"),
        (lambda: ForestBatch([forest.with_scores([0, 1, 0])]), "score of edge 1 of forest 0 is 1.0; expected 0, or"),
        (lambda: ForestBatch([forest], 2), "n_features is 2; expected an integer of at least 3"),
        (lambda: ForestBatch([Forest([0], [0, 0], [])]), "n_features is 0; expected an integer of at least 1"),
        (lambda: ForestBatch([forest]).best([0.0]), r"weights has shape \(1,\); expected \(3,\)"),
        (lambda: ForestBatch([forest]).best([0, np.nan, 0]), "weight 1 is not finite"),
        (lambda: ForestBatch([forest]).k_best([0, 0, 0], 0), "k is 0"),
        (lambda: ForestBatch([forest]).sample([0, 0, 0], -1), "n is -1"),
        (lambda: ForestOracle([forest], []), "right has 0 entries; expected 1"),
        (lambda: ForestOracle([forest], [[True]]), r"right of forest 0 has shape \(1,\) .* expected \(3,\) booleans"),
        (lambda: ForestOracle([forest], [[1, 1, 0]]), "expected .* booleans"),
        (lambda: ForestOracle([forest], [forest]), "costs is None"),
        (lambda: ForestOracle([forest], good, costs=[[0, 0]]), "costs of forest 0 has shape"),
        (lambda: ForestOracle([forest], good, costs=[[0, 0, -1]]), "costs holds -1.0; expected finite numbers"),
        (lambda: ForestOracle([forest], good, costs=[[0, 2, 1]]), "costs has 2.0 for a right edge"),
        (lambda: ForestOracle([forest], good, costs=[]), "costs has 0 entries"),
        (lambda: ForestOracle([forest], good, sample_weight=[-1]), r"sample_weight has shape \(1,\)"),
        (lambda: ForestOracle([forest], [forest], costs=[[0, 0, 1]], n_features=2), "n_features is 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            ask()
    with pytest.raises(TypeError, match=r"forest 0 is 3; expected a margent\.Forest"):
        ForestBatch([3])
    with pytest.raises(ConstraintError, match="forest 0 has no right derivation"):
        ForestOracle([forest], [[True, False, False]])
    closed = forest.with_scores([0, -np.inf, -np.inf])
    with pytest.raises(ConstraintError, match="forest 1 has no derivation"):
        ForestOracle([forest, closed], good * 2)
    with pytest.raises(ConstraintError, match="forest 1 has no derivation"):
        ForestBatch([forest, closed]).best([0.0, 0.0, 0.0])
    with pytest.raises(ConstraintError, match="forest 1 has no derivation"):
        ForestBatch([forest, closed]).marginals([0.0, 0.0, 0.0])
    with pytest.raises(TypeError, match="weights of labels"):
        margent.train(margent.CRF(all_pairs=True), ForestOracle([forest], good))
