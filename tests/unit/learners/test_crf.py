"""The conditional random field: its optimum, its zeros, and how it behaves in the training loop."""

from __future__ import annotations

import itertools
import signal
import threading
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from tests.unit.learners.test_likelihood import Problem, problem
from tests.unit.model_files import timeless

import margent
from margent import CRF, Features, Tagger, _core, train
from margent.learners.progress import ProgressBar
from margent.learners.quasi_newton import minimise


def fitted(given: Problem, learner: CRF, threads: int = 1) -> tuple[Any, Any]:
    """The parameters after training, and the result."""
    result = train(learner, given.oracle, threads=threads)
    return given.likelihood().parameters(), result


def scipy_optimum(given: Problem, l2: float) -> tuple[float, Any]:
    def function(w: Any) -> tuple[float, Any]:
        value, gradient = given.twin(w)
        return value + l2 * w @ w, gradient + 2 * l2 * w

    found = minimize(function, np.zeros(len(given.keys)), jac=True, method="L-BFGS-B", options={"ftol": 1e-12})
    return float(found.fun), found.x


ALL = {"all_pairs": True, "all_transitions": True}


@pytest.mark.parametrize("method", ["lbfgs", "owlqn", "sgd"])
@pytest.mark.parametrize(
    "case", [{}, {"order": 2, "missing": True, "n": 6}, {"weighted": True, "allowed": True, "costs": True}], ids=str
)
def test_the_optimum_is_that_of_scipy_on_the_listing(method: Any, case: dict[str, Any]) -> None:
    given = problem(**case)
    value, point = scipy_optimum(given, 0.5)
    epochs, tol = (3000, 1e-9) if method == "sgd" else (200, 1e-9)
    w, result = fitted(given, CRF(method=method, l2=0.5, epochs=epochs, tol=tol, **ALL))
    close = 3e-3 if method == "sgd" else 1e-5
    assert result.history[-1].objective == pytest.approx(value, rel=close)
    np.testing.assert_allclose(w, point, atol=0.05 if method == "sgd" else 3e-3)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_l1_has_exact_zeros_and_meets_the_conditions_of_its_optimum(l2: float) -> None:
    given = problem(n=40)
    l1 = 1.5
    w, result = fitted(given, CRF(method="owlqn", l1=l1, l2=l2, epochs=500, tol=1e-10, **ALL))
    _, gradient = given.twin(w)
    gradient += 2 * l2 * w
    zero = w == 0
    assert 0.2 < zero.mean() < 0.95
    assert (np.abs(gradient[zero]) <= l1 + 1e-3).all()
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(w[~zero]), atol=2e-2)
    objective = given.twin(w)[0] + l2 * w @ w + l1 * np.abs(w).sum()
    assert result.history[-1].objective == pytest.approx(objective, rel=1e-5)
    assert np.count_nonzero(result.weights["unigrams"]) == np.count_nonzero(w[: 5 * 3])


def test_the_objective_never_rises_and_is_what_it_says() -> None:
    given = problem(missing=True)
    w, result = fitted(given, CRF(l2=0.2, **ALL))
    objectives = [epoch.objective for epoch in result.history]
    assert all(b <= a for a, b in itertools.pairwise(objectives))
    last = result.history[-1]
    assert last.accuracy is None and last.loss == pytest.approx(given.twin(w)[0], rel=1e-5)
    assert last.objective == pytest.approx(last.loss + 0.2 * w @ w, rel=1e-6)
    assert len(result.history) < 200


@pytest.mark.parametrize("method", ["lbfgs", "owlqn", "sgd"])
def test_threads_do_not_change_a_bit(method: Any) -> None:
    found = [
        fitted(problem(missing=True, n=200, longest=8), CRF(method=method, epochs=6, tol=0.0), threads)[0].tobytes()
        for threads in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]


def test_the_weights_are_those_of_the_last_step_and_not_of_a_vain_search() -> None:
    given = problem(n=6)
    likelihood = given.likelihood()
    objectives = [step.objective for step in CRF(tol=0.0).steps(likelihood, np.random.default_rng(0), lambda _: None)]
    w = likelihood.parameters()
    assert len(objectives) < 500  # it ended because nothing lower was found
    assert likelihood.value() + 0.3 * w @ w == pytest.approx(objectives[-1], rel=1e-7)


