"""Trees of phrases: brackets, traces, and the public sample."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from margent.annotation import PhraseTree
from margent.datasets import load_treebank_trees
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
    assert list(data.train.X) == [[("Mr.", "NNP"), ("Vinken", "NNP"), ("is", "VBZ")]]
    assert data.train.y == [PhraseTree.from_brackets("(S (NP (NNP Mr.) (NNP Vinken)) (VP (VBZ is)))")]
    assert list(data.dev.X) == [[("No", "NN")]] and data.dev.y[0].brackets() == "(FRAG (NN No))"
    assert data.test.y[0].brackets() == "(PRN (-LRB- -LRB-) (ADVP (RB up)) (-RRB- -RRB-))"
    whole = load_treebank_trees(functions=True, traces=True, data_home=tmp_path)
    assert [len(part.y) for part in (whole.train, whole.dev, whole.test)] == [2, 1, 1]
    assert whole.train.y[0].phrases[1].label == "NP-SBJ-1"
    assert whole.train.X[1] == [("*", "-NONE-")]


def test_what_is_not_one_tree_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"wsj-trees\.tsv\.gz.*line 2.*expected one tree in brackets"):
        load_treebank_trees(data_home=written(tmp_path, [LINES[0], "wsj_0002\t(S (NN a)"]))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"line 1.*expected the name of a file such as wsj_0001"):
        load_treebank_trees(data_home=written(tmp_path, ["(NN a)"]))
    with pytest.raises(DataNotFoundError, match=r"found no file wsj-trees\.tsv"):
        load_treebank_trees(data_home=tmp_path / "nowhere")


@pytest.mark.skipif(
    not Path(HOME, "treebank-sample").is_dir() or not HOME,
    reason="the folder treebank-sample is not under MARGENT_DATA",
)
def test_the_sample_has_its_published_size():
    data = load_treebank_trees()
    assert len(data.train.y) + len(data.dev.y) + len(data.test.y) == 3914
    assert all([word for word, _ in words] == list(tree.words) for words, tree in zip(*data.dev))
    assert data.train.X.n_tokens + data.dev.X.n_tokens + data.test.X.n_tokens == 94084
