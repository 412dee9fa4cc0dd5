"""The experiment on questions and their meanings from end to end, on generated questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.experiment import Options, with_generated
from papers.latent import questions

TINY = questions.Plan(
    corpora=("made",),
    languages=(),
    compared="made",
    updates=("max-violation", "early"),
    widths=(2, 16),
    epochs=2,
    n_folds=2,
)


def test_a_whole_run_and_again(tmp_path: Path) -> None:
    written = questions.run(Options(out=tmp_path), TINY)
    rows = json.loads((tmp_path / "questions.json").read_text())["results"]
    assert len(rows) == 2 + 2 * 4
    assert all(row["coverage"] > 0.5 and row["questions_per_second"] > 0 and "right" not in row for row in rows)
    text = written.read_text()
    assert "| here, simple types |" in text and "| 16 | early | full |" in text
    assert "generated questions: types of the domain are better than simple types" in text
    assert (tmp_path / "questions.png").stat().st_size > 1000
    journal = (tmp_path / "questions-journal.jsonl").read_bytes()
    questions.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "questions-journal.jsonl").read_bytes() == journal


def test_a_run_without_folds_shows_what_was_tested(tmp_path: Path) -> None:
    rows = [
        {"corpus": "made", "types": types, "fold": None, "right": [1, 0], "understood": [1, 1], "width": 16}
        for types in ("full", "simple")
    ]
    questions.draw(rows, tmp_path / "questions.png")
    assert (tmp_path / "questions.png").stat().st_size > 1000


def test_precision_is_of_what_is_understood() -> None:
    rows = [{"right": [1, 0], "understood": [1, 1]}, {"right": [1, 0], "understood": [1, 0]}]
    assert questions.scores(rows) == pytest.approx((200 / 3, 50.0, 400 / 7))


def test_the_page_has_a_place_for_it() -> None:
    page = (questions.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"questions": "here it is"})
