"""The experiment on beam search from end to end, on a small generated corpus."""

from __future__ import annotations

import json
from pathlib import Path

from papers.experiment import Options, with_generated
from papers.latent import beam

TINY = beam.Plan(settings=(("addresses", 1),), beams=(1, 3), epochs=2, n_train=50)


def test_a_whole_run_and_again(tmp_path: Path) -> None:
    written = beam.run(Options(out=tmp_path), TINY)
    found = json.loads((tmp_path / "beam.json").read_text())
    rows = found["results"]
    assert len(rows) == 2 + 2 * len(beam.METHODS)
    assert all(0 < row["dev"] <= 1 and 0 < row["test"] <= 1 and row["epoch_seconds"] > 0 for row in rows)
    text = written.read_text()
    assert "| perceptron | max-violation |" in text and "beam 3" in text and "exact" in text
    assert (tmp_path / "beam.png").stat().st_size > 1000
    journal = (tmp_path / "beam-journal.jsonl").read_bytes()
    beam.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "beam-journal.jsonl").read_bytes() == journal


def test_the_page_has_a_place_for_it() -> None:
    page = (beam.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"beam": "here it is"})
