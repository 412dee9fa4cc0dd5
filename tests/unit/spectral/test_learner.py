"""The spectral learner: its steps against a full decomposition, its optimum against a general solver."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import TrainingWarning
from margent.learners import train
from margent.spectral import KGramOracle, KGramTable, Spectral
from margent.spectral.singular_values import singular_values, threshold_singular_values
from oracle import spectral

# The same input has several outputs, so that no scores make the loss 0.
X = ["aba", "aba", "ab", "bb", "aab", "ab"]
Y = ["AXB", "BXA", "AY", "XY", "BAX", "BX"]


WAYS = ("auto", "full", "gram", "partial")


def full(matrix, threshold):
    """By numpy's decomposition of the whole."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    return (left * np.maximum(sizes - threshold, 0)) @ right, int(np.count_nonzero(sizes > threshold))


@pytest.mark.parametrize("svd", WAYS)
@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(1, 30), st.floats(0, 9), st.integers(0, 1000))
def test_thresholding_equals_a_full_decomposition(svd, rows, columns, threshold, seed):
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    expected, rank = full(matrix, threshold)
    found = threshold_singular_values(matrix, threshold, svd)
    np.testing.assert_allclose(found.matrix, expected, atol=1e-10)
    assert found.rank == rank
    assert found.norm == pytest.approx(singular_values(expected, svd).sum(), abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(st.floats(0.1, 4), st.integers(0, 1000))
def test_thresholding_solves_its_problem(threshold, seed):
    """(matrix - found) / threshold is a subgradient of the nuclear norm at what was found: U V' + W."""
    matrix = np.random.default_rng(seed).normal(size=(6, 4))
    found, rank, _ = threshold_singular_values(matrix, threshold)
    left, _, right = np.linalg.svd(found, full_matrices=False)
    rest = (matrix - found) / threshold - left[:, :rank] @ right[:rank]
    np.testing.assert_allclose(left[:, :rank].T @ rest, 0, atol=1e-9)
    np.testing.assert_allclose(rest @ right[:rank].T, 0, atol=1e-9)
    assert np.linalg.norm(rest, 2) <= 1 + 1e-9


@pytest.mark.parametrize("svd", WAYS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("leading", [[], [40, 30], [10.001], [100] * 5 + [12, 11, 10.5], [9.999] * 5, [30] * 40])
def test_thresholding_of_large_matrices(svd, turned, leading):
    """However close to the threshold the others are, which is where a search by approximation would stop too early."""
    random = np.random.default_rng(0)
    left, right = (np.linalg.qr(random.normal(size=(side, 300)))[0] for side in (400, 300))
    sizes = 9 * random.uniform(0.5, 1, 300)
    sizes[: len(leading)] = leading
    matrix = (right * sizes) @ left.T if turned else (left * sizes) @ right.T
    found, (expected, rank) = threshold_singular_values(matrix, 10.0, svd, 0), full(matrix, 10.0)
    assert found.rank == rank == sum(size > 10 for size in leading)
    np.testing.assert_allclose(found.matrix, expected, atol=1e-9)
    assert found.norm == pytest.approx(np.linalg.norm(expected, "nuc"), abs=1e-4)


@pytest.mark.parametrize("loss", ["k", "up-to-k"])
def test_the_way_singular_values_are_found_does_not_change_the_result(loss):
    data = words(40, 0)
    oracle = KGramOracle(data, [spoken(word) for word in data])
    given = {"loss": loss, "order": 2, "step": 3, "iterations": 15, "tau": 0.5}
    found = [train(Spectral(svd=svd, **given), oracle) for svd in WAYS]
    for other in found[1:]:
        assert [epoch.rank for epoch in other.history] == [epoch.rank for epoch in found[0].history]
        np.testing.assert_allclose(other.weights[2], found[0].weights[2], atol=1e-6)


def test_what_is_zero_stays_zero():
    found, rank, _ = threshold_singular_values(np.zeros((4, 2)), 0.0)
    assert not found.any() and rank == 0


def reference(loss: str, order: int, tau: float, regulariser: str | None) -> float:
    """The optimum by a general solver, over all outputs."""
    oracle = KGramOracle(X, Y)
    basis = oracle.hinge(order, loss == "up-to-k").basis
    seen, lengths = oracle.bi_symbols, [length for length in basis.lengths if length]
    examples = [
        spectral.rivals([seen.candidates(a).tolist() for a in x], seen.numbers(x, y).tolist(), lengths, len(seen))
        for x, y in zip(X, Y)
    ]
    sizes = [len(seen) ** length for length in basis.lengths]

    def norm(vector):
        parts = np.split(vector, np.cumsum(sizes)[:-1])
        matrix = basis.matrix(dict(zip(basis.lengths, parts)))
        if regulariser == "nuclear":
            value, slope = spectral.smooth_nuclear_norm(matrix)
        else:
            value = np.sqrt(np.vdot(matrix, matrix) + 1e-12)
            slope = matrix / value
        means = basis.scores(slope)
        return value, np.concatenate([(means[n] * basis.places(n)).ravel() for n in basis.lengths])

    return spectral.optimum(examples, sum(sizes), tau, norm)


@pytest.mark.parametrize("solver", ["fobos", "momentum"])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("loss", ["k", "up-to-k"])
@pytest.mark.parametrize(("tau", "regulariser"), [(0.0, "nuclear"), (0.3, "nuclear"), (1.0, "frobenius")])
def test_the_optimum_is_that_of_a_general_solver(solver, order, loss, tau, regulariser):
    best = reference(loss, order, tau, regulariser)
    given = {"order": order, "loss": loss, "regulariser": regulariser, "solver": solver}
    learner = Spectral(tau=tau, step=1, iterations=1000, tol=0, **given)
    result = train(learner, KGramOracle(X, Y))
    assert len(result.history) == 1000
    assert result.history[-1].objective == pytest.approx(best, rel=2e-3)
    assert result.history[-1].objective > best - 1e-3  # the reference is right to about that


def test_the_optimum_has_a_subgradient_that_is_zero():
    """At the optimum, minus the mean slope of the loss about it, divided by tau, is U V' + W (paper 000, section 4)."""
    tau, hinge = 0.3, KGramOracle(X, Y).hinge(2, False)
    learner = Spectral(tau=tau, step=3, iterations=4000, order=2, tol=0)
    matrix, total, weight = hinge.matrix, np.zeros(hinge.basis.shape), 0.0
    for t in range(1, 4001):
        eta = learner.step / (len(hinge) * t**0.5)
        slope = hinge.evaluate(matrix)[1]
        matrix = threshold_singular_values(matrix - eta * slope, eta * tau).matrix
        if t > 1000:
            total, weight = total + eta * slope, weight + eta
    left, sizes, right = np.linalg.svd(matrix)
    rank = int(np.count_nonzero(sizes > 0.05 * sizes[0]))
    assert 0 < rank < len(sizes)
    inside, outside = left[:, :rank] @ left[:, :rank].T, right[:rank].T @ right[:rank]
    subgradient = -total / weight / tau
    rest = subgradient - left[:, :rank] @ right[:rank]
    beside = rest - inside @ rest - rest @ outside + inside @ rest @ outside  # W: at right angles to both spaces
    assert np.abs(rest - beside).max() < 0.05
    assert np.linalg.norm(beside, 2) < 1.05


@pytest.mark.parametrize("loss", ["k", "up-to-k"])
@pytest.mark.parametrize("regulariser", ["nuclear", "frobenius", None])
def test_history_and_weights_are_those_of_the_best_iterate(loss, regulariser):
    learner = Spectral(tau=0.5, step=20, iterations=40, order=3, loss=loss, regulariser=regulariser)
    oracle = KGramOracle(X, Y)
    result = train(learner, oracle)
    objectives = [epoch.objective for epoch in result.history]
    assert all(after <= before for before, after in pairwise(objectives))
    hinge = oracle.hinge(3, loss == "up-to-k")
    matrix = hinge.basis.matrix(result.weights)
    value = hinge.evaluate(matrix)[0]
    assert value == pytest.approx(result.history[-1].loss)
    norm = {"nuclear": np.linalg.norm(matrix, "nuc"), "frobenius": np.linalg.norm(matrix), None: 0.0}[regulariser]
    assert value + 0.5 * norm == pytest.approx(objectives[-1])
    assert (result.history[-1].rank is None) == (regulariser != "nuclear")
    if loss == "k" and regulariser == "nuclear":
        assert result.history[-1].rank == np.linalg.matrix_rank(matrix, tol=1e-6)


def test_a_step_that_is_too_long_never_makes_it_worse():
    result = train(Spectral(step=1e6, iterations=5), KGramOracle(X, Y))
    hinge = KGramOracle(X, Y).hinge(3, False)
    assert result.history[-1].objective <= hinge.evaluate(hinge.matrix)[0]


def test_without_regulariser_tau_does_not_matter():
    results = [
        train(Spectral(tau=tau, regulariser=name, step=5, iterations=10), KGramOracle(X, Y)).weights[3]
        for tau, name in ((7, None), (0, "nuclear"), (0, "frobenius"))
    ]
    np.testing.assert_allclose(results[0], results[1], atol=1e-9)
    np.testing.assert_allclose(results[0], results[2], atol=1e-9)


def test_a_larger_tau_makes_the_rank_smaller():
    ranks = []
    for tau in (0.01, 1, 100):
        learner = Spectral(tau=tau, step=5, order=2, iterations=300, tol=0)
        ranks.append(train(learner, KGramOracle(X, Y)).history[-1].rank)
    assert ranks[0] > ranks[1] > ranks[2] == 0


def test_it_stops_where_little_is_gained():
    learner = Spectral(step=1, order=2, iterations=1000, tol=1e-2, period=10)
    assert 10 < len(train(learner, KGramOracle(X, Y)).history) < 300


def spoken(word):
    """A toy spelling: c is s before e and i, else k; e at the end is silent; the others are themselves."""
    return [
        ("s" if word[t + 1 : t + 2] in ("e", "i") else "k")
        if letter == "c"
        else ("-" if letter == "e" and t == len(word) - 1 else letter)
        for t, letter in enumerate(word)
    ]


def words(n, seed):
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list("cceiaotn"), size=random.integers(3, 8))) for _ in range(n)]


