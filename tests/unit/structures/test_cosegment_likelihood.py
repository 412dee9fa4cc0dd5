"""The latent CRF under beam search: against all alignments, its gradient by differences, any number of threads."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import cosegment_search as twin
from tests.unit.structures.spelling_problem import BITS, INSERTIONS, SIZES, Problem

from margent import CRF, _core, train
from margent.structures.cosegments import native_pairs

CASES = [*SIZES.values()]


def likelihood_of(problem: Problem, beam: int = 0, best: bool = False, threads: int = 1) -> _core.Likelihood:
    likelihood = problem.oracle_with(3, "standard").likelihood(beam=beam, best_completion=best, threads=threads)
    assert likelihood.value() == 0  # nothing is listed
    assert likelihood.grow()
    return likelihood


def plain_likelihood(problem: Problem, best: bool) -> float:
    """Over all alignments of all words."""
    total = 0.0
    for word, right in zip(problem.words, problem.right):
        alignments = list(twin.all_alignments(word, problem.graphones, INSERTIONS))
        scores = [twin.score(problem.plain, problem.features(word, alignment)) for alignment in alignments]
        theirs = [s for s, alignment in zip(scores, alignments) if twin.spoken(alignment, problem.graphones) in right]
        if theirs:
            gold = max(theirs) if best else math.log(math.fsum(map(math.exp, theirs)))
            total += math.log(math.fsum(map(math.exp, scores))) - gold
    return total


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("sizes", CASES, ids=SIZES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_a_covering_beam_sums_over_all_cuts(best: bool, sizes: Any, seed: int) -> None:
    problem = Problem(seed, sizes)
    likelihood = likelihood_of(problem, best=best)
    expected = plain_likelihood(problem, best)
    assert likelihood.value() == pytest.approx(expected, rel=1e-6, abs=1e-9)
    parameters = likelihood.parameters()
    assert likelihood.evaluate(parameters)[0] == likelihood.value()
    assert likelihood.value(np.arange(len(likelihood))) == likelihood.value()
    assert likelihood_of(problem, beam=10**6, best=best).value() == likelihood.value()
    assert not likelihood.grow()  # there is no more


@pytest.mark.parametrize("beam", [0, 2])
@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("sizes", CASES, ids=SIZES)
def test_the_gradient_is_that_of_the_value(beam: int, best: bool, sizes: Any) -> None:
    problem = Problem(5, sizes, n=5, length=3)
    likelihood = likelihood_of(problem, beam=beam, best=best)
    start = likelihood.parameters()
    _, gradient = likelihood.evaluate(start)
    for seed in range(5):
        direction = np.random.default_rng(seed).normal(size=len(start))
        ahead, behind = (likelihood.evaluate(start + step * direction)[0] for step in (1e-6, -1e-6))
        assert (ahead - behind) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-6)


def test_with_a_narrow_beam_the_right_answers_are_still_candidates() -> None:
    lost = 0
    for seed in range(5):
        problem = Problem(seed, SIZES["insertions"], n=10, length=5)
        narrow = likelihood_of(problem, beam=1)
        for example in range(len(narrow)):
            value = narrow.value(np.array([example]))
            assert 0 <= value < math.inf
            lost += value > math.log(2)  # something wrong is better than the right one, which is there nevertheless
    assert lost


def test_what_was_once_in_a_beam_stays_in_the_sum() -> None:
    grown = 0
    for seed in range(5):
        problem = Problem(seed, SIZES["one letter"], n=10, length=5)
        likelihood = likelihood_of(problem, beam=2)
        start, before = likelihood.parameters(), likelihood.value()
        likelihood.set_parameters(-start)
        grown += likelihood.grow()
        likelihood.set_parameters(start)
        assert not likelihood.grow()  # what these weights find is still there
        assert before != likelihood.value()
    assert grown


def test_the_same_bits_for_any_number_of_threads() -> None:
    problem = Problem(1, SIZES["insertions"], n=12, length=4)
    one, three = (likelihood_of(problem, beam=3, threads=n) for n in (1, 3))
    (value, gradient), (again, other) = (each.evaluate(each.parameters()) for each in (one, three))
    assert value == again
    assert np.array_equal(gradient, other)


@pytest.mark.parametrize("method", ["lbfgs", "sgd"])
def test_a_crf_learns_what_can_be_told_apart(method: Any) -> None:
    problem = Problem(3, SIZES["insertions"], n=8, length=4)
    learner = CRF(method=method, search="beam", beam=4, l2=1e-3, epochs=60, tol=0)
    oracle = problem.oracle_with(3, "standard")
    train(learner, oracle)
    answers = [oracle.ask(example, 1, 0.0)[1] for example in range(len(oracle))]
    assert all(rivals[0][2] == 0 for rivals in answers)  # no errors


@pytest.mark.parametrize(("method", "tol"), [("lbfgs", 1e-3), ("sgd", 0.05)])
def test_training_ends_where_nothing_is_gained_although_searches_still_find_more(method: Any, tol: float) -> None:
    problem = Problem(4, SIZES["insertions"], n=12, length=5)
    learner = CRF(method=method, search="beam", beam=5, l2=0.1, epochs=400, period=5, tol=tol)
    history = train(learner, problem.oracle_with(3, "standard")).history
    objectives = [epoch.objective or 0.0 for epoch in history]
    rises = [i for i, (before, after) in enumerate(pairwise(objectives)) if after > before]
    assert max(rises) > learner.period  # what it found once did not end it
    assert len(history) < 400


def test_nothing_within_reach_is_an_error() -> None:
    problem = Problem(2, SIZES["one letter"], n=1, length=2)
    fold = np.zeros(len(problem.words), np.int32)
    pairs = native_pairs([(0,)], [(0, 0, 0, 0)])  # too long for any alignment
    examples = _core.TranscriptionExamples(pairs, np.array([0, 1]), fold, (problem.model,))
    update = _core.BeamUpdate.standard
    oracle = _core.CosegmentOracle(problem.native, examples, BITS, 0, 0.0, INSERTIONS, update)
    with pytest.raises(ValueError, match="no word has a right pronunciation within reach"):
        train(CRF(search="beam"), oracle)


def test_an_exact_sum_is_refused() -> None:
    with pytest.raises(TypeError, match="search='beam'"):
        train(CRF(), Problem(0, SIZES["insertions"]).oracle)
    with pytest.raises(ValueError, match="beam"):
        likelihood_of(Problem(0, SIZES["insertions"]), beam=-1)
