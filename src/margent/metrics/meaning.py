"""How many questions are understood, and how many of these rightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from margent.errors import CorpusError
from margent.meaning import Expression, meaning_key
from margent.metrics.score import Score, SpanTable
from margent.metrics.significance import SentenceMetric, Statistics

WORDS = ((5, "1-5 words"), (8, "6-8 words"), (12, "9-12 words"), (20, "13-20 words"), (None, "more words"))
NAMES = ((1, "1 name"), (2, "2 names"), (3, "3 names"), (5, "4-5 names"), (None, "more names"))
"""Classes of questions by their words, and of right meanings by the names in them: up to how many, and how called."""


@dataclass(frozen=True)
class MeaningReport(SpanTable):
    """How good predicted meanings are. `str()` gives a table.

    total : questions whose meaning is right, all, and those that are understood at all
    rows : the same by the number of words of a question, and by the number of names in its right meaning
    """

    @property
    def coverage(self) -> float:
        """The share of the questions that are understood, rightly or not."""
        return self.total.found / self.total.gold if self.total.gold else 0.0

    def __str__(self) -> str:
        from margent.metrics.report import meaning_table

        return meaning_table(self)


def meaning_scores(
    gold: Iterable[Expression],
    predicted: Iterable[Expression | None],
    questions: Iterable[Sequence[str]] | None = None,
) -> MeaningReport:
    """Compare predicted meanings with right ones: the normal forms must be equal.

    Precision is over the questions that are understood, recall over all (Zettlemoyer and Collins 2005; paper 003,
    Section 5.1.4).

    Parameters
    ----------
    gold : the right meanings
    predicted : the predicted ones; None: the question was not understood
    questions : their words, for rows by their number; None: without these rows

    >>> from margent.meaning import parse_meaning
    >>> right = [parse_meaning(text) for text in ("(capital:c texas:s)", "(count $0 (state:t $0))", "utah:s")]
    >>> report = meaning_scores(right, [right[0], right[0], None])
    >>> report.precision, report.recall, report.f1, report.coverage
    (0.5, 0.3333333333333333, 0.4, 0.6666666666666666)
    """
    counts: dict[str, Counter[str]] = {"gold": Counter(), "found": Counter(), "correct": Counter()}
    given = iter(questions) if questions is not None else None
    for number, (right, guess) in enumerate(_pairs(gold, predicted)):
        classes = ["all questions"]
        if given is not None:
            words = next(given, None)
            if words is None:
                raise CorpusError(f"expected as many questions as meanings, got {number}")
            classes.append(_class(len(words), WORDS))
        classes.append(_class(_n_names(right), NAMES))
        for name in classes:
            counts["gold"][name] += 1
            counts["found"][name] += guess is not None
            counts["correct"][name] += _is_right(right, guess)
    names = [name for _, name in (*WORDS, *NAMES) if counts["gold"][name]]
    total, *rows = (
        Score(name, counts["correct"][name], counts["gold"][name], counts["found"][name])
        for name in ("all questions", *names)
    )
    return MeaningReport(total, tuple(rows))


def meaning_metric(name: str = "f1") -> SentenceMetric:
    """A score of meanings for `paired_bootstrap`: is one semantic parser really better than another?

    `name` is one of "f1", "precision" and "recall"; the meanings may have None for what is not understood.

    >>> from margent.meaning import parse_meaning
    >>> from margent.metrics import paired_bootstrap
    >>> gold = [parse_meaning("texas:s")] * 20
    >>> paired_bootstrap(gold, [None] * 20, gold, meaning_metric()).p_value < 0.001
    True
    """
    known = {
        "f1": lambda r, g, f: (2 * r, g + f),
        "precision": lambda r, g, f: (r, f),
        "recall": lambda r, g, f: (r, g),
    }
    if name not in known:
        raise CorpusError(f"unknown metric {name!r}; the metrics of meanings are {', '.join(known)}")

    def statistics(gold: Any, predicted: Any) -> Statistics:
        rows = [known[name](_is_right(right, guess), 1, guess is not None) for right, guess in _pairs(gold, predicted)]
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    return SentenceMetric(statistics, lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1))


def _is_right(right: Expression, guess: Expression | None) -> bool:
    return guess is not None and (right == guess or meaning_key(right) == meaning_key(guess))


def _n_names(meaning: Expression) -> int:
    from margent.meaning.expression import Constant

    return sum(isinstance(part, Constant) and part.name not in ("and", "or") for part in meaning.parts())


def _class(number: int, classes: Sequence[tuple[int | None, str]]) -> str:
    return next(name for most, name in classes if most is None or number <= most)


def _pairs(
    gold: Iterable[Expression], predicted: Iterable[Expression | None]
) -> list[tuple[Expression, Expression | None]]:
    missing = object()
    found: list[tuple[Any, Any]] = list(zip_longest(gold, predicted, fillvalue=missing))
    for number, (right, guess) in enumerate(found):
        if right is missing or guess is missing:
            shorter, longer = ("gold", "predicted") if right is missing else ("predicted", "gold")
            raise CorpusError(f"the {shorter} meanings end after {number}, but there are more {longer} ones")
        if not isinstance(right, Expression) or not isinstance(guess, (Expression, type(None))):
            side, given = ("predicted", guess) if isinstance(right, Expression) else ("gold", right)
            raise CorpusError(f"meaning {number}, {side}: expected an expression, got {type(given).__name__}")
    return found
