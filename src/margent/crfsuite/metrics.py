"""The metrics of sklearn-crfsuite: of labels one by one, and of whole sequences.

They count labels, not spans: `margent.metrics.span_scores` counts spans, as conlleval does. All but
`sequence_accuracy_score` and `flat_accuracy_score` need scikit-learn.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from margent.extras import optional


def flatten(y: Any) -> list[Any]:
    """The labels of all sequences in one list."""
    return list(chain.from_iterable(y))


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of right labels."""
    from margent.metrics.token import accuracy

    return accuracy([list(y) for y in y_true], [list(y) for y in y_pred])


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.precision_score` of the labels."""
    return _sklearn().precision_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.recall_score` of the labels."""
    return _sklearn().recall_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """`sklearn.metrics.f1_score` of the labels."""
    return _sklearn().f1_score(flatten(y_true), flatten(y_pred), **kwargs)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """`sklearn.metrics.fbeta_score` of the labels."""
    return _sklearn().fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **kwargs)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """`sklearn.metrics.classification_report` of the labels."""
    return _sklearn().classification_report(flatten(y_true), flatten(y_pred), labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of sequences that are right as a whole; 0 of none."""
    total = len(y_true)
    if not total:
        return 0
    return sum(list(gold) == list(found) for gold, found in zip(y_true, y_pred)) / total


def _sklearn() -> Any:
    return optional("sklearn.metrics", "this metric needs", "sklearn")
