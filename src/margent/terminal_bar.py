"""A progress bar on a terminal, and nothing in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, TypeVar

from margent.printable import printable

Self = TypeVar("Self", bound="TerminalBar")


class TerminalBar:
    """A bar with a text on standard error. `shown=None`: only when that is a terminal."""

    def __init__(self, text: str, total: int, *, shown: bool | None = None) -> None:
        self._bar: Any = None
        if shown if shown is not None else sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(printable(text), total=total)

    def __enter__(self: Self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, **changes: Any) -> None:
        """`completed` or `advance`, and `description`, as rich has them."""
        if self._bar is None:
            return
        if "description" in changes:
            changes["description"] = printable(changes["description"])
        try:
            self._bar.update(self._task, **changes)
        except OSError:  # the terminal has gone away; the work has not
            self._bar = None
