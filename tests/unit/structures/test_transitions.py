"""Transition systems on the native beam: against enumeration and a plain twin, step by step."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent.learners import MIRA, PassiveAggressive, Perceptron
from margent.structures import BeamOracle, beam_search
from margent.structures.beam_oracle import UPDATES
from oracle import beam as twin


class Graph:
    """A random acyclic graph whose paths from node 0 are the answers: of different lengths, with dead ends.

    Features see the edge and the one before it: the future depends on the node and on the last edge.
    """

    def __init__(self, seed: int, n_nodes: int = 7, *, same_length: bool = False) -> None:
        random = np.random.default_rng(seed)
        self.n_nodes = n_nodes
        self.edges: list[list[int]] = []
        for node in range(n_nodes):
            later = [node + 1] if same_length else list(range(node + 1, n_nodes))
            later = [to for to in later if to < n_nodes]
            some = [to for to in later if random.random() < 0.6] or later[:1]
            self.edges.append([to for to in some for _ in range(2 if same_length else 1)])
        self.ends = {n_nodes - 1} if same_length else {n_nodes - 1, n_nodes - 2}
        if not same_length:
            self.edges[n_nodes - 3] = []  # a dead end
            self.edges[n_nodes - 2] = []
        self.parallel = same_length

    def start(self, x: Any) -> tuple[int, ...]:
        return ()

    def node(self, state: tuple[int, ...]) -> int:
        node = 0
        for action in state:
            node = self.edges[node][action]
        return node

    def actions(self, state: tuple[int, ...]) -> range:
        return range(len(self.edges[self.node(state)]))

    def step(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def final(self, state: tuple[int, ...]) -> bool:
        return self.node(state) in self.ends

    def features(self, state: tuple[int, ...], action: int) -> dict[Any, float]:
        node = self.node(state)
        return {("edge", node, action): 1.0, ("pair", node, action, state[-1:]): 0.5}

    def correct(self, state: tuple[int, ...], y: int) -> bool:
        """y: the node that the path must go through, and an end must be in reach."""
        return self._reaches(self.node(state), y in self._nodes(state), y)

    def _nodes(self, state: tuple[int, ...]) -> list[int]:
        return [self.node(state[:i]) for i in range(len(state) + 1)]

    def _reaches(self, node: int, done: bool, y: int) -> bool:
        if not self.edges[node]:
            return done and node in self.ends
        return any(self._reaches(to, done or to == y, y) for to in self.edges[node])


class Signed(Graph):
    def signature(self, state: tuple[int, ...]) -> Any:
        return self.node(state), state[-1:]


class SignedForGold(Graph):
    """States also remember whether the way was right, which tells right ways from wrong ones."""

    def signature(self, state: tuple[int, ...]) -> Any:
        return self.node(state), state[-1:], tuple(self._nodes(state))


class Known(Graph):
    """One right way: the list of its actions."""

    def gold_actions(self, x: Any, y: tuple[int, ...]) -> list[int]:
        return list(y)


class Costly(Known):
    def cost(self, state: tuple[int, ...], action: int, y: tuple[int, ...]) -> float:
        at = len(state)
        return 0.0 if at < len(y) and y[at] == action else 0.25 * (action + 2)


def weights_for(system: Any, seed: int) -> dict[Any, float]:
    random = np.random.default_rng(seed)
    seen: dict[Any, float] = {}
    for item in twin.all_answers(system, None, {}):
        for feature, _ in item.vector().items():
            seen.setdefault(feature, float(random.normal()))
    return seen


def score_by(system: Any, weights: dict[Any, float]) -> Any:
    return lambda state, action: sum(weights.get(f, 0.0) * v for f, v in twin.pairs(system.features(state, action)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([Graph, Signed]))
def test_an_unlimited_beam_is_exhaustive_search(seed: int, same_length: bool, kind: type[Graph]) -> None:
    system = kind(seed, same_length=same_length)
    weights = weights_for(system, seed)
    every = sorted(twin.all_answers(system, None, weights), key=lambda item: -item.score)
    best = beam_search(system, None, score_by(system, weights), beam=None, k=1)
    assert [found.score for found in best] == pytest.approx([item.score for item in every[:1]])
    kept = beam_search(system, None, score_by(system, weights), beam=None, k=10**6, recombine=False)
    assert [found.score for found in kept] == pytest.approx([item.score for item in every])
    assert {tuple(found.actions) for found in kept} == {tuple(item.actions()) for item in every}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans(), st.sampled_from([Graph, Signed]))
def test_a_beam_finds_what_the_plain_one_does(seed: int, beam: int, recombine: bool, kind: type[Graph]) -> None:
    system = kind(seed)
    weights = weights_for(system, seed)
    wanted = twin.search(system, None, weights, beam, recombine)
    found = beam_search(system, None, score_by(system, weights), beam=beam, k=99, recombine=recombine)
    assert [(f.score, f.actions) for f in found] == [(pytest.approx(i.score), i.actions()) for i in wanted]


@pytest.mark.parametrize("seed", range(20))
def test_recombination_changes_no_best_answer_where_signatures_are_sound(seed: int) -> None:
    system, weights = Signed(seed), weights_for(Signed(seed), seed)
    on, off = (
        beam_search(system, None, score_by(system, weights), beam=None, recombine=recombine)
        for recombine in (True, False)
    )
    assert [(f.score, f.actions) for f in on] == [(pytest.approx(f.score), f.actions) for f in off]


def test_ties_go_to_the_better_parent_and_the_first_action() -> None:
    class Bits:
        def start(self, x: Any) -> str:
            return ""

        def actions(self, state: str) -> str:
            return "ab" if len(state) < 3 else ""

        def step(self, state: str, action: str) -> str:
            return state + action

        def features(self, state: str, action: str) -> list[str]:
            return []

    equal = [f.actions for f in beam_search(Bits(), None, lambda state, action: 0.0, beam=None, k=8)]
    assert equal == [list(word) for word in ("aaa", "aab", "aba", "abb", "baa", "bab", "bba", "bbb")]
    # After one action b is ahead by 1, and loses it again in the end: its ways keep their place.
    swing = lambda state, action: {0: 1.0, 1: 0.0, 2: -1.0}[len(state)] * ((state + action)[0] == "b")  # noqa: E731
    found = [f.actions for f in beam_search(Bits(), None, swing, beam=2, k=2)]
    assert found == [["b", "a", "a"], ["b", "a", "b"]]


def test_what_scores_minus_infinity_is_impossible() -> None:
    system = Graph(1, same_length=True)
    score = lambda state, action: 0.0 if action == 0 else -math.inf  # noqa: E731
    assert [set(f.actions) for f in beam_search(system, None, score, beam=None, k=99)] == [{0}]


def test_only_what_is_kept_is_made() -> None:
    made = 0

    class Counted(Graph):
        def step(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
            nonlocal made
            made += 1
            return super().step(state, action)

    system = Counted(3, 9, same_length=True)
    beam_search(system, None, lambda state, action: float(action), beam=1)
    assert made == 8  # one for each step


def problem(kind: type[Graph], seed: int) -> tuple[Any, Any]:
    """A system and a right answer: a path, or a node that right paths go through."""
    system = kind(seed)
    ways = [tuple(item.actions()) for item in twin.all_answers(system, None, {})]
    way = ways[seed % len(ways)]
    if issubclass(kind, Known):
        return system, way
    nodes = system._nodes(way)
    return system, nodes[len(nodes) // 2]


@pytest.mark.parametrize("kind", [Known, Costly, Graph, Signed, SignedForGold])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [1, 2, 4, None])
def test_answers_are_those_of_the_plain_twin(kind: type[Graph], update: Any, beam: int | None) -> None:
    """Step by step, while a perceptron learns; with one right way and with several, of different lengths."""
    learned = 0
    for seed in range(12):
        system, y = problem(kind, seed)
        oracle = BeamOracle(system, [None], [y], beam=beam, update=update)
        named = weights_for(system, seed)
        for name in named:
            oracle.features.setdefault(name, len(oracle.features))
        oracle.start_from(np.array([named.get(name, 0.0) for name in oracle.features][: oracle.n_features]))
        for turn in range(6):
            weights = dict(zip(oracle.features, oracle.weights(False).tolist()))
            cost = 0.5 * (turn % 3)
            gold_score, rivals = oracle.ask(0, 3, cost)
            wanted_score, wanted = twin.answer(system, None, y, weights, beam, update, 3, cost)
            if rivals:
                assert gold_score == pytest.approx(wanted_score)
            assert len(rivals) == len(wanted)
            names = list(oracle.features)
            for ours, theirs in zip(rivals, wanted):
                assert ours[:3] == pytest.approx(theirs[:3])
                assert {names[f]: v for f, v in ours[3].items()} == pytest.approx(theirs[3])
            if rivals and rivals[0][2]:
                learned += 1
                oracle.move(0, 0.7)
    assert learned > 3


@pytest.mark.parametrize("kind", [Known, Graph, Signed])
@pytest.mark.parametrize("beam", [1, 3, None])
def test_the_likelihood_is_that_of_the_plain_twin(kind: type[Graph], beam: int | None) -> None:
    for seed in range(8):
        system, y = problem(kind, seed)
        oracle = BeamOracle(system, [None], [y], beam=beam, sample_weight=[1.5])
        for name in weights_for(system, seed):
            oracle.features.setdefault(name, len(oracle.features))
        w = np.random.default_rng(seed).normal(size=oracle.n_features)
        value, gradient = oracle.likelihood().evaluate(w)
        named = dict(zip(oracle.features, w.tolist()))
        assert value == pytest.approx(1.5 * twin.negative_log_likelihood(system, None, y, named, beam), abs=1e-9)
        if beam is None:
            likelihood = oracle.likelihood()
            for f in range(len(w)):
                step = np.zeros_like(w)
                step[f] = 1e-6
                slope = (likelihood.evaluate(w + step)[0] - likelihood.evaluate(w - step)[0]) / 2e-6
                assert gradient[f] == pytest.approx(slope, abs=1e-5)


class PartLabels:
    """A label for each token, of which y knows some: "?" may be anything."""

    def start(self, x: str) -> tuple[str, str]:
        return x, ""

    def actions(self, state: tuple[str, str]) -> str:
        return "AB" if len(state[1]) < len(state[0]) else ""

    def step(self, state: tuple[str, str], action: str) -> tuple[str, str]:
        return state[0], state[1] + action

    def features(self, state: tuple[str, str], action: str) -> list[Any]:
        return [(state[0][len(state[1])], action), (state[1][-1:], action)]

    def signature(self, state: tuple[str, str]) -> Any:
        return len(state[1]), state[1][-1:]

    def correct(self, state: tuple[str, str], y: str) -> bool:
        return all(known in ("?", label) for known, label in zip(y, state[1]))

    def output(self, state: tuple[str, str]) -> str:
        return state[1]


@pytest.mark.parametrize("update", ["early", "max-violation", "skip"])
@pytest.mark.parametrize(
    "learner",
    [Perceptron(epochs=30), PassiveAggressive(epochs=30), MIRA(epochs=30, k=2)],
    ids=lambda x: type(x).__name__,
)
def test_partial_labels(learner: Any, update: Any) -> None:
    X, y = ["aab", "bba", "abab", "bb"], ["A?B", "?BA", "AB??", "BB"]
    oracle = BeamOracle(PartLabels(), X, y, beam=2, update=update)
    result = margent.train(learner, oracle)
    for x, known in zip(X, y):
        found = oracle.predict(x, result.weights)[0].output
        assert len(found) == len(x)
        assert PartLabels().correct((x, found), known), (found, known)


def test_partial_labels_cost_nothing_where_nothing_is_known() -> None:
    oracle = BeamOracle(PartLabels(), ["ab"], ["??"], beam=None)
    _, rivals = oracle.ask(0, 4, 1.0)
    assert [rival[1:3] for rival in rivals] == [
        (0.0, 0),
        (0.0, 0),
    ]  # two of four ways: the others end in the same states


def test_the_same_bits_each_time() -> None:
    def learned() -> bytes:
        X = ["aab", "bba", "abab", "bb"]
        oracle = BeamOracle(PartLabels(), X, ["A?B", "?BA", "AB??", "BB"], beam=2)
        return margent.train(MIRA(epochs=5, k=3), oracle, seed=3).weights.tobytes()

    assert learned() == learned()


def test_answers_come_in_order() -> None:
    for seed in range(10):
        system, weights = Signed(seed), weights_for(Signed(seed), seed)
        scores = [f.score for f in beam_search(system, None, score_by(system, weights), beam=3, k=99)]
        assert all(a >= b for a, b in pairwise(scores))
