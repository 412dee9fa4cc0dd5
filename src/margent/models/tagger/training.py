"""The training of a tagger: from sentences and labels to weights, watched on development data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.feature_map import FeatureMap
from margent.learners import check_fits, train
from margent.learners.training import Callback, Training
from margent.models.inputs import sentence_weights, sentences_and_labels
from margent.models.labels import MISSING, LabelSet
from margent.models.tagger.calibration import fitted_tagger_temperature
from margent.models.tagger.constraints import LabelDictionary
from margent.models.tagger.evaluation import Gold, check_metric, development_score
from margent.models.tagger.label_scheme import allowed_pairs, label_scheme
from margent.models.tagger.support import SupportSet
from margent.models.tagger.weights import Trainable, TrainingSet, Weights
from margent.models.tagger.weights_choice import structure_of, weights_of

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger


@dataclass(frozen=True)
class Lesson:
    """What a tagger is given to learn from, and how the training is watched; see `Tagger.fit`.

    `y` may be None on the way in where `X` holds the labels too.
    """

    X: Any
    y: Any
    sample_weight: Any = None
    X_dev: Any = None
    y_dev: Any = None
    dev_metric: str | None = None
    callbacks: Iterable[Callback] = ()
    progress: bool | None = None

    def __post_init__(self) -> None:
        check_metric("dev_metric", self.dev_metric)
        X, y = sentences_and_labels(self.X, self.y)
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)

    def development(self) -> tuple[Any, Any] | None:
        """Sentences and labels to watch, or None."""
        if self.X_dev is not None:
            return sentences_and_labels(self.X_dev, self.y_dev, ("X_dev", "y_dev"))
        if self.y_dev is not None or self.dev_metric is not None:
            raise CorpusError(f"{'dev_metric' if self.y_dev is None else 'y_dev'} was given without X_dev")
        return None


@dataclass(frozen=True)
class Labelling:
    """How tokens may be labelled: the labels, the scheme in which they spell spans, and what words were seen with."""

    labels: LabelSet
    scheme: str | None
    dictionary: LabelDictionary | None

    def allowed(self, X: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
        return None if self.dictionary is None else self.dictionary.allowed(X)


def new_feature_map(tagger: Tagger, X: Any) -> FeatureMap:
    """A new, empty feature map for what a tagger was told, and these data."""
    return weights_of(tagger).feature_map(tagger, X)


def learn(
    tagger: Tagger,
    lesson: Lesson,
    feature_map: FeatureMap,
    labels: LabelSet,
    weights: Weights | None = None,
    *,
    grow: bool = True,
) -> None:
    """Trains a tagger and gives it what was learned.

    `weights`: those to go on from; None: a new tagger, which stays as it was if the training fails. `grow`: features
    that the map does not know are added.
    """
    learner = tagger._learner()
    check_fits(learner, structure_of(tagger))
    if feature_map.kernel is not None and not grow:
        raise ValueError("freeze_features is not for a kernel, which learns from tokens only by remembering them")
    encoded = feature_map.encode(lesson.X, grow=grow, min_count=tagger.min_count)
    labels = labels.extended(lesson.y)
    ids = labels.encode(lesson.y, encoded.lengths)
    if encoded.n_tokens == 0 or (ids == MISSING).all():
        raise CorpusError("there is nothing to learn from: the training data have no labelled token")
    before = None if weights is None else tagger.scheme_
    scheme = label_scheme(tagger.scheme, before, labels, ids, encoded.sequence_ptr)
    allowed_pairs(tagger.constrain, labels, scheme)  # wrong constraints are found before training
    labelling = Labelling(labels, scheme, _grown_dictionary(tagger, lesson.X, ids, weights is not None))
    counted = sentence_weights(lesson.sample_weight, encoded.n_sequences)
    if weights is None and counted is not None and not counted.any():
        raise CorpusError("there is nothing to learn from: the sample_weight of every sentence is zero")
    data = TrainingSet(encoded, ids, counted, labelling.allowed(lesson.X))
    development = lesson.development()
    evaluation = None
    if development is not None:
        evaluation = _evaluation(tagger, feature_map, labelling, *development, lesson.dev_metric)

    def run(trainable: Trainable) -> Training:
        return train(
            learner,
            trainable.oracle,
            seed=tagger.seed,
            threads=tagger._threads(),
            evaluate=None if evaluation is None else lambda exported: evaluation(trainable.weights(exported)),
            callbacks=lesson.callbacks,
            progress=lesson.progress,
        )

    trainable, result = weights_of(tagger).learned(tagger, data, feature_map, labels, weights, run, evaluation)
    _set_learned(tagger, feature_map, labelling, result, trainable, goes_on=weights is not None)
    if learner.keeps_support:
        tagger._support = SupportSet.of(result.support, lesson.X, ids, encoded.sequence_ptr)
    # Costs make a likelihood lean away from the dear mistakes, so that its probabilities are no longer fair.
    probabilistic = learner.probabilistic and not tagger.label_costs
    if weights is None or probabilistic:
        tagger.temperature_, tagger._calibrated_for = 1.0, (None,) if probabilistic else ()  # by exact sums
    fitted = probabilistic and tagger.beam is None
    if development is not None and not fitted and tagger.calibration != 0:
        fit_temperature(tagger, lambda: fitted_tagger_temperature(tagger, *development))


def _grown_dictionary(tagger: Tagger, X: Any, ids: NDArray[np.int32], go_on: bool) -> LabelDictionary | None:
    if tagger.restrict_labels is None:
        return None
    old = getattr(tagger, "_dictionary", None) if go_on else None
    dictionary = old if old is not None else LabelDictionary(int(tagger.restrict_labels))
    return dictionary.grown(X, ids, int(tagger.restrict_labels))


def _evaluation(
    tagger: Tagger,
    feature_map: FeatureMap,
    labelling: Labelling,
    X: Any,
    y: Any,
    metric: str | None,
) -> Callable[[Weights], float]:
    labels, scheme = labelling.labels, labelling.scheme
    encoded = feature_map.encode(X)
    gold = Gold(y, encoded, labels, spans=scheme is not None, metric=metric)
    pairs = allowed_pairs(tagger.constrain, labels, scheme)
    allowed = labelling.allowed(X)
    # Scores that are no log probabilities have no temperature yet that sums could be made with.
    decode = tagger.decode if tagger._learner().probabilistic else "path"
    return development_score(feature_map, encoded, gold, allowed, pairs, decode, tagger.beam, tagger._threads())


def _set_learned(
    tagger: Tagger,
    feature_map: FeatureMap,
    labelling: Labelling,
    result: Training,
    trainable: Trainable,
    *,
    goes_on: bool,
) -> None:
    earlier = tagger.history_ if goes_on else []
    if not goes_on:  # only now: a `fit` that fails leaves a fitted tagger as it was
        for name in [name for name in vars(tagger) if name.endswith("_") and not name.startswith("_")]:
            delattr(tagger, name)
    weights = trainable.weights(result.weights)
    if feature_map.drops_unused:
        weights, used, _ = weights.without_zero_rows()
        feature_map = feature_map if used is None else feature_map.kept(used)
    tagger.feature_map_, tagger.weights_ = feature_map, weights
    tagger._dictionary, tagger._support = labelling.dictionary, None
    tagger._set_labels(labelling.labels, labelling.scheme)
    tagger.history_ = [*earlier, *(epoch.as_dict() for epoch in result.history)]
    tagger.best_epoch_ = result.best_epoch
    tagger.interrupted_ = result.interrupted
    tagger._ready = None
    tagger._structure()
    tagger._warned = False


def fit_temperature(tagger: Tagger, fit: Callable[[], float | None]) -> None:
    """At the end of a training: Ctrl-C, or data without a span to judge, leave what was learned as it is."""
    try:
        temperature = fit()
    except KeyboardInterrupt:
        tagger.interrupted_ = True
        return
    if temperature is not None:
        tagger.temperature_, tagger.calibrated_ = temperature, True
