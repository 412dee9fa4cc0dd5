"""The training of a tagger: from sentences and labels to encoded examples, and from weights to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.capability import Capability, chain_structure
from margent.errors import CorpusError
from margent.features.feature_map import FeatureMap
from margent.features.kernel import Kernel
from margent.learners.training import Training
from margent.models.base import Problem, Run, run_counting
from margent.models.beam import Beam
from margent.models.fitted import learned_fields
from margent.models.inputs import sentence_weights, sentences_and_labels, training_weights
from margent.models.labels import LabelSet
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.constraints import Restrictions, TagDictionary
from margent.models.tagger.fallback import fallback_search, levels_of
from margent.models.tagger.hidden.weights import HiddenWeights
from margent.models.tagger.label_costs import costs_of
from margent.models.tagger.label_scheme import allowed_pairs, label_scheme
from margent.models.tagger.model import LabelSpace, TaggerModel, weights_of_kind
from margent.models.tagger.search import Structure
from margent.models.tagger.support import SupportSet
from margent.models.tagger.tagged_data import TaggedData, check_metric
from margent.models.tagger.weights import Trainable, Weights
from margent.models.training_data import ADVICE, TrainingData, check_unchanged

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger


def weights_kind(tagger: Tagger, learner: Any) -> type[Weights]:
    """What a tagger learns: weights of the label chain, unless it has hidden labels, or a learner of k-grams."""
    if tagger.resolved("hidden") is not None:
        return HiddenWeights
    return weights_of_kind("k-grams" if Capability.K_GRAM_HINGE in learner.needs else ChainWeights.kind)


def structure_name(tagger: Tagger, learner: Any) -> str:
    """The structure that a tagger learns with, by its name in `margent.capability`."""
    if weights_kind(tagger, learner).kind == "k-grams":
        return "k-grams"
    return chain_structure(
        beam=isinstance(tagger.search, Beam),
        hidden=tagger.resolved("hidden") is not None,
        kernel=isinstance(tagger.resolved("features").source, Kernel),
    )


@dataclass(frozen=True)
class TaggerProblem(Problem[TaggerModel]):
    """`tagger`: the parameters; `start`: the model to continue from."""

    tagger: Tagger
    learner: Any
    feature_map: FeatureMap
    space: LabelSpace
    data: TaggedData
    start: TaggerModel | None = None
    development: TaggedData | None = None
    metric: str | None = None

    @classmethod
    def of(cls, tagger: Tagger, given: TrainingData, start: TaggerModel | None, grow: bool) -> TaggerProblem:
        """Encodes the training and development data, each once. New features are added to a copy of the map."""
        learner, features = tagger.resolved("learner"), tagger.resolved("features")
        check_metric(given.dev_metric)
        given.check_development()
        X, y = sentences_and_labels(given.X, given.y)
        kind = weights_kind(tagger, learner)
        kind.check(tagger, learner)
        if start is None:
            feature_map = kind.feature_map(features.source, X)
        else:
            _check_continues(tagger, learner, kind, start)
            feature_map = start.feature_map.copy() if grow else start.feature_map
        if feature_map.kernel is not None and not grow:
            raise ValueError("freeze_features is not for a kernel, which learns from tokens only by remembering them")
        encoded = feature_map.encode(X, grow=grow, min_count=int(features.min_count))
        labels = (LabelSet() if start is None else start.labels).extended(y)
        weigh = training_weights if start is None else sentence_weights  # without weight, only labels and features grow
        weights = weigh(given.sample_weight, encoded.n_sequences)
        data = TaggedData(X, encoded, labels, labels.encode(y, encoded.lengths), weights)
        if encoded.n_tokens == 0 or not data.known.any():
            raise CorpusError("there is nothing to learn from: the training data have no labelled token")
        before = None if start is None else start.scheme
        scheme = label_scheme(tagger.scheme, before, labels, data.ids, encoded.sequence_ptr)
        allowed_pairs(tagger.constrain, labels, scheme)  # wrong constraints are found before training
        known = None if start is None else start.space.dictionary
        space = LabelSpace(labels, scheme, _grown_dictionary(tagger.tag_dictionary, known, data))
        data = replace(data, allowed=space.allowed(X))
        development = None
        if given.X_dev is not None:
            development = _development(feature_map, space, given)
        return cls(tagger, learner, feature_map, space, data, start, development, given.dev_metric)

    # What the kinds of weights ask for

    @property
    def order(self) -> int:
        return int(self.tagger.order)

    @property
    def seed(self) -> int:
        return int(self.tagger.seed)

    @property
    def layout(self) -> str:
        return str(self.tagger.resolved("features").layout)

    @property
    def n_hidden(self) -> int:
        return int(self.tagger.resolved("hidden").n)

    @property
    def beam(self) -> Beam | None:
        return self.tagger.search if isinstance(self.tagger.search, Beam) else None

    @property
    def costs(self) -> list[float]:
        return costs_of(self.tagger.label_costs, self.space.labels)

    # Learning

    @property
    def calibrated_by_learner(self) -> bool:
        return self._probabilistic and self.beam is None

    @property
    def _probabilistic(self) -> bool:
        """Costs make a likelihood lean away from costly mistakes, so that its probabilities are no longer fair."""
        return bool(self.learner.probabilistic and not self.tagger.label_costs)

    def learned(self, run: Run) -> TaggerModel:
        evaluate = self._evaluation()

        def trained(trainable: Trainable) -> Training:
            watch = None if evaluate is None else lambda exported: evaluate(trainable.weights(exported))
            return run_counting(run, self.learner, trainable.oracle, watch)

        kind = weights_kind(self.tagger, self.learner)
        trainable, result = kind.learned(self, None if self.start is None else self.start.weights, trained)
        weights, feature_map, support = trainable.weights(result.weights), self.feature_map, None
        if feature_map.drops_unused:
            weights, used, _ = weights.without_zero_rows()
            feature_map = feature_map if used is None else feature_map.kept(used)
        if self.learner.keeps_support:
            support = SupportSet.of(result.support, self.data.X, self.data.ids, self.data.encoded.sequence_ptr)
        probabilistic = self._probabilistic
        fields = learned_fields(self.learner, result, self.start, probabilistic)
        beam = None if self.start is None or probabilistic else self.start.calibrated_beam
        return TaggerModel(
            **fields,
            feature_map=feature_map,
            space=self.space,
            weights=weights,
            calibrated_beam=beam,
            support=support,
        )

    def _evaluation(self) -> Callable[[Weights], tuple[float, int]] | None:
        """From weights to their score on the development data, and for how many sentences restrictions were lifted."""
        data, tagger = self.development, self.tagger
        if data is None:
            return None
        pairs = allowed_pairs(tagger.constrain, self.space.labels, self.space.scheme)
        # Scores that are not log-probabilities have no temperature yet that sums could be made with.
        decode = tagger.decode if self.learner.probabilistic else "viterbi"
        width, threads = tagger.beam_width, tagger.resolved("threads")

        levels = levels_of(Restrictions(data.allowed), data.encoded, pairs=pairs is not None, beam=width is not None)

        def evaluate(weights: Weights) -> tuple[float, int]:
            def structure(with_pairs: bool, with_beam: bool) -> Structure:
                return weights.structure(pairs if with_pairs else None, width if with_beam else None)

            search = fallback_search(data.encoded, levels, structure, self.feature_map, threads, decode, 1.0, pairs)
            found, _ = search.best()
            score = data.score(found, spans=self.space.scheme is not None, metric=self.metric)
            return score, sum(map(len, search.lifted().values()))

        return evaluate

    # Parts

    def part(self, numbers: NDArray[np.int64]) -> TaggerProblem:
        """With the labels of the whole: parameters may name some that are only in the other examples. What words were
        seen with is counted anew, for it would give away the right labels of the others."""
        data = self.data.part(numbers)
        space = replace(self.space, dictionary=_grown_dictionary(self.tagger.tag_dictionary, None, data))
        return replace(self, space=space, data=replace(data, allowed=space.allowed(data.X)), development=None)


def _development(feature_map: FeatureMap, space: LabelSpace, given: TrainingData) -> TaggedData:
    X, y = sentences_and_labels(given.X_dev, given.y_dev, ("X_dev", "y_dev"))
    encoded = feature_map.encode(X)
    labels = space.labels.extended(y)
    data = TaggedData(X, encoded, labels, labels.encode(y, encoded.lengths), allowed=space.allowed(X))
    if not data.known.any():  # every epoch would seem equally bad, and the first the best
        raise CorpusError("the development data have no labelled token, so they cannot tell which epoch is best")
    data.check_metric(given.dev_metric)
    return data


def _grown_dictionary(min_count: int | None, known: TagDictionary | None, data: TaggedData) -> TagDictionary | None:
    if min_count is None:
        return None
    return (TagDictionary(int(min_count)) if known is None else known).grown(data.X, data.ids, int(min_count))


def _check_continues(tagger: Tagger, learner: Any, kind: type[Weights], start: TaggerModel) -> None:
    """ValueError where the parameters have changed so that `partial_fit` cannot continue."""
    hidden = tagger.resolved("hidden")
    check_unchanged("Tagger", "order", tagger.order, start.weights.order)
    check_unchanged("Tagger", "hidden", 1 if hidden is None else hidden.n, start.weights.hidden)
    if not isinstance(start.weights, kind):
        raise ValueError(f"{type(learner).__name__} learns other weights than this Tagger has: {ADVICE}")
