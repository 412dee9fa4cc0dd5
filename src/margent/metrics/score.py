"""Counts of right, gold and predicted things, and the three ratios that everybody quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from margent.annotation.schemes import Span
from margent.errors import CorpusError

Sequences = Iterable[Iterable[str]]
"""Label sequences: a list of lists of strings, or anything that iterates like one."""


class Score(NamedTuple):
    """How often `label` was right (`correct`), was there to find (`gold`), and was predicted (`found`).

    A ratio with nothing to divide by is 0, as in conlleval.
    """

    label: str
    correct: int
    gold: int
    found: int

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.correct / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of what was there that was found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, 2PR / (P + R) = 2 correct / (gold + found)."""
        return 2 * self.correct / (self.gold + self.found) if self.correct else 0.0


class Average(NamedTuple):
    """A mean over labels; `gold` and `found` are totals."""

    label: str
    precision: float
    recall: float
    f1: float
    gold: int
    found: int


def averages(rows: Iterable[Score]) -> tuple[Average, Average]:
    """The mean over labels where each counts the same (macro), and where each counts by its gold frequency (weighted).

    The weighted mean is 0 when nothing is in the gold data.
    """
    rows = list(rows)
    gold, found = sum(row.gold for row in rows), sum(row.found for row in rows)

    def mean(name: str, weights: list[int]) -> Average:
        total = sum(weights) or 1
        precision = sum(weight * row.precision for weight, row in zip(weights, rows)) / total
        recall = sum(weight * row.recall for weight, row in zip(weights, rows)) / total
        f1 = sum(weight * row.f1 for weight, row in zip(weights, rows)) / total
        return Average(name, precision, recall, f1, gold, found)

    return mean("macro average", [1] * len(rows)), mean("weighted average", [row.gold for row in rows])


@dataclass(frozen=True)
class SpanTable:
    """Spans or segments that are right in start, end and label: `total` over all labels, and `rows` for each."""

    total: Score
    rows: tuple[Score, ...]

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.total.precision

    @property
    def recall(self) -> float:
        """The share of what is in the gold data that was found."""
        return self.total.recall

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, over all labels."""
        return self.total.f1

    @property
    def averages(self) -> tuple[Average, Average]:
        """The macro and the weighted average over all labels."""
        return averages(self.rows)


class SpanTally:
    """Counts spans by label: those of gold, those predicted, and those that are both."""

    def __init__(self) -> None:
        self._gold: Counter[str] = Counter()
        self._found: Counter[str] = Counter()
        self._correct: Counter[str] = Counter()

    def add(self, gold: Sequence[Span], found: Sequence[Span]) -> None:
        self._gold.update(span.label for span in gold)
        self._found.update(span.label for span in found)
        self._correct.update(span.label for span in set(gold).intersection(found))

    def scores(self, name: str) -> tuple[Score, tuple[Score, ...]]:
        """The total under this name, and the score of each label, sorted."""
        labels = sorted({*self._gold, *self._found})
        rows = tuple(Score(label, self._correct[label], self._gold[label], self._found[label]) for label in labels)
        return Score(name, self._correct.total(), self._gold.total(), self._found.total()), rows


def sentences(sequences: Sequences, side: str) -> Iterator[list[str]]:
    """The labels of one sentence after the other; a `CorpusError` if a sentence is no sequence or lacks a label."""
    for index, sentence in enumerate(sequences):
        if isinstance(sentence, str) or not isinstance(sentence, Iterable):
            raise CorpusError(
                f"sentence {index} of the {side} labels is {sentence!r}, but a list of labels was expected"
            )
        labels: list[Any] = list(sentence)
        if None in labels:
            raise CorpusError(f"sentence {index}, token {labels.index(None)} has no {side} label, but one is needed")
        yield labels


def paired(gold: Sequences, predicted: Sequences) -> Iterator[tuple[list[str], list[str]]]:
    """The gold and predicted labels of one sentence after the other; a `CorpusError` where they do not match."""
    both = zip_longest(sentences(gold, "gold"), sentences(predicted, "predicted"))
    for index, (right, guess) in enumerate(both):
        if right is None or guess is None:
            shorter, longer = ("gold", "predicted") if right is None else ("predicted", "gold")
            raise CorpusError(f"the {shorter} labels end after {index} sentences, but there are more {longer} ones")
        if len(right) != len(guess):
            raise CorpusError(f"sentence {index} has {len(right)} gold labels, but {len(guess)} predicted ones")
        yield right, guess
