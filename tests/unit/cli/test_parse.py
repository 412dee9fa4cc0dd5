"""Parsers on the command line, from treebank to model and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from margent import Parser, load
from margent.cli.command_line import main
from margent.datasets import make_trees
from margent.formats import read_dependencies, write_dependencies


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parse")
    for name, n, seed in (("train", 150, 1), ("dev", 30, 2), ("test", 30, 3)):
        write_dependencies(folder / f"{name}.conllu", *make_trees(n, seed=seed))
    templates = ["h.upos m.upos direction distance", "h.word m.word", "m.upos h.upos label", "m.suffix3 label"]
    (folder / "small.txt").write_text("\n".join(templates))
    train, small, dev, model = (str(folder / name) for name in ("train.conllu", "small.txt", "dev.conllu", "m.margent"))
    words = ["--task", "parser", train, "--epochs", "3", "--template", small, "--dev", dev, "-m", model]
    assert main(["train", *words]) == 0
    return folder


def test_files_keep_all_but_their_trees(folder: Path, margent: Any) -> None:
    outcome = margent("apply", folder / "m.margent", folder / "test.conllu")
    assert outcome.status == 0
    given = (folder / "test.conllu").read_text().splitlines()
    found = outcome.output.splitlines()
    assert len(given) == len(found)
    for left, right in zip(given, found):
        left_cells, right_cells = left.split("\t"), right.split("\t")
        assert left_cells[:6] == right_cells[:6] and left_cells[8:] == right_cells[8:]
    X, y = read_dependencies(outcome.output.encode())
    assert y == load(folder / "m.margent").predict(X)


def test_plain_sentences_from_standard_input(folder: Path, margent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--task", "parser", folder / "train.conllu", "--tagger", "pos", "--epochs", "2"]
    assert margent("train", *arguments, "--template", folder / "small.txt", "-m", folder / "words.margent").status == 0
    (folder / "plain.txt").write_text("the doctor saw the man with the telescope .\nMary slept !\n")
    outcome = margent("apply", folder / "words.margent", folder / "plain.txt")
    rows = [line.split("\t") for line in outcome.output.splitlines() if line[:1].isdigit()]
    assert [row[3] for row in rows[:5]] == ["DET", "NOUN", "VERB", "DET", "NOUN"]
    assert outcome.output.startswith("# text = the doctor saw")
    picture = margent("apply", folder / "words.margent", folder / "plain.txt", "--draw", "--width", 200)
    assert "▼" in picture.output and "telescope  ." in picture.output
    narrow = margent("apply", folder / "words.margent", folder / "plain.txt", "--draw", "--width", 20)
    assert "doctor     nsubj of saw" in narrow.output
    svg = folder / "t.svg"
    assert margent("apply", folder / "words.margent", folder / "plain.txt", "--draw", "-o", svg).status == 0
    assert svg.read_text().startswith("<svg ") and ">DET</text>" in svg.read_text()


def test_several_trees_and_probabilities(folder: Path, margent: Any) -> None:
    outcome = margent("apply", folder / "m.margent", folder / "test.conllu", "--k", 2)
    assert "# reading 1 score=" in outcome.output and "# reading 2 score=" in outcome.output
    outcome = margent("apply", folder / "m.margent", folder / "test.conllu", "--marginals")
    cells = [line.split("\t")[9] for line in outcome.output.splitlines() if line[:1].isdigit()]
    assert all(0 <= float(cell.removeprefix("Probability=")) <= 1 for cell in cells)


def test_evaluation_of_models_and_of_files(folder: Path, margent: Any) -> None:
    outcome = margent("evaluate", folder / "m.margent", folder / "test.conllu", "--json")
    X, y = read_dependencies(folder / "test.conllu")
    summary = json.loads(outcome.output)
    assert summary["las"] == pytest.approx(load(folder / "m.margent").score(X, y)) and summary["las"] > 0.8
    margent("apply", folder / "m.margent", folder / "test.conllu", "-o", folder / "found.conllu")
    files = (folder / "test.conllu", folder / "found.conllu", "--compare", folder / "test.conllu")
    outcome = margent("parse", "evaluate", *files)
    assert f"{100 * summary['las']:.2f}" in outcome.output and "100.00 there" in outcome.output
    outcome = margent("evaluate", folder / "m.margent", folder / "test.conllu", "--calibration")
    assert "heads" in outcome.output and "arcs" in outcome.output


def test_inspection_explanation_and_calibration(folder: Path, margent: Any) -> None:
    outcome = margent("inspect", folder / "m.margent")
    assert "parser of arcs, search eisner, order 2" in outcome.output and "tags      given" in outcome.output
    facts = json.loads(margent("inspect", folder / "m.margent", "--json").output)
    assert facts["templates"][0] == "h.upos m.upos direction distance" and facts["atoms"]["upos"] > 5
    outcome = margent("explain", folder / "m.margent", folder / "test.conllu", "--token", 0, "--top", 3)
    assert outcome.output.startswith("word 1 ") and " over " in outcome.output
    outcome = margent("calibrate", folder / "m.margent", folder / "dev.conllu", "-o", folder / "c.margent")
    assert outcome.status == 0 and load(folder / "c.margent").calibrated_


def test_training_goes_on_and_other_searches_train(folder: Path, margent: Any) -> None:
    arguments = ("--continue", folder / "m.margent", "-m", folder / "more.margent", "--task", "parser")
    assert margent("train", folder / "dev.conllu", *arguments).status == 0
    assert len(load(folder / "more.margent").history_) > len(load(folder / "m.margent").history_)
    arguments = ("--search", "mst", "--learner", "perceptron", "--epochs", 1, "--template", folder / "small.txt")
    assert margent("parse", "train", folder / "train.conllu", *arguments, "-m", folder / "mst.margent").status == 0
    model = load(folder / "mst.margent")
    assert isinstance(model, Parser) and model.search == "mst"


def test_other_treebank_formats(folder: Path, margent: Any) -> None:
    assert margent("convert", folder / "test.conllu", folder / "test.conllx").status == 0
    model, names = folder / "m.margent", ("conllu", "conllx")
    found = [margent("evaluate", model, folder / f"test.{name}", "--json").output for name in names]
    assert found[0] == found[1]


def test_a_sentence_that_is_too_long_is_named_and_left_out(
    folder: Path, margent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from margent.models.parser.graph.weights import GraphWeights

    (folder / "long.txt").write_text("she slept .\nshe saw the old doctor .\nhe slept .\n")
    monkeypatch.setattr(GraphWeights, "longest", 5)
    outcome = margent("apply", folder / "m.margent", folder / "long.txt")
    assert outcome.status == 1 and outcome.output.count("# text = ") == 2
    assert outcome.errors == "margent: error: line 2: a sentence of 6 words; expected at most 5\n"


def test_wrong_usage(folder: Path, fails: Any, tmp_path: Path) -> None:
    model, test = folder / "m.margent", folder / "test.conllu"
    fails(2, "to evaluate a parser, give the model first, then treebanks; or GOLD and PRED", "parse", "evaluate", test)
    fails(2, "--width is for --draw", "apply", model, test, "--width", 30)
    fails(2, "--draw cannot be combined", "apply", model, test, "--draw", "--marginals")
    fails(2, "--token 99: a sentence has", "explain", model, test, "--token", 99)
    (tmp_path / "bad.conllu").write_text("1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n")
    fails(1, "word 1 is on a cycle of heads", "evaluate", model, tmp_path / "bad.conllu")
    (tmp_path / "t.txt").write_text("h.wrod\n")
    fails(2, "'h.wrod' names no atom", "parse", "train", test, "--template", tmp_path / "t.txt", "-m", tmp_path / "x")


def test_demo(margent: Any, tmp_path: Path) -> None:
    outcome = margent("demo", "parser", "--out", tmp_path / "demo")
    assert outcome.status == 0 and "UAS" in outcome.output and "crossing" not in outcome.errors
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= {"grammar.margent", "train.conllu", "trees.svg"}
    X, y = read_dependencies(tmp_path / "demo" / "test.conllu")
    assert load(tmp_path / "demo" / "grammar.margent").score(X, y) > 0.97
