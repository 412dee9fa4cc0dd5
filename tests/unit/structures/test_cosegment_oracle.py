"""Search for cuts by learned weights: against all cuts, greedy with a beam of 1, violations in every update."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import cosegment_search as twin
from tests.oracle.cosegments import units_of_arrays

from margent import MIRA, Perceptron, _core, train
from margent.structures.cosegments import native_pairs

BITS, INSERTIONS = 7, 1
UPDATES = {name: getattr(_core.BeamUpdate, name) for name in ("standard", "early", "max_violation", "skip")}
SIZES = {
    "one letter": [(1, 0), (1, 1)],
    "insertions": [(0, 1), (1, 0), (1, 1)],
    "several letters": [(1, 1), (2, 1), (1, 2)],
}


class Problem:
    """Random words with their pronunciations, units, a random model of pairs of units, and the same for the twin."""

    def __init__(self, seed: int, sizes: list[tuple[int, int]], n: int = 4, length: int = 2) -> None:
        random = np.random.default_rng(seed)
        self.words, self.right, rows = [], [], []
        while len(self.words) < n:
            word = tuple(random.integers(0, 2, random.integers(1, length + 1)).tolist())
            many = random.integers(1, 3)
            right = {tuple(random.integers(0, 2, random.integers(1, len(word) + 1)).tolist()) for _ in range(many)}
            if word not in self.words:
                self.words.append(word)
                self.right.append(right)
                rows += [(word, one) for one in sorted(right)]
            n -= random.random() < 0.1  # there may be no more words
        self.pairs = native_pairs([word for word, _ in rows], [one for _, one in rows])
        self.starts = np.cumsum([0, *map(len, self.right)])
        self.native = _core.CosegmentUnits.discovered(self.pairs, np.array(sizes, np.int32))
        self.units = units_of_arrays(*self.native.arrays())
        end, start = len(self.units), len(self.units) + 1
        counts = _core.GramCounts()
        for before in (*range(end), start):
            for unit in range(end + 1):
                counts.add([before, unit], float(random.random() + 0.05))
        self.model = _core.GramModel.of(counts, end)
        self.model.estimate(np.array([[0.1, 0.1, 0.1]] * 2))
        self.weights = random.normal(size=2**BITS + 1).astype(np.float32)
        self.plain: list[float] = self.weights.astype(np.float64).tolist()
        self.oracle = self.oracle_with(0, "standard")

    def oracle_with(self, beam: int, update: str) -> _core.CosegmentOracle:
        fold = np.zeros(len(self.words), np.int32)
        examples = _core.TranscriptionExamples(self.pairs, self.starts, fold, (self.model,))
        oracle = _core.CosegmentOracle(self.native, examples, BITS, beam, 0.0, INSERTIONS, UPDATES[update])
        oracle.start_from(self.weights.astype(np.float64))
        return oracle

    def search(self, word: Any, k: int, beam: int) -> list[tuple[float, tuple[int, ...], tuple[int, ...]]]:
        (n,), scores, *rows = _core.search_words(
            self.native, self.model, native_pairs([word], [()]), self.weights, k, beam, 0.0, INSERTIONS, 1
        )
        phonemes, cuts = ([tuple(ids[a:b].tolist()) for a, b in pairwise(ptr)] for ptr, ids in rows)
        assert n == len(scores)
        return list(zip(scores.tolist(), phonemes, cuts))

    def features(self, word: Any, cut: Any) -> dict[int, float]:
        return twin.features(word, cut, self.units, self.model.log_probability, BITS)

    def best_cuts(self, word: Any) -> dict[tuple[int, ...], tuple[float, tuple[int, ...]]]:
        """For each pronunciation the score of its best cut, and the cut."""
        best: dict[tuple[int, ...], tuple[float, tuple[int, ...]]] = {}
        for cut in twin.all_cuts(word, self.units, INSERTIONS):
            spoken, value = twin.spoken(cut, self.units), twin.score(self.plain, self.features(word, cut))
            if spoken not in best or value > best[spoken][0]:
                best[spoken] = value, cut
        return best


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_a_covering_beam_finds_the_best_of_all_cuts(sizes: Any, seed: int) -> None:
    problem = Problem(seed, sizes)
    for word in problem.words:
        listed = problem.best_cuts(word)
        order = sorted(listed, key=lambda spoken: -listed[spoken][0])
        found = problem.search(word, 1000, 0)
        assert [spoken for _, spoken, _ in found] == order
        assert [score for score, _, _ in found] == pytest.approx([listed[spoken][0] for spoken in order], rel=1e-5)
        assert [cut for _, _, cut in found] == [listed[spoken][1] for spoken in order]
        assert problem.search(word, 2, 0) == found[:2]


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None)
def test_the_oracle_compares_the_best_right_cut_with_the_best_of_all(sizes: Any, seed: int) -> None:
    problem = Problem(seed, sizes)
    for i, word in enumerate(problem.words):
        listed = problem.best_cuts(word)
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
        ((_, _, cut),) = problem.search(word, 9, 1)
        assert cut == twin.greedy(word, problem.units, problem.plain, problem.model.log_probability, BITS)


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
