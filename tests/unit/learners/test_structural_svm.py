"""The solvers of the structural SVM: against slow twins, against a general solver, and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.datasets.generated import make_addresses
from margent.learners import SDM, LaRank, PassiveAggressive, StructuredSVM, train
from oracle import max_margin as plain
from oracle import perceptron as chains
from unit.learners.enumerated import Enumerated
from unit.learners.test_max_margin import state_of
from unit.learners.test_perceptron import N_LABELS, Problem, Weights, same

Twin = Callable[[plain.State, int], None]

CASES: list[dict[str, Any]] = [
    {},
    {"edges": True},
    {"missing": True},
    {"costs": True, "weights": True},
    {"pair_costs": True, "missing": True},
    {"allowed": True, "missing": True, "weights": True},
    {"transitions": False, "edges": True, "costs": True},
]

TWINS: dict[str, tuple[Any, Callable[[], Twin]]] = {
    "sdm": (SDM(C=0.4, k=2, tol=1e-5), lambda: plain.larank(2, 0.4, 1e-5)),
    "larank": (
        LaRank(C=0.4, k=2, n_reprocess=2, tol=1e-5, reprocess_seed=3),
        lambda: plain.larank(2, 0.4, 1e-5, n_reprocess=2, kappa=1e-6, seed=3),
    ),
    "loose larank": (
        LaRank(C=0.4, k=1, n_reprocess=1, tol=0.1, kappa=0.05, reprocess_seed=1),
        lambda: plain.larank(1, 0.4, 0.1, n_reprocess=1, kappa=0.05, seed=1),
    ),
    "frank-wolfe": (StructuredSVM(C=0.4), lambda: plain.frank_wolfe(0.4)),
    "subgradient": (StructuredSVM(C=0.4, method="subgradient"), lambda: plain.subgradient(0.4)),
    "projected": (
        StructuredSVM(C=0.05, method="subgradient", project=True),
        lambda: plain.subgradient(0.05, project=True),
    ),
    "subgradient with a warm start": (
        StructuredSVM(C=0.4, method="subgradient", warm_start=2.5),
        lambda: plain.subgradient(0.4, warm_start=2.5),
    ),
}


def sequence_of(problem: Problem) -> Any:
    return np.concatenate([problem.random.permutation(6) for _ in range(2)])


def textbook(name: str, problem: Problem, sequence: Any) -> tuple[plain.State, Weights]:
    learner, twin = TWINS[name]
    state = state_of(problem)
    return state, plain.train(state, sequence.tolist(), twin(), weighted=isinstance(learner, StructuredSVM))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", TWINS)
def test_weights_are_those_of_the_textbook(name: str, case: dict[str, Any], order: int) -> None:
    """In the arithmetic of the twin, 64 bits, and with its order of equal answers.

    The solvers make rivals equal: each step of SMO ends where two hinges are the same, and a search after it finds them
    side by side. With weights of 32 bits their rounding would decide which of them is taken, and LaRank, which comes
    back to examples that it has just optimised, would go another way from there. The chain's own answers are compared
    to enumeration elsewhere.
    """
    problem = Problem(11, order, **case)
    sequence = sequence_of(problem)
    state, average = textbook(name, problem, sequence)
    oracle = Enumerated(problem)
    outcome = _core.run(oracle.native, TWINS[name][0].rule(), sequence)
    assert outcome.updates > 0
    for found, wanted in ((oracle.weights(False), state.weights), (oracle.weights(True), average)):
        assert max(abs(found[key] - wanted.get(key, 0.0)) for key in found) < 1e-9
    if "gradient" in name or name == "projected":
        assert outcome.objective is None
    else:
        assert outcome.objective == pytest.approx(state.objective, abs=1e-9)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["frank-wolfe", "subgradient", "projected"])
def test_chains_are_learned_as_in_the_textbook(name: str, sparse: bool) -> None:
    """With weights of 32 bits, on all problems where no answer was taken or left by less than their rounding."""
    compared = 0
    for case in CASES:
        for seed in (11, 12):
            problem = Problem(seed, 1, sparse=sparse, **case)
            sequence = sequence_of(problem)
            state, average = textbook(name, problem, sequence)
            if state.closest < 1e-5:
                continue
            compared += 1
            _core.run(problem.oracle, TWINS[name][0].rule(), sequence)
            same(problem.weights(False), state.weights)
            same(problem.weights(True), average)
    assert compared >= len(CASES)


# The optimum


def from_zero(seed: int, **options: Any) -> Problem:
    problem = Problem(seed, 1, **options)
    zero = problem.oracle.weights(False)
    for level in (zero["unigrams"], *zero["transitions"], *zero["ends"]):
        level[:] = 0
    problem.oracle.start_from(zero)
    problem.start = {}
    return problem


def primal(problem: Problem, C: float, weights: Weights) -> float:
    """1/2 |w|^2 + C sum of the hinge losses, over all labellings."""
    total = sum(value**2 for value in weights.values()) / 2
    for example in problem.examples:
        if example.labels:
            gold = chains.dot(weights, chains.features(example, example.labels, 1))
            worst = max(
                chains.value(example, y, weights, 1, problem.costs, 1.0) for y in chains.labellings(example, N_LABELS)
            )
            total += C * example.weight * (worst - gold)
    return float(total)


def optimum(problem: Problem, C: float) -> float:
    """The same, at its least: a quadratic program over all labellings, by scipy."""
    from scipy.optimize import LinearConstraint, minimize

    names = Enumerated(problem).index
    deltas, losses, slack, prices = [], [], [], []
    for number, example in enumerate(e for e in problem.examples if e.labels):
        prices.append(C * example.weight)
        gold = chains.features(example, example.labels, 1)
        for y in chains.labellings(example, N_LABELS):
            row = np.zeros(len(names))
            other = chains.features(example, y, 1)
            for key in {**gold, **other}:
                row[names[key]] = gold.get(key, 0.0) - other.get(key, 0.0)
            deltas.append(row)
            losses.append(chains.loss(example, y, problem.costs))
            slack.append(number)
    n, m = len(names), len(prices)
    matrix = np.hstack([np.array(deltas), np.eye(m)[slack]])
    cost = np.concatenate([np.zeros(n), prices])
    start = np.concatenate([np.zeros(n), [max(loss for loss, s in zip(losses, slack) if s == i) for i in range(m)]])
    solved = minimize(
        lambda at: at[:n] @ at[:n] / 2 + cost @ at,
        start,
        jac=lambda at: np.concatenate([at[:n], np.zeros(m)]) + cost,
        constraints=[LinearConstraint(matrix, losses, np.inf)],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert solved.success
    return float(solved.fun)


DUAL = {
    "sdm": SDM(C=0.5, k=2, tol=1e-6, epochs=2000, average=False, gap=1e-3),
    "small sets": SDM(C=0.5, tol=1e-6, working_set=2, epochs=2000, average=False, gap=1e-3),
    "larank": LaRank(C=0.5, tol=1e-6, n_reprocess=2, epochs=2000, average=False, gap=1e-3),
    "frank-wolfe": StructuredSVM(C=0.5, epochs=4000, average=False, gap=1e-3),
}


@pytest.mark.parametrize("costs", ["costs", "pair_costs"])
def test_all_find_the_optimum(costs: str) -> None:
    wanted = optimum(from_zero(1, weights=True, **{costs: True}), 0.5)
    for name, learner in DUAL.items():
        problem = from_zero(1, weights=True, **{costs: True})
        result = train(learner, problem.oracle)
        last = result.history[-1]
        assert last.primal is not None and last.objective is not None and last.gap is not None
        assert last.gap <= 1e-3 and len(result.history) < learner.epochs, name
        assert last.primal == pytest.approx(primal(problem, 0.5, problem.weights(False)), rel=1e-4), name
        assert last.objective - 1e-3 <= wanted <= last.primal + 1e-3, name
        assert last.primal == pytest.approx(wanted, rel=2e-3), name
        assert (np.diff([epoch.objective or 0.0 for epoch in result.history]) >= -1e-9).all(), name
        assert min(epoch.gap for epoch in result.history if epoch.gap is not None) >= -1e-4, name
    for project in (False, True):
        problem = from_zero(1, weights=True, **{costs: True})
        learner = StructuredSVM(C=0.5, method="subgradient", project=project, epochs=3000)
        history = train(learner, problem.oracle).history
        assert primal(problem, 0.5, problem.weights(True)) == pytest.approx(wanted, rel=0.01)
        assert primal(problem, 0.5, problem.weights(False)) == pytest.approx(wanted, rel=0.05)
        assert history[-1].gap is None and history[-1].objective is None


@pytest.mark.parametrize("learner", DUAL.values(), ids=DUAL)
def test_the_gap_is_only_measured_when_asked_for(learner: Any) -> None:
    from dataclasses import replace

    asked = train(replace(learner, gap=0.0, epochs=3), from_zero(0).oracle)
    plain_ = train(replace(learner, gap=None, epochs=3), from_zero(0).oracle)
    assert len(asked.history) == 3  # a gap of zero is never reached, but reported
    for with_gap, without in zip(asked.history, plain_.history):
        assert with_gap.gap is not None and with_gap.primal is not None and with_gap.objective is not None
        assert with_gap.gap == pytest.approx((with_gap.primal - with_gap.objective) / with_gap.primal)
        assert with_gap.objective == without.objective  # measuring moves nothing
        assert without.gap is None and without.primal is None


def test_the_gap_starts_from_the_weights_that_were_there() -> None:
    """Dual methods measure |w| from the weights they start with, and the gap closes there too."""
    for learner in DUAL.values():
        problem = Problem(2, 1)
        last = train(learner, problem.oracle).history[-1]
        assert last.gap is not None and -1e-4 <= last.gap <= 1e-3


def test_a_learner_without_a_dual_has_no_gap() -> None:
    class Greedy(PassiveAggressive):
        gap = 0.1

    with pytest.raises(ValueError, match="Greedy has no dual objective"):
        train(Greedy(), from_zero(0).oracle)


def test_no_examples_have_no_gap() -> None:
    class Nothing:
        n_features = 2

        def __len__(self) -> int:
            return 0

        def answer(self, *_: Any) -> Any:
            raise AssertionError

    history = train(SDM(gap=0.1), Nothing()).history
    assert len(history) == 1 and history[0].gap == 0


def test_frank_wolfe_tells_what_it_keeps() -> None:
    problem = Problem(3, 1)
    rule = _core.FrankWolfeRule(1.0)
    empty = rule.bytes()
    sizes = []
    for _ in range(300):
        _core.run(problem.oracle, rule, np.arange(6))
        sizes.append(rule.bytes())
    weights = len(Enumerated(problem).names)
    assert empty == 0 < sizes[0] <= sizes[-1] <= 6 * (16 * 2 * weights + 64)
    assert sizes[-1] == sizes[100]  # no growth with the number of steps


# The verbs of the oracle that they need


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("small", [1e-3, 0.9], ids=["made anew", "lazy"])
def test_scaled_weights_and_their_average(small: float, sparse: bool) -> None:
    problem = Problem(5, 2, sparse=sparse, edges=True)
    exact = Enumerated(problem)
    for oracle in (problem.oracle, exact.native):
        random = np.random.default_rng(0)
        now = dict(problem.start)
        total, count = dict(now), 1.0
        names = problem.name_of() if oracle is problem.oracle else dict(enumerate(exact.names))
        index = {name: i for i, name in names.items()}
        if oracle is problem.oracle:  # finding the names has left its traces in the averages
            again = Problem(5, 2, sparse=sparse, edges=True)
            oracle = again.oracle
        for step in range(8):
            factor = float(random.uniform(small, 1.2 * small))
            key = list(now)[int(random.integers(len(now)))]
            oracle.scale(factor)
            oracle.add({index[key]: 2.0}, 0.5)
            oracle.tick(step + 1.0)
            now = {name: factor * value + (name == key) for name, value in now.items()}
            total = {name: total[name] + (step + 1) * value for name, value in now.items()}
            count += step + 1
        assert oracle.squared_norm() == pytest.approx(sum(value**2 for value in now.values()), rel=1e-4)
        found = (again if oracle is not exact.native else exact).weights
        same(found(False), now)
        same(found(True), {name: value / count for name, value in total.items()})
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="factor"):
            oracle.scale(wrong)


def test_scaling_does_not_change_the_best_answer_without_costs() -> None:
    one, two = Problem(6, 1), Problem(6, 1)
    two.oracle.scale(0.25)
    for number in (0, 2, 5):
        gold, rivals = one.oracle.ask(number, 3, 1.0)
        gold_scaled, scaled = two.oracle.ask(number, 3, 0.25)
        assert gold_scaled == pytest.approx(gold / 4, abs=1e-5)
        assert [r[1:] for r in scaled] == [r[1:] for r in rivals]
        assert [r[0] for r in scaled] == pytest.approx([r[0] / 4 for r in rivals], abs=1e-5)


# As users meet them


def test_wrong_parameters_are_explained() -> None:
    for parameters, words in (
        ({"method": "magic"}, "method of StructuredSVM should be frank-wolfe or subgradient, got 'magic'"),
        ({"project": "yes"}, "project of StructuredSVM should be True or False"),
        ({"project": True}, "project of StructuredSVM is for method='subgradient'"),
        ({"warm_start": 5}, "warm_start of StructuredSVM is for method='subgradient'"),
        ({"method": "subgradient", "warm_start": -1}, "warm_start of StructuredSVM should be a number of at least 0"),
        ({"gap": -0.1}, "gap of StructuredSVM should be a number of at least 0 or None, got -0.1"),
        ({"method": "subgradient", "gap": 0.1}, "gap of StructuredSVM needs method='frank-wolfe'"),
    ):
        with pytest.raises(ValueError, match=words):
            StructuredSVM(**parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner",
    [StructuredSVM(epochs=4), StructuredSVM(epochs=4, method="subgradient"), LaRank(n_reprocess=1, epochs=4)],
    ids=["frank-wolfe", "subgradient", "larank"],
)
def test_early_stopping_and_sample_weights(learner: Any) -> None:
    from dataclasses import replace

    X, y = make_addresses(120, seed=5)
    wrong = [["O"] * len(row) for row in y]
    misled = margent.Tagger(learner=replace(learner, epochs=4)).fit(X[:80] * 2, y[:80] + wrong[:80])
    tagger = margent.Tagger(learner=replace(learner, patience=1, epochs=30))
    weights = [1.0] * 80 + [0.001] * 80
    tagger.fit(X[:80] * 2, y[:80] + wrong[:80], sample_weight=weights, X_dev=X[80:], y_dev=y[80:])
    assert len(tagger.history_) < 30 and tagger.best_epoch_ == len(tagger.history_) - 1
    before = tagger.score(X[80:], y[80:])
    assert before > misled.score(X[80:], y[80:]) + 0.1
    tagger.set_params(learner=replace(learner, epochs=1))
    tagger.partial_fit(X[80:], y[80:])
    assert tagger.score(X[80:], y[80:]) >= before


def test_a_run_to_a_gap_from_the_tagger() -> None:
    X, y = make_addresses(60, seed=6)
    tagger = margent.Tagger(learner=StructuredSVM(C=0.1, gap=0.1, epochs=500, average=False)).fit(X, y)
    assert 1 < len(tagger.history_) < 500
    assert tagger.history_[-1]["gap"] <= 0.1 < tagger.history_[-2]["gap"]


@pytest.mark.parametrize("method", ["frank-wolfe", "subgradient"])
def test_constraints_and_partial_labels(method: Any) -> None:
    X, y = make_addresses(400, seed=2)
    random = np.random.default_rng(0)
    partial = [[label if random.random() < 0.7 else None for label in row] for row in y[:300]]
    learner = StructuredSVM(C=0.3, method=method, epochs=5)
    tagger = margent.Tagger(learner=learner, scheme="iob2", constrain=True, order=2).fit(X[:300], partial)
    assert tagger.score(X[300:], y[300:]) > 0.7
    for row in tagger.predict(X[300:]):
        for before, label in zip(["O", *row], row):
            assert not label.startswith("I-") or before[1:] == label[1:]


def test_projected_weights_and_their_average_never_leave_the_ball() -> None:
    C = 0.05
    problem = from_zero(11, costs=True)
    losses = [
        max(chains.loss(example, y, problem.costs) for y in chains.labellings(example, N_LABELS))
        for example in problem.examples
    ]
    rule = StructuredSVM(C=C, method="subgradient", project=True).rule()
    sizes = []
    for number in range(len(problem.examples)):
        _core.run(problem.oracle, rule, np.array([number]))
        sizes += [sum(w**2 for w in problem.weights(average).values()) for average in (False, True)]
    assert max(sizes) <= C * sum(losses) * (1 + 1e-5)
    assert max(sizes) == pytest.approx(C * sum(losses), rel=1e-4)  # and the ball is what holds them


@pytest.mark.parametrize(("asked", "measured", "epochs"), [(0.0, 0.0, 3), (0.1, -0.05, 3), (0.1, 0.05, 1)])
def test_a_gap_that_is_no_bound_or_was_only_to_be_reported_does_not_stop(
    asked: float, measured: float, epochs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    monkeypatch.setattr("margent.learners.training.with_gap", lambda epoch, *_: replace(epoch, gap=measured))
    result = train(SDM(gap=asked, epochs=3), from_zero(0).oracle)
    assert len(result.history) == epochs
