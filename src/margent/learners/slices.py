"""Slices of the examples: how many of them one native call is given."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# How long one native call may run: long enough to cost nothing, short enough for Ctrl-C and a live progress bar.
_SLICE_SECONDS = 0.2


def timed_slices(examples: NDArray[np.int64], batch: int = 1) -> Iterator[NDArray[np.int64]]:
    """The examples in slices, 64 of them first, then as many as were done in about 0.2 s at the speed of the last.

    Slices are whole batches: where one ends depends on time, and what is learned must not.
    """
    done, size = 0, -(-64 // batch) * batch
    while done < len(examples):
        before = time.perf_counter()
        yield examples[done : done + size]
        done += size
        seconds = max(time.perf_counter() - before, 1e-9)
        wanted = min(4 * size, int(size * _SLICE_SECONDS / seconds))
        size = max(1, wanted // batch) * batch
