"""What the experiments share: the journal, the pool, tables and generated parts of pages."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.machine import describe_machine
from papers.experiment import (
    Journal,
    Options,
    data_fingerprint,
    markdown_table,
    run_tasks,
    with_generated,
    write_json,
)
from papers.kbest.training import run_training

import margent
from margent.datasets import Dataset, Part
from margent.errors import CorpusError
from margent.processes import WorkerError

TASK = {
    "corpus": "addresses",
    "method": "perceptron",
    "k": 1,
    "C": None,
    "epochs": 1,
    "fold": 0,
    "folds": 2,
    "n_train": 30,
    "n_test": 10,
    "seed": 0,
    "keep_right": False,
}


def test_a_journal_outlives_its_run(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.add({"a": 1, "b": None}, {"x": 0.5})
    journal.add({"a": 2, "b": None}, {"x": 0.25})
    assert journal.result({"b": None, "a": 1}) == {"x": 0.5}
    again = Journal(path)
    assert again.result({"a": 2, "b": None}) == {"x": 0.25}
    assert again.result({"a": 2, "b": 0}) is None
    assert len(again.commits) == 1


def test_a_line_cut_by_a_kill_is_done_again(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.add({"a": 1}, {"x": 1})
    whole = path.read_bytes()
    journal.add({"a": 2}, {"x": 2})
    path.write_bytes(path.read_bytes()[:-5])
    journal = Journal(path)
    assert journal.result({"a": 2}) is None and journal.result({"a": 1}) == {"x": 1}
    journal.add({"a": 3}, {"x": 3})
    assert path.read_bytes().startswith(whole) and Journal(path).result({"a": 3}) == {"x": 3}
    path.write_bytes(whole[:-1])  # all but the end of the line: not known to be whole
    assert Journal(path).result({"a": 1}) is None


def test_a_file_that_is_no_journal_is_named(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"task": {}, "result": {}, "commit": ""}\nhello\n')
    with pytest.raises(CorpusError, match=r"journal\.jsonl, line 2: expected a result of an experiment in JSON"):
        Journal(path)


def test_a_file_of_someone_else_is_left_alone(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text("my diary")
    with pytest.raises(CorpusError, match=r"journal\.jsonl, line 1: expected a result"):
        Journal(path)
    assert path.read_text() == "my diary"


def test_only_what_is_missing_is_run_and_order_is_kept(tmp_path, capsys):
    seen = []

    def square(task):
        seen.append(task["x"])
        return {"y": task["x"] ** 2}

    journal = Journal(tmp_path / "journal.jsonl")
    journal.add({"x": 3}, {"y": 9})
    tasks = [{"x": x} for x in (5, 3, 2, 5)]
    assert run_tasks(square, tasks, journal, jobs=1, title="squares") == [{"y": y} for y in (25, 9, 4, 25)]
    assert seen == [5, 2]
    assert "squares: 2 of 4" in capsys.readouterr().err
    run_tasks(square, tasks, Journal(tmp_path / "journal.jsonl"), jobs=1, title="squares")
    assert seen == [5, 2]


def test_what_was_finished_before_a_failure_is_kept(tmp_path):
    def fails_later(task):
        if task["x"] == 2:
            raise KeyboardInterrupt
        return {"y": 1}

    path = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_tasks(fails_later, [{"x": 1}, {"x": 2}, {"x": 3}], Journal(path), jobs=1, title="")
    assert Journal(path).result({"x": 1}) == {"y": 1}
    assert len(path.read_text().splitlines()) == 1


def test_processes_give_what_one_gives(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    tasks = [{**TASK, "k": k} for k in (1, 2, 3)]
    two = run_tasks(run_training, tasks, Journal(tmp_path / "two"), jobs=2, title="")
    assert [result["scores"] for result in two] == [run_training(task)["scores"] for task in tasks]
    assert "papers.kbest.training" in sys.modules


def test_the_first_interrupt_lets_what_is_under_way_finish(tmp_path, capsys):
    def interrupted(task):
        if task["x"] == 2:
            signal.raise_signal(signal.SIGINT)
        return {"y": task["x"]}

    path = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_tasks(interrupted, [{"x": x} for x in (1, 2, 3)], Journal(path), jobs=1, title="")
    assert Journal(path).result({"x": 2}) == {"y": 2} and Journal(path).result({"x": 3}) is None
    assert "finishing 1 training; Ctrl-C again stops at once" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_killed_process_is_named(tmp_path):
    tasks = [{"x": 1}, {"x": 2}]
    with pytest.raises(WorkerError, match="a worker process ended before its work was done: there may be too little"):
        run_tasks(end_process, tasks, Journal(tmp_path / "journal.jsonl"), jobs=2, title="")


def end_process(task):
    os._exit(9)


def test_other_data_are_another_task(tmp_path):
    one, other = (
        Dataset("a", Part([["x"]], [[label]]), None, Part([["z"]], [["O"]]), description="", terms="")
        for label in ("O", "B")
    )
    assert data_fingerprint(one) == data_fingerprint(one) != data_fingerprint(other)


def test_an_interrupted_training_is_no_result(monkeypatch):
    fit = margent.Tagger.fit

    def interrupted(self, *given, **options):
        fit(self, *given, **options)
        self.model_ = replace(self.model_, interrupted=True)
        return self

    monkeypatch.setattr(margent.Tagger, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_training(TASK)


def test_tables():
    assert markdown_table(("a", "b"), [("x", "1"), ("y", "2")]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n| y | 2 |\n"


def test_generated_parts_take_the_place_of_old_ones():
    page = "# T\n\n<!-- generated: one -->\nold\n\nold\n<!-- end -->\n\nkept\n\n<!-- generated: two -->\n<!-- end -->\n"
    once = with_generated(page, {"one": "new \\1\n", "two": "2"})
    assert once == with_generated(once, {"one": "new \\1", "two": "2"})
    assert " ".join(once.split()) == (
        "# T <!-- generated: one --> new \\1 <!-- end --> kept <!-- generated: two --> 2 <!-- end -->"
    )
    with pytest.raises(CorpusError, match="expected one part '<!-- generated: three -->'"):
        with_generated(page, {"three": ""})


def test_results_say_where_they_come_from(tmp_path):
    write_json(tmp_path / "results.json", {"x": [1]})
    content = json.loads((tmp_path / "results.json").read_text())
    assert content["x"] == [1] and {"processor", "commit", "versions"} <= set(content["machine"])
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_the_machine_in_words(monkeypatch):
    found = describe_machine()
    assert found["versions"]["margent"] == margent.__version__
    assert found["system"] == f"{platform.system()} {platform.machine()}"
    monkeypatch.setenv("PATH", "")
    assert describe_machine()["commit"] == "unknown"


def test_where_results_go(tmp_path, monkeypatch):
    assert Options().folder(tmp_path) == tmp_path / "results"
    assert Options(quick=True).folder(tmp_path) == tmp_path / "results-quick"
    assert Options(out=tmp_path / "a" / "b").folder(tmp_path).is_dir()
    monkeypatch.setenv("MARGENT_DATA", "before")
    with Options(data=tmp_path).environment():
        assert os.environ["MARGENT_DATA"] == str(tmp_path)
    assert os.environ["MARGENT_DATA"] == "before"
