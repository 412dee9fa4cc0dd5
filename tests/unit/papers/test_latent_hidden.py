"""The experiment on hidden labels from end to end, on a small generated corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.experiment import Options, with_generated
from papers.latent import hidden

TINY = hidden.Plan(
    corpora=("addresses",),
    models=("order 1", "order 1, trained longer", "hidden 2", "split-merge, up to 4"),
    epochs=(("perceptron", 2), ("crf", 3)),
    seeds=(0, 1),
    n_train=40,
)


def test_a_whole_run_and_again(tmp_path: Path) -> None:
    written = hidden.run(Options(out=tmp_path), TINY)
    rows = json.loads((tmp_path / "hidden.json").read_text())["results"]
    assert len(rows) == 4 * 2 + 3  # a field is not trained longer
    for row in rows:
        assert 0 < row["test"] <= 1 and row["seconds"] > 0
        assert row["decode"] == max(row["dev"], key=row["dev"].__getitem__)
        assert set(row["dev"]) == ({"path"} if row["learner"] == "perceptron" else set(row["dev"]) | {"posterior"})
        assert row["hidden_labels"] == {"order 1": 1, "order 1, trained longer": 1, "hidden 2": 2}.get(
            row["model"], 0
        ) * row["labels"] or (
            row["model"].startswith("split") and row["labels"] <= row["hidden_labels"] <= 4 * row["labels"]
        )
    text = written.read_text()
    assert "| split-merge, up to 4 |" in text and "on test data than order 1" in text
    assert (tmp_path / "hidden.png").stat().st_size > 1000
    journal = (tmp_path / "hidden-journal.jsonl").read_bytes()
    hidden.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "hidden-journal.jsonl").read_bytes() == journal


def test_the_page_has_a_place_for_it() -> None:
    page = (hidden.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"hidden": "here it is"})


def test_the_verdict_compares_what_development_data_choose() -> None:
    def row(model: str, dev: float, test: float) -> dict[str, object]:
        return {
            "corpus": "english",
            "learner": "pa",
            "model": model,
            "dev": {"path": dev},
            "decode": "path",
            "test": test,
        }

    rows = [row("order 1", 0.9, 0.99), row("order 2", 0.91, 0.8), row("hidden 2", 0.95, 0.82), row("hidden 4", 0.94, 1)]
    found = hidden._verdict(hidden._groups(rows), "english", "pa", list(hidden.MODELS))
    assert found is not None and "hidden 2 has 2.00 points more on test data than order 2" in found


def test_words_of_nettalk_are_split_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nettalk").mkdir()
    lines = [f"w{i:03}\tabcd\t0123\t0" for i in range(50)]
    (tmp_path / "nettalk" / "nettalk.tsv").write_text("\n".join(lines) + "\n", encoding="latin-1")
    monkeypatch.setenv("MARGENT_DATA", str(tmp_path))
    data, again = hidden._nettalk(), hidden._nettalk()
    assert data.dev is not None and data.test is not None and again.test is not None
    assert [len(part.X) for part in (data.train, data.dev, data.test)] == [40, 5, 5]
    words = {"".join(token[0] for token in word) for part in (data.train, data.dev, data.test) for word in part.X}
    assert len(words) == 50
    assert list(data.test.X) == list(again.test.X)
