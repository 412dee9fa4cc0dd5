"""Scorers for `cross_val_score`, `GridSearchCV` and the like, as sklearn-crfsuite has them. They need scikit-learn."""

from __future__ import annotations

from margent.crfsuite import metrics
from margent.extras import optional

_make_scorer = optional("sklearn.metrics", "scorers need", "sklearn").make_scorer

flat_accuracy = _make_scorer(metrics.flat_accuracy_score)
sequence_accuracy = _make_scorer(metrics.sequence_accuracy_score)