def test_a_start_at_the_optimum_has_a_history_too() -> None:
    tagger = Tagger(learner="crf").fit([["a", "b"]], [["A", "A"]])
    assert [(epoch["epoch"], epoch["objective"]) for epoch in tagger.history_] == [(1, 0.0)]


# The tagger


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    return margent.make_addresses(120, seed=1)


@pytest.mark.parametrize("method", ["lbfgs", "owlqn", "sgd"])
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_tagger_learns(method: Any, layout: str, data: tuple[Any, Any]) -> None:
    X, y = data
    tagger = Tagger(features=Features(layout=layout), learner=CRF(method=method, epochs=15, l2=0.1)).fit(X[:80], y[:80])
    assert tagger.score(X[:80], y[:80]) > 0.97 and tagger.score(X[80:], y[80:]) > 0.6


def test_layouts_and_threads_agree(data: tuple[Any, Any]) -> None:
    X, y = data
    dense, sparse, threaded = (
        Tagger(features=Features(layout=layout), learner=CRF(epochs=8), threads=threads).fit(X[:60], y[:60])
        for layout, threads in (("dense", 1), ("sparse", 1), ("dense", 3))
    )
    objectives = [[epoch["objective"] for epoch in tagger.history_] for tagger in (dense, sparse, threaded)]
    assert objectives[0] == objectives[2] and objectives[0] == pytest.approx(objectives[1], rel=1e-4)
    assert dense.predict(X) == threaded.predict(X)


@pytest.mark.parametrize("features", ["generic", ["U:%x[0,0]", "B:%x[0,0]"]])
@pytest.mark.parametrize("order", [1, 2])
def test_templates_edge_features_and_orders(features: Any, order: int, data: tuple[Any, Any]) -> None:
    X, y = data
    templates = features if isinstance(features, str) else margent.Templates("\n".join(features))
    tagger = Tagger(templates, CRF(epochs=15, l2=0.1), order=order, constrain=True).fit(X[:40], y[:40])
    objectives = [epoch["objective"] for epoch in tagger.history_]
    assert objectives[-1] < 0.3 * objectives[0] and tagger.score(X[:40], y[:40]) > 0.8


def test_vectors_attributes_weights_costs_and_label_dictionaries(data: tuple[Any, Any]) -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(30, 5, 3))
    y = [["A" if x[0] > 0 else "B" for x in row] for row in rows]
    tagger = Tagger(learner="crf").fit(list(rows), y, sample_weight=random.uniform(0.5, 2, 30))
    assert tagger.score(list(rows), y) > 0.9
    X, labels = data
    attributes = [[{"word": word, "length": len(word)} for word in sentence] for sentence in X[:30]]
    assert Tagger(learner=CRF(l2=0.01)).fit(attributes, labels[:30]).score(attributes, labels[:30]) > 0.9
    assert Tagger(learner=CRF(epochs=5), tag_dictionary=3).fit(X, labels).score(X, labels) > 0.8


def test_costs_are_those_of_expected_decisions() -> None:
    """Without features p(A) = 3/4: A is best, unless a mistake on B costs more than three times as much."""
    X, y = [[{"bias": 1.0}]] * 40, [["A"]] * 30 + [["B"]] * 10
    for cost, best in ((1.0, "A"), (2.0, "A"), (4.0, "B")):
        tagger = Tagger("attributes", CRF(l2=1e-6), label_costs={"B": cost}).fit(X, y)
        assert tagger.predict(X[:1]) == [[best]]
    plain = Tagger("attributes", CRF(l2=1e-6)).fit(X, y)
    np.testing.assert_allclose(plain.predict_marginals(X[:1])[0], [[0.75, 0.25]], atol=1e-3)


def test_missing_labels(data: tuple[Any, Any]) -> None:
    X, y = data
    partial = [[label if t % 2 else None for t, label in enumerate(labels)] for labels in y]
    tagger = Tagger(learner=CRF(l2=0.1)).fit(X, partial)
    assert tagger.score(X, y) > 0.85


def test_partial_fit_goes_on_from_the_weights(data: tuple[Any, Any]) -> None:
    X, y = data
    once = Tagger(learner=CRF(epochs=40)).fit(X, y)
    twice = Tagger(learner=CRF(epochs=20)).fit(X, y)
    first = twice.history_[-1]["objective"]
    twice.partial_fit(X, y)
    assert twice.history_[20]["objective"] < first
    assert twice.history_[-1]["objective"] == pytest.approx(once.history_[-1]["objective"], rel=0.02)
    twice.partial_fit([["Zanzibar"]], [["B-NEW"]])
    assert "B-NEW" in twice.classes_


