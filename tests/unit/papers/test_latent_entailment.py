"""The experiment on entailment from end to end, on a small generated corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.experiment import Options, with_generated
from papers.latent import entailment

TINY = entailment.Plan(corpora=("made",), seeds=(0,), epochs=1, n_train=40, curve=(), scale=6)


def test_a_whole_run_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="networks need torch")
    monkeypatch.delenv("MARGENT_DATA", raising=False)
    written = entailment.run(Options(out=tmp_path), TINY)
    rows = json.loads((tmp_path / "entailment.json").read_text())["results"]
    assert [row["row"] for row in rows] == list(entailment.ROWS)
    assert all(0 <= row["test"] <= 1 and row["seconds"] > 0 and row["numbers"] > 0 for row in rows)
    assert all("right" not in row for row in rows)
    text = written.read_text()
    assert "| 12 expected alignment, dual | - |" in text and "10 sampling, dual is better than 9 sampling" in text
    assert (tmp_path / "entailment.png").stat().st_size > 1000
    journal = (tmp_path / "entailment-journal.jsonl").read_bytes()
    entailment.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "entailment-journal.jsonl").read_bytes() == journal


def test_a_bag_of_words_learns_what_words_say() -> None:
    X = [("a cat", "a dog"), ("a dog", "a dog"), ("a cat", "a cat"), ("a dog", "a cat")] * 8
    y = ["contradiction", "entailment", "entailment", "contradiction"] * 8
    both = entailment.BagOfWords(entailment.Adam(epochs=60, learning_rate=0.05), True, 0)
    assert both.fit(X, y, X_dev=X, y_dev=y, progress=False).score(X, y) == 1
    half = entailment.BagOfWords(entailment.Adam(epochs=60, learning_rate=0.05), False, 0)
    assert half.fit(X, y, X_dev=X, y_dev=y, progress=False).score(X, y) <= 0.5  # the hypothesis alone says nothing


def test_the_page_has_a_place_for_it() -> None:
    page = (entailment.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"entailment": "here it is"})
