"""Ctrl-C where something would be lost if it ended half-way: it is noted, and answered when that is safe."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class HeldSignals:
    """In the block, while it is `closed`, a signal that would raise KeyboardInterrupt is noted instead (`came`).

    A second one is not held: who sends two does not want to wait. SIGTERM is held where a handler of Python answers it,
    as that of the command line does. Does nothing outside of the main thread, which alone hears of signals.
    """

    def __init__(self, *, closed: bool) -> None:
        self.closed = closed
        self.came = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> HeldSignals:
        if threading.current_thread() is threading.main_thread():
            found = {number: signal.getsignal(number) for number in _SIGNALS}
            self._before = {number: handler for number, handler in found.items() if callable(handler)}
            for number in self._before:
                signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.came or not self.closed:
            self._before[number](number, frame)
            return
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt:
            self.came = True

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Signals are answered in the block, and one that came before it, too."""
        closed, self.closed = self.closed, False
        try:
            if self.came:
                raise KeyboardInterrupt
            yield
        finally:
            self.closed = self.closed or closed
