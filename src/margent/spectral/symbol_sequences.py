"""Sequences of symbols as users give them, checked at the boundary."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, cast

from margent.errors import CorpusError


def symbol_sequence(x: Any, what: str) -> Sequence[Hashable]:
    """One sequence, of symbols that can be keys; an iterator becomes a list. `what`: how to call it."""
    if not isinstance(x, Iterable):
        raise CorpusError(f"{what} is {x!r}; expected a sequence of symbols, such as a str or a list")
    symbols: Any = x if hasattr(x, "__len__") and hasattr(x, "__getitem__") else list(x)
    try:
        hash(tuple(symbols))
    except TypeError as error:
        raise CorpusError(
            f"{what} has a symbol of an {error}; expected what can be a key, such as a str or a number"
        ) from None
    return cast("Sequence[Hashable]", symbols)


def symbol_sequences(X: Any, name: str) -> list[Sequence[Hashable]]:
    """A list of sequences. One str would be as many sequences of one letter, which nobody means."""
    if not isinstance(X, Iterable) or isinstance(X, (str, bytes)):
        raise CorpusError(f"{name} is {X!r}; expected a list of sequences of symbols, such as ['cat', 'city']")
    return [symbol_sequence(x, f"sequence {s} of {name}") for s, x in enumerate(X)]
