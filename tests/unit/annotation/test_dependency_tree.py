from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import dependency_trees as twin
from tests.oracle.pseudo_projective import is_above

from margent import DependencyTree
from margent.annotation.dependency_tree import tree_problem
from margent.errors import CorpusError


def test_a_tree_is_a_value():
    tree = DependencyTree(np.array([2, 0, 2]), ["nsubj", "root", "obj"])
    assert tree == DependencyTree((2, 0, 2), ("nsubj", "root", "obj")) and len({tree, DependencyTree([2, 0, 2])}) == 2
    assert tree.heads == (2, 0, 2) and all(type(head) is int for head in tree.heads)
    assert DependencyTree([0]).labels == ("_",) and len(DependencyTree([])) == 0
    with pytest.raises(AttributeError):
        tree.heads = (0,)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([2, 0, 4], "word 3 has the head 4; expected an integer from 0 to 3"),
        ([2, 0, -1], "word 3 has the head -1; expected"),
        ([2, 0, 2.0], r"word 3 has the head 2.0; expected an integer"),
        ([2, 0, True], "word 3 has the head True; expected an integer"),
        ([2, 0, "2"], "word 3 has the head '2'; expected an integer"),
        ([2, 2], "word 2 is its own head; expected another word, or 0 for the root"),
        ([0, 3, 4, 2], r"word 2 is on a cycle of heads \(2 -> 3 -> 4 -> 2\)"),
        ([2, 3, 4, 5, 6, 7, 1], r"word 1 is on a cycle of heads \(1 -> 2 -> 3 -> 4 -> 5 -> \.\.\. -> 1\)"),
    ],
)
def test_what_is_not_a_tree_is_refused(heads, message):
    with pytest.raises(CorpusError, match=message):
        DependencyTree(heads)


def test_labels_and_roots_are_checked():
    with pytest.raises(CorpusError, match="expected as many labels as heads, got 1 for 2 words"):
        DependencyTree([0, 1], ["root"])
    for labels in ("ab", ["a", None]):
        with pytest.raises(CorpusError, match="expected a str for each word"):
            DependencyTree([0, 1], labels)
    assert DependencyTree([0, 1, 0]).children() == [[1, 3], [2], [], []]
    with pytest.raises(CorpusError, match="words 1 and 3 are both attached to the root; expected one word with head 0"):
        DependencyTree([0, 1, 0], single_root=True)


@pytest.mark.parametrize("n", range(5))
def test_all_small_trees_agree_with_the_twin(n):
    trees = list(twin.trees(n, False, False))
    assert len(trees) == (n + 1) ** max(n - 1, 0)  # Cayley
    for heads in trees:
        tree = DependencyTree(heads)
        assert tree.is_projective() == twin.is_projective(heads)
        assert tree.depth() == max((sum(is_above(heads, a, w) for a in range(1, n + 1)) for w in range(1, n + 1)),
                                   default=0)  # fmt: skip
        order = tree.projective_order()
        place = {0: 0} | {word: i for i, word in enumerate(order, start=1)}
        moved = [place[heads[word - 1]] for word in order]
        assert sorted(order) == list(range(1, n + 1)) and twin.is_projective(moved)
        for word in order:  # a word stays on its side of its head
            assert (place[word] < place[heads[word - 1]]) == (word < heads[word - 1])


@given(st.lists(st.integers(-1, 5), max_size=5), st.booleans())
def test_any_heads_are_a_tree_or_not(heads, single_root):
    problem = tree_problem(heads, single_root)
    is_tree = all(0 <= head <= len(heads) for head in heads) and twin.is_tree(heads)
    assert (problem is None) == (is_tree and not (single_root and heads.count(0) > 1))


def test_a_long_tree_needs_no_recursion():
    n = 10_000
    tree = DependencyTree([*range(2, n + 1), 0])
    assert tree.depth() == n and tree.is_projective()
