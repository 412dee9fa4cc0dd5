"""The likelihood of a label chain: its value against the frozen chain's sums, its gradient by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr
from margent.models.chain_weights import ChainWeights

LABELS, FEATURES = 3, 5


def problem(order: int, sparse: bool, missing: bool, weighted: bool, threads: int = 1) -> tuple[Any, Any, Any]:
    random = np.random.default_rng([order, sparse, missing, weighted])
    lengths = random.integers(0, 6, 40)
    n = int(lengths.sum())
    counts = random.integers(0, 4, n)
    ids = random.integers(0, FEATURES, int(counts.sum())).astype(np.int32)
    values = random.normal(size=len(ids)).astype(np.float32)
    labels = random.integers(0, LABELS, n).astype(np.int32)
    if missing:
        labels[random.random(n) < 0.4] = -1
    weights = random.uniform(0.5, 2, len(lengths)).astype(np.float32) if weighted else None
    encoded = Encoded(sequence_ptr(lengths.tolist()), ids, sequence_ptr(counts.tolist()), values, None, None, None)
    examples = encoded.examples(labels, weights, None)
    oracle = _core.ChainOracle(examples, LABELS, order, True, FEATURES, 0, sparse, [])
    return examples, (oracle, labels, weights), _core.ChainLikelihood(oracle, True, True, True, threads)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_gradient(order: int, sparse: bool, missing: bool, weighted: bool) -> None:
    _, _, likelihood = problem(order, sparse, missing, weighted)
    random = np.random.default_rng(1)
    point = random.normal(size=likelihood.n_parameters).astype(np.float32).astype(np.float64)
    _, gradient = likelihood.evaluate(point)
    for _ in range(5):
        step = random.normal(size=len(point)) * 0.01
        difference = likelihood.evaluate(point + step)[0] - likelihood.evaluate(point - step)[0]
        assert difference == pytest.approx(2 * gradient @ step, abs=2e-3)


@pytest.mark.parametrize("order", [1, 2])
def test_value_is_that_of_the_frozen_chain(order: int) -> None:
    examples, (oracle, labels, _), likelihood = problem(order, False, False, False)
    point = np.random.default_rng(2).normal(size=likelihood.n_parameters)
    value, _ = likelihood.evaluate(point)
    chain = ChainWeights.from_oracle(LABELS, order, oracle.weights(False)).native()
    log_z = chain.marginals(examples, 1.0, False, 1)[2]
    assert value == pytest.approx((log_z - chain.scores(examples, labels, 1)).sum(), rel=1e-5)


def test_threads_and_extreme_weights() -> None:
    answers = []
    for threads in (1, 2, 5):
        _, _, likelihood = problem(1, False, True, True, threads)
        point = np.random.default_rng(3).normal(size=likelihood.n_parameters)
        value, gradient = likelihood.evaluate(point)
        answers.append((value, gradient.tobytes()))
        value, gradient = likelihood.evaluate(point * 1e4)
        assert np.isfinite(value) and np.isfinite(gradient).all()
    assert answers[0] == answers[1] == answers[2]