def test_development_data_and_patience(data: tuple[Any, Any]) -> None:
    X, y = data
    tagger = Tagger(learner=CRF(patience=3, tol=0.0)).fit(X[:60], y[:60], X_dev=X[60:], y_dev=y[60:])
    scores = [epoch["dev_score"] for epoch in tagger.history_]
    assert len(scores) == tagger.best_epoch_ + 3 and scores[tagger.best_epoch_ - 1] == max(scores)
    assert tagger.score(X[60:], y[60:]) == pytest.approx(max(scores))
    with pytest.raises(ValueError, match="patience=3 needs development data"):
        Tagger(learner=CRF(patience=3)).fit(X, y)


def test_a_callback_ends_the_training_and_a_file_keeps_the_learner(data: tuple[Any, Any], tmp_path: Any) -> None:
    X, y = data
    tagger = Tagger(learner=CRF(method="owlqn", l1=0.5)).fit(X, y, callbacks=[lambda epoch: epoch.epoch == 4])
    assert len(tagger.history_) == 4
    tagger.save(tmp_path / "crf.margent")
    again = margent.load(tmp_path / "crf.margent")
    assert again.learner == tagger.learner and again.history_ == timeless(tagger.history_)
    assert again.predict(X) == tagger.predict(X)


@pytest.mark.parametrize("method", ["lbfgs", "owlqn", "sgd"])
def test_an_interruption_keeps_the_last_accepted_point(method: Any) -> None:
    """Ctrl-C in the middle of an evaluation: the weights are those of the last step in the history."""
    given = problem(n=40)
    learner = CRF(method=method, tol=0.0, l2=0.1)

    def interrupt(epoch: margent.learners.Epoch) -> None:
        if epoch.epoch == 3:
            signal.raise_signal(signal.SIGINT)

    result = train(learner, given.oracle, callbacks=[interrupt])
    assert result.interrupted and len(result.history) == 3
    likelihood = given.likelihood()
    w = likelihood.parameters()
    assert likelihood.value() + 0.1 * w @ w == pytest.approx(result.history[-1].objective, rel=1e-5)


def test_an_exception_within_an_evaluation_restores_the_point() -> None:
    given = problem(n=40)
    real = given.likelihood()
    calls: list[int] = []

    class Failing:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def evaluate(self, w: Any) -> Any:
            calls.append(1)
            answer = real.evaluate(w)
            if len(calls) == 7:
                raise KeyboardInterrupt
            return answer

    seen: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        for _ in CRF(tol=0.0).steps(Failing(), np.random.default_rng(0), lambda done: None):  # type: ignore[arg-type]
            seen.append(real.parameters())
    np.testing.assert_array_equal(real.parameters(), seen[-1])


def test_ctrl_c_gets_through_to_an_evaluation_in_native_code() -> None:
    X = [[f"w{i % 997}" for i in range(j, j + 50)] for j in range(2000)]
    y = [["A" if int(word[1:]) % 2 else "B" for word in sentence] for sentence in X]
    timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))
    tagger = Tagger(learner=CRF(tol=0.0, epochs=10**6), threads=2)
    tagger.fit(X, y, callbacks=[lambda epoch: timer.start() if epoch.epoch == 1 else None])
    timer.join()
    assert tagger.interrupted_ and tagger.history_


def test_the_progress_bar_shows_the_objective() -> None:
    with ProgressBar(2, 10, shown=True) as bar:
        bar.epoch_done(margent.learners.Epoch(1, 5.0, None, 1, 0.1, objective=7.25))
        assert bar._bar.tasks[0].description == "epoch 1: objective 7.25"


# Parameters


def test_costs_of_label_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="a CRF takes label_costs of labels, not of pairs"):
        Tagger(learner="crf", label_costs={("A", "B"): 2.0}).fit([["a", "b"]], [["A", "B"]])


