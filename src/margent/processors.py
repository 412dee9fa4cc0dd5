"""How many processors there are to work with, and Python's own threads on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from margent import _core

Job = TypeVar("Job")


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
