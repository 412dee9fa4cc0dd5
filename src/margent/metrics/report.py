"""Results as tables for people to read, in plain text or in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from margent.metrics.bracketing import BracketingReport
from margent.metrics.dependency import Attachment, DependencyReport
from margent.metrics.meaning import MeaningReport
from margent.metrics.score import Average, Score
from margent.metrics.segment import SegmentReport
from margent.metrics.span import SpanReport
from margent.metrics.token import ConfusionMatrix, TokenReport
from margent.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

Report: TypeAlias = "TokenReport | SpanReport | SegmentReport | BracketingReport"

_HEAD = ("", "precision", "recall", "F1", "gold", "found")


def _cells(row: Score | Average) -> tuple[str, ...]:
    name = row.label or "(no type)"
    return name, *(f"{100 * ratio:.2f}" for ratio in (row.precision, row.recall, row.f1)), str(row.gold), str(row.found)


def _parts(report: Report) -> tuple[str, list[Score], list[Score | Average], str]:
    """What a row is, the rows, the rows below the line, and the line under the table."""
    if isinstance(report, SegmentReport):
        boundaries = report.boundaries._replace(label=f"boundaries within {1000 * report.tolerance:g} ms")
        return "label", list(report.rows), [report.total, *report.averages, boundaries], _segment_note(report)
    if isinstance(report, BracketingReport):
        return "phrase", list(report.rows), [report.total, *report.averages], _bracketing_note(report)
    right = f"accuracy {100 * report.accuracy:.2f} %"
    if isinstance(report, SpanReport):
        return "type", list(report.rows), [report.total, *report.averages], f"{right} of {report.tokens} tokens"
    inside = [report.inside] if any(row.label == report.outside for row in report.rows) else []
    note = f"{right} of {report.tokens} tokens, {100 * report.sentence_accuracy:.2f} % of {report.sentences} sentences"
    return "label", list(report.rows), [*inside, *report.averages], note


def _segment_note(report: SegmentReport) -> str:
    edits = report.edits
    return (
        f"phone error rate {100 * edits.rate:.2f} % of {edits.gold} segments: {edits.substitutions} substituted, "
        f"{edits.deletions} deleted, {edits.insertions} inserted\n"
        f"R-value of the boundaries {100 * report.r_value:.2f}, over-segmentation "
        f"{100 * report.boundaries.over_segmentation:.2f} %\n"
        f"accuracy {100 * report.frame_accuracy:.2f} % of {report.frames} frames in {report.utterances} utterances"
    )


def _bracketing_note(report: BracketingReport) -> str:
    def share(part: int) -> str:
        return f"{100 * part / max(report.trees, 1):.2f} %"

    return (
        f"{share(report.exact)} of {report.trees} trees are right, "
        f"{report.crossing / max(report.trees, 1):.2f} crossing brackets a tree, "
        f"none in {share(report.no_crossing)}, at most two in {share(report.few_crossing)}\n"
        f"accuracy {100 * report.tag_accuracy:.2f} % of the tags of {report.words} words"
    )


def classification_table(report: Report) -> str:
    """One line for each label (or span type) with precision, recall and F1 in per cent, and averages below.

    Of a `SegmentReport` the lines are whole segments; boundaries, phone errors and frames follow below.

    `gold` counts how often it is in the gold data, `found` how often it was predicted.
    """
    noun, rows, summary, note = _parts(report)
    below = [_cells(row) for row in summary]
    return _ruled((noun, *_HEAD[1:]), [_cells(row) for row in rows], below) + f"{note}\n"


def dependency_table(report: DependencyReport) -> str:
    """Attachment with and without punctuation and subtypes, and errors by label, distance and length, in per cent."""
    kinds = {
        "all words": report.counts,
        "without punctuation": report.without_punctuation,
        "universal labels": report.universal,
        "universal, without punctuation": report.universal_without_punctuation,
    }
    head = ("UAS", "LAS", "label", "CLAS", "words")
    note = f"{report.exact} of {report.sentences} trees are right as a whole"
    return "\n".join(
        [
            _ruled(("", *head), [_attachment_cells(name, counts) for name, counts in kinds.items()]) + f"{note}\n",
            _ruled(("label", *_HEAD[1:]), [_cells(row) for row in report.labels]),
            _ruled(("distance to the head", *_HEAD[1:]), [_cells(row) for row in report.distances]),
            _ruled(("words in the sentence", *head), [_attachment_cells(*each) for each in report.lengths]),
        ]
    )


def meaning_table(report: MeaningReport) -> str:
    """Precision, recall and F1 of questions by their words and the names in their meanings, in per cent."""
    note = f"{100 * report.coverage:.2f} % of {report.total.gold} questions are understood"
    return _ruled(("question", *_HEAD[1:]), [_cells(row) for row in report.rows], [_cells(report.total)]) + f"{note}\n"


def _attachment_cells(name: str, counts: Attachment) -> tuple[str, ...]:
    ratios = (counts.uas, counts.las, counts.label_accuracy, counts.clas)
    return name, *(f"{100 * ratio:.2f}" for ratio in ratios), str(counts.words)


def _ruled(head: Sequence[str], body: list[tuple[str, ...]], below: Sequence[tuple[str, ...]] = ()) -> str:
    """Rows under a head and a rule, and between two rules what sums them up."""
    body, below = ([tuple(map(printable, row)) for row in rows] for rows in (body, below))
    widths = [max(map(len, column)) for column in zip(head, *body, *below)]
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))

    def line(cells: Iterable[str]) -> str:
        first, *rest = (
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))
        )
        return "  ".join([first, *rest])

    summary = [*([rule] if body else []), *map(line, below), rule] if below else []
    return "\n".join([line(head), rule, *map(line, body), *summary]) + "\n"


def rich_table(report: Report, title: str | None = None) -> Table:
    """The same table for `rich`, for a terminal: `rich.print(rich_table(report))`."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    noun, rows, summary, note = _parts(report)
    table = Table(title=title, caption=note, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
    for position, head in enumerate((noun, *_HEAD[1:])):
        table.add_column(head, justify="right" if position else "left", style="bold" if head == "F1" else "")
    for row in rows:
        name, *numbers = _cells(row)
        table.add_row(escape(printable(name)), *numbers)
    table.add_section()
    for average in summary:
        table.add_row(*map(printable, _cells(average)), style="dim" if isinstance(average, Average) else "")
    return table


def confusion_table(matrix: ConfusionMatrix, top: int = 10) -> str:
    """The `top` most frequent mistakes, one a line: how often, the gold label, the label given instead."""
    rows = [
        ("count", "gold", "predicted"),
        *((str(n), printable(gold), printable(guess)) for gold, guess, n in matrix.most_confused(top)),
    ]
    count, gold = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "".join(f"{n:>{count}}  {right:<{gold}}  {guess}\n" for n, right, guess in rows)
