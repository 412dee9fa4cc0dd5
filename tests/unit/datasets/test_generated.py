"""Corpora from known models: the draws follow the model, and the model answers as plain enumeration does."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.datasets.generated import ChainModel, SeparableModel, make_chain, make_separable

# --- make_chain


def enumerated(model: ChainModel, sentence: list[str]) -> dict[tuple[int, ...], float]:
    """P(y, sentence) for every label sequence y, by the definition."""
    x, k, table = [model.symbols.index(word) for word in sentence], model.start.ndim, {}
    for y in product(range(len(model.labels)), repeat=len(x)):
        rest = range(max(k - len(y), 0))
        mass = sum(model.start[(*y[:k], *tail)] for tail in product(range(len(model.labels)), repeat=len(rest)))
        for t in range(len(y)):
            mass *= model.emission[y[t], x[t]]
            if t >= k:
                mass *= model.transition[(*y[t - k : t], y[t])]
        table[y] = mass
    return table


@settings(deadline=None, max_examples=40)
@given(order=st.integers(1, 3), n_labels=st.integers(1, 3), length=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_the_model_answers_as_enumeration_does(order: int, n_labels: int, length: int, seed: int) -> None:
    sentences, labels, model = make_chain(1, n_labels, 4, length=length, order=order, seed=seed)
    table = enumerated(model, sentences[0])
    y = tuple(model.labels.index(label) for label in labels[0])
    assert model.order == order
    assert model.log_probability(sentences[0], labels[0]) == pytest.approx(np.log(table[y]))
    expected = np.zeros((length, n_labels))
    for path, mass in table.items():
        expected[np.arange(length), path] += mass / sum(table.values())
    assert np.allclose(model.posteriors(sentences[0]), expected)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_draws_follow_the_probabilities(order: int) -> None:
    sentences, labels, model = make_chain(4000, 2, 5, length=12, order=order, seed=order)
    y = np.array([[int(label[1:]) for label in row] for row in labels])
    x = np.array([[int(word[1:]) for word in row] for row in sentences])
    starts, transitions, emissions = np.zeros((2,) * order), np.zeros((2,) * (order + 1)), np.zeros((2, 5))
    np.add.at(starts, tuple(y[:, :order].T), 1)
    for t in range(order, 12):
        np.add.at(transitions, tuple(y[:, t - order : t + 1].T), 1)
    np.add.at(emissions, (y, x), 1)
    for counts, truth in [
        (starts.reshape(1, -1), model.start.reshape(1, -1)),
        (transitions.reshape(-1, 2), model.transition.reshape(-1, 2)),
        (emissions, model.emission),
    ]:
        total = counts.sum(axis=1, keepdims=True)
        error = np.abs(counts - total * truth)
        assert (error <= 5 * np.sqrt(total * truth * (1 - truth)) + 1e-9).all()


def test_no_labelling_beats_the_posteriors() -> None:
    sentences, labels, model = make_chain(500, 4, 8, seed=2)

    def accuracy(emission_only: bool) -> float:
        right = total = 0
        for sentence, gold in zip(sentences, labels):
            x = [model.symbols.index(word) for word in sentence]
            scores = model.emission[:, x].T if emission_only else model.posteriors(sentence)
            right += sum(model.labels[i] == label for i, label in zip(scores.argmax(axis=1), gold))
            total += len(gold)
        return right / total

    assert accuracy(emission_only=False) > accuracy(emission_only=True) + 0.02


def test_given_probabilities_are_used() -> None:
    _, labels, model = make_chain(
        20, 2, 3, length=6, start=[1, 0], transition=[[0, 1], [1, 0]], emission=[[1, 0, 0], [0, 0.5, 0.5]]
    )
    assert all(row == ["L0", "L1"] * 3 for row in labels)
    assert model.log_probability(["w0", "w1"], ["L0", "L1"]) == pytest.approx(np.log(0.5))
    assert model.log_probability(["w0", "w1"], ["L1", "L0"]) == -np.inf
    with pytest.raises(ValueError, match="probability of 0"):
        model.posteriors(["w1", "w0"])
    with pytest.raises(ValueError, match="no symbol 'w9'"):
        model.posteriors(["w9"])
    with pytest.raises(ValueError, match="cannot have 1 labels"):
        model.log_probability(["w0", "w1"], ["L0"])


def test_giving_one_table_leaves_the_others() -> None:
    free = make_chain(0, 3, 4, seed=8)[2]
    bound = make_chain(0, 3, 4, seed=8, start=[0.2, 0.3, 0.5])[2]
    assert np.array_equal(free.transition, bound.transition) and np.array_equal(free.emission, bound.emission)
    assert np.allclose(bound.start, [0.2, 0.3, 0.5])


def test_chain_is_the_same_everywhere() -> None:
    sentences, labels, model = make_chain(2, 3, 10, length=(3, 5), order=2, seed=42)
    assert sentences == [["w4", "w3", "w4", "w6"], ["w9", "w4", "w0"]]
    assert labels == [["L2", "L0", "L2", "L1"], ["L1", "L0", "L2"]]
    again = make_chain(2, 3, 10, length=(3, 5), order=2, seed=42)
    assert again[:2] == (sentences, labels) and np.array_equal(again[2].transition, model.transition)
    assert make_chain(2, 3, 10, seed=43)[0] != make_chain(2, 3, 10, seed=42)[0]


@pytest.mark.parametrize("make", [make_chain, make_separable])
def test_lengths(make: Any) -> None:
    for length, expected in [((2, 4), {2, 3, 4}), (3, {3}), (0, {0}), ((0, 1), {0, 1})]:
        sentences, labels, _ = make(60, 2, 4, length=length)
        assert {len(row) for row in sentences} == expected
        assert [len(row) for row in labels] == [len(row) for row in sentences]
    assert make(0, 2, 4)[:2] == ([], [])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": -1}, "n must be at least 0"),
        ({"n_labels": 0}, "n_labels must be at least 1"),
        ({"n_symbols": 0}, "n_symbols must be at least 1"),
        ({"order": 0}, "order must be at least 1"),
        ({"length": (3, 2)}, "length must be"),
        ({"length": -1}, "length must be"),
        ({"start": [0.5, 0.25, 0.25]}, r"start must have shape \(2,\)"),
        ({"start": [0.5, 0.6]}, "start must hold probabilities"),
        ({"transition": [[1.5, -0.5], [0, 1]]}, "transition must hold probabilities"),
        ({"emission": [[np.nan] * 3] * 2}, "emission must hold probabilities"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_chain(**{"n": 1, "n_labels": 2, "n_symbols": 3, **options})


# --- make_separable


def all_scores(model: SeparableModel, sentence: list[str]) -> dict[tuple[str, ...], float]:
    return {y: model.score(sentence, y) for y in product(model.labels, repeat=len(sentence))}


@settings(deadline=None, max_examples=40)
@given(margin=st.sampled_from([1.0, 2.5, 4.0]), n_labels=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_labels_win_by_the_margin(margin: float, n_labels: int, seed: int) -> None:
    sentences, labels, model = make_separable(3, n_labels, 12, length=(1, 4), margin=margin, seed=seed)
    for sentence, gold in zip(sentences, labels):
        scores = all_scores(model, sentence)
        best = scores.pop(tuple(gold))
        assert all(best >= score + margin for score in scores.values())


def test_score_is_the_sum_of_its_weights() -> None:
    _, _, model = make_separable(1, 2, 3, seed=1)
    emission, transition = model.emission, model.transition
    expected = emission[2, 0] + transition[0, 1] + emission[0, 1]
    assert model.score(["w2", "w0"], ["L0", "L1"]) == expected
    assert model.norm == pytest.approx(np.linalg.norm([*emission.ravel(), *transition.ravel()]))


def test_a_perceptron_keeps_within_its_bound() -> None:
    """Collins (2002), theorem 1, with a perceptron in plain numpy over all label sequences."""
    sentences, labels, model = make_separable(30, 2, 6, length=(2, 5), margin=4, seed=3)

    def features(sentence: list[str], y: Any) -> np.ndarray:
        emission, transition = np.zeros((6, 2)), np.zeros((2, 2))
        for word, label in zip(sentence, y):
            emission[int(word[1:]), int(label[1:])] += 1
        for first, second in pairwise(y):
            transition[int(first[1:]), int(second[1:])] += 1
        return np.concatenate([emission.ravel(), transition.ravel()])

    candidates = [[features(s, y) for y in product(model.labels, repeat=len(s))] for s in sentences]
    gold = [features(s, y) for s, y in zip(sentences, labels)]
    radius = max(np.linalg.norm(g - c) for g, row in zip(gold, candidates) for c in row)
    weights, mistakes, clean = np.zeros(16), 0, False
    while not clean:
        clean = True
        for g, row in zip(gold, candidates):
            guess = max(row, key=lambda c: weights @ c)
            if not np.array_equal(guess, g):
                weights, mistakes, clean = weights + g - guess, mistakes + 1, False
        assert mistakes <= (radius * model.norm / model.margin) ** 2
    assert mistakes > 0


def test_separable_is_the_same_everywhere() -> None:
    sentences, labels, model = make_separable(2, 3, 10, length=4, seed=42)
    assert (sentences, labels) == (
        [["w8", "w7", "w3", "w8"], ["w1", "w1", "w0", "w7"]],
        [["L0", "L1", "L0", "L0"], ["L0", "L0", "L0", "L1"]],
    )
    assert np.array_equal(model.transition, [[4, 8, -3], [-2, -1, -5], [-6, 0, -5]])


@pytest.mark.parametrize("margin", [0, -1, float("nan"), float("inf")])
def test_a_margin_must_be_positive(margin: float) -> None:
    with pytest.raises(ValueError, match="margin must be a positive number"):
        make_separable(1, 2, 3, margin=margin)


def test_a_margin_out_of_reach_is_said() -> None:
    with pytest.raises(ValueError, match="margin of 1000"):
        make_separable(1, 2, 3, margin=1000)
