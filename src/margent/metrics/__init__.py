"""How good are the predictions: token, span and segment metrics, significance, calibration, tables and plots.

As in the package itself, a name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.metrics.boundary import BoundaryScore as BoundaryScore
    from margent.metrics.boundary import boundary_counts as boundary_counts
    from margent.metrics.calibration import Calibration as Calibration
    from margent.metrics.calibration import calibration_scores as calibration_scores
    from margent.metrics.calibration import span_confidences as span_confidences
    from margent.metrics.edits import EditCounts as EditCounts
    from margent.metrics.edits import edit_counts as edit_counts
    from margent.metrics.plots import plot_confusion as plot_confusion
    from margent.metrics.plots import plot_learning_curve as plot_learning_curve
    from margent.metrics.plots import plot_reliability as plot_reliability
    from margent.metrics.report import classification_table as classification_table
    from margent.metrics.report import confusion_table as confusion_table
    from margent.metrics.report import rich_table as rich_table
    from margent.metrics.score import Average as Average
    from margent.metrics.score import Score as Score
    from margent.metrics.segment import SegmentReport as SegmentReport
    from margent.metrics.segment import segment_metric as segment_metric
    from margent.metrics.segment import segment_scores as segment_scores
    from margent.metrics.segment_plot import plot_segments as plot_segments
    from margent.metrics.significance import BootstrapResult as BootstrapResult
    from margent.metrics.significance import McNemarResult as McNemarResult
    from margent.metrics.significance import SentenceMetric as SentenceMetric
    from margent.metrics.significance import mcnemar_test as mcnemar_test
    from margent.metrics.significance import paired_bootstrap as paired_bootstrap
    from margent.metrics.span import SpanReport as SpanReport
    from margent.metrics.span import conlleval_text as conlleval_text
    from margent.metrics.span import span_scores as span_scores
    from margent.metrics.token import Confusion as Confusion
    from margent.metrics.token import ConfusionMatrix as ConfusionMatrix
    from margent.metrics.token import TokenReport as TokenReport
    from margent.metrics.token import accuracy as accuracy
    from margent.metrics.token import confusion_matrix as confusion_matrix
    from margent.metrics.token import sentence_accuracy as sentence_accuracy
    from margent.metrics.token import token_scores as token_scores
    from margent.metrics.transcription import TranscriptionReport as TranscriptionReport
    from margent.metrics.transcription import transcription_scores as transcription_scores

_HOME = {
    "Average": "score",
    "BootstrapResult": "significance",
    "BoundaryScore": "boundary",
    "Calibration": "calibration",
    "Confusion": "token",
    "ConfusionMatrix": "token",
    "EditCounts": "edits",
    "McNemarResult": "significance",
    "Score": "score",
    "SegmentReport": "segment",
    "SentenceMetric": "significance",
    "SpanReport": "span",
    "TokenReport": "token",
    "TranscriptionReport": "transcription",
    "accuracy": "token",
    "boundary_counts": "boundary",
    "calibration_scores": "calibration",
    "classification_table": "report",
    "confusion_matrix": "token",
    "confusion_table": "report",
    "conlleval_text": "span",
    "edit_counts": "edits",
    "mcnemar_test": "significance",
    "paired_bootstrap": "significance",
    "plot_confusion": "plots",
    "plot_learning_curve": "plots",
    "plot_reliability": "plots",
    "plot_segments": "segment_plot",
    "rich_table": "report",
    "segment_metric": "segment",
    "segment_scores": "segment",
    "sentence_accuracy": "token",
    "span_confidences": "calibration",
    "span_scores": "span",
    "token_scores": "token",
    "transcription_scores": "transcription",
}
"""Public name to the module that defines it."""

__all__ = [*_HOME]

__getattr__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
