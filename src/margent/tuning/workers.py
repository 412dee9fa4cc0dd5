"""Evaluations on many processors: each worker process gets the data once, and then only the numbers of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from multiprocessing.synchronize import Event
from types import TracebackType

from margent.processes import Processes
from margent.tuning.problem import Outcome, Problem, Stopped, Task


class Workers:
    """Runs evaluations on `jobs` processes; with one job in this process."""

    def __init__(self, problem: Problem, jobs: int) -> None:
        self._problem = problem
        self._processes: Processes | None = None
        if jobs > 1:
            _check_can_be_sent(problem)
            self._stop = get_context("spawn").Event()
            self._processes = Processes(jobs, _begin, (problem, self._stop))

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._processes is not None:
            if kind is not None:
                self._stop.set()  # what is running ends after its epoch
            self._processes.__exit__(None, None, None)  # and is waited for

    def outcomes(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """The tasks with their outcomes, as they finish. Raises KeyboardInterrupt where Ctrl-C ended one."""
        if self._processes is not None:
            yield from self._processes.results(_evaluate, tasks)
            return
        for task in tasks:
            try:
                outcome = self._problem.evaluate(task)
            except Stopped:  # the training has caught Ctrl-C
                raise KeyboardInterrupt from None
            yield task, outcome


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


def _evaluate(task: Task) -> Outcome:
    return _problem.evaluate(task, _stop.is_set)
