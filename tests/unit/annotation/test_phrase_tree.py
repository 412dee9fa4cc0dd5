from __future__ import annotations

import pytest
from hypothesis import given
from tests.unit.phrase_trees import trees

from margent.annotation import PhraseTree
from margent.annotation.schemes import Span
from margent.errors import CorpusError


@given(trees())
def test_what_is_written_in_brackets_is_the_same_tree(tree):
    again = PhraseTree.from_brackets(tree.brackets())
    assert again == tree and hash(again) == hash(tree)


@given(trees())
def test_children_and_depth_are_those_of_the_phrases(tree):
    for span, parts in zip(tree.phrases, tree.children()):
        ends = [(~i, ~i + 1) if i < 0 else tree.phrases[i][:2] for i in parts]
        assert [a for a, _ in ends] == [span.start, *(b for _, b in ends[:-1])] and ends[-1][1] == span.end
    around = [sum(a <= i < b for a, b, _ in tree.phrases) for i in range(len(tree))]
    assert tree.depth() == max(around, default=0)


def test_traces_functions_and_chains_go():
    text = "(S (NP-SBJ-1 (-NONE- *)) (VP|X (VP (VB Go)) (NP=2 (-NONE- *T*))) (-LRB- -LRB-))"
    tree = PhraseTree.from_brackets(text)
    assert tree.brackets() == text
    assert tree.without_traces().brackets() == "(S (VP|X (VP (VB Go))) (-LRB- -LRB-))"
    assert tree.without_functions().without_traces().brackets() == "(S (VP (VP (VB Go))) (-LRB- -LRB-))"
    assert tree.without_traces().without_unary_chains().brackets() == "(S (VP|X (VB Go)) (-LRB- -LRB-))"
    assert PhraseTree.from_brackets("(NP (-NONE- *))").without_traces() == PhraseTree([], [])


def test_an_outer_bracket_without_a_label_is_left_out():
    assert PhraseTree.from_brackets("( (S (NN a) (NN b)) )").phrases == (Span(0, 2, "S"),)
    assert PhraseTree.from_brackets("((NN a))") == PhraseTree(["a"], ["NN"])
    assert PhraseTree.from_brackets("()") == PhraseTree([], []) and PhraseTree([], []).brackets() == "()"


def test_a_deep_tree_is_a_tree():
    deep = PhraseTree(["a"] * 3000, ["N"] * 3000, [(i, 3000, "X") for i in range(3000)])
    assert PhraseTree.from_brackets(deep.brackets()) == deep and deep.depth() == 3000


@pytest.mark.parametrize(
    "text",
    ["", "S", "(S", "(S (NN a)))", "(S)", "(S (NN a) b)", "(NN a) (NN b)", "(NN a b)", "(S ((NN a)))", "(NN a) x",
     "(S ())", "(() (NN a))"],
)  # fmt: skip
def test_what_is_not_one_tree_is_refused(text):
    with pytest.raises(CorpusError, match="expected one tree in brackets"):
        PhraseTree.from_brackets(text)


@pytest.mark.parametrize(
    ("words", "tags", "phrases", "message"),
    [
        (["a", "b"], ["N"], [], "expected as many tags as words, got 1 for 2"),
        ("ab", ["N", "N"], [], "words: expected str without blanks"),
        (["a b"], ["N"], [], "words: expected str without blanks"),
        (["a", "b"], ["N", "N"], [], "no phrase holds the 2 words together"),
        (["a"], ["N"], [(0, 2, "S")], "phrase S from 0 to 2 should hold some of the words 0 to 0"),
        (["a"], ["N"], [(0, 0, "S")], "should hold some of the words"),
        (["a"], ["N"], [(0, 1, "")], "the label of a phrase should be a str"),
        (["a"] * 3, ["N"] * 3, [(0, 3, "S"), (0, 2, "A"), (1, 3, "B")], "phrase B from 1 to 3 crosses A from 0 to 2"),
    ],
)
def test_what_is_not_a_tree_is_refused(words, tags, phrases, message):
    with pytest.raises(CorpusError, match=message):
        PhraseTree(words, tags, phrases)
