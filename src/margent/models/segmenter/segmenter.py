"""The segmenter: cuts sequences into labelled segments."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import storage
from margent.annotation.segments import Segmentation, frame_labels
from margent.errors import ConstraintError, CorpusError, RestrictionWarning
from margent.features.frame_map import FrameFeatures
from margent.features.segment_map import EncodedSegments, SegmentMap
from margent.features.segment_token_map import SegmentTokenMap, TokenFeatures
from margent.learners import PassiveAggressive, StructuredSVM
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.models.base import Confidences, Finds, StructuredModel
from margent.models.confident_span import ConfidentSpan
from margent.models.failures import answered, check_on_error
from margent.models.inputs import as_sentences, sentence_weights
from margent.models.labels import Predictions
from margent.models.score_range import LARGEST_RUNNING_SUM, LARGEST_SUM, for_probabilities
from margent.models.segmenter.answers import SegmentProbabilities, SegmentReading, named, probabilities
from margent.models.segmenter.constraints import SegmentConstraints, constrained_scores
from margent.models.segmenter.gold_segments import GoldSegments, forced_labels, is_timed
from margent.models.segmenter.model import SegmenterModel
from margent.models.segmenter.options import Durations, SegmentCosts
from margent.models.segmenter.problem import SegmenterProblem, right_segments
from margent.models.segmenter.search import SegmentSearch
from margent.models.segmenter.segmented_data import FoundSegments, SegmentedData, named_segments
from margent.models.segmenter.weights import SegmentWeights
from margent.models.training_data import TrainingData
from margent.parameters import MOST_ANSWERS, as_float, check_count
from margent.structures import segments
from margent.structures.segment_scores import SegmentScores

Self = TypeVar("Self", bound="Segmenter")


class Segmenter(StructuredModel[SegmenterModel]):
    """Learns to divide sequences into labelled segments: a large-margin semi-Markov model.

    X is a sequence of arrays of frames (T, D), for instance from speech or sensors, or of lists of tokens. y has the
    segments (start, end, label) of each, without gaps unless `outside` is given; or, if the times are unknown, only the
    labels in order, which training then aligns. `score` is segment F1 if there is an `outside`, otherwise 1 minus the
    label error rate; `dev_metric` may be "segment_f1", "frame_accuracy", "label_accuracy", or a function of y_dev and
    the predicted segmentations, higher being better.

    Parameters
    ----------
    features : FrameFeatures, TokenFeatures or None
        The features of a segment. None: those for frames or for tokens, depending on the data, with default settings.
    learner : learner, str or None
        An object such as `CRF(l2=1)` or a name such as "crf"; `MaximumLikelihood()` for a generative model of frames.
        None: `StructuredSVM(C=0.001, method="subgradient")` for frames, `PassiveAggressive()` for tokens.
    durations : Durations or None
        The minimum and maximum length of segments, by label. None: 1, and the longest in the training data.
    transitions : bool
        Learn which label follows which.
    repeat : bool
        Whether neighbouring segments may have the same label.
    outside : str or None
        The label of everything between segments, such as "O" for entities in text: each frame or token there is a
        segment of its own, which need not be given in training and is left out of predictions.
    costs : SegmentCosts or None
        The costs of mistakes in margin training. None: 1 for each frame with a wrong label.
    start : "auto", MaximumLikelihood or None
        The initial weights: "auto" is `MaximumLikelihood()` for frames and zero (None) for tokens.
    calibration : float or None
        A share of the training sequences, such as 0.1, to hold out for calibrating probabilities. A second training
        without it gives the `temperature_`, so training takes twice as long. None: calibrate on development data only;
        0: never.
    seed : int
        Determines the order of examples in training.
    threads : int or None
        Threads for prediction, and for training a `CRF`; None: one per processor. Does not change the results.

    Attributes
    ----------
    model_ : SegmenterModel, everything that was learned; the other attributes are views of it
    classes_ : array of the labels, in the order of the columns of probabilities
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score
    feature_map_, weights_ : the feature map, and the weights
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : what scores are divided by to become log-probabilities
    calibrated_ : whether these are calibrated, by the learner or by a fitted temperature
    front_end_ : dict or None
        How `margent segment` computed the frames: seconds from one to the next, and so on.

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

    fitted: ClassVar[type[SegmenterModel]] = SegmenterModel

    def __init__(
        self,
        features: FrameFeatures | TokenFeatures | None = None,
        learner: Any = None,
        *,
        durations: Durations | None = None,
        transitions: bool = True,
        repeat: bool = True,
        outside: str | None = None,
        costs: SegmentCosts | None = None,
        start: Any = "auto",
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.durations = durations
        self.transitions = transitions
        self.repeat = repeat
        self.outside = outside
        self.costs = costs
        self.start = start
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(
        self,
        X: Any,
        labels: Sequence[Sequence[str]] | None = None,
        *,
        constraints: Sequence[SegmentConstraints | None] | None = None,
        on_error: str = "raise",
    ) -> list[Segmentation]:
        """The best segmentation of each sequence: a list of spans (start, end, label).

        `labels`: for each sequence the labels of its segments in order, where these are known: they are then put where
        they fit best (forced alignment). `constraints`: for each sequence what else is known, boundaries or some of its
        segments perhaps; or None. While a constrained sequence of T frames with L labels up to R frames long is
        searched, its scores take memory: T R L numbers of 8 bytes. So do `labels` for other questions than this one.

        Where what is known leaves no segmentation, `ConstraintError` names the sequence, or with `on_error="none"` its
        answer is None. Where it is the shortest durations, or `repeat=False`, that leave none, they do not hold for the
        sequence; a `RestrictionWarning` says so once.
        """
        check_on_error(on_error)
        model = self._fitted()
        if constraints is not None:
            return self._constrained(
                lambda scores: named(segments.best(scores).segments, model.labels, self.outside),
                *(model, X, labels, constraints, on_error),
            )
        failures: dict[int, Exception] = {}
        search = self._search(model, X, labels, failures, on_error)
        none = [i for i in np.flatnonzero(~search.possible).tolist() if i not in failures]
        failures |= {
            i: ConstraintError(f"sequence {i}: durations, or the labels given, leave no segmentation") for i in none
        }
        return answered(Predictions(named_segments(model.labels, search.found, self.outside)), failures, on_error)

    def predict_k_best(
        self,
        X: Any,
        k: int = 5,
        *,
        labels: Sequence[Sequence[str]] | None = None,
        constraints: Sequence[SegmentConstraints | None] | None = None,
        on_error: str = "raise",
    ) -> list[list[SegmentReading]]:
        """The k best segmentations of each sequence with their scores, best first; exact. Fewer where fewer exist.

        `labels`, `constraints` and `on_error` as for `predict`.
        """
        check_count("k", k, 1, maximum=MOST_ANSWERS)
        check_on_error(on_error)
        model, k = self._fitted(), int(k)

        def readings(found: Any) -> list[SegmentReading]:
            return [SegmentReading(score, named(rows, model.labels, self.outside)) for score, rows in found]

        if labels is not None or constraints is not None:
            return self._constrained(
                lambda scores: readings(segments.k_best(scores, k)), model, X, labels, constraints, on_error
            )
        failures: dict[int, Exception] = {}
        search = self._search(model, X, None, failures, on_error)
        return answered(Predictions(map(readings, search.k_best(k))), failures, on_error)

    def predict_marginals(
        self,
        X: Any,
        *,
        labels: Sequence[Sequence[str]] | None = None,
        constraints: Sequence[SegmentConstraints | None] | None = None,
        on_error: str = "raise",
    ) -> list[SegmentProbabilities]:
        """Probabilities under exp(score / temperature_): of labels at frames, of boundaries, and of the segments of the
        best answer. `labels`, `constraints` and `on_error` as for `predict`: all probabilities are then given what is
        known.

        The scores of margin learners are not made for that: without a fitted temperature there is a
        `CalibrationWarning`. Those of a `CRF` are.
        """
        check_on_error(on_error)
        model = self._fitted()
        names = model.labels
        if labels is not None or constraints is not None:
            return self._constrained(
                lambda scores: probabilities(scores, names, self.outside),
                *(model, X, labels, constraints, on_error, self._scale(model)),
            )
        encoded = model.encode(X)
        search = self._searched(model, encoded)
        ptr, rows = search.found
        scale = self._scale(model)
        failures = self._without_probabilities(search, scale)
        check_on_error(on_error, failures)
        nodes, ends, confidences = search.marginals(scale)
        result = []
        for i, ((a, z), (first, last)) in enumerate(zip(pairwise(encoded.sequence_ptr), pairwise(ptr.tolist()))):
            spans = [
                ConfidentSpan(b, e, names[j], float(p))
                for (b, e, j), p in zip(rows[first:last].tolist(), confidences[first:last])
                if names[j] != self.outside
            ]
            result.append(SegmentProbabilities(nodes[a:z], ends[a + i : z + i + 1], spans))
        return answered(result, failures, on_error)

    def predict_labels(self, X: Any) -> list[list[str]]:
        """The label of each frame or token in the best segmentation."""
        model = self._fitted()
        return Predictions(map(frame_labels, named_segments(model.labels, self._search(model, X).found, None)))

    def scores_of(self, x: Any, scale: float = 1.0) -> SegmentScores:
        """What every segmentation of one sequence scores, times a scale, for questions of one's own: they are put to it
        by the functions of `margent.structures.segments`. Takes memory for T R L numbers."""
        if not 0 < as_float(scale) < math.inf:
            raise ValueError(f"scale should be a number above 0, got {scale!r}")
        return self._fitted().scores(x, float(scale))

    # What was learned

    @property
    def feature_map_(self) -> SegmentMap:
        return self.model_.feature_map

    @property
    def weights_(self) -> SegmentWeights:
        return self.model_.weights

    @property
    def classes_(self) -> NDArray[np.object_]:
        return np.array(self.model_.labels, dtype=object)

    @property
    def front_end_(self) -> Mapping[str, Any] | None:
        return self.model_.front_end

    def with_front_end(self: Self, front_end: Mapping[str, Any] | None) -> Self:
        """Says how the frames that it was fitted to were made, in numbers and text; returns the same segmenter."""
        storage.check_storable(None if front_end is None else dict(front_end), "front_end")
        self.model_ = replace(self._fitted(), front_end=front_end)
        return self

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The highest-weighted features of tokens for a label, then the lowest-weighted.

        Frames have none with a name: the list is empty.
        """
        model = self._fitted()
        check_count("n", n, 1)
        names = model.labels
        if label not in names:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(names)}")
        if not isinstance(model.feature_map, SegmentTokenMap):
            return []
        features = list(model.feature_map.ids)
        weights = model.weights.parts()["content"].reshape(len(features), -1)[:, names.index(label)]
        order = np.argsort(-weights, kind="stable")
        chosen = [*order[:n], *order[max(n, len(order) - n) :]]
        return [(features[i], float(weights[i])) for i in chosen if weights[i]]

    def top_transitions(self, n: int = 20) -> list[tuple[str, str, float]]:
        """The n label pairs with the largest and the n with the smallest transition weights, from high to low."""
        model = self._fitted()
        check_count("n", n, 1)
        return model.weights.top_transitions(n)

    def plot(self, x: Any, segments: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Draws a sequence of frames with the predicted segments, below the right ones where they are given.

        `path`: where to write the picture; `options` as for `margent.metrics.plot_segments`. Returns the figure.
        """
        from margent.metrics.segment_plot import plot_segments

        model = self._fitted()
        found = named_segments(model.labels, self._search(model, [x]).found, None)[0]
        right = None if segments is None else GoldSegments.of([segments], [len(x)], self.outside).sequences[0]
        if right is not None and not is_timed(right):
            raise CorpusError("segments has labels without times, which cannot be drawn")
        return plot_segments(x, right, found, path, **options)  # type: ignore[arg-type]

    # What the template asks of a segmenter

    def _problem(self, data: TrainingData, start: SegmenterModel | None, grow: bool) -> SegmenterProblem:
        return SegmenterProblem.of(self, data, start, grow)

    def _answers(self, model: SegmenterModel, X: Any, y: Any, sample_weight: Any = None) -> SegmentedData:
        X, gold = right_segments(X, y, self.outside)
        return SegmentedData(model.encode(X), model.weights.limits, y, gold, sentence_weights(sample_weight, len(X)))

    def _score(self, model: SegmenterModel, answers: SegmentedData) -> float:
        search = self._searched(model, answers.encoded, data=answers.native)
        return answers.score(search.found, self.metric, self.outside)

    def _report(self, model: SegmenterModel, answers: SegmentedData) -> Any:
        from margent.metrics.segment import segment_scores

        for i, gold in enumerate(answers.gold.sequences):
            if not is_timed(gold):
                raise CorpusError(f"sequence {i} has labels without times, which cannot be compared in detail")
        search = self._searched(model, answers.encoded, data=answers.native)
        found = named_segments(model.labels, search.found, None)
        options: dict[str, Any] = {} if self.outside is None else {"label_map": {self.outside: None}}
        if model.front_end is not None and model.front_end.get("frame"):
            options["frame"] = float(model.front_end["frame"])
        return segment_scores(answers.gold.sequences, found, **options)  # type: ignore[arg-type]

    def _finds(self, model: SegmenterModel, answers: SegmentedData) -> Finds | None:
        """The segments of the best segmentations. Only sequences whose segments have times can be judged by.

        Costs one search for the two best segmentations and about ten passes for the probabilities.
        """
        answers = answers.part(answers.counting())
        search = self._searched(model, answers.encoded, data=answers.native)
        if beyond := self._without_probabilities(search, 1.0):
            answers = answers.part(np.setdiff1d(np.arange(len(answers)), [*beyond]))
            search = self._searched(model, answers.encoded, data=answers.native)
        two = search.k_best(2)
        right, weights = self._judged(model, answers, search.found)
        return Finds.that_count(lambda scale: search.marginals(scale)[2], right, weights, two)

    def _judged(
        self, model: SegmenterModel, answers: SegmentedData, found: FoundSegments
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Whether each segment is right, and what it counts: nothing outside, or where times are not known."""
        right, weights, names = [], [], model.labels
        ptr, rows = found
        for gold, share, (a, z) in zip(answers.gold.sequences, answers.counts, pairwise(ptr.tolist())):
            there: set[Any] = set(gold)
            right += [(b, e, names[j]) in there for b, e, j in rows[a:z].tolist()]
            known = share if is_timed(gold) else 0.0
            weights += [0.0 if names[j] == self.outside else known for j in rows[a:z, 2].tolist()]
        return np.array(right, dtype=bool), np.array(weights, dtype=np.float64)

    def _confidences(self, model: SegmenterModel, answers: SegmentedData) -> Confidences:
        """Of the segments that are found, and of the label that each frame or token is given; those whose right
        segments have no times are left out."""
        answers = answers.part(answers.counting())
        search = self._searched(model, answers.encoded, data=answers.native)
        found = search.found
        scale = self._scale(model, stacklevel=4)
        check_on_error("raise", self._without_probabilities(search, scale))
        nodes, _, confidences = search.marginals(scale)
        right, weights = self._judged(model, answers, found)
        ids = np.repeat(found[1][:, 2], found[1][:, 1] - found[1][:, 0])
        gold = [label for sequence in answers.gold.sequences for label in frame_labels(sequence)]  # type: ignore[arg-type]
        same = np.array([model.labels[j] == label for j, label in zip(ids.tolist(), gold)], dtype=bool)
        return {
            "frames": (nodes[np.arange(len(ids)), ids], same),
            "segments": (confidences[weights > 0], right[weights > 0]),
        }

    # Search

    def _search(
        self,
        model: SegmenterModel,
        X: Any,
        labels: Any = None,
        failures: dict[int, Exception] | None = None,
        on_error: str = "raise",
    ) -> SegmentSearch:
        """`failures` gets what is wrong with single sequences, if that is no error: with their labels or numbers."""
        failures = {} if failures is None else failures
        encoded = model.encode(X)
        errors = failures if on_error == "none" else None
        forced = None if labels is None else forced_labels(labels, len(encoded), model.labels, errors)
        search = self._searched(model, encoded, forced=forced)
        failures |= search.out_of_range(LARGEST_SUM)
        check_on_error(on_error, failures)
        return search

    @staticmethod
    def _without_probabilities(search: SegmentSearch, scale: float) -> dict[int, Exception]:
        """By the number of a sequence: that its scores cannot be turned into probabilities."""
        return search.out_of_range(for_probabilities(LARGEST_RUNNING_SUM, scale), "turned into probabilities")

    def _searched(self, model: SegmenterModel, encoded: EncodedSegments, **given: Any) -> SegmentSearch:
        search = model.search(encoded, self.resolved("threads"), **given)
        self._warn_lifted(model, search.lifted.tolist(), stacklevel=4)
        return search

    def _constrained(
        self,
        ask: Callable[[SegmentScores], Any],
        model: SegmenterModel,
        X: Any,
        labels: Any,
        constraints: Any,
        on_error: str,
        scale: float = 1.0,
    ) -> Predictions[Any]:
        """What is answered of the scores of each sequence that agree with what is known of it."""
        answers: Predictions[Any] = Predictions()
        failures: dict[int, Exception] = {}
        lifted: list[int] = []
        scores = constrained_scores(model, as_sentences(X), labels, constraints, scale, lifted)
        for i, each in enumerate(scores):
            try:
                if isinstance(each, ConstraintError):
                    raise each
                answers.append(ask(each))
            except ValueError as error:
                message = f"sequence {i}: {error}"  # of scores, which are those of no sequence in particular
                failures[i] = error if isinstance(error, ConstraintError) else CorpusError(message)
                answers.append(None)
                check_on_error(on_error, failures)
        self._warn_lifted(model, lifted, stacklevel=4)
        return answered(answers, failures, on_error)

    def _warn_lifted(self, model: SegmenterModel, lifted: list[int], stacklevel: int) -> None:
        if lifted and model.first_warning("restrictions"):
            warnings.warn(
                f"the shortest durations of this Segmenter, or repeat, left {len(lifted)} sequence"
                f"{'s' if len(lifted) != 1 else ''} (the first: {lifted[0]}) no segmentation, and were lifted for it; "
                "this is said once, and later sequences are treated alike",
                RestrictionWarning,
                stacklevel=stacklevel,
            )

    # Parameters

    @property
    def metric(self) -> str:
        """What `score` measures."""
        return "label_accuracy" if self.outside is None else "segment_f1"

    def learner_for(self, feature_map: SegmentMap | None) -> Any:
        """The learner that is meant; which one that is by default, what is seen of the data decides."""
        if self.learner is not None:
            return self.resolved("learner")
        tokens = isinstance(self.features, TokenFeatures) or isinstance(feature_map, SegmentTokenMap)
        return PassiveAggressive() if tokens else StructuredSVM(C=0.001, method="subgradient")

    def _default_learner(self) -> Any:
        return self.learner_for(self.model_.feature_map if self.__sklearn_is_fitted__() else None)

    def resolved(self, name: str) -> Any:
        value = getattr(self, name)
        if value is None and name in ("durations", "costs"):
            return Durations() if name == "durations" else SegmentCosts()
        return super().resolved(name)

    def check_parameters(self) -> None:
        self.check_common()
        if not isinstance(self.features, (FrameFeatures, TokenFeatures, type(None))):
            raise TypeError(f"features should be FrameFeatures, TokenFeatures or None, got {self.features!r}")
        for name, kind in (("durations", Durations), ("costs", SegmentCosts)):
            if not isinstance(getattr(self, name), (kind, type(None))):
                raise ValueError(
                    f"{name} of Segmenter should be {kind.__name__}(...) or None, got {getattr(self, name)!r}"
                )
        for name in ("transitions", "repeat"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} of Segmenter should be True or False, got {getattr(self, name)!r}")
        if not (self.start is None or self.start == "auto" or isinstance(self.start, MaximumLikelihood)):
            raise ValueError(f"start of Segmenter should be 'auto', MaximumLikelihood() or None, got {self.start!r}")
        if self.outside is not None and not isinstance(self.outside, str):
            raise ValueError(f"outside of Segmenter should be a label or None, got {self.outside!r}")

    # Files

    def _stored_parameters(self, model: SegmenterModel) -> dict[str, Any]:
        return super()._stored_parameters(model) | {"features": self.features is not None}  # the map has them

    @classmethod
    def _restored_parameters(cls, given: dict[str, Any], model: SegmenterModel) -> dict[str, Any]:
        features: Any = model.feature_map
        return given | {"features": features.features if given.get("features") else None}

    @classmethod
    def _upgraded(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Files from before options were grouped into values."""
        if "min_duration" not in given:
            return given

        def by_label(value: Any) -> Any:
            return {"type": "dict", "items": list(value.items())} if isinstance(value, dict) else value

        old = dict(given)
        durations = [by_label(old.pop(name)) for name in ("min_duration", "max_duration")]
        costs = [old.pop("frame_cost"), old.pop("boundary_cost"), by_label(old.pop("label_costs"))]
        return old | {
            "durations": {"type": "Durations", **dict(zip(("min", "max"), durations))},
            "costs": {"type": "SegmentCosts", **dict(zip(("frame", "boundary", "labels"), costs))},
            "calibration": None if old["calibration"] else 0,
        }
