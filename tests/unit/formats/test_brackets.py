from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.phrase_trees import trees

from margent.annotation import PhraseTree
from margent.cli import main
from margent.errors import CorpusError
from margent.formats import FormatOptions, iter_brackets, phrase_batches, read_brackets, write_brackets

FILE = b"""# a comment
( (S (NP-SBJ (PRP It))
     (VP (VBZ works) (NP (-NONE- *)))) )
(NP (NN rain))(FRAG (UH no))

(NP (-NONE- *))
"""


def test_trees_may_span_lines_and_share_them():
    X, y = read_brackets(FILE)
    assert [tree.brackets() for tree in y] == ["(S (NP (PRP It)) (VP (VBZ works)))", "(NP (NN rain))", "(FRAG (UH no))"]
    assert list(X) == [[("It", "PRP"), ("works", "VBZ")], [("rain", "NN")], [("no", "UH")]]
    whole = list(iter_brackets(FILE, functions=True, traces=True))
    assert len(whole) == 4 and whole[0].phrases[1].label == "NP-SBJ" and whole[0].tags[-1] == "-NONE-"
    assert read_brackets(b"(S (VP (VB Go)))", unaries=False)[1][0].brackets() == "(S (VB Go))"


@given(st.lists(trees(), max_size=4))
def test_what_is_written_is_read_again(made):
    file = io.BytesIO()
    write_brackets(file, made)
    assert list(iter_brackets(file.getvalue(), functions=True, traces=True)) == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(NN a)\n\n(S (NN a)\n", "line 3: tree 2 begins here, and 1 of its brackets are not closed"),
        ("(NN a))\n", "line 1: tree 2: found '\\)' where no bracket is open"),
        ("(NN a)\nb (NN c)", "line 2: tree 2: expected '\\(' to begin a tree, got 'b"),
        ("(NN a)\n(S\n(NN a) b)", "line 2: tree 2: expected one tree in brackets"),
        ("(NN a) b", "line 1: tree 2: expected '\\(' to begin a tree, got 'b'"),
    ],
)
def test_bad_brackets_are_refused_with_their_place(text, message, tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text(text)
    with pytest.raises(CorpusError, match=f"a.mrg, {message}"):
        read_brackets(path)


def test_sentences_for_a_parser_are_trees_or_words(tmp_path):
    (tmp_path / "a.txt").write_bytes(FILE)
    (tmp_path / "b.txt").write_text("It works\n\nno\n")
    (first,) = phrase_batches(str(tmp_path / "a.txt"), FormatOptions())
    assert first.X[0] == [("It", "PRP"), ("works", "VBZ")] and len(first.X) == 3
    (second,) = phrase_batches(str(tmp_path / "b.txt"), FormatOptions())
    assert second.X == [["It", "works"], ["no"]]
    (tmp_path / "c.txt").write_text("\n")
    assert list(phrase_batches(str(tmp_path / "c.txt"), FormatOptions())) == []


def test_convert_strips_what_is_not_asked_for(tmp_path):
    (tmp_path / "a.mrg").write_bytes(FILE)
    assert main(["convert", str(tmp_path / "a.mrg"), str(tmp_path / "b.mrg")]) == 0
    assert (tmp_path / "b.mrg").read_text().startswith("(S (NP (PRP It)) (VP (VBZ works)))\n(NP")
    assert main(["convert", str(tmp_path / "a.mrg"), str(tmp_path / "c.mrg"), "--functions", "--traces"]) == 0
    assert PhraseTree.from_brackets((tmp_path / "c.mrg").read_text().splitlines()[0]).phrases[1].label == "NP-SBJ"