def test_a_cost_of_nothing_has_no_logarithm() -> None:
    with pytest.raises(ValueError, match="label_costs should be above 0 for a CRF"):
        Tagger(learner="crf", label_costs={"A": 0.0}).fit([["a"]], [["A"]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "newton"}, "method of CRF should be one of lbfgs, owlqn, sgd, got 'newton'"),
        ({"l1": 0.1}, "l1=0.1 of CRF needs method='owlqn'"),
        ({"l1": 0.1, "method": "sgd"}, "l1=0.1 of CRF needs method='owlqn'"),
        ({"l2": -1}, "l2 of CRF should be a number of at least 0"),
        ({"l2": float("nan")}, "l2 of CRF should be a number"),
        ({"epochs": 0}, "epochs of CRF should be an integer of at least 1"),
        ({"memory": 0}, "memory of CRF"),
        ({"period": 0}, "period of CRF"),
        ({"eta": 0.1}, "eta=0.1 of CRF is the first step of method='sgd'"),
        ({"eta": 0, "method": "sgd"}, "eta of CRF should be a number above 0"),
        ({"eta": 1e300, "method": "sgd"}, r"eta of CRF should be a number of at most 1e\+25, got 1e\+300"),
        ({"l2": 10**400}, r"l2 of CRF should be a number of at most 1e\+25"),
        ({"memory": 2**31}, "memory of CRF should be an integer of at most 2147483647"),
        ({"boundaries": 1}, "boundaries of CRF should be True or False"),
        ({"patience": 0}, "patience of CRF"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CRF(**parameters)


def test_boundaries_have_no_weights_when_off(data: tuple[Any, Any]) -> None:
    X, y = data
    n = len({label for labels in y for label in labels})
    for boundaries in (True, False):
        weights = Tagger(learner=CRF(epochs=3, boundaries=boundaries)).fit(X, y).weights_
        assert np.any(weights.transitions[0][n, :n]) == np.any(weights.ends[0]) == boundaries


# Oracles written in Python


class Classes:
    """Multinomial logistic regression as a structure."""

    n_features = 6

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        self.X, self.y = random.normal(size=(50, 2)), random.integers(0, 3, 50)
        self.y[self.X[:, 0] > 0.5] = 2

    def __len__(self) -> int:
        return len(self.y)

    def log_loss(self, i: int, weights: Any) -> tuple[float, dict[int, float]]:
        scores = weights.reshape(3, 2) @ self.X[i]
        change = softmax(scores) - (np.arange(3) == self.y[i])
        return -log_softmax(scores)[self.y[i]], dict(enumerate(np.outer(change, self.X[i]).ravel()))


@pytest.mark.parametrize(("method", "close"), [("lbfgs", 1e-4), ("sgd", 0.05)])
def test_an_oracle_with_expectations_can_be_learned(method: Any, close: float) -> None:
    from sklearn.linear_model import LogisticRegression

    oracle = Classes()
    result = train(CRF(method=method, l2=0.5, epochs=100, tol=0.0), oracle)
    reference = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8).fit(oracle.X, oracle.y)
    np.testing.assert_allclose(result.weights.reshape(3, 2), reference.coef_, atol=close)


def test_an_oracle_without_expectations_is_refused() -> None:
    class Plain:
        n_features = 3

        def __len__(self) -> int:
            return 1

        def answer(self, i: int, weights: Any, k: int, cost: float) -> Any: ...

    with pytest.raises(
        TypeError, match=r"CRF sums over all answers, .* 'Plain' has no such sums \(it has no `log_loss`\)"
    ):
        train(CRF(), Plain())


# The minimiser


