"""The latent SVM: its objective by enumeration, and that it never rises."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr
from margent.learners import LatentSVM, StructuredSVM, train
from margent.learners.latent_svm import LatentProblem

FEATURES, SEEN, HIDDEN = 5, 2, 2
LABELS = SEEN * HIDDEN
WAYS = np.tile(np.arange(HIDDEN, 0, -1, dtype=np.int32), SEEN)


def oracle_of(seed: int, n: int = 12, *, missing: bool = False, sparse: bool = False, hidden: bool = True) -> Any:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 4, n)
    tokens = int(lengths.sum())
    ids = random.integers(0, FEATURES, tokens).astype(np.int32)
    labels = random.integers(0, SEEN, tokens).astype(np.int32) * (HIDDEN if hidden else 1)
    if missing:
        labels[random.random(tokens) < 0.2] = -1
    encoded = Encoded(sequence_ptr(lengths), ids, np.arange(tokens + 1), None)
    examples = encoded.examples(labels, hidden=WAYS if hidden else None)
    oracle = _core.ChainOracle(examples, LABELS if hidden else SEEN, 1, True, FEATURES, 0, sparse, [])
    weights = oracle.weights(False)
    if not sparse:
        weights["unigrams"] += noise(random, weights["unigrams"], oracle.n_labels)
    weights["transitions"][0] += noise(random, weights["transitions"][0], oracle.n_labels)
    oracle.start_from(weights)
    return oracle, [(ids[a:b], labels[a:b]) for a, b in zip(encoded.sequence_ptr, encoded.sequence_ptr[1:])]


def noise(random: np.random.Generator, array: Any, n_labels: int) -> Any:
    return (0.1 * random.normal(size=array.shape) * (np.arange(array.shape[1]) < n_labels)).astype(np.float32)


def listed_objective(oracle: Any, sentences: Any, C: float) -> float:
    weights = oracle.weights(False)
    unigrams, transitions, ends = weights["unigrams"], weights["transitions"][0], weights["ends"][0]
    total = 0.5 * float(sum((array[:, :LABELS].astype(float) ** 2).sum() for array in (unigrams, transitions, ends)))
    for ids, labels in sentences:
        if (labels < 0).all():
            continue
        best, right = -np.inf, -np.inf
        for y in product(range(LABELS), repeat=len(ids)):
            score = sum(float(unigrams[f, q]) for f, q in zip(ids, y)) + float(ends[0, y[-1]])
            score += sum(float(transitions[p, q]) for p, q in zip((LABELS, *y), y))
            loss = sum(g >= 0 and not g <= q < g + HIDDEN for g, q in zip(labels, y))
            best = max(best, score + loss)
            right = max(right, score if loss == 0 else -np.inf)
        total += C * (best - right)
    return total


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_objective_is_that_of_yu_and_joachims_and_never_rises(seed: int, missing: bool) -> None:
    oracle, sentences = oracle_of(seed, missing=missing)
    C = 0.7
    values = [listed_objective(oracle, sentences, C)]
    assert LatentProblem(oracle, C).value(None) == pytest.approx(values[0], rel=1e-4)
    result = train(LatentSVM(C=C, epochs=8, gap=0.01, passes=200), oracle, seed=seed)
    values += [epoch.objective for epoch in result.history]
    assert all(later <= before * (1 + 1e-6) for before, later in pairwise(values))
    assert values[-1] == pytest.approx(listed_objective(oracle, sentences, C), rel=1e-3)
    assert values[-1] < values[0]


def test_few_passes_do_not_make_it_rise_either() -> None:
    for seed in range(5):
        oracle, sentences = oracle_of(seed)
        result = train(LatentSVM(C=3.0, epochs=10, gap=0, passes=2), oracle, seed=seed)
        values = [epoch.objective for epoch in result.history]
        assert values == sorted(values, reverse=True)
        assert values[-1] == pytest.approx(listed_objective(oracle, sentences, 3.0), rel=1e-3)


def test_with_one_right_answer_it_is_the_structural_svm() -> None:
    oracle, _ = oracle_of(3, hidden=False)
    LatentProblem(oracle, 1.0).start_from(None)
    result = train(LatentSVM(C=0.5, gap=1e-3, passes=500), oracle)
    assert len(result.history) == 1
    plain, _ = oracle_of(3, hidden=False)
    LatentProblem(plain, 1.0).start_from(None)
    wanted = train(StructuredSVM(C=0.5, gap=1e-3, epochs=500, average=False), plain)
    assert result.history[-1].objective == pytest.approx(wanted.history[-1].primal, rel=5e-3)


def test_sparse_weights_are_taken_back_too() -> None:
    oracle, _ = oracle_of(1, sparse=True)
    problem = LatentProblem(oracle, 1.0)
    train(LatentSVM(epochs=1), oracle)
    kept, value = problem.weights(), problem.value(None)
    train(LatentSVM(epochs=1, C=5), oracle)
    problem.start_from(kept)
    assert problem.value(None) == pytest.approx(value, rel=1e-6)


def test_the_fixed_side_stays_until_it_is_freed() -> None:
    oracle, _ = oracle_of(2)
    assert oracle.fix_gold() == len(oracle)
    assert oracle.fix_gold() == 0
    fixed = [oracle.ask(i, 1, 1.0)[0] for i in range(len(oracle))]
    weights = oracle.weights(False)
    oracle.start_from({**weights, "unigrams": -weights["unigrams"]})
    freed = oracle_of(2)[0]
    freed.start_from({**weights, "unigrams": -weights["unigrams"]})
    moved = [oracle.ask(i, 1, 1.0)[0] for i in range(len(oracle))]
    best = [freed.ask(i, 1, 1.0)[0] for i in range(len(oracle))]
    assert fixed != moved
    assert all(a <= b + 1e-6 for a, b in zip(moved, best)) and moved != best
    oracle.free_gold()
    assert [oracle.ask(i, 1, 1.0)[0] for i in range(len(oracle))] == best


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="C of LatentSVM should be a number above 0, got 0"):
        LatentSVM(C=0)
    with pytest.raises(ValueError, match="passes of LatentSVM should be an integer of at least 1, got 0"):
        LatentSVM(passes=0)
