"""The best derivations of a forest along a line of weights, against all derivations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent import _core
from margent.structures import ForestBuilder


@st.composite
def forests(draw):
    """Up to six nodes; each edge's tails come before its head."""
    builder = ForestBuilder()
    n = draw(st.integers(1, 6))
    for node in range(n):
        builder.add_node()
        for _ in range(draw(st.integers(1, 3))):
            tails = draw(st.lists(st.integers(0, node - 1), max_size=2)) if node else []
            builder.add_edge(node, tails, 0.0)
    return builder.build(n - 1)


def native(listed):
    def offsets(counts):
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    n_edges = [forest.n_edges for forest in listed]
    return _core.Forests(
        offsets([forest.n_nodes for forest in listed]),
        offsets(n_edges),
        np.array([forest.root for forest in listed], np.int32),
        np.concatenate([forest.heads for forest in listed]),
        offsets(np.concatenate([np.diff(forest.tail_ptr) for forest in listed])),
        np.concatenate([forest.tails for forest in listed]),
        np.ones(sum(n_edges), np.uint8),
        np.zeros(sum(n_edges) + 1, np.int64),
        np.zeros(0, np.int32),
        None,
    )


@settings(deadline=None, max_examples=80)
@given(st.lists(forests(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_along_a_line_the_best_derivations_are_found(listed, seed):
    random = np.random.default_rng(seed)
    n = sum(forest.n_edges for forest in listed)
    scores, slopes = random.normal(size=n), random.integers(-2, 3, n).astype(float)
    forest_ptr, start, ptr, edges = native(listed).best_along(scores, slopes, 1)
    for threads in (2,):
        for one, other in zip((forest_ptr, start, ptr, edges), native(listed).best_along(scores, slopes, threads)):
            np.testing.assert_array_equal(one, other)
    before = 0
    for i, forest in enumerate(listed):
        mine = slice(before, before + forest.n_edges)
        before += forest.n_edges
        first, last = forest_ptr[i : i + 2]
        corners = start[first:last]
        assert corners[0] == -np.inf and (np.diff(corners[1:]) > 0).all()
        found = [edges[a:b] for a, b in zip(ptr[first:last], ptr[first + 1 : last + 1])]
        for x in (-9.0, *random.uniform(-3, 3, 4), 9.0):
            own = scores[mine] + x * slopes[mine]
            best = forest_with(forest, own).best()
            chosen = found[int(np.searchsorted(corners, x, side="right")) - 1]
            assert own[chosen].sum() == pytest.approx(best.score)
        # Tails come before heads, so that a stack puts a derivation together.
        for derivation in found:
            stack = []
            for edge in derivation.tolist():
                tails = forest.tails[slice(*forest.tail_ptr[edge : edge + 2])].tolist()
                assert stack[len(stack) - len(tails) :] == tails
                del stack[len(stack) - len(tails) :]
                stack.append(int(forest.heads[edge]))
            assert stack == [forest.root]


def forest_with(forest, scores):
    builder = ForestBuilder()
    for _ in range(forest.n_nodes):
        builder.add_node()
    for edge, score in enumerate(scores):
        tails = forest.tails[slice(*forest.tail_ptr[edge : edge + 2])].tolist()
        builder.add_edge(int(forest.heads[edge]), tails, float(score))
    return builder.build(forest.root)
