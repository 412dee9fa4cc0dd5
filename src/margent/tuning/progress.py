"""A progress bar for a search, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from margent.tuning.halving import Rung


class SearchProgress:
    """How much of the search is done, measured in training sentences. `shown=None`: only on a terminal."""

    def __init__(self, ladder: Sequence[Rung], n_folds: int, *, shown: bool | None = None) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._ladder = list(ladder)
        self._n_folds = n_folds
        self._best = -1.0
        if shown if shown is not None else sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            total = sum(rung.candidates * rung.sentences for rung in ladder) * n_folds
            self._task = self._bar.add_task("tuning", total=total)

    def __enter__(self) -> SearchProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, rung: Rung, done: int) -> None:
        """A rung begins, of which so many evaluations are known already."""
        self._best = -1.0
        if self._bar is not None:
            below = self._ladder[: self._ladder.index(rung)]
            completed = sum(step.candidates * step.sentences for step in below) * self._n_folds
            self._bar.update(self._task, completed=completed + done * rung.sentences, description=self._text(rung))

    def advance(self, rung: Rung, score: float | None) -> None:
        """One more evaluation of the rung is done."""
        self._best = max(self._best, -1.0 if score is None else score)
        if self._bar is not None:
            self._bar.update(self._task, advance=rung.sentences, description=self._text(rung))

    def _text(self, rung: Rung) -> str:
        trials = f"{rung.candidates} trial{'s' * (rung.candidates != 1)}"
        where = f"rung {self._ladder.index(rung) + 1} of {len(self._ladder)}: {trials}"
        best = f", best score {100 * self._best:.2f}" if self._best >= 0 else ""
        return f"{where} on {rung.sentences:,} sentences{best}"
