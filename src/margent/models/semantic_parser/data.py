"""Questions with their right meanings, checked once for all that is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError, MeaningError
from margent.meaning import Expression, meaning_key, parse_meaning
from margent.models.inputs import sentence_weights

LONGEST = 1000
"""A question has at most so many words."""


@dataclass(frozen=True, eq=False)
class QuestionData:
    """questions : lists of words; meanings : the right one of each, None where it is not known
    sample_weight : (n,) what each counts; None: 1
    """

    questions: list[list[str]]
    meanings: list[Expression | None] | None = None
    sample_weight: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None, names: tuple[str, str] = ("X", "y")) -> QuestionData:
        questions = _questions(X, names[0])
        meanings = None if y is None else _meanings(y, len(questions), names)
        return cls(questions, meanings, sentence_weights(sample_weight, len(questions)))

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def right(self) -> list[Expression | None]:
        """The right meanings; CorpusError where there are none."""
        if self.meanings is None:
            raise CorpusError("the meanings are missing: y is None; expected a meaning for each question of X")
        return self.meanings

    @cached_property
    def keys(self) -> list[str | None]:
        """The texts that right meanings are compared by."""
        return [None if meaning is None else meaning_key(meaning) for meaning in self.right]

    @property
    def counts(self) -> NDArray[np.float64]:
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the questions that count and whose meaning is known."""
        known = np.array([meaning is not None for meaning in self.right], dtype=bool)
        return np.flatnonzero(known & (self.counts > 0))

    def part(self, numbers: Sequence[int] | NDArray[np.int64]) -> QuestionData:
        """The questions of these numbers alone."""
        chosen = np.asarray(numbers, dtype=np.int64)
        return QuestionData(
            [self.questions[i] for i in chosen.tolist()],
            None if self.meanings is None else [self.meanings[i] for i in chosen.tolist()],
            None if self.sample_weight is None else self.sample_weight[chosen],
        )


def _questions(X: Any, name: str) -> list[list[str]]:
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        raise CorpusError(f"expected a list of questions for {name}, got {type(X).__name__}")
    found = []
    for number, question in enumerate(X):
        words = question.split() if isinstance(question, str) else question
        if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) and word for word in words):
            raise CorpusError(
                f"question {number} of {name}: expected text or a list of words, got {str(question)[:60]!r}"
            )
        if len(words) > LONGEST:
            raise CorpusError(f"question {number} of {name} has {len(words)} words; expected at most {LONGEST}")
        found.append(list(words))
    return found


def _meanings(y: Any, n: int, names: tuple[str, str]) -> list[Expression | None]:
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise CorpusError(f"expected a list of meanings for {names[1]}, got {type(y).__name__}")
    given = list(y)
    if len(given) != n:
        raise CorpusError(f"{names[0]} has {n} questions and {names[1]} {len(given)} meanings; expected as many")
    found: list[Expression | None] = []
    for number, meaning in enumerate(given):
        try:
            found.append(parse_meaning(meaning) if isinstance(meaning, str) else meaning)
        except MeaningError as error:
            raise CorpusError(f"meaning {number} of {names[1]}: {error}") from None
        if not (meaning is None or isinstance(found[-1], Expression)):
            raise CorpusError(f"meaning {number} of {names[1]}: expected an expression or its text, got {meaning!r}")
    return found
