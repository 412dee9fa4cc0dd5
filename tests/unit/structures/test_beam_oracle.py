"""Learning with beam search: the native beam of chains against one in plain Python, and what updates promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.errors import CorpusError
from margent.learners import CRF, MIRA, PassiveAggressive, Perceptron
from margent.structures import BeamOracle, beam_search
from margent.structures.beam_oracle import UPDATES
from oracle import perceptron as plain
from unit.learners.test_perceptron import N_LABELS, Problem, same

NATIVE = {
    "standard": _core.BeamUpdate.standard,
    "early": _core.BeamUpdate.early,
    "max-violation": _core.BeamUpdate.max_violation,
    "skip": _core.BeamUpdate.skip,
}
END = "end"


class Labels:
    """The chain of the native oracle as a transition system: a label at each step, and an end."""

    def __init__(self, order: int, costs: list[Any]) -> None:
        self.order, self.costs = order, costs

    def start(self, example: plain.Example) -> Any:
        return example, ()

    def actions(self, state: Any) -> Any:
        example, labels = state
        if labels[-1:] == (END,):
            return []
        if len(labels) == len(example.labels):
            return [END]
        return sorted(example.allowed[len(labels)]) if example.allowed else range(N_LABELS)

    def step(self, state: Any, action: Any) -> Any:
        return state[0], (*state[1], action)

    def features(self, state: Any, action: Any) -> dict[Any, float]:
        example, labels = state
        here = plain.features(example, [*labels, action], self.order) if action != END else None
        if action == END:
            padded = [None] * self.order + list(labels)
            return {("end", tuple(padded[len(padded) - j : -1]), labels[-1]): 1.0 for j in range(1, self.order + 1)}
        shorter = plain.Example(example.tokens[: len(labels)], example.edges[: len(labels)], list(labels))
        before = plain.features(shorter, labels, self.order) if labels else {}
        assert here is not None
        return {k: v - before.get(k, 0.0) for k, v in here.items() if k[0] != "end" and v != before.get(k, 0.0)}

    def signature(self, state: Any) -> Any:
        return len(state[1]), state[1][-self.order :] if state[1][-1:] != (END,) else state[1][-self.order - 1 :]

    def gold_actions(self, example: plain.Example, y: Any) -> list[Any]:
        return [*y, END]

    def cost(self, state: Any, action: Any, y: Any) -> float:
        if action == END or action == y[len(state[1])]:
            return 0.0
        return float(self.costs[y[len(state[1])]])


def pair(seed: int, order: int, beam: int, update: Any, **options: Any) -> tuple[Problem, BeamOracle, list[int]]:
    problem = Problem(seed, order, **options)
    problem.oracle.set_beam(beam, NATIVE[update])
    used = [i for i, e in enumerate(problem.examples) if e.labels]
    examples = [problem.examples[i] for i in used]
    oracle = BeamOracle(
        Labels(order, problem.costs),
        examples,
        [e.labels for e in examples],
        beam=beam,
        update=update,
        sample_weight=[e.weight for e in examples],
    )
    for name in problem.start:
        oracle.features.setdefault(name, len(oracle.features))
    assert oracle.n_features == len(oracle.features)
    oracle.start_from(np.array([problem.start.get(name, 0.0) for name in oracle.features]))
    return problem, oracle, used


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [1, 2, 5, 50])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("learner", [Perceptron(), Perceptron(margin=1)], ids=str)
def test_a_chain_is_a_transition_system(learner: Any, order: int, beam: int, update: str) -> None:
    """Weight by weight what the native beam learns is what the plain one does."""
    case = {"edges": order == 2, "costs": True, "weights": True, "allowed": order == 1}
    for seed in range(2):
        problem, oracle, used = pair(seed, order, beam, update, **case)
        order_of = np.concatenate([problem.random.permutation(len(used)) for _ in range(4)])
        ours = _core.run(problem.oracle, learner.rule(), np.array(used)[order_of])
        theirs = _core.run(oracle, learner.rule(), order_of)
        assert (ours.updates, ours.wrong_examples) == (theirs.updates, theirs.wrong_examples)
        found = dict(zip(oracle.features, oracle.weights(False).tolist()))
        same(problem.weights(False), found)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [2, 5])
@pytest.mark.parametrize("order", [1, 2])
def test_rivals_are_the_best_in_the_beam(order: int, beam: int, update: str) -> None:
    problem, native, used = pair(5, order, beam, update, edges=True, costs=True)
    for i, number in enumerate(used):
        gold_score, rivals = problem.oracle.ask(number, 3, 0.75)
        wanted_score, wanted = native.ask(i, 3, 0.75)
        assert gold_score == pytest.approx(wanted_score, abs=1e-4)
        assert len(rivals) == len(wanted)
        for j, (ours, theirs) in enumerate(zip(rivals, wanted)):
            assert ours[:3] == pytest.approx(theirs[:3], abs=1e-4)
            assert problem.oracle.dot(0, j) == pytest.approx(native.dot(0, j), abs=1e-4)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_an_unlimited_beam_is_viterbi(order: int) -> None:
    for seed in range(4):
        exact, beam = (Problem(seed, order, edges=True, costs=True) for _ in range(2))
        beam.oracle.set_beam(10**6, _core.BeamUpdate.early)
        for number, example in enumerate(exact.examples):
            if example.labels:
                assert beam.oracle.ask(number, 1, 0.5)[1][0][:3] == pytest.approx(
                    exact.oracle.ask(number, 1, 0.5)[1][0][:3], abs=1e-4
                )


@pytest.mark.parametrize("update", ["early", "max-violation", "skip"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("beam", [1, 2])
def test_every_update_is_a_violation(update: str, missing: bool, beam: int) -> None:
    """The wrong prefix scores no less than the right one, on random weights that change on the way."""
    seen = 0
    for seed in range(20):
        for order in (1, 2):
            problem = Problem(seed, order, missing=missing)
            problem.oracle.set_beam(beam, NATIVE[update])
            for number in range(len(problem.examples)):
                gold_score, rivals = problem.oracle.ask(number, 1, 0.0)
                if rivals and rivals[0][2]:
                    assert gold_score <= rivals[0][0] + 1e-6
                    problem.oracle.move(0, 1.0)
                    seen += 1
    assert seen > 30


def test_standard_updates_are_not_always_violations() -> None:
    found = []
    for seed in range(20):
        problem = Problem(seed, 1)
        problem.oracle.set_beam(1, _core.BeamUpdate.standard)
        for number in range(len(problem.examples)):
            gold_score, rivals = problem.oracle.ask(number, 1, 0.0)
            found += [rival[0] - gold_score for rival in rivals if rival[2]]
    assert min(found) < -0.1


class FruitFlies:
    """Fig. 3.1 of paper 003: one sentence, two features, a greedy search."""

    choices = (["N"], ["N", "V"], ["N", "V"], ["."])
    counted: tuple[Any, ...] = ("NN", "V.")

    def start(self, x: Any) -> str:
        return ""

    def actions(self, state: str) -> list[str]:
        return list(self.choices[len(state)]) if len(state) < 4 else []

    def step(self, state: str, action: str) -> str:
        return state + action

    def features(self, state: str, action: str) -> list[Any]:
        return [feature for feature in (state[-1:] + action, (len(state), action)) if feature in self.counted]

    def gold_actions(self, x: Any, y: str) -> list[str]:
        return list(y)

    def output(self, state: str) -> str:
        return state


class FruitFliesWithAWord(FruitFlies):
    """Counts N V, V V, and whether "fly", the third word, is V."""

    counted = ("NV", "VV", (2, "V"))


def fruit_flies(system: FruitFlies, update: Any) -> Any:
    oracle = BeamOracle(system, ["fruit flies fly ."], ["NNV."], beam=1, update=update)
    result = margent.train(Perceptron(epochs=200, average=False), oracle)
    return result, oracle.predict("fruit flies fly .", result.weights)[0].output


@pytest.mark.parametrize("system", [FruitFlies(), FruitFliesWithAWord()])
def test_fruit_flies_loop_for_ever_under_standard_updates(system: FruitFlies) -> None:
    result, found = fruit_flies(system, "standard")
    assert len(result.history) == 200
    assert all(epoch.updates == 1 for epoch in result.history)
    assert np.abs(result.weights).max() > 50  # it grows with each round
    assert found != "NNV."


@pytest.mark.parametrize("update", ["early", "max-violation"])
def test_fruit_flies_converge_where_updates_fix_violations(update: str) -> None:
    result, found = fruit_flies(FruitFliesWithAWord(), update)
    assert result.history[-1].updates == 0
    assert len(result.history) < 10
    assert found == "NNV."


@pytest.mark.parametrize("update", ["early", "max-violation"])
def test_no_weights_make_a_greedy_search_right_on_the_example_of_the_paper(update: str) -> None:
    """Differs: with its two features NN must win against NV, but NNV against NNN. Weights only stay small."""
    oracle = BeamOracle(FruitFlies(), [""], ["NNV."], beam=1)
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9)), axis=-1).reshape(-1, 2)
    assert all(oracle.predict("", weights)[0].output != "NNV." for weights in grid)
    result, _ = fruit_flies(FruitFlies(), update)
    assert len(result.history) == 200
    assert np.abs(result.weights).max() <= 2


class Sums:
    """Numbers that add up to x, in any order: several ways to the same y, the number of terms."""

    def start(self, x: int) -> tuple[int, int]:
        return x, 0

    def actions(self, state: tuple[int, int]) -> list[int]:
        return [term for term in (1, 2, 3) if term <= state[0]]

    def step(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return state[0] - action, state[1] + 1

    def features(self, state: tuple[int, int], action: int) -> list[Any]:
        return [action, ("left", state[0] - action)]

    def signature(self, state: tuple[int, int]) -> tuple[int, int]:
        return state

    def correct(self, state: tuple[int, int], y: int) -> bool:
        left, used = state
        return used <= y and (y - used) <= left <= 3 * (y - used)

    def output(self, state: tuple[int, int]) -> int:
        return state[1]


@pytest.mark.parametrize("update", ["early", "max-violation"])
@pytest.mark.parametrize("learner", [Perceptron(epochs=100), PassiveAggressive(epochs=100), MIRA(epochs=100, k=2)])
def test_where_several_ways_are_right_any_will_do(learner: Any, update: Any) -> None:
    X = [3, 4, 5, 6, 7, 8, 9]
    y = [-(-x // 3) for x in X]  # as few terms as possible
    oracle = BeamOracle(Sums(), X, y, beam=2, update=update)
    result = margent.train(learner, oracle)
    assert [oracle.predict(x, result.weights)[0].output for x in X] == y


@pytest.mark.parametrize("beam", [None, 1, 2])
def test_probabilities_among_the_survivors(beam: int | None) -> None:
    """With all states the gradient is exact; with a beam it is that of the candidates. Both by finite differences."""
    problem = Problem(3, 2, weights=True)
    examples = [e for e in problem.examples if e.labels]
    weights_of = [e.weight for e in examples]
    oracle = BeamOracle(
        Labels(2, problem.costs), examples, [e.labels for e in examples], beam=beam, sample_weight=weights_of
    )
    w = problem.random.normal(size=oracle.n_features)
    likelihood = oracle.likelihood()
    total, gradient = likelihood.evaluate(w)
    values = [likelihood.value(np.array([i])) for i in range(len(examples))]
    assert total == pytest.approx(sum(values)) == pytest.approx(likelihood.value())
    for value, example in zip(values, examples):
        if beam is None:
            named = dict(zip(oracle.features, w.tolist()))
            scores = [plain.dot(named, plain.features(example, y, 2)) for y in plain.labellings(example, N_LABELS)]
            right = plain.dot(named, plain.features(example, example.labels, 2))
            assert value == pytest.approx(example.weight * (np.logaddexp.reduce(scores) - right))
    for f in range(0, len(w), 7):
        step = np.zeros_like(w)
        step[f] = 1e-6
        slope = (likelihood.evaluate(w + step)[0] - likelihood.evaluate(w - step)[0]) / 2e-6
        assert gradient[f] == pytest.approx(slope, abs=1e-6)


def test_a_conditional_random_field_learns_with_a_beam() -> None:
    X = [3, 4, 5, 6, 7, 8, 9]
    y = [-(-x // 3) for x in X]
    oracle = BeamOracle(Sums(), X, y, beam=1)
    result = margent.train(CRF(search="beam", beam=8, l2=0.001), oracle)
    oracle.beam = 8
    assert [oracle.predict(x, result.weights)[0].output for x in X] == y
    assert [found.output for found in beam_search(Sums(), 7, lambda state, action: action, beam=None)] == [3]


class History:
    """Bits, with a feature for all that was decided before."""

    def start(self, x: int) -> tuple[int, str]:
        return x, ""

    def actions(self, state: tuple[int, str]) -> list[Any]:
        return ["0", "1"] if len(state[1]) < 4 else []

    def step(self, state: tuple[int, str], action: Any) -> tuple[int, str]:
        return state[0], state[1] + action[0]

    def features(self, state: tuple[int, str], action: Any) -> list[Any]:
        return [(state[0], state[1], action[0])]

    def gold_actions(self, x: int, y: str) -> list[Any]:
        return list(y)


@pytest.mark.parametrize("method", ["lbfgs", "sgd"])
def test_features_met_in_later_searches_are_learned_too(method: Any) -> None:
    """The first searches, with weights of 0, see the first ways alone; a wide beam has to find the same optimum."""
    X, y = [0, 1, 2], ["1011", "1100", "0111"]
    wide = BeamOracle(History(), X, y, beam=None)
    narrow = BeamOracle(History(), X, y, beam=1)
    assert narrow.n_features < wide.n_features
    crf = CRF(search="beam", beam=16, l2=0.1, epochs=200, tol=1e-9, method=method)
    best, found = (margent.train(crf, oracle) for oracle in (wide, narrow))
    assert len(found.weights) == narrow.n_features == wide.n_features
    share = 1e-5 if method == "lbfgs" else 0.02
    assert found.history[-1].objective == pytest.approx(best.history[-1].objective, rel=share)


def test_actions_and_features_that_cannot_be_hashed() -> None:
    class Lists(History):
        def actions(self, state: tuple[int, str]) -> list[Any]:
            return [["0"], ["1"]] if len(state[1]) < 2 else []

        def gold_actions(self, x: int, y: str) -> list[Any]:
            return [[action] for action in y]

    oracle = BeamOracle(Lists(), [0], ["10"])
    margent.train(margent.Perceptron(epochs=2), oracle)  # needs to compare them only
    with pytest.raises(TypeError, match=r"expected actions of Lists that can be hashed.*got \['1'\]"):
        margent.train(CRF(search="beam"), oracle)

    class ListFeatures(History):
        def features(self, state: tuple[int, str], action: Any) -> list[Any]:
            return [["a", action]]

    with pytest.raises(TypeError, match="features of ListFeatures should be hashable"):
        BeamOracle(ListFeatures(), [0], ["1011"])


def test_what_is_wrong_is_said() -> None:
    for k in (0, -1):
        with pytest.raises(ValueError, match="k should be an integer of at least 1"):
            beam_search(Sums(), 7, lambda state, action: 0.0, k=k)
        with pytest.raises(ValueError, match="k should be an integer of at least 1"):
            BeamOracle(FruitFlies(), [""], ["NNV."]).predict("", np.zeros(1), k=k)
    with pytest.raises(ValueError, match=r"the score of the action .* after 0 others is not a number"):
        beam_search(Sums(), 7, lambda state, action: float("nan"))
    with pytest.raises(ValueError, match="update should be one of max-violation, early, standard, skip, got 'late'"):
        BeamOracle(FruitFlies(), [""], ["NNV."], update="late")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="beam should be an integer of at least 1, or None for all states, got 0"):
        BeamOracle(FruitFlies(), [""], ["NNV."], beam=0)
    with pytest.raises(CorpusError, match="there are 1 inputs and 2 answers"):
        BeamOracle(FruitFlies(), [""], ["NNV.", "NNV."])
    with pytest.raises(CorpusError, match="example 0: the right actions lead nowhere"):
        BeamOracle(FruitFlies(), [""], ["VNV."])
    with pytest.raises(CorpusError, match="example 0: the right actions lead nowhere"):
        BeamOracle(FruitFlies(), [""], ["NN"])
    with pytest.raises(CorpusError, match="there are 1 inputs and 2 sample_weights"):
        BeamOracle(FruitFlies(), [""], ["NNV."], sample_weight=[1.0, 1.0])
    with pytest.raises(CorpusError, match="sample_weight has a number that is not finite"):
        BeamOracle(FruitFlies(), [""], ["NNV."], sample_weight=[float("nan")])

    class Endlessly(FruitFlies):
        def features(self, state: str, action: str) -> Any:
            return {action: float("inf")}

    with pytest.raises(ValueError, match="features of Endlessly gave a number that is not finite"):
        BeamOracle(Endlessly(), [""], ["NNV."])
    with pytest.raises(TypeError, match="neither gold_actions"):
        BeamOracle(type("Nothing", (), {})(), [""], [""])

    class Endless(FruitFlies):
        def actions(self, state: str) -> list[str]:
            return ["N"]

    with pytest.raises(ValueError, match="not final after max_steps=50"):
        beam_search(Endless(), "", lambda state, action: 0.0, max_steps=50)


@pytest.mark.parametrize("order", [1, 2])
def test_the_likelihood_of_a_chain_under_a_beam(order: int) -> None:
    """With all states it is the exact one; with few it is smaller, and its gradient is that of finite differences."""
    problem = Problem(11, order, weights=True)

    def likelihood(beam: int) -> _core.Likelihood:
        return problem.oracle.likelihood(all_pairs=True, all_transitions=True, beam=beam)

    w = problem.random.normal(size=likelihood(0).n_parameters)
    exact, slope = likelihood(0).evaluate(w)
    value, gradient = likelihood(1000).evaluate(w)
    assert value == pytest.approx(exact, rel=1e-6)
    assert gradient == pytest.approx(slope, abs=1e-5)
    narrow = likelihood(1)
    value, gradient = narrow.evaluate(w)
    assert 0 < value < exact  # fewer rivals; the right labelling is among the candidates
    for f in range(0, len(w), 5):
        step = np.zeros_like(w)
        step[f] = 1e-3
        found = (narrow.evaluate(w + step)[0] - narrow.evaluate(w - step)[0]) / 2e-3
        assert gradient[f] == pytest.approx(found, abs=2e-2)


def test_dead_ends_are_no_answers() -> None:
    class Even(Sums):
        """Terms of 2 alone may be taken; odd numbers lead nowhere."""

        def actions(self, state: tuple[int, int]) -> list[int]:
            return [2] if state[0] >= 2 else []

        def final(self, state: tuple[int, int]) -> bool:
            return state[0] == 0

    score = lambda state, action: 1.0  # noqa: E731
    assert [found.output for found in beam_search(Even(), 6, score)] == [3]
    assert beam_search(Even(), 7, score) == []
    with pytest.raises(CorpusError, match="example 1: the right actions lead nowhere"):
        BeamOracle(Even(), [4, 5], [2, 2])
