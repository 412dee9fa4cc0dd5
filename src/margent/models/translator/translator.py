"""The translator: sentences of one language in another, by rules with gaps that are learned from pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates
from margent.learners import Perceptron
from margent.learners.training import Callback
from margent.models.base import Confidences, Finds, StructuredModel, Unavailable
from margent.models.labels import Predictions
from margent.models.training_data import TrainingData
from margent.models.translator.answers import TranslationExplanation, TranslationReading
from margent.models.translator.data import TranslationData
from margent.models.translator.explanation import derivation_of, explained
from margent.models.translator.forests import TranslationForests, translation_forests
from margent.models.translator.language_model import LARGEST_ORDER, LanguageModel
from margent.models.translator.model import TranslatorModel
from margent.models.translator.options import CubePruning, DenseStart
from margent.models.translator.problem import PairData, TranslatorProblem, translation_score
from margent.models.translator.rule_table import RuleExtraction, RuleTable
from margent.models.translator.templates import parsed_templates
from margent.models.translator.weights import Found, TranslationWeights, initial_weights
from margent.parameters import MOST_ANSWERS, check_count, check_flag, check_whole

if TYPE_CHECKING:
    from margent.metrics import BleuReport

Self = TypeVar("Self", bound="Translator")
CANDIDATES = 20
"""Confidences compare so many translations of a sentence."""


class Translator(StructuredModel[TranslatorModel]):
    """Learns to translate sentences, by hierarchical phrases (Chiang 2007; paper 003, Section 5.2).

    X is a sequence of sentences, text or lists of words; y has the translation of each, in the same form; to be judged
    by, a sentence may have several, a list of lists of words. Rules such as "yu X_1 juxing X_2" = "held X_2 with X_1"
    are extracted from aligned pairs, a language model is trained on the translations, and the weights of features are
    learned from pairs alone: how a translation was made, nobody has to say. A predicted translation is a list of words.
    `score` is BLEU, from 0 to 1; `dev_metric` may be "bleu", or a function of y_dev and the predicted translations
    that is the higher the better.

    Parameters
    ----------
    features : str, list of str or None
        Templates of the sparse features of rules, over named atoms such as `source.first.word target.last` (their text
        or lines); an empty list: none. None: the usual ones. docs/translator.md spells all atoms.
    learner : learner, str or None
        How mistakes move the weights: an object such as `Perceptron(epochs=20)` or a name such as "mira". None:
        `Perceptron(epochs=5)`.
    extraction : RuleExtraction or None
        Which rules are taken from aligned pairs. None: the usual settings.
    language_model : LanguageModel, path or None
        A model of target sentences, or an ARPA file with one. None: it is trained on the translations.
    order : int
        Of that language model: how many words a gram has.
    search : CubePruning
        How much is looked at, and what is learned where the best translation is wrong.
    left_out : bool
        Whether a training sentence is translated as if it were new: without what was extracted from its pair and those
        that share a side with it, and with a language model that was trained without them.
    split_unknown : bool
        Whether words that no rule has are read as pieces that rules have, such as their characters.
    dense : DenseStart
        The weights of dense features that training begins with, and how much it moves them.
    calibration : float or None
        A share of the training sentences, such as 0.1, to calibrate confidences with: after the training a second one
        without them gives the `temperature_`. None: only on development data; 0: not at all.
    seed : int
        Of the order of examples in training.
    threads : int or None
        None: as many as there are processors. Does not change the results.

    Attributes
    ----------
    model_ : TranslatorModel, all that was learned; what follows are views of it
    rules_ : the table of rules
    language_model_ : the model of target sentences
    weights_ : the weights of features
    coverage_ : the share of the training sentences whose translation has a derivation
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score
    best_epoch_, interrupted_ : how the last training ended
    temperature_, calibrated_ : of confidences

    Examples
    --------
    >>> from margent import Translator
    >>> pairs = [("das Haus", "the house"), ("das Tor", "the gate"), ("ein Haus", "a house"), ("ein Tor", "a gate"),
    ...          ("ein Garten", "a garden")]
    >>> X, y = zip(*pairs)
    >>> translator = Translator(left_out=False).fit(X, y, alignments=["0-0 1-1"] * 5)
    >>> translator.predict(["das Garten"])
    [['the', 'garden']]
    """

    fitted: ClassVar[type[TranslatorModel]] = TranslatorModel

    partial_fit = Unavailable(
        "rules and their probabilities are counted over all pairs at once; fit again on old and new pairs together"
    )
    predict_marginals = Unavailable(
        "words of a translation have no labels; the readings of predict_k_best have a confidence, and forests() gives "
        "the forest of all translations that were looked at"
    )

    def __init__(
        self,
        features: Any = None,
        learner: Any = None,
        *,
        extraction: RuleExtraction | None = None,
        language_model: LanguageModel | str | os.PathLike[str] | None = None,
        order: int = 4,
        search: CubePruning = CubePruning(),  # noqa: B008
        left_out: bool = True,
        split_unknown: bool = True,
        dense: DenseStart = DenseStart(),  # noqa: B008
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.extraction = extraction
        self.language_model = language_model
        self.order = order
        self.search = search
        self.left_out = left_out
        self.split_unknown = split_unknown
        self.dense = dense
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        alignments: Any = None,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from sentences and their translations; see `StructuredModel.fit`.

        alignments : of each sentence with its (first) translation, a `WordAlignment` or text such as "0-0 1-2". None:
            they are made by a simple model (`margent.models.translator.alignment`)
        """
        data = PairData(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress, alignments)
        self.model_ = self._learned(data, None)
        return self

    # Prediction

    def predict(self, X: Any) -> Predictions[list[str]]:
        """The best translation of each sentence, a list of words."""
        model, data = self._fitted(), TranslationData.of(X)
        return Predictions(model.best(data.sentences, self.search, self.resolved("threads")))

    def predict_k_best(self, X: Any, k: int = 5, *, distinct: bool = True) -> list[list[TranslationReading]]:
        """Up to k translations of each sentence, best first, each with its best derivation; none of one without words.

        distinct : translations that differ in their words; otherwise derivations, of which many say the same

        The confidence of a translation is exp(score / temperature_) over the sum of the best twenty, or of all k where
        these are more. It is None as long as the model is not calibrated.
        """
        check_count("k", k, 1, maximum=MOST_ANSWERS)
        model, data = self._fitted(), TranslationData.of(X)
        calibrated = self._is_calibrated(model) and distinct
        encoded = model.encoded(data.sentences, self.search)
        n = max(int(k), CANDIDATES) if calibrated else int(k)
        found = model.weights.translated(encoded, self.search, n, self.resolved("threads"), bool(distinct))
        answers = []
        for i, several in enumerate(found):
            shares = _shares(several, 1.0 / model.temperature).tolist()
            answers.append(
                [
                    TranslationReading(
                        one.score,
                        encoded.words(i, one.words),
                        derivation_of(encoded, i, one),
                        share if calibrated else None,
                    )
                    for one, share in zip(several[: int(k)], shares)
                ]
            )
        return answers

    def explain(self, x: Any) -> TranslationExplanation:
        """Why the best translation of one sentence is that: its derivation, and what was seen of each rule."""
        model, data = self._fitted(), TranslationData.of([x])
        return explained(model, data.sentences[0], self.search)

    def forests(self, X: Any) -> TranslationForests:
        """The forests of all translations that cube pruning left, one for each sentence."""
        model, data = self._fitted(), TranslationData.of(X)
        encoded = model.encoded(data.sentences, self.search)
        return translation_forests(encoded, model.weights, self.search, self.resolved("threads"))

    def tokens(self, x: Any) -> list[str]:
        """The words of one sentence as rules see them: words that no rule has in pieces. Spans count these."""
        model, data = self._fitted(), TranslationData.of([x])
        return model.encoded(data.sentences, self.search).tokens[0]

    # What was learned

    @property
    def rules_(self) -> RuleTable:
        return self.model_.table

    @property
    def language_model_(self) -> LanguageModel:
        return self.model_.language

    @property
    def weights_(self) -> TranslationWeights:
        return self.model_.weights

    @property
    def coverage_(self) -> float:
        return self.model_.coverage

    # What the template asks of a translator

    def _problem(self, data: TrainingData, start: TranslatorModel | None, grow: bool) -> TranslatorProblem:
        return TranslatorProblem.of(self, data)

    def _answers(self, model: TranslatorModel, X: Any, y: Any, sample_weight: Any = None) -> TranslationData:
        data = TranslationData.of(X, y, sample_weight)
        _ = data.right  # refused where there are no translations
        return data

    def _score(self, model: TranslatorModel, answers: TranslationData) -> float:
        return translation_score(answers, self._best(model, answers))

    def _report(self, model: TranslatorModel, answers: TranslationData) -> BleuReport:
        from margent.metrics import bleu_scores

        known = answers.part(np.flatnonzero([bool(right) for right in answers.right]))
        return bleu_scores(known.right, self._best(model, known), known.sentences)

    def _finds(self, model: TranslatorModel, answers: TranslationData) -> Finds | None:
        """The best translations."""
        found, right, counts = self._judged(model, answers)
        if not found:
            return None
        return Finds.that_count(
            lambda scale: np.array([_shares(each, scale)[0] for each in found]),
            *(right, counts, [[(one.score,) for one in each[:2]] for each in found]),
        )

    def _confidences(self, model: TranslatorModel, answers: TranslationData) -> Confidences:
        scale = self._scale(model, stacklevel=4)
        found, right, _ = self._judged(model, answers)
        if not found:
            raise CorpusError("the data have no sentence with a translation to compare confidences with")
        return {"translations": (np.array([_shares(each, scale)[0] for each in found]), right)}

    def _judged(
        self, model: TranslatorModel, answers: TranslationData
    ) -> tuple[list[list[Found]], NDArray[np.bool_], NDArray[np.float64]]:
        """The translations of each sentence that counts, whether the best is a right one, and what it counts."""
        chosen = answers.part(answers.counting())
        encoded = model.encoded(chosen.sentences, self.search)
        found = model.weights.translated(encoded, self.search, CANDIDATES, self.resolved("threads"))
        kept = [i for i, each in enumerate(found) if each]
        right = [encoded.words(i, found[i][0].words) in chosen.right[i] for i in kept]
        return [found[i] for i in kept], np.array(right, dtype=bool), chosen.counts[kept] if kept else np.zeros(0)

    def _best(self, model: TranslatorModel, data: TranslationData) -> list[list[str]]:
        return model.best(data.sentences, self.search, self.resolved("threads"))

    # Parameters

    @property
    def templates(self) -> PartTemplates:
        """What is seen of rules."""
        return parsed_templates(self.features)

    def given_language_model(self) -> LanguageModel | None:
        """The language model that was given, read if it is a path."""
        if self.language_model is None or isinstance(self.language_model, LanguageModel):
            return self.language_model
        return LanguageModel.read_arpa(self.language_model)

    def _default_learner(self) -> Any:
        return Perceptron(epochs=5)

    def resolved(self, name: str) -> Any:
        if name == "extraction" and self.extraction is None:
            return RuleExtraction(max_targets=30)
        return super().resolved(name)

    def check_parameters(self) -> None:
        self.check_common()
        given = self.features
        lines = isinstance(given, Sequence) and all(isinstance(line, str) for line in given)
        if not (given is None or isinstance(given, str) or lines):
            raise TypeError(f"features of Translator should be text, lines of text or None, got {given!r}")
        _ = self.templates
        if not isinstance(self.extraction, (RuleExtraction, type(None))):
            raise TypeError(f"extraction of Translator should be RuleExtraction(...) or None, got {self.extraction!r}")
        if not isinstance(self.language_model, (LanguageModel, str, os.PathLike, type(None))):
            raise TypeError(
                "language_model of Translator should be a LanguageModel, the path of an ARPA file or None, got "
                f"{self.language_model!r}"
            )
        if not isinstance(self.search, CubePruning):
            raise TypeError(f"search of Translator should be CubePruning(...), got {self.search!r}")
        check_whole(self, "order", minimum=1, maximum=LARGEST_ORDER)
        check_flag(self, "left_out")
        check_flag(self, "split_unknown")
        if not isinstance(self.dense, DenseStart):
            raise TypeError(f"dense of Translator should be DenseStart(...), got {self.dense!r}")
        initial_weights(self.dense)

    # Files

    def _stored_parameters(self, model: TranslatorModel) -> dict[str, Any]:
        """The language model is in what was learned."""
        return super()._stored_parameters(model) | {"language_model": None}


def _shares(found: Sequence[Found], scale: float) -> NDArray[np.float64]:
    """How probable each translation is among those that were found, if scores times `scale` are log-probabilities."""
    scores = scale * np.array([one.score for one in found])
    if not len(scores):
        return scores
    shares: NDArray[np.float64] = np.exp(scores - scores.max())
    shares /= shares.sum()
    return shares
