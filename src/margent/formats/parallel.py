"""Sequences that belong together, tokens and their labels for instance, read side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from margent.errors import CorpusError

_ENDED = object()

A = TypeVar("A")
B = TypeVar("B")


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


def apart(pairs: Iterable[tuple[A, B]]) -> tuple[list[A], list[B]]:
    """The first parts of pairs, and the second ones."""
    firsts, seconds = [], []
    for first, second in pairs:
        firsts.append(first)
        seconds.append(second)
    return firsts, seconds


def token_lines(
    X: Iterable[Sequence[Any]], y: Iterable[Sequence[Any]], line: Callable[[int, Any, Any], str]
) -> Iterator[list[str]]:
    """For each sequence a line for each token: line(number of the sequence, item, label).

    Where that raises ValueError, a `CorpusError` says for which token.
    """
    for number, (items, labels) in enumerate(side_by_side(X, y)):
        lines = []
        for token, (item, label) in enumerate(zip(items, labels)):
            try:
                lines.append(line(number, item, label))
            except ValueError as error:
                raise CorpusError(f"sequence {number}, token {token}: {error}") from None
        yield lines
