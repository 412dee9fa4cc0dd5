from __future__ import annotations

import json

import pytest

from margent.tuning.journal import Journal, JournalError
from margent.tuning.problem import Outcome, Task

SETTINGS = {"data": "abc", "space": [{"C": (1, 2)}], "trials": 4}
FOUND = {
    Task(0, 100, 0): Outcome(0.1 + 0.2, 1.5),
    Task(1, 100, 0): Outcome(None, 0.5, "k should be a number, “got” 0"),
    Task(0, 300, 0): Outcome(1.0, 2.0),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, SETTINGS)
    for task, outcome in FOUND.items():
        journal.add(task, outcome)
    return path


def test_what_was_written_comes_back(path):
    before = path.read_bytes()
    journal = Journal(path, SETTINGS)
    assert journal.outcomes == FOUND
    assert path.read_bytes() == before


def test_a_line_is_on_disk_at_once(path):
    journal = Journal(path, SETTINGS)
    journal.add(Task(5, 1, 0), Outcome(0.5, 1.0))
    assert json.loads(path.read_bytes().splitlines()[-1])["trial"] == 5


def test_every_truncation_is_survived(path):
    """However a journal is cut, it opens, holds the whole lines, and can be written to again."""
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = max(content[:size].count(b"\n") - 1, 0)
        journal = Journal(path, SETTINGS)
        assert list(journal.outcomes.items()) == list(FOUND.items())[:whole]
        for task, outcome in FOUND.items():
            if task not in journal.outcomes:
                journal.add(task, outcome)
        assert path.read_bytes() == content


def test_another_search_is_refused(path):
    with pytest.raises(JournalError, match="holds another search, with other trials: choose another folder"):
        Journal(path, {**SETTINGS, "trials": 5})
    with pytest.raises(JournalError, match="with other data and space"):
        Journal(path, {**SETTINGS, "data": "x", "space": []})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{nonsense", "line 3: expected a finished evaluation, but it is not valid JSON"),
        (b'{"trial":0,"sentences":1,"fold":0,"score":null,"seconds":1,"error":null}', "neither a score nor an error"),
        (b'{"trial":0}', "line 3: expected a finished evaluation, but it has no 'sentences'"),
        (b"[]", r"line 3: expected a finished evaluation, found b'\[\]'"),
    ],
)
def test_a_damaged_line_is_named(path, line, message):
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[3:]]) + b"\n")
    with pytest.raises(JournalError, match=message):
        Journal(path, SETTINGS)


@pytest.mark.parametrize("first", [b"a b\n", b"a diary", b"{}\n", b"[1]\n", b'{"margent_journal":2}\n'])
def test_a_file_that_is_no_journal(tmp_path, first):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(first)
    with pytest.raises(JournalError, match=r"journal\.jsonl"):
        Journal(path, SETTINGS)
    assert path.read_bytes() == first


def test_without_a_file():
    journal = Journal(None, SETTINGS)
    journal.add(Task(0, 1, 0), Outcome(0.5, 1.0))
    assert journal.outcomes
