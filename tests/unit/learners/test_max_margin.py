"""The k-best max-margin learners against textbook twins, and the connections between them (paper 004)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.unit.model_files import timeless

import margent
from margent import _core
from margent.answer import Answer, Rival
from margent.datasets.generated import make_addresses, make_separable
from margent.learners import (
    AROW,
    LEARNERS,
    MIRA,
    SDM,
    LaRank,
    PassiveAggressive,
    Perceptron,
    RestrictedPassiveAggressive,
    learner_named,
    train,
)
from oracle import max_margin as plain
from unit.learners.test_perceptron import N_LABELS, Problem, same

Twin = Callable[[plain.State, int], None]

CASES: list[dict[str, Any]] = [
    {},
    {"edges": True},
    {"missing": True},
    {"costs": True, "weights": True},
    {"allowed": True, "missing": True, "weights": True},
    {"transitions": False, "edges": True, "costs": True},
    {"pair_costs": True},
]

PAIRS: list[tuple[Any, Twin]] = [
    (Perceptron(k=1), plain.online(1, cost=0.0, fixed_step=True)),
    (Perceptron(k=4), plain.online(4, cost=0.0, fixed_step=True)),
    (Perceptron(k=3, margin=0.5), plain.online(3, cost=0.5, fixed_step=True)),
    (PassiveAggressive(C=0.1, k=1), plain.online(1, 0.1)),
    (PassiveAggressive(C=0.3, k=4), plain.online(4, 0.3)),
    (RestrictedPassiveAggressive(C=0.3, k=4), plain.online(4, 0.3, restricted=True)),
    (AROW(r=1.0), plain.arow(1.0)),
    (AROW(r=25.0), plain.arow(25.0)),
    (MIRA(C=0.2, k=1, tol=0), plain.mira(1, 0.2, 0)),
    (MIRA(C=0.4, k=4, tol=1e-7), plain.mira(4, 0.4, 1e-7)),
    (SDM(C=0.4, k=2, tol=1e-7), plain.larank(2, 0.4, 1e-7)),
]


def state_of(problem: Problem) -> plain.State:
    return plain.State(
        problem.examples, problem.start, N_LABELS, problem.order, problem.costs, transitions=problem.transitions
    )


@pytest.mark.parametrize(("order", "sparse"), [(1, False), (1, True), (2, False), (2, True)])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("learner", "twin"), PAIRS, ids=[str(learner).split(", epochs")[0] for learner, _ in PAIRS])
def test_weights_are_those_of_the_textbook(
    learner: Any, twin: Twin, case: dict[str, Any], order: int, sparse: bool
) -> None:
    problem = Problem(11, order, sparse=sparse, **case)
    sequence = np.concatenate([problem.random.permutation(6) for _ in range(2)])
    state = state_of(problem)
    average = plain.train(state, sequence.tolist(), twin)
    outcome = _core.run(problem.oracle, learner.rule(), sequence)
    assert outcome.updates > 0
    same(problem.weights(False), state.weights)
    same(problem.weights(True), average)
    if isinstance(learner, SDM):
        assert outcome.objective == pytest.approx(state.objective, abs=1e-3)
    else:
        assert outcome.objective is None


# The connections of figure 1


def weights_after(learner: Any, seed: int, epochs: int = 1, **options: Any) -> Any:
    problem = Problem(seed, 1, costs=True, weights=True, **options)
    sequence = np.tile(np.arange(6), epochs)
    _core.run(problem.oracle, learner.rule(), sequence)
    return problem.weights(False)


@pytest.mark.parametrize("seed", range(5))
def test_one_best_mira_is_passive_aggressive(seed: int) -> None:
    found, wanted = MIRA(C=0.2, k=1, tol=0), PassiveAggressive(C=0.2, k=1)
    same(weights_after(found, seed, 3), weights_after(wanted, seed, 3))
    same(weights_after(RestrictedPassiveAggressive(C=0.2, k=1), seed, 3), weights_after(wanted, seed, 3))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_epoch_of_the_dual_methods_is_that_of_mira(seed: int, k: int) -> None:
    wanted = weights_after(MIRA(C=0.3, k=k, tol=0), seed)
    same(weights_after(SDM(C=0.3, k=k, tol=0), seed), wanted)
    same(weights_after(LaRank(C=0.3, k=k, tol=0, kappa=0, n_reprocess=0), seed), wanted)
    two = weights_after(SDM(C=0.3, k=k, tol=0), seed, 2)
    same(weights_after(LaRank(C=0.3, k=k, tol=0, kappa=0, n_reprocess=0), seed, 2), two)
    mira = weights_after(MIRA(C=0.3, k=k, tol=0), seed, 2)
    assert max(abs(mira[key] - two.get(key, 0)) for key in mira) > 1e-3  # later epochs differ


# What the solver promises


def random_dual(seed: int) -> tuple[Any, Any, Any]:
    """Gold and a few rivals with their dual variables, some of them zero."""
    random = np.random.default_rng(seed)
    m = int(random.integers(2, 7))
    deltas = np.vstack([np.zeros(4), random.normal(size=(m - 1, 4))])
    hinge = np.concatenate([[0.0], random.normal(size=m - 1) * 2])
    values = random.dirichlet(np.ones(m)) * 0.7
    values[random.permutation(m)[: m // 3]] = 0.0
    return deltas @ deltas.T, hinge, values


@pytest.mark.parametrize("seed", range(20))
def test_smo_finds_the_optimum_and_never_lowers_the_objective(seed: int) -> None:
    from scipy.optimize import LinearConstraint, minimize

    gram, hinge, values = random_dual(seed)

    def objective(at: Any) -> float:
        return float((at - values) @ hinge - (at - values) @ gram @ (at - values) / 2)

    found, gradient, gained = _core.smo(gram, hinge, values, 1e-9, 0.0, -1)
    wanted = minimize(
        lambda at: -objective(at),
        values,
        jac=lambda at: gram @ (at - values) - hinge,
        method="SLSQP",
        bounds=[(0, None)] * len(values),
        constraints=[LinearConstraint(np.ones(len(values)), values.sum(), values.sum())],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert gained == pytest.approx(objective(found), abs=1e-9)
    assert gained == pytest.approx(-wanted.fun, abs=1e-6)
    assert found.sum() == pytest.approx(values.sum()) and (found >= 0).all()
    np.testing.assert_allclose(gradient, hinge - gram @ (found - values), atol=1e-9)
    gains = [_core.smo(gram, hinge, values, 0.0, 0.0, steps)[2] for steps in range(30)]
    assert gains[0] == 0 and (np.diff(gains) >= -1e-12).all()


@pytest.mark.parametrize("tol", [0.0, 0.01, 0.5])
@pytest.mark.parametrize("seed", range(10))
def test_smo_ends_when_the_conditions_hold_within_tol(seed: int, tol: float) -> None:
    found, hinge, _ = _core.smo(*random_dual(seed), tol, 0.0, -1)
    assert hinge.max() <= hinge[found > 0].min() + tol + 1e-9


def test_smo_leaves_small_variables_alone() -> None:
    gram, hinge = np.diag([0.0, 1.0]), np.array([0.0, 5.0])
    found, _, gained = _core.smo(gram, hinge, np.array([0.1, 0.0]), 0.0, 0.2, -1)
    assert found.tolist() == [0.1, 0.0] and gained == 0
    with pytest.raises(ValueError, match="different sizes"):
        _core.smo(gram, hinge, np.ones(3), 0.0, 0.0, -1)


def test_smo_with_two_equal_rivals_prefers_the_costlier() -> None:
    gram = np.array([[0.0, 0, 0], [0, 1, 1], [0, 1, 1]])
    found, _, _ = _core.smo(gram, np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5, 0.0]), 0.0, 0.0, -1)
    assert found[1] == 0 and found.sum() == pytest.approx(1)


# What the learners promise


def primal(problem: Problem, C: float, start: dict[Any, float]) -> float:
    """1/2 |w - start|^2 + C sum of the hinge losses, each by a search."""
    weights = problem.weights(False)
    total = sum((weights.get(key, 0.0) - start.get(key, 0.0)) ** 2 for key in {**weights, **start}) / 2
    for number, example in enumerate(problem.examples):
        gold, rivals = problem.oracle.ask(number, 1, 1.0)
        total += C * example.weight * sum(max(0.0, loss - gold + score) for score, loss, _, _ in rivals)
    return total


@pytest.mark.parametrize(
    "learner",
    [SDM(C=0.5, k=2, tol=1e-6), SDM(C=0.5, tol=1e-6, working_set=2)],
    ids=["sdm", "small sets"],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_methods_close_the_gap(learner: Any, seed: int) -> None:
    problem = Problem(seed, 1, costs=True, weights=True)
    rule, objectives = learner.rule(), []
    for _ in range(300):
        objectives.append(_core.run(problem.oracle, rule, np.arange(6)).objective)
    assert (np.diff(objectives) >= -1e-9).all()
    assert objectives[-1] == pytest.approx(primal(problem, 0.5, problem.start), rel=5e-3)
    assert objectives[-1] > objectives[0]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_small_working_sets_are_those_of_the_textbook(limit: int) -> None:
    problem = Problem(4, 1, weights=True)
    state = state_of(problem)
    sequence = np.tile(np.arange(6), 4)
    plain.train(state, sequence.tolist(), plain.larank(3, 0.5, 1e-7, limit=limit))
    outcome = _core.run(problem.oracle, SDM(C=0.5, k=3, tol=1e-7, working_set=limit).rule(), sequence)
    same(problem.weights(False), state.weights)
    assert outcome.objective == pytest.approx(state.objective, abs=1e-3)


def separable(seed: int, n: int = 40) -> tuple[_core.ChainOracle, Any]:
    sentences, labels, model = make_separable(n, 3, 8, margin=2, seed=seed)
    map_ = margent.features.feature_map_for(["U:%x[0,0]", "B"], sentences)
    ids = np.array([model.labels.index(y) for row in labels for y in row], dtype=np.int32)
    encoded = map_.encode(sentences, grow=True).examples(ids)
    return _core.ChainOracle(encoded, 3, 1, True, map_.n_unigrams, 0, False, []), model


def squared(delta: dict[int, float]) -> float:
    return sum(value**2 for value in delta.values())


def product(a: dict[int, float], b: dict[int, float]) -> float:
    return sum(value * b.get(key, 0.0) for key, value in a.items())


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_moves_of_the_perceptron_keep_to_their_bound(seed: int, k: int) -> None:
    """Theorem 2: at most (R |u| / gamma)^2 moves on separable data, counted from the answers by hand."""
    (oracle, model), (native, _) = separable(seed), separable(seed)
    rule, moves, radius = Perceptron(k=k).rule(), 0, 0.0
    for _ in range(100):
        for number in range(len(oracle)):
            gold, rivals = oracle.ask(number, k, 0.0)
            made: list[dict[int, float]] = []
            for j, (score, _, errors, delta) in enumerate(rivals):
                if errors and gold - score + sum(product(d, delta) for d in made) <= 0:
                    oracle.move(j, 1.0)
                    made.append(delta)
                    moves, radius = moves + 1, max(radius, squared(delta) ** 0.5)
        if _core.run(native, rule, np.arange(len(oracle))).updates == 0:
            break
    assert native.weights(False)["unigrams"].tolist() == oracle.weights(False)["unigrams"].tolist()
    assert 5 < moves <= (radius * model.norm / model.margin) ** 2


class Normed:
    """Few classes with features short enough for theorem 1: |delta| <= 1, losses up to C."""

    n_features = 12

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.truth = random.normal(size=(4, 3))
        self.X = random.normal(size=(60, 3))
        self.X /= np.linalg.norm(self.X, axis=1, keepdims=True) * 2**0.5
        self.y = np.argmax(self.X @ self.truth.T, axis=1)
        self.asked: list[tuple[int, Any, float]] = []

    def __len__(self) -> int:
        return len(self.y)

    def features(self, i: int, label: int) -> dict[int, float]:
        return {3 * label + j: float(x) for j, x in enumerate(self.X[i])}

    def loss(self, i: int, label: int) -> float:
        return 0.25 * abs(label - int(self.y[i]))

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        self.asked.append((i, weights.copy(), cost))
        scores = weights.reshape(4, 3) @ self.X[i] + [cost * self.loss(i, c) for c in range(4)]
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        rivals = [Rival(self.features(i, c), self.loss(i, c), int(c != self.y[i])) for c in best]
        return Answer(self.features(i, int(self.y[i])), rivals)


@pytest.mark.parametrize("seed", range(3))
def test_losses_of_restricted_updates_keep_to_their_bound(seed: int) -> None:
    """Theorem 1, with the sums taken over the updates that were made; u is a vector that separates the data."""
    k, C = 3, 1.0
    oracle = Normed(seed)
    native = _core.PythonOracle(oracle, 12)
    rule = RestrictedPassiveAggressive(C=C, k=k).rule()
    squares, hinges = 0.0, 0.0
    for u in (oracle.truth * 20, oracle.truth, np.zeros((4, 3))):
        oracle, squares, hinges = Normed(seed), 0.0, 0.0
        native, rule = _core.PythonOracle(oracle, 12), RestrictedPassiveAggressive(C=C, k=k).rule()
        n_updates = 0
        for i in range(len(oracle)):
            before = native.weights(False)
            _core.run(native, rule, np.array([i]))
            after = native.weights(False)
            w = before.copy()
            # The steps of this example again, by hand, from the textbook's words.
            ranked = np.argsort(-(w.reshape(4, 3) @ oracle.X[i] + [oracle.loss(i, c) for c in range(4)]), kind="stable")
            for c in ranked[:k].tolist():
                if c == oracle.y[i]:
                    continue
                delta = np.zeros((4, 3))
                delta[oracle.y[i]] += oracle.X[i]
                delta[c] -= oracle.X[i]
                prediction = int(np.argmax(w.reshape(4, 3) @ oracle.X[i]))
                gold_score = w.reshape(4, 3)[oracle.y[i]] @ oracle.X[i]
                hinge = oracle.loss(i, c) - w @ delta.ravel()
                of_prediction = oracle.loss(i, prediction) - gold_score + w.reshape(4, 3)[prediction] @ oracle.X[i]
                if hinge <= 0 or hinge < of_prediction - 1e-12:
                    continue
                squares += oracle.loss(i, prediction) ** 2
                hinges += oracle.loss(i, c) - float(u.ravel() @ delta.ravel())
                n_updates += 1
                w = w + min(hinge / (delta**2).sum(), C) * delta.ravel()
            np.testing.assert_allclose(after, w, atol=1e-9)
        assert n_updates > 5
        assert squares <= (u**2).sum() + 2 * C * hinges + 1e-9


# All of them everywhere

MAX_MARGIN = ["pa", "rpa", "mira", "sdm", "larank", "ssvm"]


def parameters_of(name: str) -> set[str]:
    return {field.name for field in fields(LEARNERS[name])}


def k_of(name: str) -> dict[str, Any]:
    return {"ssvm": {}, "larank": {"k": 3, "n_reprocess": 1}}.get(name, {"k": 3})


@pytest.mark.parametrize("name", MAX_MARGIN)
def test_a_structure_in_python_is_learned(name: str) -> None:
    oracle = Normed(0)
    result = train(learner_named(name, epochs=60, C=100.0, **k_of(name)), oracle)
    right = np.argmax(oracle.X @ result.weights.reshape(4, 3).T, axis=1) == oracle.y
    assert right.mean() > 0.9
    assert (result.history[-1].objective is not None) == (name in ("sdm", "larank", "ssvm"))


@pytest.mark.parametrize(
    "options", [{}, {"order": 2}, {"features": margent.Features(layout="sparse")}, {"constrain": True}], ids=str
)
@pytest.mark.parametrize("name", MAX_MARGIN)
def test_taggers_learn(name: str, options: dict[str, Any]) -> None:
    X, y = make_addresses(400, seed=1)
    learner = learner_named(name, epochs=2, **k_of(name))
    tagger = margent.Tagger(learner=learner, **options).fit(X[:300], y[:300])
    assert tagger.score(X[300:], y[300:]) > 0.7
    again = margent.Tagger(learner=learner, **options).fit(X[:300], y[:300])
    assert again.predict(X) == tagger.predict(X)


@pytest.mark.parametrize("name", MAX_MARGIN)
def test_taggers_learn_from_partial_labels(name: str) -> None:
    X, y = make_addresses(400, seed=2)
    random = np.random.default_rng(0)
    partial = [[label if random.random() < 0.7 else None for label in row] for row in y[:300]]
    tagger = margent.Tagger(learner=name, scheme="iob2").fit(X[:300], partial)
    assert tagger.score(X[300:], y[300:]) > 0.7


@pytest.mark.parametrize("name", MAX_MARGIN)
def test_a_tagger_by_name_is_saved_and_goes_on_learning(name: str, tmp_path: Any) -> None:
    X, y = make_addresses(60, seed=3)
    tagger = margent.Tagger(learner=LEARNERS[name](epochs=1)).fit(X, y)
    tagger.save(tmp_path / "model")
    loaded = margent.load(tmp_path / "model")
    assert loaded.learner == tagger.learner and loaded.history_ == timeless(tagger.history_)
    loaded.partial_fit(X, y)
    assert len(loaded.history_) == 2


@pytest.mark.parametrize("name", MAX_MARGIN)
def test_wrong_parameters_are_explained(name: str) -> None:
    kind = LEARNERS[name].__name__
    for parameters, words in (
        ({"C": 0}, f"C of {kind} should be a number above 0, got 0"),
        ({"C": float("inf")}, "C"),
        ({"k": 0}, f"k of {kind} should be an integer of at least 1, got 0"),
        ({"k": 1.5}, "k"),
        ({"epochs": 0}, "epochs"),
    ):
        if "k" in parameters and not k_of(name):
            continue
        with pytest.raises(ValueError, match=words):
            learner_named(name, **parameters)
    for parameter, wrong in (
        ("gap", -1),
        ("tol", -1),
        ("working_set", 0),
        ("n_reprocess", -1),
        ("kappa", -0.1),
        ("reprocess_seed", 0.5),
    ):
        if parameter in parameters_of(name):
            with pytest.raises(ValueError, match=f"{parameter} of {kind}"):
                learner_named(name, **{parameter: wrong})


@pytest.mark.parametrize("name", MAX_MARGIN)
def test_numbers_without_measure_are_refused(name: str) -> None:
    kind = LEARNERS[name].__name__
    for parameter in ("C", "tol", "kappa", "gap"):
        if parameter in parameters_of(name):
            for wrong in (1e26, float("inf"), 10**400, Fraction(10**400)):
                with pytest.raises(ValueError, match=rf"{parameter} of {kind} should be a number of at most 1e\+25"):
                    learner_named(name, **{parameter: wrong})
            with pytest.raises(ValueError, match=f"{parameter} of {kind} should be a number (above|of at least) 0"):
                learner_named(name, **{parameter: -(10**400)})
    for parameter in ("k", "n_reprocess", "working_set", "epochs", "patience", "reprocess_seed"):
        if parameter in parameters_of(name):
            most = 2**63 - 1 if parameter == "reprocess_seed" else 2**31 - 1
            learner_named(name, **{parameter: most}).rule()
            with pytest.raises(ValueError, match=f"{parameter} of {kind} should be an integer of at most {most}"):
                learner_named(name, **{parameter: most + 1})


@pytest.mark.parametrize("name", [name for name in MAX_MARGIN if k_of(name)])
def test_k_may_be_larger_than_the_number_of_labellings(name: str) -> None:
    """Three tokens, two labels: eight labellings, and memory for no more."""
    X, y = [["a", "b", "c"], ["c", "a"], ["b"]], [["A", "B", "A"], ["A", "A"], ["B"]]
    found, wanted = (
        margent.Tagger(learner=learner_named(name, k=k, epochs=2, C=0.1)).fit(X, y).weights_ for k in (2**31 - 1, 8)
    )
    np.testing.assert_array_equal(found.unigrams, wanted.unigrams)


def test_kappa_is_a_share_of_c() -> None:
    """However small C is, a kappa of a millionth leaves alone what is next to nothing, and no more."""
    X, y = make_addresses(20, seed=0)
    found, wanted = (
        margent.Tagger(learner=LaRank(C=1e-7, kappa=kappa)).fit(X, y).weights_.unigrams for kappa in (1e-6, 0.0)
    )
    assert np.any(wanted)
    np.testing.assert_array_equal(found, wanted)
