"""The segmenter: cuts sequences into labelled segments."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core, storage
from margent.annotation.schemes import Span
from margent.annotation.segments import Segmentation, frame_labels
from margent.errors import CalibrationWarning, ConstraintError, CorpusError
from margent.features.frame_map import FrameFeatures, FrameMap
from margent.features.segment_map import EncodedSegments, SegmentMap
from margent.features.segment_token_map import SegmentTokenMap, TokenFeatures
from margent.learners import LEARNERS
from margent.learners.training import Callback
from margent.models.confident_span import ConfidentSpan
from margent.models.estimator import Estimator
from margent.models.inputs import as_sentences, sentence_weights
from margent.models.labels import Predictions
from margent.models.segmenter import file as segmenter_file
from margent.models.segmenter.answers import SegmentProbabilities, SegmentReading, named, probabilities
from margent.models.segmenter.calibration import fitted_segment_temperature
from margent.models.segmenter.choice import meant_learner, meant_map
from margent.models.segmenter.constraints import SegmentConstraints, constrained_scores, model_scores
from margent.models.segmenter.gold_segments import GoldSegments, forced_labels, is_timed
from margent.models.segmenter.parameters import check_segmenter
from margent.models.segmenter.scores import DevMetric, named_segments, segmentation_score
from margent.models.segmenter.training import SegmentLesson, learn
from margent.models.segmenter.weights import SegmentWeights
from margent.parameters import check_count
from margent.processors import processor_count
from margent.structures import segments
from margent.structures.segment_scores import SegmentScores

Self = TypeVar("Self", bound="Segmenter")


class Segmenter(Estimator):
    """Learns to cut sequences into segments and to label them, both at once: a large-margin semi-Markov model.

    Sequences are arrays of frames (T, D), such as speech or sensors give them, or lists of tokens.

    Parameters
    ----------
    features : FrameFeatures, TokenFeatures or None
        What is seen of a segment. None: as the data are, with the usual settings.
    learner : learner, str or None
        How mistakes move the weights: an object such as `CRF(l2=1)` or a name such as "crf"; `MaximumLikelihood()` for
        a generative model of frames. None: `StructuredSVM(C=0.001, method="subgradient")` for frames,
        `PassiveAggressive()` for tokens.
    min_duration, max_duration : int, dict of label to int, or None
        How long segments of each label last, at least and at most. None: 1, and what the training data have. What is
        `outside` lasts 1.
    transitions : bool
        Learn which label follows which.
    repeat : bool
        Whether neighbouring segments may have the same label.
    outside : str or None
        The label of what lies between segments: each frame or token there is a segment of its own, which need not be
        given in training and is left out of predictions. For entities in text: "O".
    frame_cost, boundary_cost : float
        What a mistake costs in training with a margin: each frame with a wrong label, and each boundary that is missing
        or should not be there.
    label_costs : dict of label to float, or None
        Multiplies the `frame_cost` of frames whose right label it is: with 5 for a rare label the model misses it less,
        and finds it too often rather than not at all. What is not named costs 1.
    start : "auto", MaximumLikelihood or None
        Where the weights begin: "auto" is `MaximumLikelihood()` for frames and zero (None) for tokens.
    calibration : bool
        Fit the temperature of probabilities on the development data, where `fit` is given such and the learner needs
        one; takes about ten passes over them.
    seed : int
        Of the order of examples in training.
    threads : int or None
        For prediction, and to train a `CRF`; None: as many as there are processors. Does not change the results.

    Attributes
    ----------
    classes_ : array of the labels, in the order of the columns of probabilities
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score
    feature_map_, weights_ : what was learned
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : what scores are divided by to become log probabilities
    calibrated_ : whether these can be taken at their word: the learner is made for that, or the temperature was fitted
    front_end_ : dict or None
        How the frames were made, where `margent segment` made them: seconds from one to the next, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from margent import MaximumLikelihood, Segmenter
    >>> X = [np.array([[0.0], [0.1], [5.0], [5.1], [5.2]]), np.array([[5.0], [0.2], [0.0]])]
    >>> y = [[(0, 2, "low"), (2, 5, "high")], [(0, 1, "high"), (1, 3, "low")]]
    >>> segmenter = Segmenter(learner=MaximumLikelihood(shrinkage=0.1)).fit(X, y)
    >>> segmenter.predict([np.array([[0.0], [5.0], [5.1]])])
    [[Span(start=0, end=1, label='low'), Span(start=1, end=3, label='high')]]
    """

    feature_map_: SegmentMap
    weights_: SegmentWeights
    history_: list[dict[str, Any]]
    best_epoch_: int | None
    interrupted_: bool
    temperature_: float
    calibrated_: bool
    front_end_: Mapping[str, Any] | None = None
    _native: _core.SegmentModel
    _warned = False

    def __init__(
        self,
        features: FrameFeatures | TokenFeatures | None = None,
        learner: Any = None,
        *,
        min_duration: int | Mapping[str, int] | None = None,
        max_duration: int | Mapping[str, int] | None = None,
        transitions: bool = True,
        repeat: bool = True,
        outside: str | None = None,
        frame_cost: float = 1.0,
        boundary_cost: float = 0.0,
        label_costs: Mapping[str, float] | None = None,
        start: Any = "auto",
        calibration: bool = True,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.min_duration = min_duration
        self.max_duration = max_duration
        self.transitions = transitions
        self.repeat = repeat
        self.outside = outside
        self.frame_cost = frame_cost
        self.boundary_cost = boundary_cost
        self.label_costs = label_costs
        self.start = start
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Learning

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: str | DevMetric | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from sequences and their segments.

        Parameters
        ----------
        X : sequence of arrays (frames, values), or of lists of tokens
        y : for each of them its segments (start, end, label), without gaps unless `outside` is given; or, where the
            times are not known, its labels in order: they are then put where they fit best, as training goes
        sample_weight : (n,) numbers, or None
            What each sequence counts.
        X_dev, y_dev : development data
            The weights of the epoch that does best on them are kept, and the learner's `patience` watches them.
        dev_metric : "segment_f1", "frame_accuracy", "label_accuracy", a function or None
            What "best" means; None: as `score` does. A function is given y_dev and the predicted segmentations, and
            returns a number, the higher the better.
        callbacks : functions called with each `Epoch`; returning True ends the training
        progress : show a progress bar; None: only on a terminal
        """
        check_segmenter(self, dev_metric)
        X = _given(X, y)
        lesson = SegmentLesson(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        learn(self, lesson, meant_map(self, X), None)
        return self

    def partial_fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: str | DevMetric | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Goes on learning from the weights as they are; the first call on a new segmenter is `fit`.

        New features of tokens are welcome; labels and durations are those of `fit`. The `temperature_` stays as it was,
        which is no longer quite right: `calibrate` renews it, as development data do.
        """
        lesson = SegmentLesson(_given(X, y), y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        if not self.__sklearn_is_fitted__():
            check_segmenter(self, dev_metric)
            learn(self, lesson, meant_map(self, lesson.X), None)
            return self
        check_segmenter(self, dev_metric)
        try:
            learn(self, lesson, self.feature_map_, self.weights_)
        except BaseException:
            # The features found so far stay, with weight 0: the segmenter is as good as before.
            limits = self.weights_.limits
            self._set_learned(self.feature_map_, self.weights_.with_content(self.feature_map_.n_content(limits)))
            raise
        return self

    def calibrate(self: Self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fits the `temperature_`, so that a confidence of 0.8 means right in eight cases of ten.

        X, y : sequences that the segmenter was not trained on, and their segments with times
        sample_weight : (n,) numbers, or None

        What is predicted does not change, only `predict_marginals`. `fit` does this by itself with development data.
        """
        self._check_fitted()
        temperature = fitted_segment_temperature(self, _given(X, y), y, sample_weight)
        if temperature is None:
            raise CorpusError("the segmenter finds no segment in these data that theirs could confirm or refute")
        self.temperature_, self.calibrated_ = temperature, True
        return self

    # Prediction

    def predict(
        self,
        X: Any,
        labels: Sequence[Sequence[str]] | None = None,
        *,
        constraints: Sequence[SegmentConstraints | None] | None = None,
    ) -> list[Segmentation]:
        """The best segmentation of each sequence: a list of spans (start, end, label).

        `labels`: for each sequence the labels of its segments in order, where these are known: they are then put where
        they fit best (forced alignment). `constraints`: for each sequence what else is known, boundaries or some of its
        segments perhaps; or None. While a constrained sequence of T frames with L labels up to R frames long is
        searched, its scores take memory: T R L numbers of 8 bytes. So do `labels` for other questions than this one.
        """
        if constraints is not None:
            answers = (segments.best(each) for each in self._constrained(X, labels, constraints))
            return Predictions(self._spans(answer.segments) for answer in answers)
        ptr, rows = self._best(X, labels)
        return Predictions(named_segments(self.weights_.limits.labels, ptr, rows, self.outside))

    def predict_k_best(
        self,
        X: Any,
        k: int = 5,
        *,
        labels: Sequence[Sequence[str]] | None = None,
        constraints: Sequence[SegmentConstraints | None] | None = None,
    ) -> list[list[SegmentReading]]:
        """The k best segmentations of each sequence with their scores, best first; exact. Fewer where fewer exist.

        `labels` and `constraints` as for `predict`.
        """
        check_count("k", k, 1)
        k = min(int(k), 2**31 - 1)
        if labels is not None or constraints is not None:
            several = (segments.k_best(each, k) for each in self._constrained(X, labels, constraints))
            return [[SegmentReading(one.score, self._spans(one.segments)) for one in each] for each in several]
        encoded = self._encode(X)
        found = self._native.k_best(self._data(encoded), self.weights_.weights, k, self._threads())
        _check_found(np.array([0.0 if readings else -np.inf for readings in found]))
        return [[SegmentReading(score, self._spans(rows)) for score, rows in each] for each in found]

    def predict_marginals(
        self,
        X: Any,
        *,
        labels: Sequence[Sequence[str]] | None = None,
        constraints: Sequence[SegmentConstraints | None] | None = None,
    ) -> list[SegmentProbabilities]:
        """Probabilities under exp(score / temperature_): of labels at frames, of boundaries, and of the segments of the
        best answer. `labels` and `constraints` as for `predict`: all probabilities are then given what is known.

        The scores of margin learners are not made for that: without a fitted temperature there is a
        `CalibrationWarning`. Those of a `CRF` are.
        """
        if labels is not None or constraints is not None:
            scale = 1 / self._temperature()
            names = self.weights_.limits.labels
            given = self._constrained(X, labels, constraints, scale)
            return [probabilities(each, names, self.outside) for each in given]
        encoded = self._encode(X)
        data = self._data(encoded)
        scores, (ptr, rows) = self._native.best(data, self.weights_.weights, self._threads())
        _check_found(scores)
        nodes, ends, confidences, _ = self._native.marginals(
            data, self.weights_.weights, 1 / self._temperature(), self._threads(), ptr, rows
        )
        names, result = self.weights_.limits.labels, []
        for i, ((a, z), (first, last)) in enumerate(zip(pairwise(encoded.sequence_ptr), pairwise(ptr.tolist()))):
            spans = [
                ConfidentSpan(b, e, names[j], float(p))
                for (b, e, j), p in zip(rows[first:last].tolist(), confidences[first:last])
                if names[j] != self.outside
            ]
            result.append(SegmentProbabilities(nodes[a:z], ends[a + i : z + i + 1], spans))
        return result

    def predict_labels(self, X: Any) -> list[list[str]]:
        """The label of each frame or token in the best segmentation."""
        ptr, rows = self._best(X, None)
        names = self.weights_.limits.labels
        return Predictions(
            frame_labels(Span(b, e, names[label]) for b, e, label in rows[a:z].tolist())
            for a, z in pairwise(ptr.tolist())
        )

    def scores_of(self, x: Any, scale: float = 1.0) -> SegmentScores:
        """What every segmentation of one sequence scores, times a scale, for questions of one's own: they are put to it
        by the functions of `margent.structures.segments`. Takes memory for T R L numbers."""
        encoded = self._encode([x])
        length = int(encoded.sequence_ptr[-1])
        return model_scores(self._native, self._data(encoded), self.weights_.weights, scale, length)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """F1 of segments where there is an `outside`, otherwise 1 minus the label error rate. Higher is better."""
        self._check_fitted()
        X = as_sentences(_given(X, y))
        right = GoldSegments.of(y, [len(x) for x in X], self.outside)
        ptr, rows = self._best(X, None)
        counted = sentence_weights(sample_weight, len(right.sequences))
        names = self.weights_.limits.labels
        return segmentation_score(self._metric(), right, names, ptr, rows, self.outside, counted)

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The features of tokens that speak most for a label, with their weights, then those most against it.

        Frames have none with a name: the list is empty.
        """
        self._check_fitted()
        check_count("n", n, 1)
        names = self.weights_.limits.labels
        if label not in names:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(names)}")
        if not isinstance(self.feature_map_, SegmentTokenMap):
            return []
        ids = self.feature_map_.ids
        weights = self.weights_.parts()["content"].reshape(len(ids), -1)[:, names.index(label)]
        order = np.argsort(-weights, kind="stable")
        features = list(ids)
        chosen = [*order[:n], *order[max(n, len(order) - n) :]]
        return [(features[i], float(weights[i])) for i in chosen if weights[i]]

    def top_transitions(self, n: int = 20) -> list[tuple[str, str, float]]:
        """The n label pairs with the largest and the n with the smallest transition weights, from high to low."""
        self._check_fitted()
        check_count("n", n, 1)
        return self.weights_.top_transitions(n)

    def plot(self, x: Any, segments: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draws a sequence of frames with the predicted segments, below the right ones where they are given.

        `path`: where to write the picture; `options` as for `margent.metrics.plot_segments`. Returns the figure.
        """
        from margent.metrics.segment_plot import plot_segments

        _, rows = self._best([x], None)
        names = self.weights_.limits.labels
        found = [Span(b, e, names[label]) for b, e, label in rows.tolist()]
        right = None if segments is None else GoldSegments.of([segments], [len(x)], self.outside).sequences[0]
        if right is not None and not is_timed(right):
            raise CorpusError("segments has labels without times, which cannot be drawn")
        return plot_segments(x, right, found, path, **options)  # type: ignore[arg-type]

    @property
    def n_features_in_(self) -> int:
        """How many values a frame has; only of a segmenter of frames."""
        self._check_fitted()
        if not isinstance(self.feature_map_, FrameMap) or self.feature_map_.n_dimensions is None:
            raise AttributeError(f"n_features_in_ is for frames; this {type(self).__name__} was fitted to text")
        return self.feature_map_.n_dimensions

    # Storage

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file; an existing file is replaced only when the new one is complete."""
        self._check_fitted()
        header, arrays = segmenter_file.stored(self)
        storage.write(path, header, arrays, kind="segmenter")

    @classmethod
    def from_file(cls, file: storage.ModelFile, function: Any = None) -> Segmenter:
        """The segmenter in a model file that was read; see `margent.load`."""
        return segmenter_file.restored(cls, file, function)

    def __getstate__(self) -> dict[str, Any]:
        """For copies made by `copy` and by scikit-learn's processes: all but the native model."""
        return {name: value for name, value in vars(self).items() if name != "_native"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if "weights_" in state:
            self._native = self.weights_.native()

    # Parts

    def _set_learned(self, feature_map: SegmentMap, weights: SegmentWeights) -> None:
        self.feature_map_, self.weights_ = feature_map, weights
        self.classes_ = np.array(weights.limits.labels, dtype=object)
        self._native = weights.native()
        self._warned = False

    def _learner(self, feature_map: SegmentMap | None = None) -> Any:
        return meant_learner(self, feature_map if feature_map is not None else vars(self).get("feature_map_"))

    def _meant(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "learner" and (value is None or (isinstance(value, str) and value in LEARNERS)):
            return self._learner()
        return value

    def _metric(self) -> str:
        return "label_accuracy" if self.outside is None else "segment_f1"

    def _encode(self, X: Any) -> EncodedSegments:
        self._check_fitted()
        return self.feature_map_.encode(as_sentences(X), self.weights_.limits)

    def _data(self, encoded: EncodedSegments) -> _core.SegmentData:
        return encoded.data(self.weights_.limits)

    def _best(self, X: Any, labels: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        encoded = self._encode(X)
        forced = () if labels is None else forced_labels(labels, len(encoded), self.weights_.limits.labels)
        scores, found = self._native.best(self._data(encoded), self.weights_.weights, self._threads(), *forced)
        _check_found(scores)
        return found

    def _spans(self, rows: NDArray[np.int32]) -> Segmentation:
        return named(rows, self.weights_.limits.labels, self.outside)

    def _constrained(self, X: Any, labels: Any, constraints: Any, scale: float = 1.0) -> Iterator[SegmentScores]:
        self._check_fitted()
        return constrained_scores(self, as_sentences(X), labels, constraints, scale)

    def _temperature(self) -> float:
        """What scores are divided by to become log probabilities; said once if that is not calibrated."""
        self._check_fitted()
        if not self.calibrated_ and not self._warned:
            self._warned = True
            warnings.warn(
                f"the probabilities of this {type(self).__name__} are not calibrated: the scores that it learned rank "
                "well, but are no log probabilities; give fit X_dev and y_dev, or call calibrate(X, y) with sequences "
                "that it was not trained on; a CRF learns such",
                CalibrationWarning,
                stacklevel=3,
            )
        return self.temperature_

    def _threads(self) -> int:
        return processor_count() if self.threads is None else min(int(self.threads), 1 << 20)


def _given(X: Any, y: Any) -> Any:
    if y is None:
        raise CorpusError("segments are missing: a segmenter requires y to be passed, but the target y is None")
    return as_sentences(X)


def _check_found(scores: NDArray[np.float64]) -> None:
    if not (scores > -np.inf).all():
        at = int(np.argmin(scores > -np.inf))
        raise ConstraintError(f"sequence {at}: durations, or the labels given, leave no segmentation")
