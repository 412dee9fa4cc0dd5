"""Parsers of phrases on the command line."""

from __future__ import annotations

import json
import sys

import pytest

from margent.annotation import PhraseTree
from margent.cli import main
from margent.datasets import make_phrases
from margent.formats import write_brackets


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("phrases")
    for name, n, seed in (("train", 40, 0), ("dev", 15, 1), ("test", 15, 2)):
        write_brackets(path / f"{name}.mrg", make_phrases(n, seed=seed)[1])
    command = ["train", "--task", "phrase-parser", str(path / "train.mrg"), "-m", str(path / "m"), "--epochs", "2"]
    assert main([*command, "--dev", str(path / "dev.mrg"), "--grammar-vertical", "1", "--features-min-count", "2"]) == 0
    return path


def test_trees_are_found_for_sentences_and_for_trees(folder, capsys, monkeypatch):
    capsys.readouterr()
    (folder / "one.txt").write_text("Ann saw the old dog .\n")
    with open(folder / "one.txt") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["apply", str(folder / "m")]) == 0
    tree = PhraseTree.from_brackets(capsys.readouterr().out)
    assert tree.words == ("Ann", "saw", "the", "old", "dog", ".") and tree.phrases[0].label == "S"
    assert main(["apply", str(folder / "m"), str(folder / "test.mrg"), "--k", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("# reading 1 score=") and PhraseTree.from_brackets(lines[1])
    assert main(["apply", str(folder / "m"), str(folder / "test.mrg"), "--draw", "--no-tags"]) == 0
    assert "└── . ." in capsys.readouterr().out


def test_a_sentence_that_is_too_long_is_named_and_left_out(folder, capsys, monkeypatch):
    (folder / "long.txt").write_text("Ann slept .\nAnn saw the old dog .\n\nBo slept .\n")
    monkeypatch.setattr("margent.models.phrase_parser.model.PhraseParserModel.longest", 5)
    capsys.readouterr()
    assert main(["apply", str(folder / "m"), str(folder / "long.txt")]) == 1
    output, errors = capsys.readouterr()
    assert output.count("\n") == 2
    assert errors.startswith("margent: error: line 2: a sentence of 6 words; expected at most 5, as a grammar of ")
    (folder / "long.mrg").write_text("(S (NN a))\n(S (NN a) (NN b) (NN c)\n  (NN d) (NN e) (NN f)) (S (NN z))\n")
    assert main(["apply", str(folder / "m"), str(folder / "long.mrg"), "--k", "2"]) == 1
    assert "error: line 2: a sentence of 6 words" in capsys.readouterr().err


def test_results_are_told_to_people_and_to_programs(folder, capsys):
    assert main(["evaluate", str(folder / "m"), str(folder / "test.mrg")]) == 0
    assert "all phrases" in capsys.readouterr().out
    assert main(["evaluate", str(folder / "m"), str(folder / "test.mrg"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] > 0.9
    assert main(["inspect", str(folder / "m"), "--top", "2"]) == 0
    text = capsys.readouterr().out
    assert "phrase-parser of phrase features" in text and " -> " in text
    assert main(["explain", str(folder / "m"), str(folder / "test.mrg")]) == 0
    assert "first.word" in capsys.readouterr().out


def test_a_grammar_alone(folder, capsys):
    command = ["train", "--task", "phrase-parser", str(folder / "train.mrg"), "-m", str(folder / "g")]
    assert main([*command, "--learner", "pcfg"]) == 0
    assert main(["inspect", str(folder / "g")]) == 0
    assert "PCFG" in capsys.readouterr().out
    assert main(["apply", str(folder / "g"), str(folder / "test.mrg"), "-o", str(folder / "out.mrg")]) == 0
    assert (folder / "out.mrg").read_text().count("\n") == 15


def test_bad_brackets_are_an_error_of_one_line(folder, capsys):
    (folder / "bad.mrg").write_text("(S (NN a)\n")
    assert main(["evaluate", str(folder / "m"), str(folder / "bad.mrg")]) != 0
    assert "tree 1 begins here, and 1 of its brackets are not closed" in capsys.readouterr().err


def test_the_demonstration_shows_what_the_grammar_cannot_tell(tmp_path, capsys):
    assert main(["demo", "phrases", "--out", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    assert "of the grammar alone, a PCFG" in out and "margent apply" in out.replace("python -m margent", "margent")
    assert (tmp_path / "demo" / "trees.svg").read_text().startswith("<svg")
