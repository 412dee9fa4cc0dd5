"""Corpora of translations: generated ones, small files in the form of the public ones, and these where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from margent.datasets import (
    grouped_references,
    load_gold_alignments,
    load_tatoeba,
    load_tatoeba_alignments,
    make_translations,
)
from margent.errors import CorpusError, DataNotFoundError
from margent.models.translator.rule_table import RuleTable

HOME = os.environ.get("MARGENT_DATA", "")
TABLE = "split\ten\tzh\ntrain\thi .\t嗨 。\ntest\tgo\t走\n"


def test_generated_pairs_are_translations_word_by_word():
    sources, targets, alignments = make_translations(300, seed=1)
    assert make_translations(300, seed=1) == (sources, targets, alignments)
    assert make_translations(5, seed=2) != make_translations(5, seed=1)
    for source, target, alignment in zip(sources, targets, alignments):
        alignment.check_fits(len(source), len(target))
        linked = {j for _, j in alignment.links}
        assert {i for i, _ in alignment.links} == set(range(len(source)))
        assert {word for j, word in enumerate(target) if j not in linked} <= {"a"}
    assert max(len(source) for source in sources) <= 20
    # A bank and a shore are one word, which the noun before it makes clear.
    shores = {source[source.index("lund") - 1] for source, target in zip(sources, targets) if "shore" in target}
    assert "wasi" in shores


def test_the_generated_language_turns_phrases_around():
    table, _ = RuleTable.extracted(*make_translations(300, seed=1))
    found = {table.rule(n).target for n in table.find([1, "no", 2])}
    assert (2, "of", 1) in found
    assert ("did", "not", 1) in {table.rule(n).target for n in table.find(["ne", 1, "pa"])}


def test_small_files_in_the_form_of_the_corpora(tmp_path):
    (tmp_path / "tatoeba-zh-en").mkdir()
    (tmp_path / "tatoeba-zh-en" / "zh-en.tsv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "tatoeba-zh-en" / "zh-en.align").write_text("0-0 1-1\n0-0\n")
    data = load_tatoeba(data_home=tmp_path)
    assert (data.train.X, data.train.y) == ([["嗨", "。"]], [["hi", "."]])
    assert (len(data.dev.X), data.test.y) == (0, [["go"]])
    assert [str(one) for one in load_tatoeba_alignments(data_home=tmp_path)] == ["0-0 1-1"]
    assert [str(one) for one in load_tatoeba_alignments("test", data_home=tmp_path)] == ["0-0"]
    (tmp_path / "word-alignment-gold").mkdir()
    (tmp_path / "word-alignment-gold" / "ja-en.tsv").write_text("a b\tx\t0-0 1?0\n")
    gold = load_gold_alignments("ja-en", data_home=tmp_path)
    assert (gold.X, gold.y, str(gold.alignments[0])) == ([["a", "b"]], [["x"]], "0-0 1?0")


def test_wrong_files_are_refused(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"found no file zh-en\.tsv"):
        load_tatoeba(data_home=tmp_path)
    with pytest.raises(CorpusError, match="the parts train, dev, test, got 'devel'"):
        load_tatoeba_alignments("devel", data_home=tmp_path)
    with pytest.raises(CorpusError, match="gold alignments of zh-en, ja-en, en-fr, ro-en, got 'de-en'"):
        load_gold_alignments("de-en", data_home=tmp_path)
    (tmp_path / "tatoeba-zh-en").mkdir()
    path = tmp_path / "tatoeba-zh-en" / "zh-en.tsv"
    (tmp_path / "tatoeba-zh-en" / "zh-en.align").write_text("0-0\n")
    for text, message in (
        (TABLE, "has 1 lines, expected 2"),
        (TABLE.replace("zh", "fr"), "line 1: expected the columns split, en, zh, got no zh"),
        (TABLE.replace("test\t", "rest\t"), "line 3: expected a split of train, dev, test, got 'rest'"),
        (TABLE.replace("\tgo", ""), "line 3: expected 3 columns between tabs, got 2"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CorpusError, match=message):
            load_tatoeba_alignments(data_home=tmp_path)


@pytest.mark.skipif(not Path(HOME, "tatoeba-zh-en").is_dir(), reason="the Tatoeba pairs are not in MARGENT_DATA")
def test_the_pairs_of_tatoeba():
    data = load_tatoeba()
    assert [len(part.X) for part in (data.train, data.dev, data.test)] == [26702, 1271, 1082]
    sources, references = grouped_references(*data.test)
    assert (len(sources), sum(map(len, references))) == (962, 1082)
    assert not {tuple(source) for source in sources} & {tuple(source) for source in data.train.X}
    for split, part in (("train", data.train), ("test", data.test)):
        assert len(load_tatoeba_alignments(split)) == len(part.X)


@pytest.mark.skipif(not Path(HOME, "word-alignment-gold").is_dir(), reason="gold alignments are not in MARGENT_DATA")
def test_the_gold_alignments():
    gold = load_gold_alignments("zh-en")
    assert len(gold.X) == 450
    assert (sum(len(a.links) for a in gold.alignments), sum(len(a.possible) for a in gold.alignments)) == (11238, 178)
