"""Examples without an answer: an error for the first of them, or None instead of the answer of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

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
