"""How good are the predictions: token and span metrics, significance, calibration, tables and plots."""

from __future__ import annotations

from margent.metrics.calibration import Calibration, calibration_scores, span_confidences
from margent.metrics.plots import plot_confusion, plot_learning_curve, plot_reliability
from margent.metrics.report import classification_table, confusion_table, rich_table
from margent.metrics.score import Average, Score
from margent.metrics.significance import BootstrapResult, McNemarResult, SentenceMetric, mcnemar_test, paired_bootstrap
from margent.metrics.span import SpanReport, conlleval_text, span_scores
from margent.metrics.token import (
    Confusion,
    ConfusionMatrix,
    TokenReport,
    accuracy,
    confusion_matrix,
    sentence_accuracy,
    token_scores,
)

__all__ = [
    "Average",
    "BootstrapResult",
    "Calibration",
    "Confusion",
    "ConfusionMatrix",
    "McNemarResult",
    "Score",
    "SentenceMetric",
    "SpanReport",
    "TokenReport",
    "accuracy",
    "calibration_scores",
    "classification_table",
    "confusion_matrix",
    "confusion_table",
    "conlleval_text",
    "mcnemar_test",
    "paired_bootstrap",
    "plot_confusion",
    "plot_learning_curve",
    "plot_reliability",
    "rich_table",
    "sentence_accuracy",
    "span_confidences",
    "span_scores",
    "token_scores",
]
