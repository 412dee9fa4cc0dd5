"""Kernels in training, the hidden Markov SVM and the dual perceptron: against enumeration and a general solver."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.features.encoded import Encoded, sequence_ptr
from margent.learners import (
    CRF,
    MIRA,
    SDM,
    DualPerceptron,
    HiddenMarkovSVM,
    LaRank,
    PassiveAggressive,
    Perceptron,
    RestrictedPassiveAggressive,
    StructuredSVM,
    train,
)
from oracle import hidden_markov_svm as plain

LABELS = 3
WIDTH = _core.padded_width(LABELS)


class Problem:
    """Random sequences over random observations, some of which occur twice."""

    def __init__(self, seed: int, n: int = 4, observations: int = 8, gamma: float | None = 0.3) -> None:
        random = np.random.default_rng(seed)
        self.X = random.normal(size=(observations, 4)).astype(np.float32)
        squares = ((self.X[:, None] - self.X[None]) ** 2).sum(-1)
        self.K = (self.X @ self.X.T if gamma is None else np.exp(-gamma * squares)).astype(np.float32)
        lengths = random.integers(1, 4, size=n)
        self.tokens = [random.integers(0, observations, size=m) for m in lengths]
        self.labels = [random.integers(0, LABELS, size=m) for m in lengths]
        self.examples = [(x.tolist(), tuple(y.tolist())) for x, y in zip(self.tokens, self.labels)]
        self.starts = sequence_ptr(lengths)
        self.gold = np.concatenate(self.labels).astype(np.int32)
        self.calls: list[int] = []

    def rows(self, ids: Any) -> Any:
        self.calls.append(len(ids))
        return self.K[ids]

    def oracle(self, *, cache_bytes: int = 1 << 20, weights: Any = None, costs: tuple[float, ...] = ()) -> Any:
        ids = np.concatenate(self.tokens).astype(np.int32)
        encoded = Encoded(self.starts, ids, np.arange(len(ids) + 1))
        examples = encoded.examples(self.gold, weights)
        return _core.ChainOracle(examples, LABELS, 1, True, len(self.K), 0, False, costs, self.rows, cache_bytes)

    def linear_oracle(self) -> Any:
        """The same observations as plain features."""
        vectors = self.X[np.concatenate(self.tokens)]
        ids = np.tile(np.arange(4, dtype=np.int32), len(vectors))
        encoded = Encoded(self.starts, ids, 4 * np.arange(len(vectors) + 1), vectors.ravel())
        return _core.ChainOracle(encoded.examples(self.gold), LABELS, 1, True, 4, 0, False, ())

    def chain(self, exported: dict[str, Any]) -> Any:
        """The scores of all tokens by K beta, one sequence after the other."""
        emissions = self.K @ exported["unigrams"][:, :LABELS]
        return emissions, exported["transitions"][0], exported["ends"][0][0]

    def score(self, exported: dict[str, Any], number: int, labels: Any) -> float:
        emissions, transitions, end = self.chain(exported)
        total, before = end[labels[-1]], LABELS
        for u, y in zip(self.tokens[number], labels):
            total, before = total + emissions[u, y] + transitions[before, y], y
        return float(total)


SOLVED = [("l1", False, 0.7), ("l1", True, 0.2), ("l2", False, 2.0), ("l2", True, 0.5), (None, False, 1.0)]


@pytest.mark.parametrize(("slack", "hamming", "C"), SOLVED)
@pytest.mark.parametrize("seed", range(3))
def test_dual_value_and_kkt_are_those_of_a_general_solver(seed: int, slack: Any, hamming: bool, C: float) -> None:
    problem = Problem(seed, n=3, observations=9)
    if slack is None:  # so that it can be separated
        problem.labels = [np.array([u % LABELS for u in x]) for x in problem.tokens]
        problem.examples = [(x.tolist(), tuple(y.tolist())) for x, y in zip(problem.tokens, problem.labels)]
        problem.gold = np.concatenate(problem.labels).astype(np.int32)
    value, alphas = plain.solve_dual(problem.K, problem.examples, LABELS, C, slack, hamming)
    loss: Any = "hamming" if hamming else "sequence"
    learner = HiddenMarkovSVM(C, slack, loss, tol=1e-4, epochs=3000)
    result = train(learner, problem.oracle(), progress=False)
    assert result.history[-1].updates == 0  # it ended by itself
    assert result.history[-1].objective == pytest.approx(value, rel=2e-3, abs=1e-3)
    # The conditions of Karush, Kuhn and Tucker, at the tolerance.
    found = {(i, tuple(y.tolist())): a for i, a, y in result.support}
    assert all(a > 0 for a in found.values())
    for i, (_, gold) in enumerate(problem.examples):
        right = problem.score(result.weights, i, gold)
        hinges = {}
        for y in plain.sequences(problem.tokens[i], LABELS):
            if y != gold:
                wrong = sum(a != b for a, b in zip(y, gold)) if hamming else 1
                hinges[y] = wrong - (right - problem.score(result.weights, i, y))
        total = sum(a for (j, _), a in found.items() if j == i)
        allowed = {"l1": max(0.0, *hinges.values()), "l2": total / C, None: 0.0}[slack]
        assert max(hinges.values()) <= allowed + 1e-3
        assert slack != "l1" or total <= C + 1e-9
        assert slack != "l1" or allowed < 1e-3 or total == pytest.approx(C)
        for (j, y), _ in found.items():
            assert j != i or hinges[y] >= allowed - 1e-3
    # The same predictions, where the general solver leaves no doubt.
    signed: dict[Any, float] = {}
    for (i, y), a in alphas.items():
        gold = problem.examples[i][1]
        signed[i, y] = signed.get((i, y), 0) - a
        signed[i, gold] = signed.get((i, gold), 0) + a
    for i, (tokens, _) in enumerate(problem.examples):
        scores = {
            y: plain.discriminant(problem.K, problem.examples, signed, tokens, y)
            for y in plain.sequences(tokens, LABELS)
        }
        first, second = sorted(scores.values())[-2:][::-1]
        if first - second > 0.02:
            ours = max(scores, key=lambda y: problem.score(result.weights, i, y))
            assert scores[ours] == first


@pytest.mark.parametrize("seed", range(5))
def test_dual_perceptron_has_the_alphas_of_algorithm_1(seed: int) -> None:
    problem = Problem(seed, n=5)
    oracle, rule = problem.oracle(), DualPerceptron().rule()
    order = np.tile(np.arange(5), 4)
    _core.run(oracle, rule, order)
    wanted = plain.dual_perceptron(problem.K, problem.examples, LABELS, order.tolist())
    assert wanted  # there was something to learn
    found = {(i, tuple(y.tolist())): -a for i, a, y in rule.support()}
    for (i, _), a in list(found.items()):
        gold = i, problem.examples[i][1]
        found[gold] = found.get(gold, 0.0) - a
    assert found == wanted


def test_dual_perceptron_stops_when_nothing_is_wrong() -> None:
    problem = Problem(2, gamma=3.0)
    problem.gold = np.array([u % LABELS for x in problem.tokens for u in x], dtype=np.int32)
    result = train(DualPerceptron(epochs=200), problem.oracle(), progress=False)
    assert result.history[-1].updates == 0
    assert len(result.history) < 200


@pytest.mark.parametrize("slack", ["l1", "l2", None])
def test_objective_rises_with_every_sequence_that_joins(slack: Any) -> None:
    """Proposition 2."""
    problem = Problem(4, n=6, gamma=2.0)
    oracle = problem.oracle()
    rule = HiddenMarkovSVM(0.8, slack, rounds=1, tol=1e-3).rule()
    before, rises = 0.0, 0
    for number in np.tile(np.arange(6), 10):
        outcome = _core.run(oracle, rule, np.array([number]))
        assert outcome.objective is not None
        if outcome.updates:
            assert outcome.objective > before
            rises += 1
        else:
            assert outcome.objective == before
        before = outcome.objective
    assert rises > 6


def test_thresholds_stand_for_margins() -> None:
    """Proposition 1: where all margins of 1 hold (14), a threshold for each example makes (15) hold, and not before."""
    problem = Problem(2, gamma=3.0)
    problem.gold = np.array([u % LABELS for x in problem.tokens for u in x], dtype=np.int32)
    starts = problem.starts.tolist()
    golds = [tuple(problem.gold[a:b].tolist()) for a, b in pairwise(starts)]

    def holds(exported: Any) -> list[bool]:
        answers = []
        for i, gold in enumerate(golds):
            scores = {y: problem.score(exported, i, y) for y in plain.sequences(problem.tokens[i], LABELS)}
            rival = max(score for y, score in scores.items() if y != gold)
            threshold = -(scores[gold] + rival) / 2
            answers.append(
                all((score + threshold) * (1 if y == gold else -1) >= 0.5 - 2e-3 for y, score in scores.items())
            )
        return answers

    oracle = problem.oracle()
    assert not all(holds(oracle.weights(False)))
    result = train(HiddenMarkovSVM(slack=None, epochs=1000), oracle, progress=False)
    assert result.history[-1].updates == 0
    assert all(holds(result.weights))


LEARNERS = {
    "perceptron": Perceptron(k=2),
    "dual perceptron": DualPerceptron(),
    "pa": PassiveAggressive(C=0.3, k=3),
    "rpa": RestrictedPassiveAggressive(C=0.3, k=3),
    "mira": MIRA(C=0.3, k=3),
    "sdm": SDM(C=0.3, k=2),
    "larank": LaRank(C=0.3, k=2),
    "frank-wolfe": StructuredSVM(C=0.3),
    "subgradient": StructuredSVM(C=0.05, method="subgradient", project=True),
    "hmsvm": HiddenMarkovSVM(C=0.3, epochs=10),
    "hmsvm l2": HiddenMarkovSVM(C=0.3, slack="l2", loss="hamming", epochs=10),
}


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_does_with_a_linear_kernel_what_it_does_without(name: str, average: bool) -> None:
    problem = Problem(20, n=6, gamma=None)  # of other seeds, some have ties that rounding decides
    learner = replace(LEARNERS[name], average=average, epochs=4)
    with_kernel = train(learner, problem.oracle(), progress=False)
    without = train(learner, problem.linear_oracle(), progress=False)
    beta, weights = with_kernel.weights, without.weights
    assert np.abs(weights["unigrams"]).max() > 0.01
    np.testing.assert_allclose(problem.X.T @ beta["unigrams"], weights["unigrams"], atol=2e-3)
    np.testing.assert_allclose(beta["transitions"][0], weights["transitions"][0], atol=2e-3)
    objectives = [epoch.objective for epoch in with_kernel.history], [epoch.objective for epoch in without.history]
    if objectives[0][0] is not None:
        np.testing.assert_allclose(*objectives, rtol=1e-3)


def test_linear_kernel_and_hamming_margins_are_the_structural_svm() -> None:
    """The same optimum from the dual with a kernel and from the primal without."""
    problem = Problem(5, n=8, observations=12, gamma=None)
    ours = train(
        HiddenMarkovSVM(0.2, loss="hamming", tol=1e-4, gap=1e-4, epochs=3000), problem.oracle(), progress=False
    )
    primal = train(StructuredSVM(0.2, gap=1e-4, epochs=20000, average=False), problem.linear_oracle(), progress=False)
    assert ours.history[-1].gap is not None and ours.history[-1].gap <= 1e-4
    assert ours.history[-1].primal == pytest.approx(primal.history[-1].primal, rel=1e-3)
    np.testing.assert_allclose(problem.X.T @ ours.weights["unigrams"], primal.weights["unigrams"], atol=0.01)


@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_gap_closes(slack: Any) -> None:
    problem = Problem(6, n=6)
    result = train(HiddenMarkovSVM(0.5, slack, gap=1e-3, tol=1e-5, epochs=2000), problem.oracle(), progress=False)
    gaps = [epoch.gap for epoch in result.history]
    assert gaps[-1] is not None and -1e-5 < gaps[-1] <= 1e-3 < gaps[0]


def test_examples_count_as_they_weigh() -> None:
    """An example of weight 2 is two examples: their dual variables add up."""
    problem = Problem(7, n=4)
    doubled = Problem(7, n=4)
    doubled.tokens, doubled.labels = [*doubled.tokens, doubled.tokens[0]], [*doubled.labels, doubled.labels[0]]
    doubled.starts = sequence_ptr([len(x) for x in doubled.tokens])
    doubled.gold = np.concatenate(doubled.labels).astype(np.int32)
    learner = HiddenMarkovSVM(0.3, tol=1e-5, epochs=3000)
    weighted = train(learner, problem.oracle(weights=np.array([2, 1, 1, 1], np.float32)), progress=False)
    twice = train(learner, doubled.oracle(), progress=False)
    assert weighted.history[-1].objective == pytest.approx(twice.history[-1].objective, rel=1e-3)
    none = train(learner, problem.oracle(weights=np.array([0, 1, 1, 1], np.float32)), progress=False)
    assert 0 not in {i for i, _, _ in none.support}


def test_costs_of_labels_make_margins() -> None:
    problem = Problem(8, gamma=3.0)
    problem.gold = np.array([u % LABELS for x in problem.tokens for u in x], dtype=np.int32)
    learner = HiddenMarkovSVM(slack=None, epochs=2000)
    plain_norm = train(learner, problem.oracle(), progress=False).history[-1].objective
    costly = train(learner, problem.oracle(costs=(2.0, 2.0, 2.0)), progress=False).history[-1].objective
    assert plain_norm is not None and costly == pytest.approx(4 * plain_norm, rel=1e-2)


def test_partial_labels_are_completed() -> None:
    problem = Problem(9, n=5)
    problem.gold = problem.gold.copy()
    problem.gold[::2] = -1
    result = train(HiddenMarkovSVM(1.0, epochs=50), problem.oracle(), progress=False)
    assert result.support
    for i, _, labels in result.support:
        known = problem.gold[problem.starts[i] : problem.starts[i + 1]]
        assert any(a not in (-1, b) for a, b in zip(known, labels))


def test_the_cache_changes_nothing_but_the_time() -> None:
    exported, calls = [], []
    for cache_bytes in (0, 3 * 4 * 8, 1 << 20):
        problem = Problem(10, n=6)
        exported.append(train(HiddenMarkovSVM(0.5), problem.oracle(cache_bytes=cache_bytes), progress=False).weights)
        calls.append(sum(problem.calls))
    for other in exported[1:]:
        np.testing.assert_array_equal(other["unigrams"], exported[0]["unigrams"])
        np.testing.assert_array_equal(other["transitions"][0], exported[0]["transitions"][0])
    assert calls[2] <= len(problem.K) < calls[1] <= calls[0]


def test_rows_are_computed_in_blocks() -> None:
    problem = Problem(1, n=6, observations=12)
    train(Perceptron(epochs=1), problem.oracle(), progress=False)
    assert max(problem.calls) > 1


def test_no_more_rows_are_in_the_making_than_a_block() -> None:
    """What the cache is allowed is not needed a second time, not even for an inner product over all support tokens."""
    problem = Problem(1, n=150, observations=300)
    train(HiddenMarkovSVM(0.5, gap=1e-9, epochs=1), problem.oracle(cache_bytes=100 * 4 * 300), progress=False)
    assert 1 < max(problem.calls) <= 64


def test_a_kernel_that_fails_once_leaves_what_waits() -> None:
    """Changes that were made before it failed are not made again."""
    problem, whole = Problem(1), Problem(1)
    for p in (problem, whole):
        p.tokens, p.starts, p.gold = [np.arange(4)], sequence_ptr([4]), np.array([1, 2, 1, 2], dtype=np.int32)
    calls = iter(range(1000))

    def failing(ids: Any) -> Any:
        if next(calls) == 2:
            raise ZeroDivisionError
        return problem.K[ids]

    problem.rows = failing  # type: ignore[method-assign]
    oracles = [p.oracle(cache_bytes=0) for p in (problem, whole)]  # a row at a time
    for oracle in oracles:
        _core.run(oracle, Perceptron().rule(), np.array([0]))
    with pytest.raises(ZeroDivisionError):
        oracles[0].squared_norm()
    assert oracles[0].squared_norm() == oracles[1].squared_norm() > 0


def test_without_slack_labellings_of_the_same_features_are_an_error() -> None:
    """One observation four times: A A B A has all features of A B A A, transitions and the end included."""
    X, y = [["b", "c"], ["a"] * 4], [["B", "A"], ["A", "A", "B", "A"]]
    kernel = margent.Kernel(window=1)
    with pytest.raises(ValueError, match="sentence 1: a wrong labelling has the same features as the right"):
        margent.Tagger(kernel, HiddenMarkovSVM(slack=None)).fit(X, y)
    for slack in ("l1", "l2"):
        tagger = margent.Tagger(kernel, HiddenMarkovSVM(slack=slack)).fit(X, y)
        assert np.isfinite(tagger.history_[-1]["objective"])


def test_an_interruption_leaves_no_support_sequence_without_a_weight() -> None:
    for limit in range(12):
        problem = Problem(3, n=4)
        calls = iter(range(1000))

        def interrupted(ids: Any, problem: Any = problem, calls: Any = calls, limit: int = limit) -> Any:
            if next(calls) == limit:
                raise KeyboardInterrupt
            return problem.K[ids]

        problem.rows = interrupted  # type: ignore[method-assign]
        result = train(HiddenMarkovSVM(epochs=3), problem.oracle(cache_bytes=0), progress=False)
        assert result.interrupted and all(value > 0 for _, value, _ in result.support)


def test_training_goes_on_from_beta() -> None:
    problem = Problem(12, n=6)
    first = train(Perceptron(epochs=2, average=False, shuffle=False), problem.oracle(), progress=False).weights
    oracle = problem.oracle()
    oracle.start_from(first)
    second = train(Perceptron(epochs=1, average=False, shuffle=False), oracle, progress=False).weights
    whole = train(Perceptron(epochs=3, average=False, shuffle=False), problem.oracle(), progress=False).weights
    np.testing.assert_allclose(second["unigrams"], whole["unigrams"], atol=1e-5)
    np.testing.assert_allclose(second["transitions"][0], whole["transitions"][0], atol=1e-5)


def test_wrong_kernels() -> None:
    problem = Problem(0)

    def trained(kernel: Any) -> None:
        problem.rows = kernel  # type: ignore[method-assign]
        train(Perceptron(), problem.oracle(), progress=False)

    with pytest.raises(ValueError, match=r"the kernel should give an array of float32 of shape \(\d+, 8\)"):
        trained(lambda ids: problem.K[ids][:, :3])
    with pytest.raises(ValueError, match="the kernel should give an array of float32"):
        trained(lambda ids: "K")
    with pytest.raises(ValueError, match="not finite"):
        trained(lambda ids: problem.K[ids] * np.float32(np.nan))
    with pytest.raises(ZeroDivisionError):
        trained(lambda ids: 1 / 0)
    with pytest.raises(ValueError, match="each token has one feature"):
        linear = Problem(0)
        vectors = linear.X[np.concatenate(linear.tokens)]
        ids = np.tile(np.arange(4, dtype=np.int32), len(vectors))
        encoded = Encoded(linear.starts, ids, 4 * np.arange(len(vectors) + 1), vectors.ravel())
        _core.ChainOracle(encoded.examples(linear.gold), LABELS, 1, True, 4, 0, False, (), linear.rows, 0)


def test_a_crf_has_no_use_for_a_kernel() -> None:
    with pytest.raises(TypeError, match=r"'chain with a kernel' has no such sums: .* HiddenMarkovSVM or Dual"):
        train(CRF(), Problem(0).oracle(), progress=False)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C of HiddenMarkovSVM should be a number above 0"),
        ({"slack": "l3"}, "slack of HiddenMarkovSVM should be l1, l2 or None, got 'l3'"),
        ({"loss": "edit"}, "loss of HiddenMarkovSVM should be one of sequence, hamming"),
        ({"tol": 0}, "tol of HiddenMarkovSVM"),
        ({"rounds": 0}, "rounds of HiddenMarkovSVM"),
        ({"slack": None, "gap": 0.1}, "gap of HiddenMarkovSVM needs slack"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        margent.HiddenMarkovSVM(**parameters)
