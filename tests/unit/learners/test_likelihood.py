"""The likelihood of a label chain and its gradient, against a listing of all labellings and by finite differences."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.oracle import crf as twin

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr

LABELS, FEATURES = 3, 5


class Problem(NamedTuple):
    examples: list[Any]  # as the twin wants them
    oracle: _core.ChainOracle
    keys: list[Any]  # of all parameters, in their order
    order: int
    costs: list[float]

    def likelihood(self, threads: int = 1) -> _core.Likelihood:
        return self.oracle.likelihood(all_pairs=True, all_transitions=True, threads=threads)

    def twin(self, point: Any) -> tuple[float, Any]:
        parameters = dict(zip(self.keys, point.tolist()))
        value, gradient = twin.objective(self.examples, parameters, LABELS, self.order, self.costs)
        return value, np.array([gradient.get(key, 0.0) for key in self.keys])


def problem(
    order: int = 1,
    sparse: bool = False,
    missing: bool = False,
    weighted: bool = False,
    allowed: bool = False,
    costs: bool = False,
    n: int = 12,
    longest: int = 4,
) -> Problem:
    random = np.random.default_rng([order, sparse, missing, weighted, allowed, costs])
    lengths = random.integers(0, longest + 1, n)
    n_tokens = int(lengths.sum())
    counts = random.integers(0, 4, n_tokens)
    ids = np.concatenate([random.choice(FEATURES, c, replace=False) for c in counts]).astype(np.int32)
    values = random.normal(size=len(ids)).astype(np.float32)
    labels = random.integers(0, LABELS, n_tokens).astype(np.int32)
    if missing:
        labels[random.random(n_tokens) < 0.4] = -1
    weights = random.uniform(0.5, 2, n).astype(np.float32) if weighted else None
    options = [sorted({*random.choice(LABELS, 2), 0}) if allowed and random.random() < 0.5 else [] for _ in labels]
    rows = None
    if allowed:
        flat = np.array([label for row in options for label in row], dtype=np.int32)
        rows = flat, sequence_ptr([len(row) for row in options])
    encoded = Encoded(sequence_ptr(lengths.tolist()), ids, sequence_ptr(counts.tolist()), values, None, None, None)
    label_costs = [0.5, 1.0, 3.0] if costs else []
    oracle = _core.ChainOracle(
        encoded.examples(labels, weights, rows), LABELS, order, True, FEATURES, 0, sparse, label_costs
    )
    starts, ptr = encoded.sequence_ptr, encoded.ptr
    examples = [
        (
            [dict(zip(ids[ptr[t] : ptr[t + 1]].tolist(), values[ptr[t] : ptr[t + 1]].tolist())) for t in range(a, b)],
            [None if label < 0 else int(label) for label in labels[a:b]],
            1.0 if weights is None else float(weights[s]),
            [options[t] or None for t in range(a, b)],
        )
        for s, (a, b) in enumerate(itertools.pairwise(starts.tolist()))
    ]
    return Problem(examples, oracle, list(all_keys(order)), order, label_costs)


def all_keys(order: int) -> Any:
    """The keys of the twin in the order of the parameters: features, then ends and histories of each level."""
    yield from (("feature", f, y) for f in range(FEATURES) for y in range(LABELS))
    before = [*range(LABELS), None]
    for level in range(order):
        yield from (("end", h, y) for h in itertools.product(before, repeat=level) for y in range(LABELS))
        yield from (("transition", h, y) for h in itertools.product(before, repeat=level + 1) for y in range(LABELS))


CASES = [
    {},
    {"order": 2},
    {"sparse": True},
    {"missing": True},
    {"missing": True, "order": 2, "weighted": True},
    {"weighted": True},
    {"allowed": True},
    {"allowed": True, "missing": True, "order": 2},
    {"costs": True},
    {"costs": True, "missing": True, "allowed": True, "weighted": True, "sparse": True},
    {"costs": True, "missing": True, "order": 2},
    {"order": 3, "n": 4, "missing": True},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_value_and_gradient_are_those_of_the_listing(case: dict[str, Any]) -> None:
    given = problem(**case)
    likelihood = given.likelihood()
    assert likelihood.n_parameters == len(given.keys)
    point = np.random.default_rng(1).normal(size=len(given.keys)).astype(np.float32).astype(np.float64)
    value, gradient = likelihood.evaluate(point)
    expected, expected_gradient = given.twin(point)
    assert value == pytest.approx(expected, rel=2e-6, abs=2e-6)
    np.testing.assert_allclose(gradient, expected_gradient, atol=5e-6)
    np.testing.assert_array_equal(likelihood.parameters(), point)
    assert likelihood.value() == value
    assert likelihood.value(np.arange(len(likelihood))) == pytest.approx(value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradient_by_finite_differences(case: dict[str, Any]) -> None:
    likelihood = problem(**case).likelihood()
    random = np.random.default_rng(1)
    point = random.normal(size=likelihood.n_parameters).astype(np.float32).astype(np.float64)
    _, gradient = likelihood.evaluate(point)
    for _ in range(3):
        step = random.normal(size=len(point)) * 0.01
        difference = likelihood.evaluate(point + step)[0] - likelihood.evaluate(point - step)[0]
        assert difference == pytest.approx(2 * gradient @ step, abs=1e-3)


def test_descent_makes_the_steps_of_the_formula() -> None:
    given = problem(missing=True, weighted=True)
    likelihood = given.likelihood()
    w = np.random.default_rng(4).normal(size=len(given.keys)).astype(np.float32).astype(np.float64)
    likelihood.set_parameters(w)
    order, eta, decay, first = np.array([3, 1, 4, 1, 5]), 0.3, 0.05, 7.0
    total = likelihood.descend(order, eta, decay, first)
    expected = 0.0
    for t, i in enumerate(order.tolist()):
        rate = eta / (1 + decay * eta * (first + t))
        loss, gradient = twin.loss_and_gradient(given.examples[i], dict(zip(given.keys, w.tolist())), LABELS, 1)
        expected += loss
        w = w * (1 - rate * decay) - rate * np.array([gradient.get(key, 0.0) for key in given.keys])
    assert total == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(likelihood.parameters(), w, atol=1e-5)


def test_only_what_was_seen_has_a_weight() -> None:
    given = problem()
    likelihood = given.oracle.likelihood(boundaries=False)
    seen: set[Any] = set()
    for tokens, labels, _, _ in given.examples:
        seen |= {key for key in twin.features_of(tokens, labels, 1) if key[0] == "feature"}
        seen |= {("transition", *pair) for pair in itertools.pairwise(labels)}
    assert likelihood.n_parameters == len(seen)


@pytest.mark.parametrize("order", [1, 2])
def test_what_may_complete_the_labels_counts_as_seen(order: int) -> None:
    given = problem(order, missing=True, n=3)
    likelihood = given.oracle.likelihood()
    seen: set[Any] = set()
    for tokens, known, _, _ in given.examples:
        if any(label is not None for label in known):
            for labels in itertools.product(*(range(LABELS) if y is None else [y] for y in known)):
                seen |= set(twin.features_of(tokens, labels, order))
    assert likelihood.n_parameters == len(seen) < len(given.keys)


@pytest.mark.parametrize("order", [1, 2])
def test_the_same_bits_for_any_number_of_threads(order: int) -> None:
    answers = []
    for threads in (1, 2, 3):
        likelihood = problem(order, missing=True, weighted=True, n=300, longest=9).likelihood(threads)
        point = np.random.default_rng(3).normal(size=likelihood.n_parameters)
        value, gradient = likelihood.evaluate(point)
        answers.append((value, gradient.tobytes()))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("case", [{}, {"missing": True, "costs": True}, {"order": 2}], ids=str)
def test_the_same_bits_on_any_machine(case: dict[str, Any]) -> None:
    answers = []
    try:
        for avx2 in (True, False):
            _core.use_avx2(avx2)
            likelihood = problem(**case, n=100, longest=9).likelihood()
            value, gradient = likelihood.evaluate(np.random.default_rng(3).normal(size=likelihood.n_parameters))
            answers.append((value, gradient.tobytes()))
    finally:
        _core.use_avx2(True)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("factor", [1e2, 1e4])
def test_extreme_weights_are_summed_in_log_space(factor: float) -> None:
    given = problem(missing=True)
    point = np.random.default_rng(3).normal(size=len(given.keys))
    point = (point * factor).astype(np.float32).astype(np.float64)
    value, gradient = given.likelihood().evaluate(point)
    assert np.isfinite(value) and np.isfinite(gradient).all()
    if factor == 1e2:
        expected, expected_gradient = given.twin(point)
        assert value == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(gradient, expected_gradient, atol=1e-4)


def test_a_sentence_whose_label_is_forbidden_counts_nothing() -> None:
    encoded = Encoded(sequence_ptr([1, 1]), np.zeros(2, np.int32), sequence_ptr([1, 1]), None, None, None, None)
    rows = np.array([0], dtype=np.int32), sequence_ptr([1, 0])
    oracle = _core.ChainOracle(
        encoded.examples(np.array([1, 1], dtype=np.int32), None, rows), LABELS, 1, True, 1, 0, False, []
    )
    likelihood = oracle.likelihood(all_pairs=True, all_transitions=True)
    value, _ = likelihood.evaluate(np.zeros(likelihood.n_parameters))
    assert value == pytest.approx(np.log(3))


def test_wrong_input() -> None:
    likelihood = problem().likelihood()
    with pytest.raises(ValueError, match=f"expected {likelihood.n_parameters} parameters"):
        likelihood.evaluate(np.zeros(3))
    with pytest.raises(IndexError, match="no such example"):
        likelihood.value(np.array([99]))
