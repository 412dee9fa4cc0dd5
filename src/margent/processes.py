"""Work on many processors, in processes of their own: results as they come, Ctrl-C in order, nobody left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, TypeVar

from margent.errors import MargentError

Result = TypeVar("Result")


class WorkerError(MargentError, RuntimeError):
    """A worker process ended before its work was done."""


class Processes:
    """A pool of `jobs` processes that call `begin(*arguments)` once, and then functions at the top level of a module.

    The processes are started anew (spawned), never forked, so that threads and native memory are in order everywhere.
    They take no notice of Ctrl-C and SIGTERM, which are this process's business, and end when it ends, however that
    happens.
    """

    def __init__(self, jobs: int, begin: Callable[..., None] | None = None, arguments: tuple[Any, ...] = ()) -> None:
        self._jobs = jobs
        context = get_context("spawn")
        watched, self._alive = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(jobs, context, initializer=_begin_worker, initargs=(watched, begin, arguments))

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            self._alive.close()  # ends them at once, in the middle of what they do
        try:
            self._pool.shutdown(wait=True, cancel_futures=True)
        finally:  # reached early where Ctrl-C is pressed meanwhile
            self._alive.close()

    def results(
        self, function: Callable[[Any], Result], tasks: Iterable[Any], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[Any, Result]]:
        """Each task with `function(task)`, as they finish. None is begun any more once `stopped()`."""
        waiting = iter(tasks)
        running: dict[Future[Result], Any] = {}
        try:
            while True:
                while len(running) < self._jobs and not stopped():
                    for task in waiting:
                        with _interrupts_held_back():  # a process being started would answer with a traceback
                            running[self._pool.submit(function, task)] = task
                        break
                    else:
                        break
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process ended before its work was done: there may be too little memory for so many jobs, "
                'or a script does its work outside of `if __name__ == "__main__":`, and each process would do it again'
            ) from None


@contextmanager
def first_interrupt(act: Callable[[], object]) -> Iterator[None]:
    """In the block, the first Ctrl-C calls `act` instead of ending anything; the second is as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        act()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the end of the block; processes started in it never get them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In a worker process


def _begin_worker(watched: Connection, begin: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    if begin is not None:
        begin(*arguments)


def _end_with(watched: Connection) -> None:
    """The other end of the pipe closes when the parent says so, or ends itself."""
    try:
        watched.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
