"""Corpora of entailment: small files in their form, the public ones where they are there, and the generated one."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from margent.annotation import BinaryTree
from margent.datasets import load_related_nli, load_sick, load_snli, load_snli_parses, make_entailment
from margent.errors import CorpusError, DataNotFoundError

HOME = os.environ.get("MARGENT_DATA", "")
PAIRS = "label\tpremise\thypothesis\nneutral\ta b\tc\n-\ta b\tc\n"


def written(folder: Path) -> Path:
    for name in ("snli", "sick", "nli-extra"):
        (folder / name).mkdir()
    for name in ("train_subset", "dev", "test"):
        (folder / "snli" / f"snli_{name}.tsv").write_text(PAIRS)
    (folder / "snli" / "binary_trees.tsv").write_text("sentence\tbinary_parse\na b\t( a b )\nc\tc\n")
    (folder / "snli" / "snli_parsed_sample.jsonl").write_text(
        '{"gold_label": "neutral", "sentence1": "a b", "sentence2": "c", "sentence1_binary_parse": "( a b )"}\n'
    )
    (folder / "sick" / "sick.tsv").write_text(
        "split\tlabel\ta_tokens\ta_heads\tb_tokens\tb_heads\ntrial\tentailment\tit rains\t2 0\tit\t0\n"
    )
    (folder / "nli-extra" / "cad_nli.tsv").write_text("split\tlabel\tpremise\thypothesis\ndev\tneutral\ta\tb\n")
    (folder / "nli-extra" / "monli.tsv").write_text("part\tlabel\tpremise\thypothesis\nnmonli_test\tneutral\ta\tb\n")
    return folder


def test_small_files_in_the_form_of_the_corpora(tmp_path):
    home = written(tmp_path)
    snli = load_snli(data_home=home)
    assert [(BinaryTree.from_brackets("( a b )"), BinaryTree(["c"], []))] == snli.dev.X and snli.dev.y == ["neutral"]
    assert load_snli(trees=False, data_home=home).train.X == [("a b", "c")]
    assert load_snli_parses(data_home=home).train.X[0].premise == BinaryTree.from_brackets("( a b )")
    assert load_sick(data_home=home).dev.X[0].premise.brackets() == "( it rains )"
    assert load_sick(trees=False, data_home=home).dev.X == [(["it", "rains"], ["it"])]
    assert load_related_nli("counterfactual", data_home=home).dev.X == [("a", "b")]
    assert load_related_nli("monotonicity", data_home=home).test.y == ["neutral"]


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"found no file binary_trees\.tsv"):
        load_snli(data_home=tmp_path)
    home = written(tmp_path)
    (home / "snli" / "binary_trees.tsv").write_text("a b\t( a b )\n")
    with pytest.raises(CorpusError, match=r"binary_trees\.tsv has no tree of 'c'"):
        load_snli(data_home=home)
    (home / "sick" / "sick.tsv").write_text(
        "split\tlabel\ta_tokens\ta_heads\tb_tokens\tb_heads\ntrial\tentailment\tit rains\t2 1\tit\t0\n"
    )
    with pytest.raises(CorpusError, match=r"sick\.tsv, line 2: word 1 is on a cycle"):
        load_sick(data_home=home)
    with pytest.raises(CorpusError, match="one of counterfactual, breaking, monotonicity"):
        load_related_nli("adversarial")


@pytest.mark.skipif(not HOME or not Path(HOME, "sick").is_dir(), reason="the folder sick is not under MARGENT_DATA")
def test_sick_has_its_size():
    data = load_sick()
    assert [len(part.y) for part in (data.train, data.dev, data.test)] == [4500, 500, 4927]
    assert Counter(data.train.y + data.dev.y + data.test.y)["neutral"] == 5595 + 16


@pytest.mark.skipif(not HOME or not Path(HOME, "snli").is_dir(), reason="the folder snli is not under MARGENT_DATA")
def test_snli_has_its_size():
    data = load_snli()
    assert [len(part.y) for part in (data.train, data.dev, data.test)] == [21_605, 9_842, 9_824]
    assert len(load_snli_parses().train.y) == 2_527


def test_the_generated_corpus_is_true_to_its_alignments():
    X, y, truths = make_entailment(300, seed=1)
    assert min(Counter(y).values()) > 60 and len(Counter(y)) == 3
    for (premise, hypothesis), label, truth in zip(X, y, truths):
        assert len(truth.alignment) == len(truth.relations) == len(hypothesis)
        about = [-1 if j < 0 else premise.words[j] for j in truth.alignment]
        for word, other, relation in zip(hypothesis.words, about, truth.relations):
            assert word != other or relation == "entailment"
            assert other != -1 or relation == "neutral"
        worst = [one for one in ("contradiction", "neutral", "entailment") if one in truth.relations]
        assert worst[0] == label
    assert make_entailment(20, seed=3) == make_entailment(20, seed=3) != make_entailment(20, seed=4)
    with pytest.raises(ValueError, match="n_pairs should be an integer of at least 1"):
        make_entailment(0)
