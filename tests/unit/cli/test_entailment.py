"""Entailment classifiers on the command line: pairs in, labels, probabilities and pictures out."""

from __future__ import annotations

import json

import pytest

import margent as library
from margent.datasets import make_entailment
from margent.formats import write_pair_records, write_pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("entailment")
    X, y, _ = make_entailment(200, seed=1)
    write_pairs(place / "train.tsv", X, y)
    write_pair_records(place / "dev.jsonl", *make_entailment(50, seed=2)[:2])
    from margent.cli import main

    words = ["train", "--task", "entailment", str(place / "train.tsv"), "--dev", str(place / "dev.jsonl")]
    assert main([*words, "-m", str(place / "m"), "--features-candidates", "3", "--epochs", "4"]) == 0
    return place


def test_labels_probabilities_and_readings(folder, margent, fails):
    (folder / "new.tsv").write_text("the cat is sleeping\tthe animal is resting\nthe cat is sleeping\tthe cat\n")
    lines = margent("apply", folder / "m", folder / "new.tsv").output.splitlines()
    model = library.load(folder / "m")
    assert model.features == library.AlignmentFeatures(candidates=3)
    pairs = [("the cat is sleeping", "the animal is resting"), ("the cat is sleeping", "the cat")]
    assert [line.split("\t") for line in lines] == [[a, *b] for a, b in zip(model.predict(pairs), pairs)]
    told = margent("apply", folder / "m", folder / "new.tsv", "--probabilities").output.splitlines()
    first = json.loads(told[0])
    assert sum(first["probabilities"].values()) == pytest.approx(1, abs=1e-5) and first["label"] == lines[0].split()[0]
    ranked = margent("entail", "apply", folder / "m", folder / "new.tsv", "--k", 2).output.splitlines()
    assert len(ranked) == 4 and float(ranked[0].split("\t")[-1]) >= float(ranked[1].split("\t")[-1])


def test_pictures(folder, margent):
    (folder / "new.tsv").write_text("the cat is sleeping\tthe animal is resting\n")
    assert margent("apply", folder / "m", folder / "new.tsv", "--draw", folder / "drawn").status == 0
    assert {path.name for path in (folder / "drawn").iterdir()} == {"1-alignment.svg", "1-composition.svg"}


def test_what_is_wrong_is_said(folder, fails):
    (folder / "bad.tsv").write_text("one column\n")
    fails(1, "expected the names of columns", "apply", folder / "m", folder / "bad.tsv")
    fails(2, "--token is for models that label tokens", "explain", folder / "m", folder / "train.tsv", "--token", 1)
    fails(2, "--label maybe: the model has", "inspect", folder / "m", "--label", "maybe")


def test_the_demo(margent, tmp_path):
    outcome = margent("demo", "entailment", "--out", tmp_path)
    assert outcome.status == 0 and "Words aligned as the truth has them" in outcome.output
    assert (tmp_path / "composition.svg").read_text().startswith("<svg ")
