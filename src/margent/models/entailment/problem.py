"""What an entailment classifier learns from: pairs of sentences with labels, by whatever alignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.learners import check_fits
from margent.models.base import Problem, Run
from margent.models.entailment.alignment_weights import AlignmentWeights
from margent.models.entailment.data import PairData
from margent.models.entailment.model import MOST_LABELS, EntailmentModel
from margent.models.entailment.network.network_weights import NetworkWeights
from margent.models.entailment.network.oracle import STRUCTURE
from margent.models.entailment.network.tree_lstm import torch_module
from margent.models.entailment.network.vocabulary import Vocabulary
from margent.models.entailment.options import MOST_COMPOSED
from margent.models.fitted import learned_fields
from margent.models.training_data import TrainingData, check_unchanged

if TYPE_CHECKING:
    from margent.models.entailment.entailment_classifier import EntailmentClassifier

PAIR_METRICS = ("accuracy", "f1")
"""What labels may be judged by: the share that is right, or F1 averaged over the labels."""

DevMetric = Callable[[Any, "list[str]"], float]
"""From right and predicted labels to a number, higher is better."""


@dataclass(frozen=True, eq=False)
class EntailmentProblem(Problem[EntailmentModel]):
    """`classifier`: the parameters; `start`: the model to continue from; `grow`: whether new features are added."""

    classifier: EntailmentClassifier
    learner: Any
    data: PairData
    start: EntailmentModel | None = None
    grow: bool = True
    development: PairData | None = None
    metric: str | DevMetric | None = None

    @classmethod
    def of(
        cls, classifier: EntailmentClassifier, given: TrainingData, start: EntailmentModel | None, grow: bool
    ) -> EntailmentProblem:
        metric = given.dev_metric
        if not (metric is None or callable(metric) or metric in PAIR_METRICS):
            names = ", ".join(PAIR_METRICS)
            raise ValueError(f"dev_metric should be one of {names}, a function or None, got {metric!r}")
        given.check_development()
        learner = classifier.resolved("learner")
        check_fits(learner, "forest" if classifier.network is None else STRUCTURE)
        if classifier.network is not None:
            torch_module()  # said before any data are looked at
        if start is not None:
            _check_continues(classifier, start)
        data = PairData.of(given.X, given.y, given.sample_weight)
        if not len(data.counting()):
            raise CorpusError("there is nothing to learn from: no pair has a label and a sample_weight above zero")
        development = None
        if given.X_dev is not None:
            development = PairData.of(given.X_dev, given.y_dev, names=("X_dev", "y_dev"))
            if development.labels is None:
                raise CorpusError("y_dev is missing: X_dev was given without labels")
        return cls(classifier, learner, data, start, grow, development, metric)

    def learned(self, run: Run) -> EntailmentModel:
        chosen = self.data.part(self.data.counting())
        labels = self._labels(chosen)
        right = np.array([labels.index(str(label)) for label in chosen.right], dtype=np.int64)
        counts = None if chosen.sample_weight is None else chosen.counts
        weights: AlignmentWeights | NetworkWeights
        evaluation: Callable[[Any], float] | None
        if self.classifier.network is None:
            aligned, encoded = self._alignment_weights(labels).grown(
                chosen, len(labels), int(self.classifier.resolved("features").min_count), self.grow
            )
            oracle: Any = aligned.forests(encoded).oracle(right, counts)
            oracle.start_from(aligned.values)
            weights, evaluation = aligned, self._evaluation(aligned, labels)
        else:
            network = self._network_weights().grown(chosen, len(labels), self.grow, int(self.classifier.seed))
            oracle = network.oracle(chosen, right, counts)
            weights, evaluation = network, self._network_evaluation(network, labels)
        result = run(self.learner, oracle, evaluation)
        fields = learned_fields(self.learner, result, self.start, self.learner.probabilistic)
        return EntailmentModel(
            **(fields | {"history": self._with_warning(fields["history"], len(result.history))}),
            labels=tuple(labels),
            weights=weights.with_values(result.weights),
        )

    def _alignment_weights(self, labels: list[str]) -> AlignmentWeights:
        """Those to continue from, or none yet."""
        features = self.classifier.resolved("features")
        weights = AlignmentWeights.empty(features.candidates, features.compose, bool(self.learner.probabilistic))
        if self.start is not None:
            assert isinstance(self.start.weights, AlignmentWeights)
            weights = replace(self.start.weights, summed=bool(self.learner.probabilistic))
        if weights.compose and len(labels) > MOST_COMPOSED:
            raise CorpusError(
                f"compose=True takes at most {MOST_COMPOSED} labels, for rules of three of them, got {len(labels)}"
            )
        return weights

    def _network_weights(self) -> NetworkWeights:
        if self.start is not None:
            assert isinstance(self.start.weights, NetworkWeights)
            return self.start.weights
        network = self.classifier.network
        assert network is not None
        vocabulary = Vocabulary(self.classifier.word_vectors())
        return NetworkWeights(network, vocabulary, 0, np.zeros(0, np.float32))

    def _labels(self, chosen: PairData) -> list[str]:
        """Those of the model to continue from, then new ones in order."""
        known = [] if self.start is None else list(self.start.labels)
        labels = [*known, *sorted({str(label) for label in chosen.right} - set(known))]
        if len(labels) > MOST_LABELS:
            raise CorpusError(f"expected at most {MOST_LABELS:,} different labels, got {len(labels):,}")
        return labels

    def _with_warning(self, history: list[dict[str, Any]], n_new: int) -> list[dict[str, Any]]:
        """The new epochs say how many sentences had no tree and were taken as right-branching."""
        n = self.data.n_without_tree
        first = len(history) - n_new
        return [epoch | {"right_branching": n} if n and i >= first else epoch for i, epoch in enumerate(history)]

    def _watched(self) -> PairData | None:
        """The pairs of the development data that have a label."""
        if self.development is None:
            return None
        chosen = self.development.part(self.development.counting())
        if not len(chosen):
            raise CorpusError("X_dev has no pair with a label")
        return chosen

    def _network_evaluation(self, weights: NetworkWeights, labels: list[str]) -> Callable[[Any], float] | None:
        """From numbers of a network to their score on the development data, which are encoded once."""
        chosen = self._watched()
        if chosen is None:
            return None
        encoded = weights.encoded(chosen)

        def score(values: Any) -> float:
            found = weights.with_values(values).scores_of(encoded)
            return pair_score(chosen, [labels[i] for i in found.argmax(axis=1).tolist()], self.metric)

        return score

    def _evaluation(
        self, weights: AlignmentWeights, labels: list[str]
    ) -> Callable[[NDArray[np.float64]], float] | None:
        """From weights to their score on the development data, whose forests are made once."""
        chosen, threads = self._watched(), self.classifier.resolved("threads")
        if chosen is None:
            return None
        forests = weights.forests(weights.encoded(chosen))

        def score(values: NDArray[np.float64]) -> float:
            found = forests.label_scores(np.asarray(values, np.float64), weights.summed, threads)
            return pair_score(chosen, [labels[i] for i in found.argmax(axis=1).tolist()], self.metric)

        return score


def _check_continues(classifier: EntailmentClassifier, start: EntailmentModel) -> None:
    """ValueError where a parameter has changed so that training cannot continue."""
    then = start.weights.network if isinstance(start.weights, NetworkWeights) else None
    check_unchanged("EntailmentClassifier", "network", classifier.network, then)


def pair_score(data: PairData, found: list[str], metric: str | DevMetric | None) -> float:
    """Of predicted labels, higher is better. Pairs without a label do not count."""
    right, counts = data.right, data.counts
    if callable(metric):
        return float(metric(right, found))
    known = [i for i, label in enumerate(right) if label is not None]
    if metric == "f1":
        from margent.metrics.token import token_scores

        report = token_scores([[str(right[i])] for i in known], [[found[i]] for i in known])
        return report.averages[0].f1
    total = float(counts[known].sum())
    return float(sum(counts[i] for i in known if right[i] == found[i])) / total if total else 0.0
