"""Examples without an answer: an error for the first of them, or None instead of the answer of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from margent.errors import ConstraintError, CorpusError
from margent.parameters import check_word

Answers = TypeVar("Answers", bound="list[Any]")
Failures = Mapping[int, Exception]
"""By the number of an example: why it has no answer."""


def check_on_error(given: Any, failures: Failures | None = None) -> None:
    """`on_error` must be "raise" or "none"; with "raise", what has failed already is an error."""
    check_word("on_error", given, ("raise", "none"))
    if given == "raise" and failures:
        raise failures[min(failures)]


def answered(answers: Answers, failures: Failures, on_error: str) -> Answers:
    """The answers, None for each example that failed; with `on_error="raise"` the error of the first of them."""
    check_on_error(on_error, failures)
    for number in failures:
        answers[number] = None
    return answers


def too_long(lengths: Sequence[int], longest: int, reason: str) -> dict[int, Exception]:
    """Why sentences of more words than `longest` have no answer; `reason` says what takes no more."""
    return {
        i: ConstraintError(f"sentence {i} has {n} words; expected at most {longest}, {reason}")
        for i, n in enumerate(lengths)
        if n > longest
    }


def check_lengths(lengths: Sequence[int], longest: int, name: str, reason: str) -> None:
    """Refuses data to learn from, or to choose the epoch by, before that begins."""
    for i, n in enumerate(lengths):
        if n > longest:
            raise CorpusError(f"sentence {i} of {name} has {n} words; expected at most {longest}, {reason}")


def spread(answers: Sequence[Any], failures: Failures, n: int) -> list[Any]:
    """The answers to those of n examples that did not fail, with None for the others."""
    given = iter(answers)
    return [None if i in failures else next(given) for i in range(n)]
