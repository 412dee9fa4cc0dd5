"""SIGTERM, by which systems ask a program to end, is answered as Ctrl-C is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STATUS_INTERRUPTED = 130
STATUS_TERMINATED = 143


class Termination:
    """Whether SIGTERM came."""

    requested = False

    def status(self, status: int) -> int:
        """The exit status of a command: that of Ctrl-C becomes that of SIGTERM where it was SIGTERM that came."""
        return STATUS_TERMINATED if self.requested and status == STATUS_INTERRUPTED else status


@contextmanager
def termination_interrupts() -> Iterator[Termination]:
    """In the block, SIGTERM raises KeyboardInterrupt: once, for what is saved then should not be lost to another one.

    Where the signal is ignored already, or handled by a program that this is a part of, it is left as it is.
    """
    termination = Termination()
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield termination
        return

    def handle(number: int, frame: object) -> None:
        if not termination.requested:
            termination.requested = True
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, handle)
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
