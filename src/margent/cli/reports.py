"""Results for people and for programs: what `train` and `evaluate` print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import singledispatch
from typing import Any

from margent.metrics.bleu_report import BleuReport, BleuRow
from margent.metrics.bracketing import BracketingReport
from margent.metrics.calibration import Calibration
from margent.metrics.dependency import Attachment, DependencyReport
from margent.metrics.meaning import MeaningReport
from margent.metrics.score import Average, Score, Sequences
from margent.metrics.segment import SegmentReport
from margent.metrics.significance import SentenceMetric, paired_bootstrap
from margent.metrics.span import SpanReport, span_scores
from margent.metrics.token import TokenReport, token_scores
from margent.metrics.transcription import TranscriptionReport


def report_of(gold: Sequences, predicted: Sequences, scheme: str | None = None) -> SpanReport | TokenReport:
    """Over spans where the labels spell any, else over tokens."""
    report = span_scores(gold, predicted, scheme)
    return report if report.total.gold or report.total.found else token_scores(gold, predicted)


@singledispatch
def as_json(report: Any) -> dict[str, Any]:
    """A report as plain data."""
    raise TypeError(f"{type(report).__name__} is not a report")


@as_json.register
def _(report: SpanReport) -> dict[str, Any]:
    return {
        "kind": "spans",
        "tokens": report.tokens,
        "accuracy": report.accuracy,
        **_ratios(report.total),
        "types": _by_label(report.rows),
        **_averages(report),
    }


@as_json.register
def _(report: TokenReport) -> dict[str, Any]:
    return {
        "kind": "tokens",
        "tokens": report.tokens,
        "accuracy": report.accuracy,
        "sentences": report.sentences,
        "sentence_accuracy": report.sentence_accuracy,
        "inside": _ratios(report.inside),
        "labels": _by_label(report.rows),
        **_averages(report),
    }


@as_json.register
def _(report: BracketingReport) -> dict[str, Any]:
    return {
        "kind": "phrases",
        **_ratios(report.total),
        "trees": report.trees,
        "exact_share": report.exact_share,
        "crossing": report.crossing,
        "no_crossing": report.no_crossing,
        "tag_accuracy": report.tag_accuracy,
        "labels": _by_label(report.rows),
    }


@as_json.register
def _(report: MeaningReport) -> dict[str, Any]:
    return {
        "kind": "meanings",
        **_ratios(report.total),
        "correct": report.total.correct,
        "coverage": report.coverage,
        "questions": _by_label(report.rows),
    }


@as_json.register
def _(report: BleuReport) -> dict[str, Any]:
    def row(of: BleuRow) -> dict[str, Any]:
        return {"bleu": of.bleu, "exact": of.exact, "sentences": of.sentences}

    return {
        "kind": "translations",
        **row(report.total),
        "precisions": list(report.precisions),
        "brevity_penalty": report.brevity_penalty,
        "length_ratio": report.length_ratio,
        "lengths": {name: row(of) for name, of in report.rows.items()},
    }


@as_json.register
def _(report: SegmentReport) -> dict[str, Any]:
    boundaries = report.boundaries
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
            **_ratios(boundaries),
            "tolerance": report.tolerance,
            "r_value": report.r_value,
            "over_segmentation": boundaries.over_segmentation,
        },
        **_ratios(report.total),
        "labels": _by_label(report.rows),
        **_averages(report),
    }


@as_json.register
def _(report: TranscriptionReport) -> dict[str, Any]:
    rates = {"word_error": report.word_error, "phoneme_error": report.phoneme_error}
    return {"kind": "pronunciations", **report._asdict(), **rates}


@as_json.register
def _(report: DependencyReport) -> dict[str, Any]:
    return {
        "kind": "dependencies",
        "sentences": report.sentences,
        "exact": report.exact,
        **_attachment(report.counts),
        "without_punctuation": _attachment(report.without_punctuation),
        "universal": _attachment(report.universal),
        "universal_without_punctuation": _attachment(report.universal_without_punctuation),
        "labels": _by_label(report.labels),
        "distances": _by_label(report.distances),
        "lengths": {name: _attachment(counts) for name, counts in report.lengths},
    }


def _attachment(counts: Attachment) -> dict[str, Any]:
    names = ("uas", "las", "label_accuracy", "clas", "words")
    return {name: getattr(counts, name) for name in names}


def _ratios(row: Score | Average) -> dict[str, Any]:
    return {"precision": row.precision, "recall": row.recall, "f1": row.f1, "gold": row.gold, "found": row.found}


def _by_label(rows: Iterable[Score]) -> dict[str, Any]:
    return {row.label: _ratios(row) for row in rows}


def _averages(report: SpanReport | TokenReport | SegmentReport) -> dict[str, Any]:
    return {average.label.replace(" ", "_"): _ratios(average) for average in report.averages}


def comparison(
    gold: Any, first: Any, second: Any, path: str, measures: Mapping[str, SentenceMetric]
) -> tuple[str, dict[str, Any]]:
    """The paired bootstrap of two systems, the second from a file, for each measure: for people and for programs."""
    text, summary = f"\ncompared with {path}:\n", {}
    for name, measure in measures.items():
        found = paired_bootstrap(gold, first, second, measure)
        surely = "a real difference" if found.p_value < 0.05 else "may well be luck"
        text += (
            f"  {name.upper()} {100 * found.first:.2f} here, {100 * found.second:.2f} there: "
            f"{100 * found.difference:+.2f}, 95% between {100 * found.low:+.2f} and {100 * found.high:+.2f}, "
            f"p = {found.p_value:.4f} ({surely})\n"
        )
        summary[name] = found._asdict()
    return text, summary


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