def test_it_learns_what_depends_on_neighbours():
    train_words, test_words = words(150, 0), words(100, 1)
    oracle = KGramOracle(train_words, [spoken(word) for word in train_words])
    result = train(Spectral(loss="up-to-k", tau=5), oracle)
    table = KGramTable(oracle.bi_symbols, result.weights)
    predicted = table.predict(test_words)
    right = [
        a == b
        for word, outputs in zip(test_words, predicted)
        for a, b, letter in zip(outputs, spoken(word), word)
        if letter == "c"
    ]
    assert np.mean(right) > 0.95
    model = table.operators(states=result.history[-1].rank)
    assert 0 < model.n_states <= result.history[-1].rank < len(oracle.bi_symbols)


@pytest.mark.filterwarnings("ignore::margent.TrainingWarning")  # of the longest steps
@pytest.mark.parametrize(("solver", "bound"), [("fobos", 1.1), ("momentum", 1.3)])
@pytest.mark.parametrize("loss", ["k", "up-to-k"])
@pytest.mark.parametrize("n", [30, 300])
def test_the_step_that_is_found_is_about_as_good_as_the_best(solver, bound, loss, n):
    data = words(n, 0)
    oracle = KGramOracle(data, [spoken(word) for word in data])
    reached = {
        step: train(Spectral(tau=1, step=step, iterations=30, loss=loss, solver=solver), oracle).history[-1].objective
        for step in (None, 1, 10, 100, 1000)
    }
    found = reached.pop(None)
    assert found < bound * min(reached.values())
    assert found < 0.8 * max(reached.values())


