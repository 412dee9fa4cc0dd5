"""Scores of encoded labellings: of a tagger on test data, and of weights in training on development data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.metrics.span_counts import SpanCounter
from margent.models.labels import MISSING, LabelSet
from margent.models.tagger.constraints import Allowed
from margent.models.tagger.decoding import decoded
from margent.models.tagger.weights import Weights

Ids = NDArray[np.int32]


METRICS = ("span_f1", "inside_f1", "accuracy")
"""What a labelling may be judged by: F1 of spans, F1 of the tokens that are not `O`, the share of right tokens."""


def check_metric(name: str, metric: str | None) -> None:
    if metric is not None and metric not in METRICS:
        raise ValueError(f"{name} should be one of {', '.join(METRICS)} or None, got {metric!r}")


class Gold:
    """The right labels of some data, to compare predictions with.

    labels : those of the model. A label that is not among them cannot be predicted, and gets an id of its own.
    spans : whether the score is span F1; otherwise, or where labels are missing, it is the share of right tokens.
    metric : one of `METRICS`, for a score chosen by the user instead; it needs a label for each token.
    """

    def __init__(self, y: Any, encoded: Encoded, labels: LabelSet, *, spans: bool, metric: str | None = None) -> None:
        extended = labels.extended(y)
        self.ids: Ids = extended.encode(y, encoded.lengths)
        self.there = self.ids != MISSING
        self._encoded = encoded
        if metric not in (None, "accuracy") and not self.there.all():
            raise CorpusError(f"the metric {metric!r} needs a label for each token, and some are missing")
        spans = spans and self.there.all() if metric is None else metric == "span_f1"
        self._counter = SpanCounter(extended.names) if spans else None
        self._inside = np.array([name != "O" for name in extended.names]) if metric == "inside_f1" else None

    def score(self, predicted: Ids, weights_of_sentences: NDArray[np.float32] | None = None) -> float:
        """Higher is better; `weights_of_sentences`: (n_sentences,), what each span or token of a sentence counts."""
        weights = None
        if weights_of_sentences is not None:
            weights = np.repeat(weights_of_sentences, self._encoded.lengths)
        if self._counter is not None:
            return self._counter.f1(self.ids, predicted, self._encoded.sequence_ptr, weights)
        if self._inside is not None:
            gold, found = self._inside[self.ids], self._inside[predicted]
            counted = np.ones(len(gold)) if weights is None else weights
            total = float(counted[gold].sum() + counted[found].sum())
            return 2 * float(counted[gold & (self.ids == predicted)].sum()) / total if total else 0.0
        right = self.ids[self.there] == predicted[self.there]
        counted = np.ones(len(right)) if weights is None else weights[self.there]
        return float(np.average(right, weights=counted)) if counted.any() else 0.0


def development_score(
    feature_map: FeatureMap,
    encoded: Encoded,
    gold: Gold,
    allowed: Allowed | None,
    pairs: NDArray[np.bool_] | None,
    decode: str,
    beam: int | None,
    threads: int,
) -> Callable[[Weights], float]:
    """From weights to their score on development data."""
    if not gold.there.any():  # every epoch would seem equally bad, and the first the best
        raise CorpusError("the development data have no labelled token, so they cannot tell which epoch is best")

    def evaluate(weights: Weights) -> float:
        search = weights.structure(pairs, beam).search(feature_map, encoded, allowed, threads)
        return gold.score(decoded(search, decode, 1.0, encoded, pairs).best()[0])

    return evaluate
