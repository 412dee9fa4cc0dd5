"""Tuning of dense weights: line search against a grid, learners against their textbooks, all of it on toy data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent import Translator
from margent.datasets import make_translations
from margent.errors import CorpusError
from margent.metrics import References, corpus_bleu, smoothed_bleu
from margent.models.translator.rule_table import DENSE_FEATURES
from margent.models.translator.tuning import BatchMira, Mert, Pro, rule_translator, tune_weights
from margent.models.translator.tuning.candidates import Candidates
from margent.models.translator.tuning.line_search import best_step, pieces_of_candidates
from margent.models.translator.tuning.pro import regression
from margent.models.translator.tuning.tuner import _Session

REFERENCE = References([["a", "b", "c", "d", "e"]])


def candidates(seed, n_sentences=4, n_features=3, most=6):
    """Candidates whose features are small integers, so that lines meet and coincide."""
    random = np.random.default_rng(seed)
    features, statistics = [], []
    for _ in range(n_sentences):
        n = random.integers(1, most + 1)
        features.append(random.integers(-2, 3, (n, n_features)).astype(float))
        words = [["a", "b", "c", "d", "e", "x"][: random.integers(4, 7)] for _ in range(n)]
        statistics.append(np.array([REFERENCE.statistics([*text, *"x" * random.integers(0, 3)]) for text in words]))
    return Candidates.of(features, statistics)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_the_line_search_is_as_good_as_a_grid(seed):
    found = candidates(seed)
    random = np.random.default_rng(seed + 1)
    weights, direction = random.normal(size=3), random.normal(size=3)
    pieces = pieces_of_candidates(found, weights, direction)
    step, bleu = best_step(pieces)
    assert bleu == pytest.approx(float(corpus_bleu(found.chosen_statistics(weights + step * direction))), abs=1e-12)
    for x in np.linspace(-8, 8, 161):
        there = found.chosen_statistics(weights + x * direction)
        assert float(corpus_bleu(there)) <= bleu + 1e-12
        before = pieces.changes[pieces.corners < x].sum(axis=0)
        np.testing.assert_allclose(pieces.start + before, there, atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_mert_never_gets_worse(seed):
    found = candidates(seed, n_sentences=8)
    start = np.random.default_rng(seed).normal(size=3)
    weights = Mert(restarts=2).weights(found, start, np.random.default_rng(0))
    reached = float(corpus_bleu(found.chosen_statistics(weights)))
    assert reached >= float(corpus_bleu(found.chosen_statistics(start)))
    for axis in range(3):  # no line along a feature helps any more than a thousandth
        assert best_step(pieces_of_candidates(found, weights, np.eye(3)[axis])).bleu <= reached + 0.2


def test_candidates_are_joined_without_those_that_are_the_same():
    one, other = candidates(1), candidates(2)
    both = one.joined(other)
    assert len(both.joined(one).features) == len(both.features) <= len(one.features) + len(other.features)
    for weights in np.random.default_rng(0).normal(size=(5, 3)):
        best = both.features[both.best(weights)] @ weights
        parts = [c.features[c.best(weights)] @ weights for c in (one, other)]
        np.testing.assert_allclose(best, np.maximum(*parts))
    with pytest.raises(ValueError, match="4 and 3 sentences cannot be joined"):
        one.joined(candidates(1, n_sentences=3))


def test_the_regression_of_pro_is_at_its_minimum():
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 3)) + np.array([0.5, 0, 0])
    weights = regression(rows, 0.1, np.zeros(3))
    p = 1 / (1 + np.exp(rows @ weights))
    np.testing.assert_allclose(0.1 * weights, rows.T @ p, atol=1e-5)
    np.testing.assert_allclose(regression(rows, 0.1, np.array([5.0, -9.0, 3.0])), weights, atol=1e-4)


def test_pairs_of_pro_have_the_better_candidate_first():
    found = candidates(3, n_sentences=5)
    pairs = Pro(samples=200, kept=7).pairs(found, np.random.default_rng(0))
    assert 0 < len(pairs) <= 5 * 7
    bleu = smoothed_bleu(found.statistics)
    possible = {
        tuple(found.features[i] - found.features[j])
        for a, b in zip(found.ptr, found.ptr[1:])
        for i in range(a, b)
        for j in range(a, b)
        if bleu[i] - bleu[j] >= 0.05
    }
    assert {tuple(row) for row in pairs} <= possible


def test_batch_mira_steps_as_its_textbook_says():
    found = candidates(4, n_sentences=1, most=6)
    tuner = BatchMira(epochs=1, C=0.3, scale=5.0)
    start = np.array([0.1, -0.2, 0.3])
    score, bleu = found.features @ start, 5.0 * corpus_bleu(found.statistics + 1)
    hope, fear = np.argmax(score + bleu), np.argmax(score - bleu)
    difference = found.features[hope] - found.features[fear]
    loss = bleu[hope] - bleu[fear] - difference @ start
    step = min(0.3, loss / (difference @ difference)) if difference.any() and loss > 0 else 0.0
    after = start + step * difference
    weights = tuner.weights(found, start, np.random.default_rng(0))
    np.testing.assert_allclose(weights, after)
    assert step > 0


@pytest.fixture(scope="module")
def toy():
    sources, targets, alignments = make_translations(240, seed=0, longest=9)
    translator = Translator(features=[], threads=1)
    made = rule_translator(translator, sources[:200], targets[:200], alignments[:200])
    return made, sources[200:], [[target] for target in targets[200:]]


@pytest.mark.parametrize("tuner", [Mert(restarts=1), Mert(forests=True, directions=2, rounds=1), Pro(), BatchMira()])
def test_tuners_make_translations_better(toy, tuner):
    translator, X, y = toy
    bad = np.zeros(len(DENSE_FEATURES))
    bad[DENSE_FEATURES.index("language model")] = 0.1
    bad[DENSE_FEATURES.index("log p(target | source)")] = 0.01
    lines = []
    tuned = tune_weights(translator, X, y, tuner, iterations=1, k=8, start=bad, callback=lines.append)
    assert lines == tuned.history and tuned.history[tuned.best]["bleu"] > tuned.history[0]["bleu"] + 0.02
    assert tuned.translator.score(X, y) == pytest.approx(tuned.history[tuned.best]["bleu"])
    again = tune_weights(translator, X, y, tuner, iterations=1, k=8, start=bad)
    np.testing.assert_array_equal(again.weights, tuned.weights)


def test_forests_say_what_the_search_says(toy):
    """Where the line crosses its starting point, the translations are those of the decoder."""
    translator, X, y = toy
    session = _Session(translator, type("Data", (), {"sentences": X[:20], "right": y[:20]}))
    weights = np.linspace(0.2, 1.0, len(DENSE_FEATURES))
    found, bleu = session.candidates(weights, 5)
    direction = np.random.default_rng(0).normal(size=len(weights))
    pieces = session.along_forests(weights)(weights, direction)
    here = pieces.start + pieces.changes[pieces.corners < 0].sum(axis=0)
    assert float(corpus_bleu(here)) == pytest.approx(bleu)
    np.testing.assert_allclose(here, found.chosen_statistics(weights))


def test_what_cannot_be_tuned_is_refused(toy):
    translator, X, _ = toy
    with pytest.raises(CorpusError, match="there is nothing to tune on"):
        tune_weights(translator, X, [[] for _ in X], Mert())
    with pytest.raises(ValueError, match="start should be 18 finite weights"):
        tune_weights(translator, X[:1], [[["a"]]], Mert(), start=[1.0])
    with pytest.raises(ValueError, match="C of BatchMira should be a number above 0"):
        BatchMira(C=0)
    with pytest.raises(ValueError, match="forests of Mert should be True or False"):
        Mert(forests="yes")