@pytest.mark.parametrize("loss", ["k", "up-to-k"])
def test_more_iterations_never_make_it_worse(loss):
    """Planned for a thousand iterations, momentum's steps are long for hundreds: that nothing is gained is no end."""
    data = words(60, 0)
    noise = np.random.default_rng(1)
    sounds = [["t" if s in "kn" and noise.random() < 0.1 else s for s in spoken(word)] for word in data]
    reached = [
        train(Spectral(tau=1, iterations=n, loss=loss, step=100), KGramOracle(data, sounds)).history
        for n in (50, 200, 2000)
    ]
    objectives = [history[-1].objective for history in reached]
    assert objectives[2] < 1.003 * objectives[1] < objectives[0]
    assert len(reached[2]) < 1000  # it ends by itself


def test_it_stops_at_a_loss_of_nothing():
    learner = Spectral(regulariser=None, step=1, order=2, iterations=300)
    history = train(learner, KGramOracle(["ca", "ce"], ["KA", "SE"])).history
    assert history[-1].objective == 0 and len(history) < 60


def test_nothing_gained_is_said():
    with pytest.warns(TrainingWarning, match=r"no iteration .* step=1e\+20 was too long.*Try a smaller step"):
        result = train(Spectral(step=1e20, tau=0.1, iterations=5, solver="fobos"), KGramOracle(X, Y))
    assert not result.weights[3].any()
    for regulariser in ("nuclear", "frobenius"):  # where nothing is the optimum, there is nothing to say
        result = train(Spectral(tau=1e6, step=1, iterations=5, regulariser=regulariser), KGramOracle(X, Y))
        assert not result.weights[3].any()


