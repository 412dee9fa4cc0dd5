"""Translators on the command line."""

from __future__ import annotations

import json

import pytest

import margent as library
from margent.datasets import make_translations
from margent.formats import write_parallel_text, write_word_alignments


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from margent.cli import main

    place = tmp_path_factory.mktemp("translations")
    X, y, links = make_translations(80, seed=1, longest=9)
    write_parallel_text(place / "train.parallel", X, y)
    write_parallel_text(place / "dev.parallel", *make_translations(20, seed=2, longest=9)[:2], separator="bars")
    write_word_alignments(place / "train.align", links)
    (place / "templates").write_text("source.first.word target.first  # edges\ntarget.shape\n")
    words = ["train", "--task", "translator", "train.parallel", "--alignments", "train.align", "--dev", "dev.parallel"]
    words += ["--template", "templates", "--epochs", "2", "--search-pop-limit", "20", "--dense-scale", "10"]
    found = [str(place / word) if (place / word).exists() else word for word in words]
    assert main([*found, "-m", str(place / "m")]) == 0
    return place


def test_options_reach_the_model(files) -> None:
    model = library.load(files / "m")
    assert model.search.pop_limit == 20 and model.dense.scale == 10 and len(model.history_) == 2
    assert model.weights_.templates.lines == ["source.first.word target.first", "target.shape"]
    X, y, links = make_translations(80, seed=1, longest=9)
    X_dev, y_dev, _ = make_translations(20, seed=2, longest=9)
    again = library.Translator(**model.get_params(deep=False)).fit(X, y, alignments=links, X_dev=X_dev, y_dev=y_dev)
    assert again.predict(X_dev) == model.predict(X_dev)


def test_apply(files, margent, tmp_path) -> None:
    X, _, _ = make_translations(20, seed=2, longest=9)
    model = library.load(files / "m")
    out = tmp_path / "out"
    assert margent("apply", files / "m", files / "dev.parallel", "-o", out).status == 0
    assert out.read_text().splitlines() == [" ".join(words) for words in model.predict(X)]
    assert margent("translate", "apply", files / "m", files / "dev.parallel", "--k", 2, "-o", out).status == 0
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert rows[0][0] == " ".join(X[0]) and rows[0][1] == " ".join(model.predict(X[:1])[0])
    assert float(rows[0][2]) >= float(rows[1][2]) and 0 <= float(rows[0][3]) <= 1
    pictures = tmp_path / "pictures"
    command = ("apply", files / "m", files / "dev.parallel", "--derivations", "--svg", pictures, "-o", out)
    assert margent(*command).status == 0
    assert len(list(pictures.iterdir())) == 20 and (pictures / "1.svg").read_text().startswith("<svg")
    assert "X -> " in out.read_text() and "S -> [X,1] , [X,1]" in out.read_text()


def test_results_and_refusals(files, margent, fails, tmp_path) -> None:
    report = json.loads(margent("evaluate", files / "m", files / "dev.parallel", "--json").output)
    assert report["kind"] == "translations" and 0 < report["bleu"] <= 1 and report["sentences"] == 20
    assert "language model" in margent("explain", files / "m", files / "dev.parallel", "--top", 2).output
    shown = margent("inspect", files / "m", "--top", 3).output
    assert "weights of dense features" in shown and "[X,1]" in shown
    fails(2, "rule by rule", "explain", files / "m", files / "dev.parallel", "--token", 1)
    fails(2, "--label is for models with labels", "inspect", files / "m", "--label", "x")
    (tmp_path / "short").write_text("0-0\n")
    train = ("train", "--task", "translator", files / "train.parallel", "-m", tmp_path / "n")
    fails(1, "expected as many", *train, "--alignments", tmp_path / "short")
    (tmp_path / "long").write_text("x " * 300 + "\n")
    fails(1, "expected at most 200", "apply", files / "m", tmp_path / "long")


def test_demo(margent, monkeypatch, tmp_path) -> None:
    from margent.cli import demo_translator

    monkeypatch.setattr(demo_translator, "_N_TRAIN", 60)
    monkeypatch.setattr(demo_translator, "_EPOCHS", 1)
    outcome = margent("demo", "translator", "--out", tmp_path)
    assert outcome.status == 0
    for part in ("Rules that turn things around", "BLEU", "How the first was made", "X -> ", "What to type next"):
        assert part in outcome.output
    assert (tmp_path / "derivation.svg").read_text().startswith("<svg")
    assert library.load(tmp_path / "translator.margent").history_
