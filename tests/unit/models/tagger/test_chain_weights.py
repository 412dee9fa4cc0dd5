"""Weights of a chain: growth, views and zero rows leave every score as it was."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr
from margent.models.tagger.chain.weights import ChainWeights, SparseRows
from oracle.tagging import labelling_score

N_FEATURES, N_EDGES, N_LABELS = 4, 3, 3


def random_rows(random: np.random.Generator, n_rows: int, columns: list[int]) -> SparseRows:
    chosen = [sorted(random.permutation(columns)[: random.integers(0, len(columns))].tolist()) for _ in range(n_rows)]
    values = random.normal(size=sum(map(len, chosen))).astype(np.float32)
    return SparseRows(
        sequence_ptr([len(c) for c in chosen]), np.array([i for c in chosen for i in c], dtype=np.int32), values
    )


def random_weights(seed: int, order: int, sparse: bool, n_labels: int = N_LABELS) -> ChainWeights:
    random = np.random.default_rng([seed, order])
    width, base = _core.padded_width(n_labels), n_labels + 1

    def table(n_rows: int) -> Any:
        rows = np.zeros((n_rows, width), dtype=np.float32)
        rows[:, :n_labels] = random.normal(size=(n_rows, n_labels))
        return rows

    unigrams = random_rows(random, N_FEATURES, list(range(n_labels))) if sparse else table(N_FEATURES)
    if not sparse:
        unigrams[1] = 0
    edges = random_rows(random, N_EDGES, [p * width + y for p in range(base) for y in range(n_labels)])
    levels = range(1, order + 1)
    return ChainWeights(
        n_labels, order, unigrams, edges, [table(base**j) for j in levels], [table(base ** (j - 1)) for j in levels]
    )


def sentence(seed: int, n: int = 5) -> Encoded:
    random = np.random.default_rng(seed)
    return Encoded(
        sequence_ptr([n]),
        random.integers(0, N_FEATURES, 2 * n).astype(np.int32),
        np.arange(0, 2 * n + 1, 2),
        random.normal(size=2 * n).astype(np.float32),
        random.integers(0, N_EDGES, n).astype(np.int32),
        np.arange(n + 1),
        random.normal(size=n).astype(np.float32),
    )


CASES = [(order, sparse) for order in (1, 2, 3) for sparse in (False, True)]


@pytest.mark.parametrize(("order", "sparse"), CASES)
def test_the_native_view_scores_as_the_weights_one_by_one(order: int, sparse: bool) -> None:
    weights = random_weights(1, order, sparse)
    encoded = sentence(2)
    labels = np.array([0, 2, 1, 1, 2], dtype=np.int32)
    (score,) = weights.native().scores(encoded.examples(), labels, 1)
    assert score == pytest.approx(labelling_score(weights, encoded, labels.tolist()), abs=1e-4)


@pytest.mark.parametrize(("order", "sparse"), CASES)
@pytest.mark.parametrize("more", [4, 8, 9])
def test_more_labels_leave_the_scores_of_the_old_ones(order: int, sparse: bool, more: int) -> None:
    old = random_weights(3, order, sparse)
    new = old.with_labels(more)
    assert new.n_labels == more and new.n_weights == old.n_weights and new.sparse == sparse
    random = np.random.default_rng(4)
    for n in (1, 2, 5):
        encoded = sentence(n, n)
        for _ in range(10):
            labels = random.integers(0, N_LABELS, n).astype(np.int32)
            wanted = labelling_score(old, encoded, labels.tolist())
            assert labelling_score(new, encoded, labels.tolist()) == pytest.approx(wanted, abs=1e-5)
            assert new.native().scores(encoded.examples(), labels, 1)[0] == pytest.approx(wanted, abs=1e-4)
    unknown = np.full(1, more - 1, dtype=np.int32)
    assert new.native().scores(sentence(1, 1).examples(), unknown, 1)[0] == 0
    assert old.with_labels(N_LABELS) is old


@pytest.mark.parametrize(("order", "sparse"), CASES)
def test_growth_in_two_steps_is_growth_in_one(order: int, sparse: bool) -> None:
    old = random_weights(5, order, sparse)
    one, two = old.with_labels(9), old.with_labels(4).with_labels(9)
    for a, b in zip([*one.transitions, *one.ends], [*two.transitions, *two.ends]):
        np.testing.assert_array_equal(a, b)
    for i in range(N_EDGES):
        np.testing.assert_array_equal(one.edge_weights(i), two.edge_weights(i))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("edges", [False, True])
def test_more_features_have_weight_zero(sparse: bool, edges: bool) -> None:
    weights = random_weights(6, 1, sparse)
    if not edges:
        weights = ChainWeights(N_LABELS, 1, weights.unigrams, None, weights.transitions, weights.ends)
    more = weights.with_features(7, 5)
    assert (more.n_features, more.n_edge_features, more.n_weights) == (7, 5, weights.n_weights)
    for i in range(7):
        row = weights.label_weights(i) if i < N_FEATURES else np.zeros(N_LABELS)
        np.testing.assert_array_equal(more.label_weights(i), row)
    for i in range(5):
        matrix = weights.edge_weights(i) if i < N_EDGES and edges else np.zeros((N_LABELS + 1, N_LABELS))
        np.testing.assert_array_equal(more.edge_weights(i), matrix)
    more.native()
    same = weights.with_features(N_FEATURES, weights.n_edge_features)
    assert same.n_features == N_FEATURES and same.n_edge_features == weights.n_edge_features


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_without_weights_can_be_left_out(sparse: bool) -> None:
    weights = random_weights(8, 2, sparse)
    fewer, keep, keep_edges = weights.without_zero_rows()
    assert fewer.n_features == keep.sum() and fewer.n_edge_features == keep_edges.sum()
    assert fewer.n_weights == weights.n_weights
    for new, old in enumerate(np.flatnonzero(keep)):
        np.testing.assert_array_equal(fewer.label_weights(new), weights.label_weights(int(old)))
    for old in np.flatnonzero(~keep):
        assert not weights.label_weights(int(old)).any()
    for new, old in enumerate(np.flatnonzero(keep_edges)):
        np.testing.assert_array_equal(fewer.edge_weights(new), weights.edge_weights(int(old)))
    fewer.native()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_forbidden_transitions_score_minus_infinity(order: int) -> None:
    weights = random_weights(9, order, False)
    allowed = np.random.default_rng(1).random((N_LABELS + 1, N_LABELS + 1)) < 0.6
    chain = weights.native(allowed)
    random = np.random.default_rng(2)
    for _ in range(60):
        n = int(random.integers(1, 5))
        labels = random.integers(0, N_LABELS, n).astype(np.int32)
        path = [N_LABELS, *labels.tolist(), N_LABELS]
        encoded = sentence(n, n)
        (score,) = chain.scores(encoded.examples(), labels, 1)
        if all(allowed[a, b] for a, b in itertools.pairwise(path)):
            assert score == pytest.approx(labelling_score(weights, encoded, labels.tolist()), abs=1e-4)
        else:
            assert score == -np.inf


@pytest.mark.parametrize(
    "change",
    [
        {"unigrams": np.zeros((4, 16), np.float32)},
        {"unigrams": (np.array([0, 9]), np.zeros(1, np.int32), np.zeros(1, np.float32))},
        {"unigrams": (np.array([0, 1]), np.full(1, 8, np.int32), np.zeros(1, np.float32))},
        {"unigrams": (np.array([0, 1]), np.full(1, -1, np.int32), np.zeros(1, np.float32))},
        {"unigrams": (np.array([0, 1]), np.zeros(1, np.int32), np.zeros(2, np.float32))},
        {"unigrams": (np.array([0, 1]), np.zeros(1, np.int32))},
        {"edges": (np.array([0, 1]), np.full(1, 32, np.int32), np.zeros(1, np.float32))},
        {"transitions": np.zeros((3, 8), np.float32)},
        {"end": np.zeros((2, 8), np.float32)},
        {"n_labels": 0},
        {"order": 0},
        {"order": 40},
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "n_labels": 3,
        "order": 1,
        "unigrams": np.zeros((4, 8), np.float32),
        "edges": None,
        "transitions": np.zeros((4, 8), np.float32),
        "end": np.zeros((1, 8), np.float32),
    }
    _core.LinearChain(**good)
    with pytest.raises(ValueError):
        _core.LinearChain(**{**good, **change})