def test_steps_that_are_too_long_are_shortened():
    far, near = (
        train(Spectral(tau=0.1, step=step, order=2, iterations=250), KGramOracle(X, Y)).history for step in (1e5, 10)
    )
    assert far[-1].objective < 1.1 * near[-1].objective < 0.9 * near[0].objective


@pytest.mark.parametrize("loss", ["k", "up-to-k"])
def test_the_rank_is_that_of_the_matrix_that_is_kept(loss):
    data = words(60, 0)
    oracle = KGramOracle(data, [spoken(word) for word in data])
    result = train(Spectral(tau=3, step=30, iterations=30, loss=loss), oracle)
    basis = oracle.hinge(3, loss == "up-to-k").basis
    sizes = np.linalg.svd(basis.matrix(result.weights), compute_uv=False)
    cut = 1e-3 if loss == "up-to-k" else 1e-6
    assert result.history[-1].rank == np.count_nonzero(sizes > cut * sizes[0]) < len(oracle.bi_symbols)
    assert result.history[-1].rank == KGramTable(oracle.bi_symbols, result.weights).rank()


def test_development_data_choose_the_iterate():
    """Whatever its objective: with steps this long it goes up and down, and each iterate is judged all the same."""
    seen, scores = [], iter([0.1, 0.2, 0.9, 0.3, 0.4])

    def evaluate(weights):
        seen.append(weights[3].copy())
        return next(scores)

    learner = Spectral(step=1000, patience=2, tau=0.5, solver="fobos")
    result = train(learner, KGramOracle(X, Y), evaluate=evaluate)
    assert result.best_epoch == 3 and len(result.history) == 5
    assert result.weights[3].tolist() == seen[2].tolist()
    assert len({weights.tobytes() for weights in seen}) == 5
    assert len({epoch.objective for epoch in result.history}) < 5


def test_recovered_operators():
    train_words, test_words = words(150, 0), words(100, 1)
    oracle = KGramOracle(train_words, [spoken(word) for word in train_words])
    result = train(Spectral(loss="up-to-k", tau=5, recover=True), oracle)
    table = KGramTable(oracle.bi_symbols, result.weights)
    recovered = table.recovered(states=result.history[-1].rank)
    assert list(recovered.scores) == [0, 1, 2, 3] and recovered.bi_symbols is table.bi_symbols
    gold = [symbol for word in test_words for symbol in spoken(word)]
    found = [symbol for outputs in recovered.predict(test_words) for symbol in outputs]
    right = np.mean([a == b for a, b in zip(found, gold)])
    assert right > 0.9


def test_threads_do_not_change_the_result():
    one, two = (train(Spectral(iterations=5), KGramOracle(X, Y), threads=n).weights[3] for n in (1, 2))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": -1}, "tau of Spectral should be a number of at least 0, got -1"),
        ({"step": 0}, "step of Spectral should be a number above 0 or None, got 0"),
        ({"iterations": 0}, "iterations of Spectral should be an integer of at least 1, got 0"),
        ({"order": 1.5}, "order of Spectral should be an integer of at least 1, got 1.5"),
        ({"order": 17}, "order of Spectral should be an integer of at most 16, got 17"),
        ({"loss": "all"}, "loss of Spectral should be one of k, up-to-k, got 'all'"),
        ({"regulariser": "l1"}, "regulariser of Spectral should be one of nuclear, frobenius, got 'l1'"),
        ({"solver": "adam"}, "solver of Spectral should be one of momentum, fobos, got 'adam'"),
        ({"svd": "lanczos"}, "svd of Spectral should be one of auto, full, gram, partial, got 'lanczos'"),
        ({"recover": 1}, "recover of Spectral should be True or False, got 1"),
        (
            {"recover": True},
            "recover of Spectral needs loss='up-to-k' and an order of at least 3, got loss='k' and order=3",
        ),
        ({"recover": True, "loss": "up-to-k", "order": 2}, "recover of Spectral needs loss='up-to-k' and an order"),
        ({"tol": np.nan}, "tol of Spectral should be a number of at least 0"),
        ({"patience": 0}, "patience of Spectral should be an integer of at least 1 or None, got 0"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Spectral(**parameters)
