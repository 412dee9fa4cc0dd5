from __future__ import annotations

import os
from pathlib import Path

import pytest

from margent import DependencyTree
from margent.datasets import load_treebank_dependencies, load_treebank_trees, load_ud_dependencies
from margent.errors import CorpusError, DataNotFoundError

HOME = os.environ.get("MARGENT_DATA", "")


def needs(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not (HOME and Path(HOME, folder).is_dir()), reason=f"the folder {folder} is not under MARGENT_DATA"
    )


def test_a_treebank_as_released(tmp_path):
    folder = tmp_path / "UD_French-GSD"
    folder.mkdir()
    for part in ("train", "dev", "test"):
        row = "1\tSi\tsi\tSCONJ\tCS\t_\t0\troot\t_\t_\n2\tnon\tnon\tADV\tRB\t_\t{}\tadvmod\t_\t_\n\n"
        (folder / f"fr_gsd-ud-{part}.conllu").write_text(row.format(0 if part == "test" else 1))
    with pytest.raises(
        CorpusError, match=r"test\.conllu, line 2: sentence 1: words 1 and 2 are both attached to the root"
    ):
        load_ud_dependencies("french-gsd", data_home=tmp_path)
    data = load_ud_dependencies("french-gsd", single_root=False, data_home=tmp_path)
    assert data.dev.X[0] == [("Si", "SCONJ", "CS", "_", "si"), ("non", "ADV", "RB", "_", "non")]
    assert data.dev.y == [DependencyTree([0, 1], ["root", "advmod"])]


def test_missing_and_cut_files(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"found no file wsj-dep\.tsv .* get it from NLTK"):
        load_treebank_dependencies(data_home=tmp_path)
    (tmp_path / "treebank-sample").mkdir()
    (tmp_path / "treebank-sample" / "wsj-dep.tsv").write_text("No\tUH\t0\n")
    with pytest.raises(CorpusError, match="found 1 sentences, expected the 3914 of the sample"):
        load_treebank_dependencies(data_home=tmp_path)


@pytest.mark.parametrize(
    ("treebank", "sentences", "crossing"),
    [
        pytest.param("english-ewt", (12544, 2001, 2077), (288, 31, 26), marks=needs("ud-english-ewt")),
        pytest.param("chinese-gsd", (3997, 500, 500), (12, 2, 2), marks=needs("ud-chinese-gsd")),
    ],
)
def test_treebanks_of_universal_dependencies(treebank, sentences, crossing):
    data = load_ud_dependencies(treebank)
    parts = (data.train, data.dev, data.test)
    assert tuple(len(part.y) for part in parts) == sentences
    assert tuple(sum(not tree.is_projective() for tree in part.y) for part in parts) == crossing
    assert all(part.X.lengths.tolist() == [len(tree) for tree in part.y] for part in parts)


@needs("treebank-sample")
def test_the_sample_is_split_as_the_trees_of_phrases_are():
    data, phrases = load_treebank_dependencies(), load_treebank_trees()
    for ours, theirs in zip((data.train, data.dev, data.test), (phrases.train, phrases.dev, phrases.test)):
        assert ours.X.lengths.tolist() == [len(tree) for tree in ours.y] == [len(words) for words in theirs.X]
        assert all(tree.is_projective() for tree in ours.y)
