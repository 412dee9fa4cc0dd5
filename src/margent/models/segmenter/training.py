"""The training of a segmenter: from sequences and segments to weights, watched on development data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.frame_map import FrameMap
from margent.features.segment_map import SegmentLimits, SegmentMap
from margent.learners import check_fits, train
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.learners.training import Callback, Training
from margent.models.inputs import as_sentences, sentence_weights
from margent.models.segmenter.calibration import fitted_segment_temperature
from margent.models.segmenter.gold_segments import GoldSegments
from margent.models.segmenter.scores import DevMetric, named_segments, segmentation_score
from margent.models.segmenter.start import starting_weights
from margent.models.segmenter.weights import MOST, SegmentWeights

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


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
    check_fits(learner, "segments of frames" if isinstance(feature_map, FrameMap) else "segments of tokens")
    X = as_sentences(lesson.X)
    gold = GoldSegments.of(lesson.y, [len(x) for x in X], segmenter.outside)
    limits = _limits(segmenter, gold) if known is None else known.limits
    counted = sentence_weights(lesson.sample_weight, len(X))
    if counted is not None and not counted.any():
        raise CorpusError("there is nothing to learn from: the sample_weight of every sequence is zero")
    if known is None:
        _check_bins(segmenter.features, limits.labels)
    follows = _follows(segmenter, limits) if known is None else known.follows
    native_gold = gold.native(limits, follows, counted)
    encoded = feature_map.encode(X, limits, grow=True, gold=gold.arrays(limits.labels))
    if not encoded.sequence_ptr[-1]:
        raise CorpusError("there is nothing to learn from: the training data have no frame or token")
    if known is None:
        weights = starting_weights(segmenter, feature_map, encoded, limits, follows, gold, counted)
    else:
        weights = known.with_content(feature_map.n_content(limits))
    if isinstance(learner, MaximumLikelihood):
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
            _label_costs(segmenter.label_costs, limits.labels),
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
    probabilistic = learner.probabilistic
    if known is None:
        segmenter.front_end_ = None  # what made other frames is not what made these
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


def _check_bins(features: Any, labels: Sequence[str]) -> None:
    bins = getattr(features, "bins", None)
    for label in bins if isinstance(bins, Mapping) else ():
        if label not in labels:
            raise ValueError(f"bins of FrameFeatures names label {label!r}, which the training data do not have")


def _label_costs(given: Mapping[str, float] | None, labels: Sequence[str]) -> list[float]:
    for label in given or ():
        if label not in labels:
            raise ValueError(f"label_costs names label {label!r}, which the training data do not have")
    return [] if given is None else [float(given.get(label, 1.0)) for label in labels]


def _limits(segmenter: Segmenter, gold: GoldSegments) -> SegmentLimits:
    labels = gold.labels()
    if not labels:
        raise CorpusError("there is nothing to learn from: the training data have no segment")
    seen = gold.longest(labels)
    outside = segmenter.outside
    longest = _of_labels(segmenter.max_duration, "max_duration", labels, outside, np.maximum(seen, 1))
    given = segmenter.max_duration
    for label, most in zip(labels, seen):
        said = given.get(label) if isinstance(given, Mapping) else given
        if not most and said is None and label != outside:
            raise CorpusError(
                f"no segment with label {label!r} has times, so how long it lasts is not known: give max_duration"
            )
    ones = np.ones(len(labels), dtype=np.int32)
    shortest = _of_labels(segmenter.min_duration, "min_duration", labels, outside, ones)
    if (shortest > longest).any():
        at = int(np.argmax(shortest > longest))
        raise ValueError(f"min_duration of {labels[at]!r} is {shortest[at]}, more than max_duration, {longest[at]}")
    return SegmentLimits(tuple(labels), shortest, longest)


def _follows(segmenter: Segmenter, limits: SegmentLimits) -> NDArray[np.bool_] | None:
    """Which label may follow which; what is outside may always follow itself, as it lasts one frame or token."""
    if segmenter.repeat:
        return None
    follows = ~np.eye(len(limits.labels), dtype=bool)
    if segmenter.outside in limits.labels:
        at = limits.labels.index(segmenter.outside)
        follows[at, at] = True
    return follows


def _of_labels(
    given: Any, name: str, labels: list[str], outside: str | None, otherwise: NDArray[np.int32]
) -> NDArray[np.int32]:
    """(L,): one number for each label, from a number or a dict of some of them; what is outside lasts 1."""
    chosen = otherwise.copy() if given is None or isinstance(given, Mapping) else np.full(len(labels), given)
    if outside in labels:
        chosen[labels.index(outside)] = 1
    for label, number in given.items() if isinstance(given, Mapping) else ():
        if label == outside:
            raise ValueError(
                f"{name} names {label!r}, the label outside of segments, which always lasts 1; leave it out"
            )
        if label not in labels:
            raise ValueError(f"{name} names label {label!r}, which the training data do not have")
        if number is not None:
            chosen[labels.index(label)] = number
    if (chosen < 1).any() or (chosen > MOST).any():
        raise ValueError(f"{name} should be whole numbers from 1 to {MOST}, got {given!r}")
    return chosen.astype(np.int32)


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
