"""The regularisation path of the spectral learner."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import margent
from margent.errors import CorpusError
from margent.learners import Perceptron, train
from margent.spectral import KGramOracle, KGramTable, Spectral, spectral_path


def pairs(n, seed):
    """Letters with their sounds: c is s before e and k elsewhere, and one sound in ten is wrong."""
    random = np.random.default_rng(seed)
    words = ["".join(random.choice(list("ceao"), size=random.integers(2, 7))) for _ in range(n)]
    sounds = [["s" if w[t : t + 2] == "ce" else "k" if w[t] == "c" else w[t] for t in range(len(w))] for w in words]
    noisy = [["k" if s == "s" and random.random() < 0.1 else s for s in word] for word in sounds]
    return words, noisy


X, Y = pairs(80, 0)
X_DEV, Y_DEV = pairs(40, 1)
LEARNER = Spectral(iterations=15, step=30)


@pytest.fixture(scope="module")
def path():
    return spectral_path(X, Y, X_DEV, Y_DEV, taus=[0.3, 10, 1], learner=LEARNER)


def test_the_largest_tau_comes_first_and_has_the_lowest_rank(path):
    assert [point.tau for point in path.points] == [10, 1, 0.3]
    ranks = [point.rank for point in path.points]
    assert ranks[0] <= ranks[1] <= ranks[2] and ranks[0] < ranks[2]
    objectives = [point.objective for point in path.points]
    assert objectives == sorted(objectives, reverse=True)


def test_figures_of_a_point_are_those_of_its_table(path):
    best = path.best
    assert best.accuracy == max(point.accuracy for point in path.points)
    predicted = path.table.predict(X_DEV)
    right = [a == b for y, z in zip(predicted, Y_DEV) for a, b in zip(y, z)]
    assert best.accuracy == pytest.approx(np.mean(right))
    assert best.sequence_accuracy == pytest.approx(np.mean([y == z for y, z in zip(predicted, Y_DEV)]))
    assert path.learner == replace(LEARNER, tau=best.tau)
    m = len(path.table.bi_symbols)
    assert best.size == min(best.rank * (m * m + m), m**3)


def test_warm_starts_come_further_in_as_many_iterations(path):
    cold = train(replace(LEARNER, tau=0.3), KGramOracle(X, Y)).history[-1]
    assert path.points[-1].objective < cold.objective


def test_the_first_point_is_a_training_like_any_other(path):
    oracle = KGramOracle(X, Y)
    result = train(replace(LEARNER, tau=10), oracle)
    assert path.points[0].objective == result.history[-1].objective
    one = spectral_path(X, Y, X_DEV, Y_DEV, taus=[10], learner=LEARNER)
    assert one.table.scores[3].tolist() == KGramTable(oracle.bi_symbols, result.weights).scores[3].tolist()


def test_as_text_and_as_a_picture(path, tmp_path):
    lines = str(path).splitlines()
    assert lines[0].split() == [
        "tau",
        "symbols",
        "%",
        "sequences",
        "%",
        "rank",
        "numbers",
        "objective",
        "iterations",
        "seconds",
    ]
    assert len(lines) == 2 + 3 and len({len(line) for line in lines}) == 1
    figure = path.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 1000
    assert [axes.get_ylabel() for axes in figure.axes] == ["symbols right (%)", "rank"]


def test_another_regulariser_has_no_rank():
    learner = replace(LEARNER, regulariser="frobenius", loss="up-to-k", order=2, step=3)
    path = margent.spectral_path(X, Y, X_DEV, Y_DEV, taus=[0, 2], learner=learner)
    m = len(path.table.bi_symbols)
    assert [point.rank for point in path.points] == [None, None]
    assert path.best.size == (m + 1) ** 2
    assert len(path.plot().axes) == 1
    assert "None" not in str(path)


def test_an_interruption_keeps_the_points_that_are_done(monkeypatch):
    trained = []

    def interrupted(*arguments, **options):
        result = train(*arguments, **options)
        trained.append(result)
        result.interrupted = len(trained) == 2
        return result

    monkeypatch.setattr("margent.spectral.path.train", interrupted)
    path = spectral_path(X, Y, X_DEV, Y_DEV, taus=[5, 2, 1], learner=LEARNER)
    assert path.interrupted and [point.tau for point in path.points] == [5]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"taus": []}, ValueError, "taus is empty"),
        ({"taus": 3}, TypeError, "taus is 3; expected a list of numbers to try"),
        ({"taus": [1, -1]}, ValueError, "tau of Spectral should be a number of at least 0, got -1"),
        ({"learner": Perceptron()}, TypeError, "expected a Spectral"),
        ({"y_dev": Y_DEV[1:]}, CorpusError, "found outputs for 39 sequences of X_dev, expected them for 40"),
        (
            {"X_dev": ["ab"], "y_dev": ["a"]},
            CorpusError,
            "sequence 0 of X_dev has 2 input symbols, but 1 output symbols",
        ),
        ({"X_dev": [""], "y_dev": [""]}, CorpusError, "X_dev has no symbol"),
        ({"y": Y[1:]}, CorpusError, "found outputs for 79 sequences, expected them for 80"),
    ],
)
def test_wrong_use(options, error, message):
    given = {"X": X, "y": Y, "X_dev": X_DEV, "y_dev": Y_DEV, "taus": [1.0], **options}
    with pytest.raises(error, match=re.escape(message)):
        spectral_path(**given)


def test_recovered_operators_are_what_is_looked_at():
    learner = Spectral(loss="up-to-k", iterations=10, recover=True)
    path = spectral_path(X, Y, X_DEV, Y_DEV, taus=[5], learner=learner)
    plain = spectral_path(X, Y, X_DEV, Y_DEV, taus=[5], learner=replace(learner, recover=False))
    expected = plain.table.recovered(states=plain.best.rank)
    assert path.best.rank == plain.best.rank and path.table.scores[3].tolist() == expected.scores[3].tolist()
    assert path.table.scores[3].tolist() != plain.table.scores[3].tolist()


@pytest.mark.filterwarnings("ignore::margent.TrainingWarning")
def test_every_point_moves(monkeypatch):
    """With steps that are good from nothing, but too long near the optimum, which each start is close to."""
    learner, taus, oracle = Spectral(iterations=20, step=300, tol=0), [3, 2.9, 2.8, 2.7], KGramOracle(X, Y)
    moved = []
    for tau in taus:
        scores = train(replace(learner, tau=tau), oracle).weights[3]
        moved.append(oracle.start is None or (scores != oracle.start[3]).any())
        oracle.start_from({3: scores})
    assert not all(moved)  # by themselves
    kept = {}

    def watched(learner, *arguments, **options):
        kept[learner.tau] = train(learner, *arguments, **options)
        return kept[learner.tau]

    monkeypatch.setattr("margent.spectral.path.train", watched)
    path = spectral_path(X, Y, X_DEV, Y_DEV, taus=taus, learner=learner)
    for before, after in pairwise(taus):
        assert (kept[before].weights[3] != kept[after].weights[3]).any()
    assert [point.objective for point in path.points] == [kept[tau].history[-1].objective for tau in taus]


@pytest.mark.parametrize("regulariser", ["nuclear", "frobenius", None])
def test_recovered_operators_whatever_the_regulariser(regulariser):
    learner = Spectral(loss="up-to-k", iterations=10, step=3, recover=True, regulariser=regulariser)
    path = spectral_path(X, Y, X_DEV, Y_DEV, taus=[1], learner=learner)
    plain = spectral_path(X, Y, X_DEV, Y_DEV, taus=[1], learner=replace(learner, recover=False))
    expected = plain.table.recovered(states=plain.table.rank())
    assert path.table.scores[3].tolist() == expected.scores[3].tolist() != plain.table.scores[3].tolist()


def test_patience_watches_the_development_data():
    learner = Spectral(iterations=60, step=30, patience=3)
    path = spectral_path(X, Y, X_DEV, Y_DEV, taus=[0.3], learner=learner)
    plain = spectral_path(X, Y, X_DEV, Y_DEV, taus=[0.3], learner=replace(learner, patience=None))
    assert path.best.iterations < plain.best.iterations
    assert path.best.accuracy >= plain.best.accuracy
    assert path.best.rank == path.table.rank()
