"""Threads of Python that share the work, and work that is done ahead."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from margent import _core
from margent.processors import ahead, in_threads
from margent.structures import chain


def test_results_are_in_the_order_of_the_jobs() -> None:
    assert in_threads(lambda job: job * job, range(50), 3) == [job * job for job in range(50)]
    assert in_threads(str, [], 3) == [] and in_threads(str, [7], 3) == ["7"]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda job: 1 // (job - 5), range(50), 3)


def endless(job: object) -> object:
    """Native work of a minute."""
    return chain.best(chain.ChainScores(np.zeros((4000, 200), np.float32), np.zeros((201**2, 200), np.float32)))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal there")
def test_ctrl_c_ends_native_code_of_all_threads() -> None:
    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    started = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            in_threads(endless, range(6), 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - started < 2
    assert threading.active_count() == 1 or not any("ThreadPool" in t.name for t in threading.enumerate())


def test_work_that_was_stopped_does_no_more() -> None:
    work = _core.SharedWork()
    assert work.run(str, 3) == "3"
    work.stop()
    with pytest.raises(RuntimeError, match="interrupted"):
        work.run(endless, None)


def test_the_next_item_is_made_meanwhile() -> None:
    made = [threading.Event() for _ in range(4)]

    def items() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    for number in ahead(items()):
        assert number + 1 == len(made) or made[number + 1].wait(10)
    assert list(ahead([])) == []


def test_what_an_iterator_raises_comes_in_its_turn() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_who_has_enough_waits_for_nothing() -> None:
    found = ahead(iter(range(10**9)))
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    found.close()
