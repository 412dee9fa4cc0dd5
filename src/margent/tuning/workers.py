"""Evaluations on many processors: each worker process gets the data once, and then only the numbers of tasks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.reduction import ForkingPickler
from multiprocessing.synchronize import Event
from types import TracebackType

from margent.errors import MargentError
from margent.tuning.problem import Outcome, Problem, Stopped, Task


class WorkerError(MargentError, RuntimeError):
    """A worker process ended before its work was done."""


class Workers:
    """Runs evaluations on `jobs` processes; with one job in this process.

    The processes are started anew (spawned), never forked, so that threads and native memory are in order everywhere.
    They take no notice of Ctrl-C, which is this process's business, and end when it ends, however that happens.
    """

    def __init__(self, problem: Problem, jobs: int) -> None:
        self._problem = problem
        self._pool: ProcessPoolExecutor | None = None
        if jobs > 1:
            _check_can_be_sent(problem)
            context = get_context("spawn")
            self._stop = context.Event()
            self._pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(problem, self._stop))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is not None:
            if kind is not None:
                self._stop.set()  # what is running ends after its epoch
            self._pool.shutdown(wait=True, cancel_futures=True)

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """The tasks with their outcomes, as they finish. Raises KeyboardInterrupt where Ctrl-C ended one."""
        if self._pool is None:
            for task in tasks:
                try:
                    outcome = self._problem.evaluate(task)
                except Stopped:  # the training has caught Ctrl-C
                    raise KeyboardInterrupt from None
                yield task, outcome
            return
        try:
            with _interrupts_held_back():  # a process that is being started would answer Ctrl-C with a traceback
                futures: dict[Future[Outcome], Task] = {self._pool.submit(_evaluate, task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process ended before its work was done: there may be too little memory for so many jobs, or "
                'a script calls tune outside of `if __name__ == "__main__":`, which every process would then do again'
            ) from None


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until the end of the block; processes started in it never get it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_can_be_sent(problem: Problem) -> None:
    """Functions inside of functions cannot be sent to another process; found out before the data are sent."""
    try:
        ForkingPickler.dumps((problem.tagger, problem.candidates))
    except Exception as error:
        raise ValueError(
            f"the tagger or the space cannot be sent to other processes ({error}): "
            "define functions at the top level of a module, or use jobs=1"
        ) from None


# In a worker process

_problem: Problem
_stop: Event


def _begin(problem: Problem, stop: Event) -> None:
    global _problem, _stop
    _problem, _stop = problem, stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _evaluate(task: Task) -> Outcome:
    return _problem.evaluate(task, _stop.is_set)
