"""Oracles of transition-based parsers: what they answer, that it can be learned, and the gradient of the beam CRF."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.unit.models.parser.transitions.parsing_problem import (
    PROJECTIVE,
    SYSTEMS,
    Scores,
    bank,
    named,
    parse,
    random_data,
    templates,
)

import margent
from margent import _core
from margent.learners import CRF, MIRA, PassiveAggressive, Perceptron
from margent.models.parser.data import ParserData
from margent.models.parser.transitions.actions import Actions, native_system
from oracle import transition_parsing as twin

UPDATES = ("standard", "early", "max_violation", "skip")


def searching(
    system: str, data: ParserData, *, beam: int = 4, update: str = "max_violation", label_cost: float = 0.5
) -> tuple[_core.ParserOracle, Actions]:
    actions = Actions.seen_in(data, system)
    policy = getattr(_core.BeamUpdate, update)
    given = native_system(system), bank(data), templates()[1], actions.native
    return _core.ParserOracle.searching(*given, beam, policy, label_cost, True), actions


def exploring(system: str, data: ParserData, *, probability: float = 0.9, seed: int = 0) -> tuple[Any, Actions]:
    actions = Actions.seen_in(data, system)
    given = native_system(system), bank(data), templates()[1], actions.native
    return _core.DecisionOracle.exploring(*given, probability, seed, 0.5), actions


def distinct_words(data: ParserData) -> ParserData:
    """Every word is another one, so that all trees can be learned by heart."""
    data.tokens.atoms[:, 0] = np.arange(1, len(data.heads) + 1)
    return data


def parsed(system: str, data: ParserData, actions: Actions, weights: Any, beam: int) -> list[Any]:
    table = _core.FeatureRows(len(actions), **weights)
    return [found[0][1:] for found in parse(system, data, Scores(data, len(actions), 0), actions, table, beam=beam)]


def right(data: ParserData) -> list[Any]:
    ptr = data.tokens.sequence_ptr
    return [(tuple(data.heads[a:b].tolist()), tuple(data.labels[a:b].tolist())) for a, b in pairwise(ptr)]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("learner", [Perceptron(epochs=40), MIRA(epochs=40, k=3), PassiveAggressive(epochs=40)])
def test_trees_are_learned_by_heart(system: str, learner: Any) -> None:
    data = distinct_words(random_data(5, [1, 3, 6, 7, 5], projective=system != "swap"))
    oracle, actions = searching(system, data, beam=16)
    result = margent.train(learner, oracle, progress=False)
    assert parsed(system, data, actions, result.weights, 16) == right(data)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [1, 3])
def test_every_policy_learns(update: str, beam: int) -> None:
    if (update, beam) == ("skip", 1):
        pytest.skip("a greedy parser mostly fails while the right tree scores more, from which skip learns nothing")
    data = distinct_words(random_data(6, [4, 6, 5]))
    oracle, actions = searching("arc-hybrid", data, beam=beam, update=update)
    result = margent.train(Perceptron(epochs=60), oracle, progress=False)
    assert parsed("arc-hybrid", data, actions, result.weights, beam) == right(data)


@pytest.mark.parametrize("system", ["arc-hybrid", "arc-eager"])
def test_exploring_learns_by_heart_and_depends_on_the_seed_alone(system: str) -> None:
    data = distinct_words(random_data(7, [3, 6, 4, 5, 2]))
    found = []
    for seed in (0, 0, 1):
        oracle, actions = exploring(system, data, seed=seed)
        found.append(margent.train(Perceptron(epochs=60), oracle, progress=False).weights)
        assert parsed(system, data, actions, found[-1], 1) == right(data)
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


def test_an_answer_is_the_difference_of_the_features_of_both_ways() -> None:
    """At zero weights and with a beam for all, the rival with costs is the worst tree: its loss and delta are the
    twin's."""
    data = random_data(8, [3], n_labels=1)
    oracle, actions = searching("arc-hybrid", data, beam=0, update="standard", label_cost=0.25)
    heads = tuple(data.heads.tolist())
    losses, vectors = [], []
    scores = Scores(data, len(actions), 0)
    for way in twin.all_ways("arc-hybrid", 3, named(actions)):
        found = twin.tree_of(twin.end_of("arc-hybrid", way, named(actions)))[0]
        losses.append(sum(a != b for a, b in zip(heads, found)))
        vectors.append([(key, action) for state, action in way for key in scores.keys(state)])
    gold_score, rivals = oracle.ask(0, 1, 1.0)
    score, loss, errors, delta = rivals[0]
    assert (gold_score, score, loss, errors) == (0.0, 0.0, max(losses), max(losses))
    # By how much a step along delta moves the margin is the squared length of the difference.
    gold = vectors[losses.index(0)]
    lengths = {sum((gold.count(p) - v.count(p)) ** 2 for p in {*gold, *v}) for v, lost in zip(vectors, losses)
               if lost == max(losses)}  # fmt: skip
    assert sum(value**2 for value in delta.values()) in lengths
    oracle.move(0, 1.0)
    assert oracle.squared_norm() in lengths


@pytest.mark.parametrize("system", PROJECTIVE)
def test_partial_trees_are_learned_where_they_are_known(system: str) -> None:
    data = distinct_words(random_data(9, [6, 5, 7, 6]))
    heads, labels = data.heads.copy(), data.labels.copy()
    hidden = np.arange(len(heads)) % 4 == 1
    heads[hidden] = labels[hidden] = -1
    labels[2] = -1  # a head without a label
    partial = ParserData(data.tokens, heads, labels)
    oracle, actions = searching(system, partial, beam=8)
    result = margent.train(Perceptron(epochs=20), oracle, progress=False)
    found = parsed(system, data, actions, result.weights, 8)
    found_heads = np.array([head for tree, _ in found for head in tree])
    assert (found_heads == data.heads)[~hidden].mean() > 0.9


