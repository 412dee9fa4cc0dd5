"""The journal of a search: what was found out so far, on disk, so that a search that was stopped goes on.

A file of JSON lines. The first describes the search; each further one is a finished evaluation, in the order in which
they finished.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from margent import strict_json
from margent.errors import MargentError
from margent.line_file import LineFile
from margent.tuning.problem import Outcome, Task

FORMAT = 1


class JournalError(MargentError, ValueError):
    """A journal is of another search, or damaged. The message says which file, and what is the matter."""


class Journal:
    """The finished evaluations of one search.

    path : the file; None: nothing is kept on disk
    settings : what makes this search this one, as plain data; the journal of another search is refused
    """

    def __init__(self, path: Path | None, settings: dict[str, Any]) -> None:
        self.outcomes: dict[Task, Outcome] = {}
        self._file = None if path is None else LineFile(path)
        if path is None or self._file is None:
            return
        settings = json.loads(json.dumps(settings))  # as it comes back from the file
        header = {"margent_journal": FORMAT, "settings": settings}
        if not self._file.lines:
            if not strict_json.encode(header).startswith(self._file.rest):
                raise _foreign(path)
            self._write(header)
            return
        _check_search(path, self._file.lines[0], settings)
        for number, line in enumerate(self._file.lines[1:], start=2):
            task, outcome = _evaluation(path, number, line)
            self.outcomes[task] = outcome

    def add(self, task: Task, outcome: Outcome) -> None:
        """Keeps a finished evaluation."""
        self.outcomes[task] = outcome
        self._write({**task._asdict(), **outcome._asdict()})

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(line)


def _foreign(path: Path) -> JournalError:
    return JournalError(f"{path}: this is not the journal of a search, or one of another version of Margent")


def _check_search(path: Path, line: bytes, settings: dict[str, Any]) -> None:
    try:
        first = strict_json.decode(line)
    except ValueError as problem:
        raise JournalError(f"{path}, line 1: {problem}") from None
    if not isinstance(first, dict) or first.get("margent_journal") != FORMAT:
        raise _foreign(path)
    theirs = first.get("settings")
    if theirs == settings:
        return
    differing = [name for name in settings if not isinstance(theirs, dict) or theirs.get(name) != settings[name]]
    raise JournalError(
        f"{path.parent} holds another search, with other {' and '.join(differing) or 'settings'}: "
        "choose another folder (on the command line with --out), or remove this one"
    )


def _evaluation(path: Path, number: int, line: bytes) -> tuple[Task, Outcome]:
    try:
        found = strict_json.decode(line)
        task = Task(*(int(found[name]) for name in Task._fields))
        score, error = found["score"], found["error"]
        if (score is None) == (error is None):
            raise ValueError("has a score and an error" if error is not None else "has neither a score nor an error")
        outcome = Outcome(None if score is None else float(score), float(found["seconds"]), error)
    except KeyError as missing:
        raise JournalError(f"{path}, line {number}: expected a finished evaluation, but it has no {missing}") from None
    except TypeError:
        raise JournalError(f"{path}, line {number}: expected a finished evaluation, found {line[:40]!r}") from None
    except ValueError as problem:
        raise JournalError(f"{path}, line {number}: expected a finished evaluation, but it {problem}") from None
    return task, outcome
