"""How many processors there are to work with, and Python's own threads on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from margent import _core

Job = TypeVar("Job")
Item = TypeVar("Item")


def processor_count() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(run: Callable[[Job], Any], jobs: Sequence[Job], threads: int) -> list[Any]:
    """The results in the order of the jobs; the first error ends all.

    Ctrl-C, of which the main thread alone hears, ends the native code of all of them.
    """
    if threads == 1 or len(jobs) < 2:
        return [run(job) for job in jobs]
    work = _core.SharedWork()
    with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
        try:
            return list(pool.map(lambda job: work.run(run, job), jobs))
        except BaseException:
            work.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items; a thread makes the next one while the caller is at work with the last.

    For what makes them without waiting for anybody: Ctrl-C ends native code, not a thread that waits for input.
    """
    iterator, work = iter(items), _core.SharedWork()
    with ThreadPoolExecutor(1) as pool:
        try:
            waiting: Future[Any] = pool.submit(work.run, _next, iterator)
            while (item := waiting.result()) is not _END:
                waiting = pool.submit(work.run, _next, iterator)
                yield item
        except BaseException:
            work.stop()
            raise


_END: Any = object()


def _next(iterator: Iterator[Any]) -> Any:
    return next(iterator, _END)
