"""Metrics that look at one token at a time: accuracy, the table of labels, the confusion matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.metrics.score import Average, Score, Sequences, averages, paired


class Confusion(NamedTuple):
    """That many `tokens` of label `gold` were taken for `predicted`."""

    gold: str
    predicted: str
    tokens: int


@dataclass(frozen=True)
class ConfusionMatrix:
    """`counts[i, j]` tokens have the gold label `labels[i]` and the predicted label `labels[j]`."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]

    def most_confused(self, top: int = 10) -> list[Confusion]:
        """The `top` most frequent mistakes, the most frequent first."""
        mistakes = self.counts * (1 - np.eye(len(self.labels), dtype=np.int64))
        order = np.argsort(-mistakes, axis=None, kind="stable")[:top]
        rows, columns = np.unravel_index(order, mistakes.shape)
        return [
            Confusion(self.labels[i], self.labels[j], int(mistakes[i, j]))
            for i, j in zip(rows.tolist(), columns.tolist())
            if mistakes[i, j]
        ]


@dataclass(frozen=True)
class TokenReport:
    """Per-token results.

    `rows` has one `Score` for each label that is in the gold or the predicted labels, sorted by name. `inside` counts
    the tokens in chunks: those whose label is not the outside label, all labels together (micro-average).
    """

    tokens: int
    correct: int
    sentences: int
    correct_sentences: int
    rows: tuple[Score, ...]
    inside: Score
    outside: str

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right label; 0 if there are none."""
        return self.correct / self.tokens if self.tokens else 0.0

    @property
    def sentence_accuracy(self) -> float:
        """The share of sentences in which every label is right; 0 if there are none."""
        return self.correct_sentences / self.sentences if self.sentences else 0.0

    @property
    def averages(self) -> tuple[Average, Average]:
        """The macro and the weighted average over all labels."""
        return averages(self.rows)

    def __str__(self) -> str:
        from margent.metrics.report import classification_table

        return classification_table(self)


def accuracy(gold: Sequences, predicted: Sequences) -> float:
    """The share of tokens with the right label; 0 if there are no tokens."""
    return token_scores(gold, predicted).accuracy


def sentence_accuracy(gold: Sequences, predicted: Sequences) -> float:
    """The share of sentences in which every label is right; 0 if there are no sentences."""
    return token_scores(gold, predicted).sentence_accuracy


def token_scores(gold: Sequences, predicted: Sequences, *, outside: str = "O") -> TokenReport:
    """Accuracy, and precision, recall and F1 of each label, counted over tokens.

    `TokenReport.inside` is the F-measure "computed over tokens belonging to a chunk" of the k-best large-margin paper
    (papers 004, section 5.1): of the tokens predicted to be in a chunk, how many have the right label (precision); of
    those in a chunk in the gold data, how many (recall). It differs from the span F1 of `span_scores`, which gives no
    credit for a chunk that is half right.

    Labels: lists of lists of strings. Cost: one pass, O(tokens).

    >>> token_scores([["B-X", "I-X", "O"]], [["B-X", "O", "O"]]).inside.f1
    0.6666666666666666
    """
    pairs: Counter[tuple[str, str]] = Counter()
    sentences = correct_sentences = 0
    for right, guess in paired(gold, predicted):
        pairs.update(zip(right, guess))
        sentences += 1
        correct_sentences += right == guess
    found: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for (right_label, guess_label), count in pairs.items():
        there[right_label] += count
        found[guess_label] += count
    rows = tuple(
        Score(label, pairs[label, label], there[label], found[label]) for label in sorted({*there, *found}, key=str)
    )
    kept = [row for row in rows if row.label != outside]
    return TokenReport(
        tokens=sum(row.gold for row in rows),
        correct=sum(row.correct for row in rows),
        sentences=sentences,
        correct_sentences=correct_sentences,
        rows=rows,
        inside=Score(
            "tokens in chunks",
            sum(row.correct for row in kept),
            sum(row.gold for row in kept),
            sum(row.found for row in kept),
        ),
        outside=outside,
    )


def confusion_matrix(gold: Sequences, predicted: Sequences, labels: Sequence[str] | None = None) -> ConfusionMatrix:
    """How often each gold label (row) was given each predicted label (column).

    With `labels`, rows and columns are these, in this order, and each label of the data must be among them; by default
    they are all labels of the data, sorted.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for right, guess in paired(gold, predicted):
        pairs.update(zip(right, guess))
    seen = {label for pair in pairs for label in pair}
    names = tuple(sorted(seen, key=str) if labels is None else labels)
    index = {label: position for position, label in enumerate(names)}
    if missing := sorted(seen - set(index), key=str):
        raise CorpusError(f"the label {missing[0]!r} is in the data, but not among the {len(names)} labels given")
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for (right_label, guess_label), count in pairs.items():
        counts[index[right_label], index[guess_label]] = count
    return ConfusionMatrix(names, counts)
