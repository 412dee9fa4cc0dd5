"""Pairs of sentences: tables and JSON lines, with and without trees and labels."""

from __future__ import annotations

import io

import pytest

from margent.annotation import BinaryTree
from margent.errors import CorpusError
from margent.formats import iter_pair_records, iter_pairs, read_pair_records, read_pairs, write_pairs

TREE = "( ( Two women ) hug )"


def test_tables_with_and_without_names():
    assert list(iter_pairs(b"It rains.\tIt is wet.\n")) == [(("It rains.", "It is wet."), None)]
    named = f"id\thypothesis\tpremise\tgold_label\tsentence1_binary_parse\n7\tb\tTwo women hug\t-\t{TREE}\n"
    (found,) = iter_pairs(named.encode())
    assert found == ((BinaryTree.from_brackets(TREE), "b"), None)
    assert next(iter_pairs(named.encode(), trees=False)).pair.premise == "Two women hug"
    assert list(iter_pairs(named.encode(), where=("id", "8"))) == []
    assert read_pairs(named.encode()) == ([], [])  # nobody agreed on a label


def test_records_of_the_release_and_of_ones_own():
    text = (
        f'{{"gold_label": "neutral", "sentence1": "x", "sentence2": "y", "sentence1_binary_parse": "{TREE}"}}\n'
        '{"label": "entailment", "premise": ["a", "b"], "hypothesis": "c"}\n{"premise": "d", "hypothesis": "e"}\n'
    )
    X, y = read_pair_records(text.encode())
    assert [(BinaryTree.from_brackets(TREE), "y"), (["a", "b"], "c")] == X and y == ["neutral", "entailment"]
    assert [one.label for one in iter_pair_records(text.encode())] == ["neutral", "entailment", None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "expected the names of columns, premise and hypothesis among them"),
        ("x\ta\tb\nx\ta\n", "line 2: expected 3 columns between tabs, got 2"),
        ("x\ta\t \n", "expected a hypothesis of at least one word"),
        ("premise\thypothesis\tpremise_tree\na\tb\t( a\n", "line 2: expected one binary tree in brackets"),
    ],
)
def test_wrong_tables_are_refused(text, message):
    with pytest.raises(CorpusError, match=message):
        list(iter_pairs(text.encode()))
    with pytest.raises(CorpusError, match="expected a column 'id'"):
        list(iter_pairs(b"a\tb\n", where=("id", "1")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a JSON object"),
        ("{", "expected a JSON object"),
        ('{"premise": "a"}', "expected a hypothesis of at least one word, got None"),
        ('{"premise": [1], "hypothesis": "b"}', "expected a premise of at least one word"),
        ('{"premise": "a", "hypothesis": "b", "label": 3}', "expected a label that is text, got 3"),
        ('{"premise": "a", "hypothesis": "b", "premise_tree": 3}', "should be a binary tree in brackets, got 3"),
    ],
)
def test_wrong_records_are_refused(text, message):
    with pytest.raises(CorpusError, match=message):
        list(iter_pair_records(text.encode()))


def test_what_a_table_cannot_hold_is_refused():
    with pytest.raises(CorpusError, match="without tabs"):
        write_pairs(io.StringIO(), [("a\tb", "c")], ["x"])
