"""The entailment classifier: whether one sentence follows from another, contradicts it, or neither."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.word_vectors import WordVectors
from margent.learners import Adam, PassiveAggressive
from margent.models.base import Confidences, Finds, StructuredModel
from margent.models.entailment.answers import EntailmentExplanation, EntailmentProbabilities, LabelReading
from margent.models.entailment.data import PairData
from margent.models.entailment.model import EntailmentModel
from margent.models.entailment.network.options import Network
from margent.models.entailment.options import AlignmentFeatures
from margent.models.entailment.problem import EntailmentProblem, pair_score
from margent.models.entailment.weights import EntailmentWeights
from margent.models.labels import Predictions
from margent.models.training_data import TrainingData
from margent.parameters import MOST_ANSWERS, check_count

if TYPE_CHECKING:
    from margent.metrics.token import TokenReport


class EntailmentClassifier(StructuredModel[EntailmentModel]):
    """Learns whether a hypothesis follows from a premise (entailment), cannot be true with it (contradiction), or
    neither (neutral); or any other labels of pairs of sentences.

    X is a sequence of pairs (premise, hypothesis), each a text, a list of words, a `BinaryTree` or a `PhraseTree`; y
    has the label of each. The words of the hypothesis are aligned to those of the premise, or to none; nobody says how:
    the alignment is latent. Without `network`, features of aligned words are weighted, by any learner that fits a
    forest. `score` is the share of right labels; `dev_metric` may be "accuracy", "f1" (averaged over the labels), or a
    function of y_dev and the predicted labels, higher being better.

    Parameters
    ----------
    features : AlignmentFeatures or None
        What is aligned and seen. None: the default settings.
    learner : learner, str or None
        An object such as `CRF(l2=1)`, which sums over all alignments, or a name such as "perceptron". None:
        `PassiveAggressive(C=0.02, epochs=6)`; with a network `Adam()`, which it needs.
    network : Network or None
        A network over the two binary trees instead of features; needs `pip install 'margent[neural]'`. It works with
        one thread, so that results do not depend on how many there are. None: no network.
    vectors : WordVectors, path or None
        Vectors of words for a network, which stay as they are; all other words are learned. A path is that of a file or
        folder as `WordVectors.read` takes it, and is not looked at again once the model is trained.
    calibration : float or None
        A share of the training pairs, such as 0.1, to hold out for calibrating probabilities. A second training
        without it gives the `temperature_`, so training takes twice as long. None: calibrate on development data only;
        0: never.
    seed : int
        Determines the order of examples in training.
    threads : int or None
        None: one per processor. Does not change the results.

    Attributes
    ----------
    model_ : EntailmentModel, everything that was learned; the other attributes are views of it
    classes_ : array of the labels
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score; right_branching: how many
        sentences had no tree, if any
    weights_ : the weights
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : what scores are divided by to become log-probabilities
    calibrated_ : whether these are calibrated, by the learner or by a fitted temperature

    Examples
    --------
    >>> from margent import EntailmentClassifier
    >>> X = [("A cat sleeps.", "An animal sleeps."), ("A dog sleeps.", "An animal sleeps."),
    ...      ("A cat sleeps.", "A dog sleeps."), ("A dog sleeps.", "A cat sleeps.")]
    >>> y = ["entailment", "entailment", "contradiction", "contradiction"]
    >>> classifier = EntailmentClassifier(learner="perceptron").fit(X, y)
    >>> classifier.predict([("A cat runs.", "An animal runs.")])
    ['entailment']
    """

    fitted: ClassVar[type[EntailmentModel]] = EntailmentModel

    def __init__(
        self,
        features: AlignmentFeatures | None = None,
        learner: Any = None,
        *,
        network: Network | None = None,
        vectors: Any = None,
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.network = network
        self.vectors = vectors
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(self, X: Any) -> list[str]:
        """The best label of each pair."""
        return Predictions(self._best(self._fitted(), PairData.of(X)))

    def predict_k_best(self, X: Any, k: int = 5) -> list[list[LabelReading]]:
        """The k best labels of each pair with their scores, best first; fewer where fewer exist."""
        check_count("k", k, 1, maximum=MOST_ANSWERS)
        model = self._fitted()
        scores = self._scores(model, PairData.of(X))
        order = np.argsort(-scores, axis=1, kind="stable")[:, : int(k)]
        return [
            [LabelReading(float(row[i]), model.labels[i]) for i in best] for row, best in zip(scores, order.tolist())
        ]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, labels) the probability of each label, in the order of `classes_`: exp(score / temperature_), over the
        sum of all labels.

        The scores of margin learners are not made for that: without a fitted temperature there is a
        `CalibrationWarning`. Those of a `CRF` and of a network are.
        """
        model = self._fitted()
        scale = self._scale(model)
        return _shares(self._scores(model, PairData.of(X)), scale)

    def predict_marginals(self, X: Any) -> list[EntailmentProbabilities]:
        """Probabilities of labels, of alignments, and of the relation of each word and phrase of the hypothesis."""
        model, data = self._fitted(), PairData.of(X)
        scale = self._scale(model)
        shares = _shares(self._scores(model, data), scale)
        details = model.weights.details(data, scale, self.resolved("threads"))
        return [
            EntailmentProbabilities(
                model.labels[int(row.argmax())],
                dict(zip(model.labels, row.tolist())),
                found.alignment,
                found.relations,
            )
            for row, found in zip(shares, details)
        ]

    def explain(self, x: Any) -> EntailmentExplanation:
        """Why this is the best label of a pair: the alignment, the relations of words and phrases, and the features
        with their weights. It can draw itself."""
        model, data = self._fitted(), PairData.of([x])
        scale = 1.0 / model.temperature
        (scores,) = self._scores(model, data)
        (details,) = model.weights.details(data, scale, 1)
        order = np.argsort(-scores, kind="stable").tolist()
        best, second = order[0], order[1] if len(order) > 1 else None
        contributions = [] if second is None else model.weights.contributions(data, best, second, model.labels)
        return EntailmentExplanation(
            data.premises[0],
            data.hypotheses[0],
            model.labels[best],
            dict(zip(model.labels, _shares(scores[None], scale)[0].tolist())),
            None if second is None else model.labels[second],
            None if second is None else float(scores[best] - scores[second]),
            details.alignment,
            details.relations,
            sorted(contributions, key=lambda each: (-abs(each.weight), each.name)),
        )

    # What was learned

    @property
    def classes_(self) -> NDArray[np.object_]:
        return np.array([*self.model_.labels, None], dtype=object)[:-1]

    @property
    def weights_(self) -> EntailmentWeights:
        return self.model_.weights

    def top_features(self, label: str, top: int = 10) -> list[tuple[str, float]]:
        """The features that say a label most, with their weights."""
        model = self._fitted()
        check_count("top", top, 0, maximum=MOST_ANSWERS)
        if label not in model.labels:
            raise CorpusError(f"label {label!r} is not known to the model, which has {', '.join(model.labels[:20])}")
        return model.weights.top_features(model.labels.index(label), int(top))

    # What the template asks of a classifier

    def _problem(self, data: TrainingData, start: EntailmentModel | None, grow: bool) -> EntailmentProblem:
        return EntailmentProblem.of(self, data, start, grow)

    def _answers(self, model: EntailmentModel, X: Any, y: Any, sample_weight: Any = None) -> PairData:
        data = PairData.of(X, y, sample_weight)
        return data.part(data.counting())

    def _score(self, model: EntailmentModel, answers: PairData) -> float:
        return pair_score(answers, self._best(model, answers), None)

    def _report(self, model: EntailmentModel, answers: PairData) -> TokenReport:
        from margent.metrics.token import token_scores

        return token_scores(
            [[str(label)] for label in answers.right], [[label] for label in self._best(model, answers)]
        )

    def _finds(self, model: EntailmentModel, answers: PairData) -> Finds | None:
        """The labels predicted."""
        answers = answers.part(answers.counting())
        if not len(answers):
            return None
        scores, best, right = self._judged(model, answers)
        ordered = -np.sort(-scores, axis=1)[:, :2]
        return Finds.that_count(
            lambda scale: _shares(scores, scale)[np.arange(len(best)), best],
            *(right, answers.counts, [[(score,) for score in row] for row in ordered.tolist()]),
        )

    def _confidences(self, model: EntailmentModel, answers: PairData) -> Confidences:
        if not len(answers):
            raise CorpusError("the data have no pair with a label to compare probabilities with")
        scale = self._scale(model, stacklevel=4)
        scores, best, right = self._judged(model, answers)
        return {"labels": (_shares(scores, scale)[np.arange(len(best)), best], right)}

    def _judged(
        self, model: EntailmentModel, answers: PairData
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Scores of all labels, the best ones, and whether these are right."""
        scores = self._scores(model, answers)
        best = scores.argmax(axis=1)
        right = [model.labels[i] == label for i, label in zip(best.tolist(), answers.right)]
        return scores, best, np.array(right, dtype=bool)

    # Search

    def _scores(self, model: EntailmentModel, data: PairData) -> NDArray[np.float64]:
        return model.label_scores(data, self.resolved("threads"))

    def _best(self, model: EntailmentModel, data: PairData) -> list[str]:
        return [model.labels[i] for i in self._scores(model, data).argmax(axis=1).tolist()]

    # Parameters

    def word_vectors(self) -> WordVectors | None:
        """Those that are given, or in the file that is given."""
        if self.vectors is None or isinstance(self.vectors, WordVectors):
            return self.vectors
        return WordVectors.read(self.vectors)

    def _default_learner(self) -> Any:
        if self.network is not None:
            return Adam()
        return PassiveAggressive(C=0.02, epochs=6)

    def resolved(self, name: str) -> Any:
        value = getattr(self, name)
        if value is None and name == "features":
            return AlignmentFeatures()
        return super().resolved(name)

    def check_parameters(self) -> None:
        self.check_common()
        if not isinstance(self.features, (AlignmentFeatures, type(None))):
            raise TypeError(
                f"features of EntailmentClassifier should be AlignmentFeatures(...) or None, got {self.features!r}"
            )
        if not isinstance(self.network, (Network, type(None))):
            raise TypeError(f"network of EntailmentClassifier should be Network(...) or None, got {self.network!r}")
        if self.vectors is not None:
            if not isinstance(self.vectors, (WordVectors, str, os.PathLike)):
                raise TypeError(
                    f"vectors of EntailmentClassifier should be WordVectors, a path or None, got {self.vectors!r}"
                )
            if self.network is None:
                raise ValueError("vectors of EntailmentClassifier are for a network, and network is None")


def _shares(scores: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """(n, L) exp(scale * score), over the sum of those of a row."""
    scaled = scale * scores
    found = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
    return shares
