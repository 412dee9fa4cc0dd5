"""Results for people and for programs: what `train` and `evaluate` print."""

from __future__ import annotations

from typing import Any

from margent.metrics.report import classification_table
from margent.metrics.score import Average, Score, Sequences
from margent.metrics.span import SpanReport, span_scores
from margent.metrics.token import TokenReport, token_scores


def report_of(gold: Sequences, predicted: Sequences, scheme: str | None = None) -> SpanReport | TokenReport:
    """Over spans where the labels spell any, else over tokens."""
    report = span_scores(gold, predicted, scheme)
    return report if report.total.gold or report.total.found else token_scores(gold, predicted)


def as_json(report: SpanReport | TokenReport) -> dict[str, Any]:
    """The report as plain data."""
    common = {"tokens": report.tokens, "accuracy": report.accuracy}
    if isinstance(report, SpanReport):
        result = {
            "kind": "spans",
            **common,
            **_ratios(report.total),
            "types": {r.label: _ratios(r) for r in report.rows},
        }
    else:
        result = {
            "kind": "tokens",
            **common,
            "sentences": report.sentences,
            "sentence_accuracy": report.sentence_accuracy,
            "inside": _ratios(report.inside),
            "labels": {row.label: _ratios(row) for row in report.rows},
        }
    return result | {average.label.replace(" ", "_"): _ratios(average) for average in report.averages}


def _ratios(row: Score | Average) -> dict[str, Any]:
    return {"precision": row.precision, "recall": row.recall, "f1": row.f1, "gold": row.gold, "found": row.found}


__all__ = ["as_json", "classification_table", "report_of"]
