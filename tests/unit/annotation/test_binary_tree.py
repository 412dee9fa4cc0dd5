"""Binary trees: brackets, other trees made binary, and what is no tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent.annotation import BinaryTree, DependencyTree, PhraseTree
from margent.errors import CorpusError


def brackets(draw: st.DrawFn, n: int, first: int = 0) -> str:
    if n == 1:
        return f"w{first}"
    left = draw(st.integers(1, n - 1))
    return f"( {brackets(draw, left, first)} {brackets(draw, n - left, first + left)} )"


@st.composite
def texts(draw: st.DrawFn) -> str:
    return brackets(draw, draw(st.integers(1, 9)))


@given(texts())
def test_brackets_are_read_and_written(text):
    tree = BinaryTree.from_brackets(text)
    assert tree.brackets() == text and len(tree) == text.count("w") and tree.n_nodes == 2 * len(tree) - 1
    assert BinaryTree(tree.words, tree.parts) == tree and hash(BinaryTree.from_brackets(text)) == hash(tree)
    assert tree.spans[-1] == (0, len(tree)) and tree.text(tree.n_nodes - 1) == " ".join(tree.words)
    for node, (left, right) in enumerate(tree.parts, start=len(tree)):
        assert tree.heights[node] == 1 + max(tree.heights[left], tree.heights[right])
        assert (tree.spans[left][0], tree.spans[right][1]) == tree.spans[node]


def test_phrases_in_any_order_become_the_same_tree():
    tree = BinaryTree(list("abcd"), [(2, 3), (0, 1), (5, 4)])
    assert tree == BinaryTree.from_brackets("( ( a b ) ( c d ) )") and tree.parts == ((0, 1), (2, 3), (4, 5))


def test_deep_trees_need_no_recursion():
    words = [f"w{i}" for i in range(20_000)]
    tree = BinaryTree.right_branching(words)
    assert tree.heights[-1] == 19_999 and BinaryTree.from_brackets(tree.brackets()) == tree
    heads = DependencyTree([0, *range(1, 20_000)])
    assert BinaryTree.from_dependencies(words, heads) == tree


def test_trees_of_phrases_and_dependencies():
    phrases = PhraseTree.from_brackets("(S (NP (DT the) (JJ old) (NN cat)) (VP (VP (VBZ sits))) (. .))")
    assert BinaryTree.from_phrases(phrases).brackets() == "( ( the ( old cat ) ) ( sits . ) )"
    assert BinaryTree.from_phrases(PhraseTree(["rain"], ["NN"])).n_nodes == 1
    words = ["a", "hearing", "is", "scheduled", "on", "the", "issue", "today"]
    crossing = DependencyTree([2, 3, 0, 3, 2, 7, 5, 4])
    assert not crossing.is_projective()
    found = BinaryTree.from_dependencies(words, crossing)
    assert found.words == tuple(words) and found.brackets().startswith("( ( a hearing )")
    two = BinaryTree.from_dependencies(["yes", "it", "rains"], DependencyTree([0, 3, 0]))
    assert two.brackets() == "( yes ( it rains ) )"


@pytest.mark.parametrize("text", ["", "a b", "( a b", "( a b ) )", "( a b c )", "( )", ") a (", "( a ( ) )"])
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(CorpusError, match="expected one binary tree in brackets"):
        BinaryTree.from_brackets(text)


def test_wrong_parts_are_refused():
    with pytest.raises(CorpusError, match="expected 1 phrases over 2 words"):
        BinaryTree(["a", "b"], [])
    with pytest.raises(CorpusError, match="expected two nodes before it that stand next to each other"):
        BinaryTree(["a", "b"], [(1, 0)])
    with pytest.raises(CorpusError, match="node 0 is a part of 2 phrases"):
        BinaryTree(["a", "b", "c"], [(0, 1), (0, 1)])
    with pytest.raises(CorpusError, match="at least one str"):
        BinaryTree([], [])
    with pytest.raises(CorpusError, match="str without blanks, got 'a b'"):
        BinaryTree(["a b"], [])
    with pytest.raises(CorpusError, match="at least one word"):
        BinaryTree.from_phrases(PhraseTree((), ()))
    with pytest.raises(CorpusError, match="a tree of 1 words"):
        BinaryTree.from_dependencies(["a"], DependencyTree([0, 1]))
