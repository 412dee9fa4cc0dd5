"""Results for people and for programs: what `train` and `evaluate` print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from margent.metrics.bracketing import BracketingReport
from margent.metrics.calibration import Calibration
from margent.metrics.dependency import Attachment, DependencyReport
from margent.metrics.report import classification_table
from margent.metrics.score import Average, Score, Sequences
from margent.metrics.segment import SegmentReport
from margent.metrics.span import SpanReport, span_scores
from margent.metrics.token import TokenReport, token_scores
from margent.metrics.transcription import TranscriptionReport


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


def bracketing_json(report: BracketingReport) -> dict[str, Any]:
    """A report on trees of phrases as plain data."""
    return {
        "kind": "phrases",
        **_ratios(report.total),
        "trees": report.trees,
        "exact_share": report.exact_share,
        "crossing": report.crossing,
        "no_crossing": report.no_crossing,
        "tag_accuracy": report.tag_accuracy,
        "labels": {row.label: _ratios(row) for row in report.rows},
    }


def segment_json(report: SegmentReport) -> dict[str, Any]:
    """A report on segments as plain data."""
    return {
        "kind": "segments",
        "recordings": report.utterances,
        "frames": report.frames,
        "frame_accuracy": report.frame_accuracy,
        "phone_error_rate": report.phone_error_rate,
        "substitutions": report.edits.substitutions,
        "deletions": report.edits.deletions,
        "insertions": report.edits.insertions,
        "boundaries": {
            **{name: getattr(report.boundaries, name) for name in ("precision", "recall", "f1", "gold", "found")},
            "tolerance": report.tolerance,
            "r_value": report.r_value,
            "over_segmentation": report.boundaries.over_segmentation,
        },
        **_ratios(report.total),
        "labels": {row.label: _ratios(row) for row in report.rows},
        **{average.label.replace(" ", "_"): _ratios(average) for average in report.averages},
    }


def transcription_json(report: TranscriptionReport) -> dict[str, Any]:
    """A report on pronunciations as plain data."""
    return {
        "kind": "pronunciations",
        **report._asdict(),
        "word_error": report.word_error,
        "phoneme_error": report.phoneme_error,
    }


def dependency_json(report: DependencyReport) -> dict[str, Any]:
    """A report on dependency trees as plain data."""
    return {
        "kind": "dependencies",
        "sentences": report.sentences,
        "exact": report.exact,
        **_attachment(report.counts),
        "without_punctuation": _attachment(report.without_punctuation),
        "universal": _attachment(report.universal),
        "universal_without_punctuation": _attachment(report.universal_without_punctuation),
        "labels": {row.label: _ratios(row) for row in report.labels},
        "distances": {row.label: _ratios(row) for row in report.distances},
        "lengths": {name: _attachment(counts) for name, counts in report.lengths},
    }


def _attachment(counts: Attachment) -> dict[str, Any]:
    names = ("uas", "las", "label_accuracy", "clas", "words")
    return {name: getattr(counts, name) for name in names}


def _ratios(row: Score | Average) -> dict[str, Any]:
    return {"precision": row.precision, "recall": row.recall, "f1": row.f1, "gold": row.gold, "found": row.found}


def calibration_table(curves: Mapping[str, Calibration]) -> str:
    """How far probabilities can be trusted: a row for each curve."""
    width = max(map(len, curves))
    rows = [f"{'':{width}}  predictions  expected error  maximum error   Brier  log loss"]
    rows += [
        f"{name:{width}}  {int(curve.counts.sum()):11,}  {100 * curve.expected_error:12.2f} %  "
        f"{100 * curve.maximum_error:11.2f} %  {curve.brier:6.4f}  {curve.log_loss:8.4f}"
        for name, curve in curves.items()
    ]
    return "\n".join(rows) + "\n"


def calibration_json(curves: Mapping[str, Calibration]) -> dict[str, Any]:
    """The curves as plain data; what an empty bin has no value for is null."""
    return {
        name: {
            "expected_error": curve.expected_error,
            "maximum_error": curve.maximum_error,
            **{key: _listed(value) for key, value in asdict(curve).items()},
        }
        for name, curve in curves.items()
    }


def _listed(value: Any) -> Any:
    return [None if item != item else item for item in value.tolist()] if hasattr(value, "tolist") else value


__all__ = [
    "as_json",
    "calibration_json",
    "calibration_table",
    "classification_table",
    "dependency_json",
    "report_of",
    "segment_json",
    "transcription_json",
]
