"""Sequences that belong together, tokens and their labels for instance, read side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from margent.errors import CorpusError

_ENDED = object()


def side_by_side(*arguments: Iterable[Sequence[Any]]) -> Iterator[tuple[Sequence[Any], ...]]:
    """Yields the first sequence of each argument, then the second, ...; each argument is gone through once.

    Raises `CorpusError` where the arguments have different numbers of sequences, or where the sequences that meet have
    different lengths.
    """
    for number, parts in enumerate(zip_longest(*arguments, fillvalue=_ENDED)):
        if any(part is _ENDED for part in parts):
            short = [position for position, part in enumerate(parts) if part is _ENDED]
            raise CorpusError(f"argument {short[0]} ends after {number} sequences, expected as many as in the others")
        lengths = [len(part) for part in parts]
        if len(set(lengths)) > 1:
            raise CorpusError(f"sequence {number} has the lengths {lengths} in the arguments, expected equal lengths")
        yield parts
