from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.phrase_trees import trees

from margent.annotation import PhraseTree, binarised, unbinarised


@given(trees(), st.integers(0, 3), st.integers(1, 3), st.sampled_from(["left", "right"]))
def test_there_and_back_is_the_same_tree(tree, horizontal, vertical, direction):
    nodes = binarised(tree, horizontal=horizontal, vertical=vertical, direction=direction)
    assert unbinarised(tree.words, nodes) == tree
    assert len(nodes) == 2 * len(tree) - 1
    for node in nodes:
        assert (node.split is None) == (node.end - node.start == 1) == (node.symbol.kind == "tag")
        assert node.split is None or node.start < node.split < node.end
        for symbol in (*node.chain, node.symbol):
            assert len(symbol.parents) < vertical and len(symbol.siblings) <= horizontal


@pytest.mark.parametrize(
    ("options", "symbols"),
    [
        ({}, ["A", "B", "@A", "C", "@A", "D", "E"]),
        ({"horizontal": 1}, ["A", "B", "@A|B", "C", "@A|C", "D", "E"]),
        ({"horizontal": 2}, ["A", "B", "@A|B", "C", "@A|C B", "D", "E"]),
        ({"horizontal": 1, "direction": "left"}, ["A", "@A|E", "@A|D", "B", "C", "D", "E"]),
    ],
)
def test_rests_know_their_nearest_siblings(options, symbols):
    tree = PhraseTree.from_brackets("(A (B b) (C c) (D d) (E e))")
    assert [str(node.symbol) for node in binarised(tree, **options)] == symbols


def test_phrases_know_those_above_them():
    tree = PhraseTree.from_brackets("(S (NP (NP (N a) (N b)) (P (Q (N c)))))")
    nodes = binarised(tree, vertical=3)
    assert [[str(symbol) for symbol in (*node.chain, node.symbol)] for node in nodes] == [
        ["S", "NP^S"], ["NP^NP^S"], ["N"], ["N"], ["P^NP^S", "Q^P^NP", "N"]
    ]  # fmt: skip


def test_a_long_flat_phrase_and_a_deep_one():
    flat = PhraseTree(["a"] * 2000, ["N"] * 2000, [(0, 2000, "X")])
    deep = PhraseTree(["a"] * 2000, ["N"] * 2000, [(i, 2000, "X") for i in range(2000)])
    for tree in (flat, deep):
        assert unbinarised(tree.words, binarised(tree, vertical=2)) == tree
