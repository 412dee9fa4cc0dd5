"""Lattices of co-segmentations against all alignments, listed one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.structures import Cosegments
from margent.structures.cosegments import checked_sizes
from oracle.cosegments import alignments, graphones_of_arrays

SIZES = [((0, 1), (1, 0), (1, 1)), ((1, 0), (1, 1), (1, 2), (2, 1)), ((1, 1), (2, 2)), ((0, 2), (2, 0), (3, 1))]
symbols = st.lists(st.integers(0, 2), max_size=4)


@settings(deadline=None, max_examples=60)
@given(symbols, symbols, st.sampled_from(SIZES), st.integers(0, 2**32 - 1))
def test_sums_best_and_k_best_are_those_of_all_cuts(
    word: list[int], spoken: list[int], sizes: tuple[tuple[int, int], ...], seed: int
) -> None:
    problem = Cosegments([word, [0, 1]], [spoken, [2, 0]], sizes)
    graphones = graphones_of_arrays(*problem.graphones.arrays())
    scores = np.random.default_rng(seed).normal(size=len(graphones))
    listed = [[graphones.index(graphone) for graphone in alignment] for alignment in alignments(word, spoken, sizes)]
    forest, of_edge = problem.forest(0, scores)
    if not listed:
        assert forest.count() == 0
        return
    expected = sorted((sum(scores[alignment]) for alignment in listed), reverse=True)
    assert forest.count() == len(listed)
    assert math.isclose(forest.log_partition(), np.logaddexp.reduce(expected), abs_tol=1e-9)
    found = forest.k_best(len(listed) + 1)
    assert np.allclose([one.score for one in found], expected)
    assert sorted(of_edge[one.edges[1:]].tolist() for one in found) == sorted(listed)


def test_units_are_sorted_and_lie_on_whole_cuts() -> None:
    problem = Cosegments([[0, 1], [5]], [[2], [3, 3, 3]], ((1, 1), (1, 0)))
    assert graphones_of_arrays(*problem.graphones.arrays()) == [
        ((0,), ()),
        ((0,), (2,)),
        ((1,), ()),
        ((1,), (2,)),
    ]  # nothing of the second pair


@pytest.mark.parametrize("sizes", [(), ((0, 0),), ((1,),), ((-1, 1),), ((17, 1),), "ab", None])
def test_sizes_that_cannot_be_are_an_error(sizes: object) -> None:
    with pytest.raises(ValueError, match="sizes should be pairs"):
        checked_sizes(sizes)  # type: ignore[arg-type]


def test_the_forest_of_a_pair_without_symbols_has_the_empty_cut() -> None:
    problem = Cosegments([[], [0], []], [[], [1], [1]], [(1, 1)])
    scores = np.zeros(len(problem.graphones))
    empty = problem.forest(0, scores).forest
    assert empty.count() == 1 and empty.log_partition() == 0
    assert [problem.forest(pair, scores).forest.count() for pair in (1, 2)] == [1, 0]
