"""A progress bar on a terminal, and nothing in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class ProgressBar:
    """Epochs and examples done. `shown=None`: only when standard error is a terminal."""

    def __init__(self, n_epochs: int, n_examples: int, *, shown: bool | None = None) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._n_examples = n_examples
        self._before = 0
        if shown if shown is not None else sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("training", total=n_epochs * n_examples)

    def __enter__(self) -> ProgressBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, examples_of_epoch: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._before + examples_of_epoch)

    def epoch_done(self, epoch: Any) -> None:
        self._before += self._n_examples
        if self._bar is not None:
            reached = f"objective {epoch.objective:.6g}" if epoch.accuracy is None else f"accuracy {epoch.accuracy:.4f}"
            text = f"epoch {epoch.epoch}: {reached}"
            if epoch.dev_score is not None:
                text += f", development {epoch.dev_score:.4f}"
            self._bar.update(self._task, description=text)
