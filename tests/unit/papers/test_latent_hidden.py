"""The experiment on hidden labels from end to end, on a small generated corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.experiment import Options, with_generated
from papers.latent import hidden

TINY = hidden.Plan(
    corpora=("addresses",),
    models=("order 1", "order 1, trained longer", "order 2", "hidden 2"),
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
        assert set(row["dev"]) == ({"viterbi"} if row["learner"] == "perceptron" else set(row["dev"]) | {"posterior"})
        assert row["hidden_labels"] == {"order 1": 1, "order 1, trained longer": 1, "order 2": 1, "hidden 2": 2}.get(
            row["model"], 0
        ) * row["labels"] or (
            row["model"].startswith("split") and row["labels"] <= row["hidden_labels"] <= 4 * row["labels"]
        )
    text = written.read_text()
    assert "| hidden 2 |" in text and "on test data than order" in text
    assert all(name not in row for row in rows for name in ("right", "lengths"))  # too long for a report
    assert (tmp_path / "hidden.png").stat().st_size > 1000
    journal = (tmp_path / "hidden-journal.jsonl").read_bytes()
    hidden.run(Options(out=tmp_path), TINY)
    assert (tmp_path / "hidden-journal.jsonl").read_bytes() == journal


def test_the_page_has_a_place_for_it() -> None:
    page = (hidden.HERE / "README.md").read_text("utf-8")
    assert "here it is" in with_generated(page, {"hidden": "here it is"})


def test_the_verdict_compares_what_development_data_choose() -> None:
    def row(model: str, dev: float, right: int) -> dict[str, object]:
        of_sentences = {"right": [right] * 50, "lengths": [100] * 50, "test": right / 100}
        shared = {"corpus": "english", "learner": "pa", "dev": {"viterbi": dev}, "decode": "viterbi"}
        return {**shared, "model": model, **of_sentences}

    rows = [row("order 1", 0.9, 99), row("order 2", 0.91, 80), row("hidden 2", 0.95, 82), row("hidden 4", 0.94, 100)]
    found = hidden._verdict(hidden._groups(rows), "english", "pa", list(hidden.MODELS))
    assert found is not None and "hidden 2 has 2.00 points more on test data than order 2" in found
    assert "may be luck" not in found and "not measured" not in found
    rows[2]["right"] = [100 * (i % 2) for i in range(50)]
    rows[1]["right"] = [100 * (i % 3 == 0) for i in range(50)]
    found = hidden._verdict(hidden._groups(rows), "english", "pa", list(hidden.MODELS))
    assert found is not None and "may be luck" in found
    found = hidden._verdict(hidden._groups([rows[0], rows[3]]), "english", "pa", list(hidden.MODELS))
    assert found is not None and "order 2 was not measured" in found


def test_a_field_of_order_two_is_measured_and_long_tasks_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "corpora", lambda name: None)
    monkeypatch.setattr(hidden, "data_fingerprint", lambda data: "")
    tasks = hidden.tasks(hidden.FULL)
    done = {(task["corpus"], task["learner"], task["model"]) for task in tasks}
    assert {(corpus, "crf", "order 2") for corpus in hidden.FULL.corpora} <= done
    assert (tasks[0]["corpus"], tasks[0]["learner"], tasks[0]["model"]) == ("nettalk", "crf", "hidden 4")
    assert tasks[-1]["learner"] == "perceptron" and tasks[-1]["model"] == "order 1"


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


def test_entries_of_one_word_are_not_torn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nettalk").mkdir()
    lines = [f"w{i // 2:03}\tabcd\t{i % 2}123\t0" for i in range(200)]
    (tmp_path / "nettalk" / "nettalk.tsv").write_text("\n".join(lines) + "\n", encoding="latin-1")
    monkeypatch.setenv("MARGENT_DATA", str(tmp_path))
    data = hidden._nettalk()
    assert data.dev is not None and data.test is not None
    words = [{"".join(token[0] for token in word) for word in part.X} for part in (data.train, data.dev, data.test)]
    assert [len(part) for part in words] == [80, 10, 10] and len(set.union(*words)) == 100
