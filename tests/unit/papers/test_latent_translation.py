"""The experiment on translations from end to end, on a generated language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.experiment import Options, with_generated
from papers.latent import translation

TINY = translation.Plan(
    corpus="made",
    tuners=("n-best MERT", "PRO"),
    updates=("max-violation", "standard"),
    n_train=120,
    n_compared=80,
    epochs=2,
    compared_epochs=1,
    iterations=1,
    k=5,
    n_dev=20,
)


def test_a_whole_run_and_again(tmp_path: Path) -> None:
    written = translation.run(Options(out=tmp_path), TINY)
    rows = json.loads((tmp_path / "translation.json").read_text())["results"]
    assert len(rows) == 3 + 2 + 4
    assert all(0 < row["test"] < 100 and row["sentences_per_second"] > 0 and "counts" not in row for row in rows)
    assert [row["n_features"] for row in rows[:3]] == [18] * 3 and rows[3]["n_features"] > 100
    text = written.read_text()
    assert "| n-best MERT | 18 |" in text and "| MaxForce, dense features | 1" in text
    assert "| standard update |" in text and "| max-violation is better than standard |" in text
    assert (tmp_path / "translation.png").stat().st_size > 1000
    journal = (tmp_path / "translation-journal.jsonl").read_bytes()
    translation.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "translation-journal.jsonl").read_bytes() == journal


def test_the_plans_have_all_rows_of_the_table() -> None:
    rows = [{**task, "curve": [], "dev": 0.0} for task in translation.tasks(translation.FULL)]
    table, compared = translation.split(rows)
    assert {translation.title(row) for row in table} >= set(translation.PAPER)
    assert [row["update"] for row in compared[:4]] == list(translation.FULL.updates)


def test_the_page_has_a_place_for_it() -> None:
    page = (translation.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"translation": "here it is"})


def test_parts_of_data_are_drawn_in_step() -> None:
    one, other = translation.some(list(range(50)), 9), translation.some([str(i) for i in range(50)], 9)
    assert len(one) == 9 and other == [str(i) for i in one] and max(one) > 20
    assert translation.some([1, 2], None) == translation.some([1, 2], 5) == [1, 2]


@pytest.mark.parametrize("update", ["local", "skip"])
def test_each_policy_has_a_name(update: str) -> None:
    row = {"kind": "learner", "update": update, "features": "dense", "left_out": False}
    assert translation.title(row).endswith("dense features, own rules not left out")