def makers() -> dict[str, Callable[[], tuple[Any, Actions]]]:
    data = distinct_words(random_data(10, [4, 5, 3]))
    return {
        "searching": lambda: searching("arc-standard", data),
        "exploring": lambda: exploring("arc-eager", data),
    }


@pytest.mark.parametrize("kind", ["searching", "exploring"])
def test_the_same_seed_gives_the_same_bits(kind: str) -> None:
    one, two = (margent.train(Perceptron(epochs=4), makers()[kind]()[0], progress=False).weights for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_training_continues_from_given_weights() -> None:
    data = distinct_words(random_data(11, [4, 5, 3]))
    oracle, actions = searching("arc-hybrid", data)
    first = margent.train(Perceptron(epochs=20, average=False), oracle, progress=False).weights
    table = _core.FeatureRows(len(actions), **first)
    again, _ = searching("arc-hybrid", data)
    again.start_from(table, list(range(len(actions))))
    started = _core.FeatureRows(len(actions), **again.weights(False)).arrays()
    assert all(np.array_equal(started[name], table.arrays()[name]) for name in started)
    result = margent.train(Perceptron(epochs=1, average=False), again, progress=False)
    assert result.history[0].updates == 0


def test_costs_are_added_to_the_scores_of_the_search() -> None:
    """What a rival scores with its costs is no less than what gold scores."""
    data = random_data(12, [5, 6])
    for system in SYSTEMS:
        oracle, _ = searching(system, data, beam=8)
        for example in range(2):
            for _ in range(3):
                gold_score, rivals = oracle.ask(example, 3, 1.0)
                for score, loss, errors, _ in rivals[:1]:
                    assert score + loss >= gold_score and (errors > 0) and loss > 0
                oracle.move(0, 0.1)


@pytest.mark.parametrize(
    ("system", "beam"), [*((system, 0) for system in SYSTEMS), *((system, 3) for system in PROJECTIVE)]
)
def test_the_gradient_of_the_beam_crf_is_that_of_finite_differences(system: str, beam: int) -> None:
    data = random_data(13, [3, 2], projective=system != "swap", n_labels=1)
    oracle, _ = searching(system, data, beam=beam)
    likelihood = oracle.likelihood(beam=beam)
    while likelihood.grow():
        likelihood.evaluate(likelihood.parameters())
    n = len(likelihood.parameters())
    random = np.random.default_rng(0)
    at = random.integers(-4, 5, n) / 64  # numbers that 32 bits hold exactly, as do the steps
    value, gradient = likelihood.evaluate(at)
    assert value > 0 and n > 15
    step = 1 / 256
    for index in random.choice(n, 10, replace=False):
        up, down = at.copy(), at.copy()
        up[index] += step
        down[index] -= step
        slope = (likelihood.evaluate(up)[0] - likelihood.evaluate(down)[0]) / (2 * step)
        assert slope == pytest.approx(gradient[index], abs=2e-3)


def test_a_beam_crf_with_all_states_has_the_probabilities_of_enumeration() -> None:
    data = random_data(14, [3], n_labels=1)
    oracle, actions = searching("arc-hybrid", data, beam=0)
    margent.train(Perceptron(epochs=2, average=False), oracle, progress=False)
    table = _core.FeatureRows(len(actions), **oracle.weights(False))
    scores = Scores(data, len(actions), 0)
    totals, gold = [], []
    for way in twin.all_ways("arc-hybrid", 3, named(actions)):
        rows = [[table.row(key) for key in scores.keys(state)] for state, _ in way]
        totals.append(sum(float(row[action]) for row_list, (_, action) in zip(rows, way) for row in row_list))
        found = twin.tree_of(twin.end_of("arc-hybrid", way, named(actions)))[0]
        gold.append(found == tuple(data.heads.tolist()))
    wanted = np.logaddexp.reduce(totals) - np.logaddexp.reduce(np.array(totals)[gold])
    assert oracle.likelihood(beam=0).value() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("method", ["lbfgs", "sgd"])
def test_a_beam_crf_learns(method: Any) -> None:
    data = distinct_words(random_data(15, [4, 5, 3]))
    oracle, actions = searching("arc-eager", data, beam=6)
    result = margent.train(CRF(search="beam", beam=6, l2=0.01, method=method, epochs=40), oracle, progress=False)
    assert parsed("arc-eager", data, actions, result.weights, 6) == right(data)


def test_sentence_weights_count() -> None:
    data = distinct_words(random_data(16, [4, 4]))
    weighted = ParserData(data.tokens, data.heads, data.labels, np.array([1, 0], np.float32))
    actions = Actions.seen_in(data, "arc-hybrid")
    weights = np.array([1.0, 0.0])
    treebank = _core.Treebank(data.tokens.atoms, data.tokens.sequence_ptr, data.heads, data.labels, weights)
    oracle = _core.ParserOracle.searching(
        native_system("arc-hybrid"), treebank, templates()[1], actions.native, 4, _core.BeamUpdate.early, 0.5, True
    )
    result = margent.train(Perceptron(epochs=10), oracle, progress=False)
    found = parsed("arc-hybrid", data, actions, result.weights, 4)
    assert found[0] == right(data)[0] and found[1] != right(data)[1]
    assert weighted.counts.tolist() == [1, 0]
