"""The experiment on parsing with beams from end to end, on a small generated treebank."""

from __future__ import annotations

import json
from pathlib import Path

from papers.experiment import Options, with_generated
from papers.latent import parsing

TINY = parsing.Plan(corpus="grammar", beams=(1, 3), explorers=("arc-hybrid",), features="small", epochs=2, n_train=40)


def test_a_whole_run_and_again(tmp_path: Path) -> None:
    written = parsing.run(Options(out=tmp_path), TINY)
    rows = json.loads((tmp_path / "parsing.json").read_text())["results"]
    assert len(rows) == 2 * len(parsing.UPDATES) + 1
    assert all(0.3 < row["las"] <= row["uas"] <= 1 and row["epoch_seconds"] > 0 for row in rows)
    text = written.read_text()
    assert "| arc-standard | max-violation |" in text and "| arc-hybrid | exploration |" in text and "beam 3" in text
    assert (tmp_path / "parsing.png").stat().st_size > 1000
    journal = (tmp_path / "parsing-journal.jsonl").read_bytes()
    parsing.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "parsing-journal.jsonl").read_bytes() == journal


def test_the_page_has_a_place_for_it() -> None:
    page = (parsing.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"parsing": "here it is"})
