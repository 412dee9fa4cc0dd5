"""The training of a segmenter: from sequences and segments to encoded examples, and from weights to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.capability import Capability
from margent.errors import CorpusError
from margent.features.frame_map import EncodedFrames, FrameFeatures, FrameMap
from margent.features.segment_map import SegmentLimits, SegmentMap
from margent.features.segment_token_map import SegmentTokenMap, TokenFeatures
from margent.learners import check_fits
from margent.learners.maximum_likelihood import FrameStatistics, MaximumLikelihood, Parts, Rows
from margent.learners.training import Training
from margent.models.base import Problem, Run, run_counting
from margent.models.fitted import learned_fields
from margent.models.inputs import as_sentences, training_weights
from margent.models.segmenter.gold_segments import GoldSegments, forced_labels, is_timed
from margent.models.segmenter.model import SegmenterModel
from margent.models.segmenter.search import SegmentSearch
from margent.models.segmenter.segmented_data import DevMetric, SegmentedData, check_segment_metric
from margent.models.segmenter.weights import MOST, SegmentWeights
from margent.models.training_data import TrainingData

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter

Follows = NDArray[np.bool_] | None


@dataclass(frozen=True)
class SegmenterProblem(Problem[SegmenterModel]):
    """`segmenter`: the parameters; `start`: the model to continue from; `follows`: (L, L) which label may follow which,
    None: any."""

    segmenter: Segmenter
    learner: Any
    feature_map: SegmentMap
    limits: SegmentLimits
    follows: Follows
    data: SegmentedData
    start: SegmenterModel | None = None
    development: SegmentedData | None = None
    metric: str | DevMetric | None = None

    @classmethod
    def of(
        cls, segmenter: Segmenter, given: TrainingData, start: SegmenterModel | None, grow: bool
    ) -> SegmenterProblem:
        """Encodes the training and development data, each once. New features are added to a copy of the map."""
        check_segment_metric(given.dev_metric)
        given.check_development()
        outside = segmenter.outside
        X, gold = right_segments(given.X, given.y, outside)
        if start is None:
            feature_map = new_map(segmenter.features, X)
        else:
            feature_map = start.feature_map.copy() if grow else start.feature_map
        learner = segmenter.learner_for(feature_map)
        check_fits(learner, "segments of frames" if isinstance(feature_map, FrameMap) else "segments of tokens")
        if start is not None and _fits_densities(learner):
            raise ValueError("MaximumLikelihood cannot continue from a model (partial_fit): call fit with all data")
        limits = _limits(segmenter, gold, None if start is None else start.weights.limits)
        weights = training_weights(given.sample_weight, len(X), "sequence")
        if start is None:
            _check_bins(segmenter.features, limits.labels)
        follows = _follows(segmenter, limits, start)
        gold.native(limits, follows, weights)  # what is wrong with the segments is told before they are encoded
        encoded = feature_map.encode(X, limits, grow=grow, gold=gold.arrays(limits.labels))
        if not encoded.sequence_ptr[-1]:
            raise CorpusError("there is nothing to learn from: the training data have no frame or token")
        data = SegmentedData(encoded, limits, given.y, gold, weights)
        development = None
        if given.X_dev is not None:
            X_dev = as_sentences(given.X_dev)
            right = GoldSegments.of(given.y_dev, [len(x) for x in X_dev], outside)
            development = SegmentedData(feature_map.encode(X_dev, limits), limits, given.y_dev, right)
        return cls(segmenter, learner, feature_map, limits, follows, data, start, development, given.dev_metric)

    # Learning

    def learned(self, run: Run) -> SegmenterModel:
        weights = self.starting_weights()
        if _fits_densities(self.learner):
            result = Training(weights=weights.weights)
        else:
            costs = self.segmenter.resolved("costs")
            oracle = _core.SegmentOracle(
                weights.native(self.data.native.longest),
                self.data.native,
                self.data.gold.native(self.limits, self.follows, self.data.sample_weight),
                float(costs.frame),
                float(costs.boundary),
                _label_costs(costs.labels, self.limits.labels),
            )
            oracle.start_from(weights.weights)
            result = run_counting(run, self.learner, oracle, self._evaluation(weights))
        return SegmenterModel(
            **learned_fields(self.learner, result, self.start, self.learner.probabilistic),
            feature_map=self.feature_map,
            weights=weights.with_weights(result.weights),
            front_end=None if self.start is None else self.start.front_end,  # of the same frames
        )

    def _evaluation(self, weights: SegmentWeights) -> Callable[[NDArray[np.float32]], tuple[float, int]] | None:
        """From weights to their score on the development data, and for how many sequences restrictions were lifted."""
        data, outside, threads = self.development, self.segmenter.outside, self.segmenter.resolved("threads")
        if data is None:
            return None
        model, metric = weights.native(data.native.longest), self.metric or self.segmenter.metric

        def evaluate(found: NDArray[np.float32]) -> tuple[float, int]:
            search = SegmentSearch(weights.with_weights(found), data.encoded, threads, native=model, data=data.native)
            return data.score(search.found, metric, outside), len(search.lifted)

        return evaluate

    def starting_weights(self) -> SegmentWeights:
        """Zero, or the generative model of the right segments; of a model to continue from, with zeros or the like for
        what is new to it."""
        feature_map, limits = self.feature_map, self.limits
        known = None if self.start is None else self.start.weights
        weights = SegmentWeights.zeros(
            limits,
            partial(feature_map.duration_features, limits.most),
            self.follows,
            bool(self.segmenter.transitions) if known is None else known.learn_transitions,
            feature_map.n_content(limits),
        )
        likelihood = self._generative()
        if likelihood is not None and (known is None or known.limits.labels != limits.labels):
            if not isinstance(self.data.encoded, EncodedFrames):
                raise ValueError(
                    "MaximumLikelihood is for frames, which are numbers; tokens start from zero: start=None"
                )
            weights = self._most_likely(weights, likelihood, self.data.encoded)
        return weights if known is None else weights.overlaid(known, feature_map.overlaid)

    def _generative(self) -> MaximumLikelihood | None:
        """The generative model that the weights begin as, or None."""
        if _fits_densities(self.learner):
            return self.learner  # type: ignore[no-any-return]
        if isinstance(self.segmenter.start, str):
            return MaximumLikelihood() if isinstance(self.feature_map, FrameMap) else None
        return self.segmenter.start  # type: ignore[no-any-return]

    def _most_likely(
        self, weights: SegmentWeights, likelihood: MaximumLikelihood, encoded: EncodedFrames
    ) -> SegmentWeights:
        features, limits, gold = encoded.feature_map.features, self.limits, self.data.gold
        n_statistics, n_columns, columns = encoded.data(limits).columns
        statistics = FrameStatistics(
            encoded.frames,
            encoded.sequence_ptr,
            [features.bins_of(label) for label in limits.labels],
            int(features.components),
            features.covariance == "full",
            features.content == "mean",
            features.durations == "gamma",
            (n_statistics, n_columns),
            columns,
        )
        known = gold.arrays(limits.labels)
        names = [[] if is_timed(sequence) else sequence for sequence in gold.sequences]
        ids = {label: i for i, label in enumerate(limits.labels)}
        native, threads = weights.native(self.data.native.longest), self.segmenter.resolved("threads")
        forced = forced_labels(names, len(known), limits.labels)

        def align(parts: Parts) -> list[Rows]:
            _, (ptr, found) = native.best(self.data.native, weights.filled(parts).weights, threads, *forced)
            return [found[a:z] for a, z in pairwise(ptr.tolist())]

        parts = likelihood.fitted(
            statistics,
            known,
            [[ids[str(name)] for name in row] for row in names],
            self.data.counts,
            align=align,
            align_all=_fits_densities(self.learner),
            seed=int(self.segmenter.seed),
        )
        return weights.filled(parts)


def _fits_densities(learner: Any) -> bool:
    """Whether the learner is a generative model of the frames itself, and no search of an oracle is needed."""
    return Capability.FRAME_STATISTICS in learner.needs


def right_segments(X: Any, y: Any, outside: str | None) -> tuple[Any, GoldSegments]:
    """Sequences, and their right segments."""
    if y is None:
        raise CorpusError("segments are missing: a segmenter requires y to be passed, but the target y is None")
    X = as_sentences(X)
    return X, GoldSegments.of(y, [len(x) for x in X], outside)


def new_map(features: Any, X: Any) -> SegmentMap:
    """A new feature map: of tokens where the first sequence has words, of frames where it has numbers."""
    if features is None:
        first: Any = next((x for x in X if len(x)), None)
        features = TokenFeatures() if first is not None and isinstance(first[0], str) else FrameFeatures()
    return FrameMap(features) if isinstance(features, FrameFeatures) else SegmentTokenMap(features)


def _check_bins(features: Any, labels: Sequence[str]) -> None:
    bins = features.bins if isinstance(features, FrameFeatures) else None
    for label in bins if isinstance(bins, Mapping) else ():
        if label not in labels:
            raise ValueError(f"bins of FrameFeatures names label {label!r}, which the training data do not have")


def _label_costs(given: Mapping[str, float] | None, labels: Sequence[str]) -> list[float]:
    for label in given or ():
        if label not in labels:
            raise ValueError(f"labels of SegmentCosts names label {label!r}, which the training data do not have")
    return [] if given is None else [float(given.get(label, 1.0)) for label in labels]


def _limits(segmenter: Segmenter, gold: GoldSegments, known: SegmentLimits | None) -> SegmentLimits:
    """The labels and durations of the training data; those that are known stay, and new labels come after them."""
    before = () if known is None else known.labels
    labels = [*before, *(label for label in gold.labels() if label not in before)]
    if known is not None and len(labels) == len(before):
        return known
    if not labels:
        raise CorpusError("there is nothing to learn from: the training data have no segment")
    seen, outside, durations = gold.longest(labels), segmenter.outside, segmenter.resolved("durations")
    longest = _of_labels(durations.max, "max", labels, outside, np.maximum(seen, 1))
    for label, most in list(zip(labels, seen))[len(before) :]:
        said = durations.max.get(label) if isinstance(durations.max, Mapping) else durations.max
        if not most and said is None and label != outside:
            raise CorpusError(
                f"no segment with label {label!r} has times, so how long it lasts is not known: give Durations(max=...)"
            )
    shortest = _of_labels(durations.min, "min", labels, outside, np.ones(len(labels), dtype=np.int32))
    if known is not None:
        shortest[: len(before)], longest[: len(before)] = known.shortest, known.longest
    if (shortest > longest).any():
        at = int(np.argmax(shortest > longest))
        raise ValueError(f"Durations: min of {labels[at]!r} is {shortest[at]}, more than max, {longest[at]}")
    return SegmentLimits(tuple(labels), shortest, longest)


def _follows(segmenter: Segmenter, limits: SegmentLimits, start: SegmenterModel | None) -> Follows:
    """Which label may follow which; what is outside may always follow itself, as it lasts one frame or token."""
    if segmenter.repeat if start is None else start.weights.follows is None:
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
                f"{name} of Durations names {label!r}, what is outside of segments, which always lasts 1; leave it out"
            )
        if label not in labels:
            raise ValueError(f"{name} of Durations names label {label!r}, which the training data do not have")
        if number is not None:
            chosen[labels.index(label)] = number
    if (chosen < 1).any() or (chosen > MOST).any():
        raise ValueError(f"{name} of Durations should be integers from 1 to {MOST}, got {given!r}")
    return chosen.astype(np.int32)
