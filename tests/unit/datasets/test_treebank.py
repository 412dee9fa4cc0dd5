"""Trees of phrases: brackets, traces, and the public sample."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from margent.datasets import load_treebank_trees, parse_brackets, without_traces, words_of
from margent.errors import CorpusError, DataNotFoundError

HOME = os.environ.get("MARGENT_DATA", "")
LINES = [
    "wsj_0001\t(S (NP-SBJ-1 (NNP Mr.) (NNP Vinken)) (VP (VBZ is) (NP=2 (-NONE- *))))",
    "wsj_0159\t(NP (-NONE- *))",
    "wsj_0160\t(FRAG (NN No))",
    "wsj_0199\t(PRN (-LRB- -LRB-) (ADVP|PRT (RB up)) (-RRB- -RRB-))",
]


def written(folder: Path, lines: list[str]) -> Path:
    (folder / "treebank-sample").mkdir()
    (folder / "treebank-sample" / "wsj-trees.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_files_are_split_and_traces_go(tmp_path):
    data = load_treebank_trees(data_home=written(tmp_path, LINES))
    tree = ("S", ("NP", ("NNP", "Mr."), ("NNP", "Vinken")), ("VP", ("VBZ", "is")))
    assert data.train == ([[("Mr.", "NNP"), ("Vinken", "NNP"), ("is", "VBZ")]], [tree])
    assert data.dev == ([[("No", "NN")]], [("FRAG", ("NN", "No"))])
    assert data.test.y == [("PRN", ("-LRB-", "-LRB-"), ("ADVP", ("RB", "up")), ("-RRB-", "-RRB-"))]
    whole = load_treebank_trees(traces=True, data_home=tmp_path)
    assert [len(part.y) for part in (whole.train, whole.dev, whole.test)] == [2, 1, 1]
    assert whole.train.y[0][1][0] == "NP-SBJ-1"
    assert words_of(whole.train.y[1]) == [("*", "-NONE-")]


@pytest.mark.parametrize(
    "text",
    ["", "S", "(S", "(S (NN a)))", "(S)", "()", "(S (NN a) b)", "(NN a) (NN b)", "(NN a b)", "((NN a))", "(NN a) x"],
)
def test_what_is_not_one_tree_is_refused(text, tmp_path):
    with pytest.raises(CorpusError, match="expected one tree in brackets"):
        parse_brackets(text)
    with pytest.raises(CorpusError, match=r"wsj-trees\.tsv\.gz.*line 2.*expected one tree in brackets"):
        load_treebank_trees(data_home=written(tmp_path, [LINES[0], f"wsj_0002\t{text}"]))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"line 1.*expected the name of a file such as wsj_0001"):
        load_treebank_trees(data_home=written(tmp_path, ["(NN a)"]))
    with pytest.raises(DataNotFoundError, match=r"found no file wsj-trees\.tsv"):
        load_treebank_trees(data_home=tmp_path / "nowhere")


def test_nothing_is_left_of_traces():
    assert without_traces(parse_brackets("(NP (NP (-NONE- *)) (SBAR (-NONE- 0)))")) is None


@pytest.mark.skipif(
    not Path(HOME, "treebank-sample").is_dir() or not HOME,
    reason="the folder treebank-sample is not under MARGENT_DATA",
)
def test_the_sample_has_its_published_size():
    data = load_treebank_trees()
    assert len(data.train.y) + len(data.dev.y) + len(data.test.y) == 3914
    assert all(len(words) == len(words_of(tree)) for words, tree in zip(*data.dev))
    assert sum(map(len, data.train.X)) + sum(map(len, data.dev.X)) + sum(map(len, data.test.X)) == 94084