@pytest.mark.parametrize("threads", [1, 3])
def test_minimise_on_a_function_that_is_hard(threads: int) -> None:
    def rosenbrock(w: Any) -> tuple[float, Any]:
        a, b = w[:-1], w[1:]
        gradient = np.zeros_like(w)
        gradient[:-1] += -400 * a * (b - a * a) - 2 * (1 - a)
        gradient[1:] += 200 * (b - a * a)
        return float((100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()), gradient

    points = list(minimise(rosenbrock, np.array([-1.2, 1.0, -0.5, 0.8]), threads=threads))
    assert points[-1].evaluations < 200
    np.testing.assert_allclose(points[-1].parameters, 1, atol=1e-3)
    values = [point.value for point in points]
    assert all(b <= a for a, b in itertools.pairwise(values))


def test_minimise_soft_thresholds_a_parabola() -> None:
    """min 1/2 |w - c|^2 + l1 |w|_1 is c shrunk by l1."""
    c = np.array([3.0, -2.0, 0.5, -0.5, 0.0, 1.5])
    *_, last = minimise(lambda w: (0.5 * float((w - c) @ (w - c)), w - c), np.ones(6), l1=1.0)
    np.testing.assert_allclose(last.parameters, np.sign(c) * np.maximum(np.abs(c) - 1, 0), atol=1e-6)
    assert (last.parameters[2:5] == 0).all()


def test_minimise_ends_where_it_begins_at_the_optimum() -> None:
    points = list(minimise(lambda w: (float(w @ w), 2 * w), np.zeros(3)))
    assert len(points) == 1 and points[0].evaluations == 1


def test_a_function_that_changes_on_the_way_is_followed() -> None:
    centre = np.zeros(3)
    asked = []

    def changed(w: Any) -> bool:
        asked.append(w)
        centre[:] = float(len(asked) >= 3)
        return len(asked) == 3

    def function(w: Any) -> tuple[float, Any]:
        away = w - centre
        return float((away**4).sum() + away @ away), 4 * away**3 + 2 * away

    points = list(minimise(function, np.array([3.0, -2.0, 5.0]), changed=changed))
    assert points[-1].parameters == pytest.approx(np.ones(3), abs=1e-4)
    values = [point.value for point in points]
    assert values[:3] == sorted(values[:3], reverse=True)
    assert values[3:] == sorted(values[3:], reverse=True)
    assert len(asked) == len(points)


def test_minimise_takes_the_lowest_point_where_no_trial_is_past_the_steepest_part() -> None:
    """A straight line is as steep everywhere."""
    points = minimise(lambda w: (-float(w.sum()), -np.ones(2)), np.zeros(2))
    start, found = itertools.islice(points, 2)
    assert found.value < -1e6 < start.value and found.evaluations == 31


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_curvature_does_not_depend_on_the_scale_of_the_function(scale: float) -> None:
    inverse = _core.InverseHessian(2, 4, 1)
    zero, step = np.zeros(2), np.array([1.0, 1.0])
    inverse.add(zero, step, zero, scale * np.array([1.0, -1.0]))  # a right angle
    assert len(inverse) == 0
    inverse.add(zero, step, zero, scale * np.array([2.0, 1.0]))
    assert len(inverse) == 1


# Steps of stochastic descent


@pytest.mark.parametrize("scale", [1.0, 30.0, 100.0])
def test_the_first_step_suits_the_scale_of_the_features(scale: float) -> None:
    random = np.random.default_rng(0)
    X = [scale * random.normal(size=(6, 5)) for _ in range(60)]
    y = [["A" if x[0] + x[1] > 0.3 * random.normal() else "B" for x in rows / scale] for rows in X]

    def objective(eta: float | None) -> float:
        learner = CRF("sgd", l2=0.01, epochs=4, tol=0.0, eta=eta)
        return float(Tagger(learner=learner).fit(X, y).history_[-1]["objective"])

    best = min(objective(10.0**-exponent) for exponent in range(8))
    assert objective(None) < 1.5 * best


def test_steps_that_are_too_long_leave_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4, 3)) * 1e6
    y = [["A", "B", "A", "B"]] * 20
    for eta in (1e3, 1e25):
        weights = Tagger(learner=CRF("sgd", eta=eta, epochs=2)).fit(list(X), y).weights_
        assert np.isfinite(weights.unigrams).all()


# Python oracles that answer wrongly


@pytest.mark.parametrize("method", ["lbfgs", "sgd"])
@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((1.0, {6: 1.0}), IndexError, r"feature index outside 0 \.\. n_features - 1"),
        ((1.0, {-1: 1.0}), IndexError, "feature index outside"),
        ((1.0, {0: float("nan")}), ValueError, "a feature value that is not finite"),
        ((float("inf"), {0: 1.0}), ValueError, "a loss that is not finite"),
        ((1.0, {0.5: 1.0}), TypeError, "float"),
    ],
)
def test_a_wrong_expectation_is_explained(method: Any, answer: Any, error: type[Exception], words: str) -> None:
    class Wrong(Classes):
        def log_loss(self, i: int, weights: Any) -> Any:
            return answer

    with pytest.raises(error, match=words):
        train(CRF(method), Wrong())


@pytest.mark.parametrize("method", ["lbfgs", "owlqn", "sgd"])
def test_no_examples(method: Any) -> None:
    class Empty(Classes):
        def __len__(self) -> int:
            return 0

    result = train(CRF(method), Empty())
    assert not result.weights.any() and [epoch.objective for epoch in result.history] == [0.0]
