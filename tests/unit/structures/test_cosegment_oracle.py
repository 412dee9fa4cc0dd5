"""Search for alignments by learned weights: against all of them, greedy with a beam of 1, violations in each update."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import cosegment_search as twin
from tests.unit.structures.spelling_problem import BITS, INSERTIONS, SIZES, UPDATES, Problem

from margent import MIRA, Perceptron, _core, train


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_a_covering_beam_finds_the_best_of_all_cuts(sizes: Any, seed: int) -> None:
    problem = Problem(seed, sizes)
    for word in problem.words:
        listed = problem.best_alignments(word)
        order = sorted(listed, key=lambda spoken: -listed[spoken][0])
        found = problem.search(word, 1000, 0)
        assert [spoken for _, spoken, _ in found] == order
        assert [score for score, _, _ in found] == pytest.approx([listed[spoken][0] for spoken in order], rel=1e-5)
        assert [alignment for _, _, alignment in found] == [listed[spoken][1] for spoken in order]
        assert problem.search(word, 2, 0) == found[:2]


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_the_oracle_compares_the_best_right_cut_with_the_best_of_all(sizes: Any, seed: int) -> None:
    problem = Problem(seed, sizes)
    for i, word in enumerate(problem.words):
        listed = problem.best_alignments(word)
        reached = [spoken for spoken in problem.right[i] if spoken in listed]
        gold_score, rivals = problem.oracle.ask(i, 3, 0.7)
        if not reached:
            assert rivals == []
            continue
        gold = max(reached, key=lambda spoken: listed[spoken][0])
        value = {spoken: listed[spoken][0] + 0.7 * (spoken not in reached) for spoken in listed}
        order = sorted(listed, key=lambda spoken: -value[spoken])[:3]
        assert gold_score == pytest.approx(listed[gold][0], rel=1e-5)
        assert [score for score, *_ in rivals] == pytest.approx([listed[s][0] for s in order], rel=1e-5)
        assert [(loss, errors) for _, loss, errors, _ in rivals] == [(float(s not in reached),) * 2 for s in order]
        ours = problem.features(word, listed[gold][1])
        for (*_, delta), spoken in zip(rivals, order):
            theirs = problem.features(word, listed[spoken][1])
            wanted = {f: ours.get(f, 0) - theirs.get(f, 0) for f in {*ours, *theirs}}
            assert {f: x for f, x in delta.items() if f} == {f: x for f, x in wanted.items() if x and f}
            assert delta.get(0, 0.0) == pytest.approx(wanted[0], abs=1e-5)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    problem = Problem(seed, SIZES["one letter"], length=5)
    for word in problem.words:
        ((_, _, alignment),) = problem.search(word, 9, 1)
        assert alignment == twin.greedy(word, problem.graphones, problem.plain, problem.model.log_probability, BITS)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("update", ["early", "max_violation", "skip"])
@pytest.mark.parametrize("cost", [0.0, 1.0])
def test_every_update_is_a_violation(update: str, sizes: Any, cost: float) -> None:
    updates = 0
    for seed in range(6):
        problem = Problem(seed, sizes, n=10, length=5)
        oracle = problem.oracle_with(1 + seed % 3, update)
        for example in [*range(len(oracle))] * 4:
            gold_score, rivals = oracle.ask(example, 1, cost)
            if not rivals or rivals[0][2] == 0:
                continue
            score, loss, _, delta = rivals[0]
            ahead = -sum(oracle.weights(False)[f] * x for f, x in delta.items())
            assert ahead == pytest.approx(score - gold_score, abs=1e-6)
            assert score + cost * loss >= gold_score
            oracle.move(0, 1.0)
            updates += 1
    assert updates > 20


def test_standard_updates_need_not_be_violations() -> None:
    behind = 0
    for seed in range(30):
        problem = Problem(seed, SIZES["insertions"], n=10, length=5)
        oracle = problem.oracle_with(1, "standard")
        for example in range(len(oracle)):
            gold_score, rivals = oracle.ask(example, 1, 0.0)
            behind += bool(rivals) and rivals[0][2] > 0 and rivals[0][0] < gold_score
    assert behind


@pytest.mark.parametrize("update", ["early", "max_violation"])
def test_what_can_be_separated_is_learned_whole(update: str) -> None:
    """With so few words, letter windows tell them apart: after some passes there is nothing left to move."""
    problem = Problem(3, SIZES["insertions"], n=8, length=4)
    oracle = problem.oracle_with(2, update)
    history = train(Perceptron(epochs=200, average=False), oracle).history
    assert history[0].updates > 0
    assert history[-1].updates == 0
    assert history[-1].accuracy == 1


def test_the_order_of_the_examples_is_all_that_chance_decides() -> None:
    problem = Problem(1, SIZES["insertions"], n=10, length=5)
    runs = [train(MIRA(C=0.1, k=3, epochs=3), problem.oracle_with(3, "max_violation"), seed=s) for s in (0, 0, 1)]
    assert np.array_equal(runs[0].weights, runs[1].weights)
    assert not np.array_equal(runs[0].weights, runs[2].weights)


def test_what_lies_beyond_the_threshold_is_not_learned_from() -> None:
    problem = Problem(2, SIZES["insertions"], n=10, length=5)
    examples = _core.TranscriptionExamples(
        problem.pairs, problem.starts, np.zeros(len(problem.words), np.int32), (problem.model,)
    )
    learned = []
    for threshold in (0.1, 5.0, 0.0):
        oracle = _core.CosegmentOracle(
            problem.native, examples, BITS, 0, threshold, INSERTIONS, UPDATES["max_violation"]
        )
        learned.append(sum(bool(oracle.ask(i, 1, 0.0)[1]) for i in range(len(oracle))))
    assert learned[0] < learned[1] <= learned[2] == len(problem.words)


def test_wrong_arrays_are_refused() -> None:
    problem = Problem(0, SIZES["insertions"])
    zeros = np.zeros(len(problem.words), np.int32)
    for starts, fold, models in (
        (problem.starts[:-1], zeros, (problem.model,)),
        (problem.starts, zeros[:-1], (problem.model,)),
        (problem.starts, zeros + 1, (problem.model,)),
        (np.array([0, 0, *problem.starts[1:]]), np.append(zeros, 0), (problem.model,)),
    ):
        with pytest.raises(ValueError, match=r"example|fold"):
            _core.TranscriptionExamples(problem.pairs, starts, fold.astype(np.int32), models)
    with pytest.raises(ValueError, match="weights"):
        _core.search_words(problem.native, problem.model, problem.pairs, np.zeros(100, np.float32), 1, 0, 0.0, 1, 1)
