"""Segmentations: spans that follow each other without a gap, so that every frame or token belongs to exactly one.

A segment is a `Span`: frames or tokens `start` to `end - 1`, and what they are. A segmentation of n frames is a list of
them, the first from 0, the last to n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from margent.annotation.schemes import Span
from margent.errors import CorpusError
from margent.parameters import is_text

Segmentation = list[Span]


def check_segmentation(
    segments: Iterable[Any], length: int | None = None, where: str = "the segmentation"
) -> Segmentation:
    """The segments as spans, once they are known to follow each other without a gap from 0 to `length`.

    `where` begins the message of the `CorpusError` that tells of the first segment that does not.
    """
    checked: Segmentation = []
    end = 0
    for j, given in enumerate(segments):
        if isinstance(given, (str, bytes)) or not hasattr(given, "__len__") or len(given) != 3:
            raise CorpusError(f"{where}: segment {j} is {given!r}; expected (start, end, label)")
        start, stop, label = given
        whole = all(isinstance(at, (int, np.integer)) and not isinstance(at, bool) for at in (start, stop))
        if not whole or not is_text(label):
            raise CorpusError(
                f"{where}: segment {j} is {given!r}; expected two integers and a label of type str that is valid text"
            )
        if start != end or stop <= start:
            raise CorpusError(
                f"{where}: segment {j} is from {start} to {stop}; expected it to begin at {end} and to end later"
            )
        end = int(stop)
        checked.append(Span(int(start), end, label))
    if length is not None and end != length:
        raise CorpusError(f"{where}: the segments end at {end}; expected {length}, the length of the sequence")
    return checked


def frame_labels(segments: Iterable[Span]) -> list[str]:
    """The label of each frame.

    >>> frame_labels([Span(0, 2, "a"), Span(2, 3, "b")])
    ['a', 'a', 'b']
    """
    return [label for start, end, label in segments for _ in range(end - start)]


def segments_of(labels: Sequence[str]) -> Segmentation:
    """The segmentation in which each segment is as long as the label stays the same.

    >>> segments_of(["a", "a", "b"])
    [Span(start=0, end=2, label='a'), Span(start=2, end=3, label='b')]
    """
    segments: Segmentation = []
    end = 0
    for label, run in groupby(labels):
        start, end = end, end + sum(1 for _ in run)
        segments.append(Span(start, end, label))
    return segments
