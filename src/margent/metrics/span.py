"""Span precision, recall and F1, with the numbers of `conlleval`, the script of the CoNLL shared tasks."""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq

from margent.annotation.schemes import spans
from margent.errors import CorpusError
from margent.metrics.score import Score, Sequences, SpanTable, SpanTally, paired
from margent.printable import printable


@dataclass(frozen=True)
class SpanReport(SpanTable):
    """Per-span results: `total` over all types, `rows` for each type in the gold or predicted spans, sorted by name.

    A span is right if its start, its end and its type are. `str()` gives the text that conlleval prints.
    """

    tokens: int
    correct_tokens: int

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right label; 0 if there are none."""
        return self.correct_tokens / self.tokens if self.tokens else 0.0

    def __str__(self) -> str:
        return printable(conlleval_text(self))


def span_scores(gold: Sequences, predicted: Sequences, scheme: str | None = None) -> SpanReport:
    """Count the spans of the predicted labels that are also in the gold labels.

    Spans are read by `margent.annotation.schemes.spans`, on both sides: with `scheme=None` labels of any scheme, well
    formed or not; with a scheme, only labels that it has; with `"conlleval"` by the letter of the Perl script, which
    differs on IOBES and BILOU labels only. Cost: O(tokens).

    >>> span_scores([["B-X", "I-X", "O"]], [["B-X", "O", "O"]]).f1
    0.0
    """
    tokens = correct_tokens = 0
    tally = SpanTally()
    for index, (right, guess) in enumerate(paired(gold, predicted)):
        try:
            gold_spans, predicted_spans = spans(right, scheme), spans(guess, scheme)
        except CorpusError as error:
            raise CorpusError(f"sentence {index}: {error}") from None
        tally.add(gold_spans, predicted_spans)
        tokens += len(right)
        correct_tokens += sum(map(eq, right, guess))
    return SpanReport(*tally.scores("all spans"), tokens, correct_tokens)


def conlleval_text(report: SpanReport) -> str:
    """The report in the very layout of conlleval: two lines of totals, then a line for each type.

    Like the script, it prints the line of the empty type (labels `B`, `I`, `O` without a type) twice if such spans are
    in the gold and in the predicted labels.
    """
    total = report.total
    lines = [
        f"processed {report.tokens} tokens with {total.gold} phrases; "
        f"found: {total.found} phrases; correct: {total.correct}."
    ]
    if report.tokens:
        lines.append(f"accuracy: {100 * report.correct_tokens / report.tokens:6.2f}%; {_percentages(total)}")
    for row in report.rows:
        line = f"{row.label:>17}: {_percentages(row)}  {row.found}"
        lines += [line] * (2 if not row.label and row.gold and row.found else 1)
    return "".join(line + "\n" for line in lines)


def _percentages(score: Score) -> str:
    # In the order of the script's own operations, so that the last digit is rounded alike.
    precision = 100 * score.correct / score.found if score.found else 0.0
    recall = 100 * score.correct / score.gold if score.gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
