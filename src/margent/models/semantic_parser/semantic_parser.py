"""The semantic parser: what a question to a database means, as an expression."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates
from margent.learners import Perceptron
from margent.meaning import Domain, Expression
from margent.models.base import Confidences, Finds, StructuredModel, Unavailable
from margent.models.beam import Beam
from margent.models.labels import Predictions
from margent.models.semantic_parser.answer_types import asked_types
from margent.models.semantic_parser.answers import MeaningExplanation, MeaningReading
from margent.models.semantic_parser.data import QuestionData
from margent.models.semantic_parser.explanation import explained
from margent.models.semantic_parser.lexicon import Lexicon, LexiconOptions
from margent.models.semantic_parser.model import (
    LARGEST_PRIOR,
    MOST_EXPRESSIONS,
    TYPES,
    Found,
    SemanticParserModel,
)
from margent.models.semantic_parser.problem import SemanticParserProblem, meaning_score
from margent.models.semantic_parser.templates import parsed_templates
from margent.models.semantic_parser.weights import MeaningWeights
from margent.models.training_data import TrainingData
from margent.parameters import MOST_ANSWERS, check_choice, check_count, check_number, check_whole

if TYPE_CHECKING:
    from margent.metrics.meaning import MeaningReport

_LARGEST_BEAM = 2**20
MARGIN = 10.0
"""By so much a right meaning has to win in training: tuned on folds of the training questions of GeoQuery."""


class SemanticParser(StructuredModel[SemanticParserModel]):
    """Learns what questions to a database mean, from questions with their meanings alone.

    X is a sequence of questions, text or lists of words; y has the meaning of each, an expression of
    `margent.parse_meaning` or its text, or None where it is not known. Words say pieces of meanings, which are put
    together as their types allow; which words say what is learned, and so are the steps that lead to a meaning, which
    nobody has to annotate. A predicted meaning is in normal form, and None where a question cannot be understood.
    `score` is F1: precision over the questions that are understood, recall over all; a meaning is right if its normal
    form is. `dev_metric` may be "f1", "precision", "recall", or a function of y_dev and the predicted meanings that is
    the higher the better.

    Parameters
    ----------
    domain : Domain, path or None
        What questions are about: types, names, how things are called (docs/meanings.md). None: what the meanings say.
    features : str, list of str or None
        What is seen of states and actions: templates over named atoms such as `s0.type q0.lower action.piece` (their
        text or lines). None: the usual ones. docs/semantic-parser.md spells all atoms.
    learner : learner, str or None
        How mistakes move the weights: an object such as `Perceptron(epochs=20, margin=10)` or a name such as "mira".
        None: `Perceptron(margin=10)`; a right meaning has to win by a margin, so that more is learned than what
        training questions need.
    search : Beam
        How many states are kept for each number of words read, in training and in prediction.
    types : "full" or "simple"
        Whether types are those of the domain, or the topmost ones above them: things, numbers and truth.
    lexicon : LexiconOptions or None
        How words and pieces of meanings are brought together. None: the usual settings.
    prior : float
        How much the logarithm of the strength of a word with a piece counts before anything is learned.
    most_names : int
        So many names a piece may have that one word says.
    most_expressions : int
        So many expressions may wait to be put together.
    calibration : float or None
        A share of the training questions, such as 0.1, to calibrate confidences with: after the training a second one
        without them gives the `temperature_`. None: only on development data; 0: not at all.
    seed : int
        Of the order of examples in training.
    threads : int or None
        None: as many as there are processors. Does not change the results.

    Attributes
    ----------
    model_ : SemanticParserModel, all that was learned; what follows are views of it
    domain_ : the domain, made of the meanings where none was given
    lexicon_ : the pieces of meanings and the words that may say them
    coverage_ : the share of the questions of the last training of whose meaning there is a derivation
    weights_ : the weights of features
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score
    best_epoch_, interrupted_ : how the last training ended
    temperature_, calibrated_ : of confidences

    Examples
    --------
    >>> from margent import SemanticParser
    >>> questions = ["which rivers run through texas", "which rivers run through utah", "how many states are there"]
    >>> meanings = ["(lambda $0 e (and (river $0) (through $0 texas)))",
    ...             "(lambda $0 e (and (river $0) (through $0 utah)))", "(count $0 (state $0))"]
    >>> parser = SemanticParser().fit(questions, meanings)
    >>> print(parser.predict(["which rivers run through utah"])[0])
    (lambda $0 e (and (river $0) (through $0 utah)))
    """

    fitted: ClassVar[type[SemanticParserModel]] = SemanticParserModel

    predict_marginals = Unavailable(
        "there are no sums over all meanings; the readings of predict_k_best have a confidence among those that the "
        "beam found"
    )

    def __init__(
        self,
        domain: Domain | str | os.PathLike[str] | None = None,
        features: Any = None,
        learner: Any = None,
        *,
        search: Beam = Beam(16),  # noqa: B008
        types: str = "full",
        lexicon: LexiconOptions | None = None,
        prior: float = 1.0,
        most_names: int = 3,
        most_expressions: int = 7,
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.domain = domain
        self.features = features
        self.learner = learner
        self.search = search
        self.types = types
        self.lexicon = lexicon
        self.prior = prior
        self.most_names = most_names
        self.most_expressions = most_expressions
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(self, X: Any, *, answer_type: Any = None) -> Predictions[Expression | None]:
        """The best meaning of each question, in normal form; None where it cannot be understood.

        `answer_type`: only meanings that answer with something of this type, such as "state", or with a set of it.
        """
        model, data = self._fitted(), QuestionData.of(X)
        types = asked_types(model.grammar, answer_type)
        found = model.best(model.encoded(data.questions), self.width, self.resolved("threads"), types)
        return Predictions(found)

    def predict_k_best(self, X: Any, k: int = 5, *, answer_type: Any = None) -> list[list[MeaningReading]]:
        """Up to k different meanings of each question that the beam found, best first; none where it found none.

        The confidence of a reading is exp(score / temperature_) over the sum of all meanings that the beam found, its
        best derivation standing for each; so it says nothing of meanings that the beam has lost. It is None as long as
        the model is not calibrated.
        """
        check_count("k", k, 1, maximum=MOST_ANSWERS)
        model, data = self._fitted(), QuestionData.of(X)
        types = asked_types(model.grammar, answer_type)
        found = model.found(model.encoded(data.questions), self.width, self.resolved("threads"), types)
        calibrated = self._is_calibrated(model)
        answers = []
        for readings in found:
            shares = _shares(readings, 1.0 / model.temperature).tolist()
            answers.append(
                [
                    MeaningReading(reading.score, reading.meaning, share if calibrated else None)
                    for reading, share in zip(readings[: int(k)], shares)
                ]
            )
        return answers

    def explain(self, x: Any, *, answer_type: Any = None) -> MeaningExplanation:
        """Why the best meaning of one question is that: the steps that make it, and what was seen of each."""
        model, data = self._fitted(), QuestionData.of([x])
        return explained(model, data.questions[0], self.width, asked_types(model.grammar, answer_type))

    # What was learned

    @property
    def domain_(self) -> Domain:
        return self.model_.domain

    @property
    def lexicon_(self) -> Lexicon:
        return self.model_.grammar.lexicon

    @property
    def coverage_(self) -> float:
        return self.model_.coverage

    @property
    def weights_(self) -> MeaningWeights:
        return self.model_.weights

    # What the template asks of a parser

    def _problem(self, data: TrainingData, start: SemanticParserModel | None, grow: bool) -> SemanticParserProblem:
        return SemanticParserProblem.of(self, data, start, grow)

    def _answers(self, model: SemanticParserModel, X: Any, y: Any, sample_weight: Any = None) -> QuestionData:
        data = QuestionData.of(X, y, sample_weight)
        _ = data.right  # refused where there are no meanings
        return data

    def _score(self, model: SemanticParserModel, answers: QuestionData) -> float:
        return meaning_score(answers, self._best(model, answers), None)

    def _report(self, model: SemanticParserModel, answers: QuestionData) -> MeaningReport:
        from margent.metrics.meaning import meaning_scores

        known = answers.part(np.flatnonzero([meaning is not None for meaning in answers.right]))
        right = [meaning for meaning in known.right if meaning is not None]
        return meaning_scores(right, self._best(model, known), known.questions)

    def _finds(self, model: SemanticParserModel, answers: QuestionData) -> Finds | None:
        """The best meanings of the questions that are understood."""
        readings, right, counts = self._judged(model, answers)
        if not readings:
            return None
        return Finds.that_count(
            lambda scale: np.array([_shares(each, scale)[0] for each in readings]),
            *(right, counts, [each[:2] for each in readings]),
        )

    def _judged(
        self, model: SemanticParserModel, answers: QuestionData
    ) -> tuple[list[list[Found]], NDArray[np.bool_], NDArray[np.float64]]:
        """All meanings found of the questions that are understood, whether the best is right, and what it counts."""
        answers = answers.part(answers.counting())
        found = model.found(model.encoded(answers.questions), self.width, self.resolved("threads"))
        kept = [i for i, readings in enumerate(found) if readings]
        right = np.array([found[i][0].key == answers.keys[i] for i in kept], dtype=bool)
        return [found[i] for i in kept], right, answers.counts[kept] if kept else np.zeros(0)

    def _confidences(self, model: SemanticParserModel, answers: QuestionData) -> Confidences:
        """Of the meanings of the questions that are understood."""
        scale = self._scale(model, stacklevel=4)
        readings, right, _ = self._judged(model, answers)
        if not readings:
            raise CorpusError("the data have no question that is understood to compare confidences with")
        return {"meanings": (np.array([_shares(each, scale)[0] for each in readings]), right)}

    def _best(self, model: SemanticParserModel, data: QuestionData) -> list[Expression | None]:
        return model.best(model.encoded(data.questions), self.width, self.resolved("threads"))

    # Parameters

    @property
    def width(self) -> int:
        """Of the beam."""
        return min(int(self.search.width), _LARGEST_BEAM)

    @property
    def templates(self) -> PartTemplates:
        """What is seen of states and actions."""
        return parsed_templates(self.features)

    def given_domain(self) -> Domain | None:
        """The domain that was given, read if it is a path."""
        if self.domain is None or isinstance(self.domain, Domain):
            return self.domain
        from margent.formats.domains import read_domain

        return read_domain(self.domain)

    def _default_learner(self) -> Any:
        return Perceptron(margin=MARGIN)

    def resolved(self, name: str) -> Any:
        if name == "lexicon" and self.lexicon is None:
            return LexiconOptions()
        return super().resolved(name)

    def check_parameters(self) -> None:
        self.check_common()
        if not isinstance(self.domain, (Domain, str, os.PathLike, type(None))):
            raise TypeError(
                f"domain of SemanticParser should be a Domain, the path of a file with one or None, got {self.domain!r}"
            )
        given = self.features
        lines = isinstance(given, Sequence) and all(isinstance(line, str) for line in given)
        if not (given is None or isinstance(given, str) or lines):
            raise TypeError(f"features of SemanticParser should be text, lines of text or None, got {given!r}")
        _ = self.templates
        if not isinstance(self.search, Beam) or self.search.decode != "viterbi":
            raise ValueError(
                f"search of SemanticParser should be a Beam(...) with decode='viterbi', got {self.search!r}"
            )
        check_choice(self, "types", TYPES)
        if not isinstance(self.lexicon, (LexiconOptions, type(None))):
            raise TypeError(f"lexicon of SemanticParser should be LexiconOptions(...) or None, got {self.lexicon!r}")
        check_number(self, "prior", minimum=0, maximum=LARGEST_PRIOR)
        check_whole(self, "most_names", minimum=1, maximum=10)
        check_whole(self, "most_expressions", minimum=1, maximum=MOST_EXPRESSIONS)

    # Files

    def _stored_parameters(self, model: SemanticParserModel) -> dict[str, Any]:
        """The domain is in what was learned."""
        return super()._stored_parameters(model) | {"domain": None}

    @classmethod
    def _restored_parameters(cls, given: dict[str, Any], model: SemanticParserModel) -> dict[str, Any]:
        return given | {"domain": None if model.made else model.domain}


def _shares(readings: Sequence[Found], scale: float) -> NDArray[np.float64]:
    """How probable each meaning is among those that were found, if scores times `scale` are log-probabilities."""
    scores = scale * np.array([reading.score for reading in readings])
    if not len(scores):
        return scores
    shares: NDArray[np.float64] = np.exp(scores - scores.max())
    shares /= shares.sum()
    return shares
