"""The training of a segmenter: from sequences and segments to weights, watched on development data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.frame_map import EncodedFrames, FrameMap
from margent.features.segment_map import EncodedSegments, SegmentLimits, SegmentMap
from margent.learners import train
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.learners.training import Callback, Training
from margent.models.inputs import as_sentences, sentence_weights
from margent.models.segmenting.calibration import fitted_segment_temperature
from margent.models.segmenting.gold_segments import GoldSegments
from margent.models.segmenting.scores import DevMetric, named_segments, segmentation_score
from margent.models.segmenting.weights import MOST, SegmentWeights

if TYPE_CHECKING:
    from margent.models.segmenting.segmenter import Segmenter


@dataclass(frozen=True)
class SegmentLesson:
    """What a segmenter is given to learn from, and how the training is watched; see `Segmenter.fit`."""

    X: Any
    y: Any
    sample_weight: Any = None
    X_dev: Any = None
    y_dev: Any = None
    dev_metric: str | DevMetric | None = None
    callbacks: Iterable[Callback] = ()
    progress: bool | None = None


def learn(segmenter: Segmenter, lesson: SegmentLesson, feature_map: SegmentMap, known: SegmentWeights | None) -> None:
    """Trains a segmenter and gives it what was learned. `known`: the weights to go on from."""
    learner = segmenter._learner(feature_map)
    X = as_sentences(lesson.X)
    gold = GoldSegments.of(lesson.y, [len(x) for x in X], segmenter.outside)
    limits = _limits(segmenter, gold) if known is None else known.limits
    counted = sentence_weights(lesson.sample_weight, len(X))
    if counted is not None and not counted.any():
        raise CorpusError("there is nothing to learn from: the sample_weight of every sequence is zero")
    native_gold = gold.native(limits, counted)
    arrays = gold.arrays(limits.labels)
    encoded = feature_map.encode(X, limits, grow=True, gold=arrays)
    if not encoded.sequence_ptr[-1]:
        raise CorpusError("there is nothing to learn from: the training data have no frame or token")
    if known is None:
        weights = _start(segmenter, feature_map, encoded, limits, gold, counted)
    else:
        weights = known.with_content(feature_map.n_content(limits))
    if isinstance(learner, MaximumLikelihood):
        if any(rows is None for rows in arrays):
            raise CorpusError(
                "the learner MaximumLikelihood needs the times of all segments, and some sequences have only labels: "
                "other learners find them, and begin with maximum likelihood as well"
            )
        if known is not None:
            raise ValueError(
                "MaximumLikelihood cannot go on from a model (partial_fit): call fit with all data together"
            )
        result = Training(weights=weights.weights)
    else:
        oracle = _core.SegmentOracle(
            weights.native(),
            encoded.data(limits),
            native_gold,
            float(segmenter.frame_cost),
            float(segmenter.boundary_cost),
        )
        oracle.start_from(weights.weights)
        result = train(
            learner,
            oracle,
            seed=segmenter.seed,
            threads=segmenter._threads(),
            evaluate=_evaluation(segmenter, lesson, feature_map, weights),
            callbacks=lesson.callbacks,
            progress=lesson.progress,
        )
    history = [] if known is None else segmenter.history_
    segmenter._set_learned(feature_map, weights.with_weights(result.weights))
    segmenter.history_ = [*history, *(epoch.as_dict() for epoch in result.history)]
    segmenter.best_epoch_, segmenter.interrupted_ = result.best_epoch, result.interrupted
    probabilistic = bool(getattr(learner, "probabilistic", False))
    if known is None or probabilistic:
        segmenter.temperature_, segmenter.calibrated_ = 1.0, probabilistic
    if lesson.X_dev is not None and not probabilistic and segmenter.calibration:
        _fit_temperature(segmenter, lesson)


def _fit_temperature(segmenter: Segmenter, lesson: SegmentLesson) -> None:
    """At the end of a training: Ctrl-C, or data without a segment to judge, leave what was learned as it is."""
    try:
        temperature = fitted_segment_temperature(segmenter, lesson.X_dev, lesson.y_dev)
    except KeyboardInterrupt:
        segmenter.interrupted_ = True
        return
    if temperature is not None:
        segmenter.temperature_, segmenter.calibrated_ = temperature, True


def _limits(segmenter: Segmenter, gold: GoldSegments) -> SegmentLimits:
    labels = gold.labels()
    if not labels:
        raise CorpusError("there is nothing to learn from: the training data have no segment")
    seen = gold.longest(labels)
    longest = _of_labels(segmenter.max_duration, "max_duration", labels, np.maximum(seen, 1))
    if segmenter.max_duration is None and not seen.all():
        raise CorpusError(
            f"no segment with label {labels[int(np.argmin(seen))]!r} has times, so how long it lasts is not known: "
            "give max_duration"
        )
    shortest = _of_labels(segmenter.min_duration, "min_duration", labels, np.ones(len(labels), dtype=np.int32))
    if (shortest > longest).any():
        at = int(np.argmax(shortest > longest))
        raise ValueError(f"min_duration of {labels[at]!r} is {shortest[at]}, more than max_duration, {longest[at]}")
    return SegmentLimits(tuple(labels), shortest, longest)


def _of_labels(given: Any, name: str, labels: list[str], otherwise: NDArray[np.int32]) -> NDArray[np.int32]:
    """(L,): one number for each label, from a number or a dict of some of them."""
    chosen = otherwise.copy() if given is None or isinstance(given, dict) else np.full(len(labels), given)
    for label, number in given.items() if isinstance(given, dict) else ():
        if label not in labels:
            raise ValueError(f"{name} names label {label!r}, which the training data do not have")
        chosen[labels.index(label)] = number
    if (chosen < 1).any() or (chosen > MOST).any():
        raise ValueError(f"{name} should be whole numbers from 1 to {MOST}, got {given!r}")
    return chosen.astype(np.int32)


def _start(
    segmenter: Segmenter,
    feature_map: SegmentMap,
    encoded: EncodedSegments,
    limits: SegmentLimits,
    gold: GoldSegments,
    counted: NDArray[np.float32] | None,
) -> SegmentWeights:
    n = len(limits.labels)
    follows = None if segmenter.repeat else ~np.eye(n, dtype=bool)
    nothing = SegmentWeights(
        limits,
        feature_map.duration_features(limits.most),
        follows,
        bool(segmenter.transitions),
        np.zeros(0, np.float32),
    )
    weights = nothing.with_weights(np.zeros(feature_map.n_content(limits) + nothing._tail, dtype=np.float32))
    likelihood = segmenter._start(feature_map)
    if likelihood is None:
        return weights
    if not isinstance(feature_map, FrameMap) or not isinstance(encoded, EncodedFrames):
        raise ValueError("MaximumLikelihood is for frames, which are numbers; tokens start from zero: start=None")
    arrays = gold.arrays(limits.labels)
    if not any(rows is not None and len(rows) for rows in arrays):
        raise CorpusError(
            "maximum likelihood needs the times of segments, and all sequences have only labels: give the times of "
            "some, or start=None"
        )
    # Sequences without times count nothing in the beginning; the learner then puts their labels where they fit best.
    empty = np.zeros((0, 3), dtype=np.int32)
    counts = np.ones(len(encoded)) if counted is None else counted.astype(np.float64)
    parts = feature_map.start(
        encoded,
        limits,
        [empty if rows is None else rows for rows in arrays],
        np.where([rows is not None for rows in arrays], counts, 0.0),
        shrinkage=float(likelihood.shrinkage),
        smoothing=float(likelihood.smoothing),
        rounds=int(likelihood.rounds),
        seed=int(segmenter.seed),
    )
    return weights.filled(parts)


def _evaluation(
    segmenter: Segmenter, lesson: SegmentLesson, feature_map: SegmentMap, weights: SegmentWeights
) -> Callable[[NDArray[np.float32]], float] | None:
    if lesson.X_dev is None:
        if lesson.y_dev is not None or lesson.dev_metric is not None:
            raise CorpusError(f"{'dev_metric' if lesson.y_dev is None else 'y_dev'} was given without X_dev")
        return None
    X = as_sentences(lesson.X_dev)
    right = GoldSegments.of(lesson.y_dev, [len(x) for x in X], segmenter.outside)
    model, data = weights.native(), feature_map.encode(X, weights.limits).data(weights.limits)
    metric = lesson.dev_metric or segmenter._metric()

    def evaluate(found: NDArray[np.float32]) -> float:
        _, (ptr, rows) = model.best(data, found, segmenter._threads())
        if callable(metric):
            return metric(lesson.y_dev, named_segments(weights.limits.labels, ptr, rows, segmenter.outside))
        return segmentation_score(metric, right, weights.limits.labels, ptr, rows, segmenter.outside)

    return evaluate
