"""The phrase-structure parser: trees of labelled phrases over sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.annotation.phrase_tree import PhraseTree
from margent.annotation.schemes import Span
from margent.errors import CorpusError
from margent.learners import PCFG, PassiveAggressive
from margent.models.base import Confidences, Finds, StructuredModel
from margent.models.confident_span import ConfidentSpan
from margent.models.failures import check_on_error, spread, too_long
from margent.models.labels import Predictions
from margent.models.phrase_parser.answers import PhraseExplanation, PhraseProbabilities, PhraseReading
from margent.models.phrase_parser.charts import EMPTY, PhraseCharts
from margent.models.phrase_parser.data import PhraseData
from margent.models.phrase_parser.explanation import explained
from margent.models.phrase_parser.model import LARGEST_PRUNING, PhraseParserModel
from margent.models.phrase_parser.options import Markovisation, SpanFeatures
from margent.models.phrase_parser.problem import PhraseProblem, phrase_score
from margent.models.phrase_parser.weights import SpanWeights
from margent.models.training_data import TrainingData
from margent.parameters import MOST_ANSWERS, check_count, check_number

if TYPE_CHECKING:
    from margent.metrics.bracketing import BracketingReport


class PhraseParser(StructuredModel[PhraseParserModel]):
    """Learns to find the phrases of sentences: trees such as (S (NP (PRP It)) (VP (VBZ works))).

    X is a sequence of sentences, lists of words or of (word, tag); y has the `PhraseTree` of each. A grammar is read
    off the trees. On its own (`learner=PCFG()`) it is a PCFG; with other learners it prunes the phrases that are
    possible at all, and the learner chooses among the rest by the words and tags in and around each phrase. Given tags
    are kept; if there are none, the parser predicts them. Every sentence gets a tree: if the grammar has none, the
    sentence is divided into pieces that do have one. `score` is F1 of labelled phrases, as in evalb; `dev_metric` may
    be "f1", "exact" (the share of trees without a mistake), or a function of y_dev and the predicted trees, higher
    being better.

    Parameters
    ----------
    features : SpanFeatures or None
        The features of phrases. None: the default settings.
    learner : learner, str or None
        An object such as `CRF(l2=1)` or a name such as "crf"; `PCFG()` for the grammar alone. None:
        `PassiveAggressive()`.
    grammar : Markovisation or None
        How much context the rules of the grammar have. None: the default settings.
    pruning : float
        How far below the best tree of the grammar, in log-probability, a tree may be to be considered.
    calibration : float or None
        A share of the training sentences, such as 0.1, to hold out for calibrating probabilities. A second training
        without it gives the `temperature_`, so training takes twice as long. None: calibrate on development data only;
        0: never.
    seed : int
        Determines the order of examples in training.
    threads : int or None
        None: one per processor. Does not change the results.

    Attributes
    ----------
    model_ : PhraseParserModel, everything that was learned; the other attributes are views of it
    classes_ : array of the labels of phrases
    tags_ : array of the tags of words
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score
    grammar_, weights_ : the grammar, and the weights; None if the grammar decides alone
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : what scores are divided by to become log-probabilities
    calibrated_ : whether these are calibrated, by the learner or by a fitted temperature

    Examples
    --------
    >>> from margent import PhraseParser
    >>> from margent.annotation import PhraseTree
    >>> trees = [PhraseTree.from_brackets("(S (NP (PRP It)) (VP (VBZ works)))"),
    ...          PhraseTree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")]
    >>> parser = PhraseParser().fit([tree.words for tree in trees], trees)
    >>> parser.predict([["It", "falls"]])[0].brackets()
    '(S (NP (PRP It)) (VP (VBZ falls)))'
    """

    fitted: ClassVar[type[PhraseParserModel]] = PhraseParserModel

    def __init__(
        self,
        features: SpanFeatures | None = None,
        learner: Any = None,
        *,
        grammar: Markovisation | None = None,
        pruning: float = 8.0,
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.grammar = grammar
        self.pruning = pruning
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(self, X: Any, *, on_error: str = "raise") -> list[PhraseTree]:
        """The best tree of each sentence.

        A sentence with more words than a chart has memory for (`model_.longest`) is a `ConstraintError`; with
        `on_error="none"` its answer is None, here and below.
        """
        return Predictions(self._answered(X, on_error, self._best))

    def predict_k_best(self, X: Any, k: int = 5, *, on_error: str = "raise") -> list[list[PhraseReading]]:
        """The k best trees of each sentence with their scores, best first; fewer where fewer exist.

        Exact among the trees within `pruning` of the best under the grammar.
        """
        check_count("k", k, 1, maximum=MOST_ANSWERS)

        def several(model: PhraseParserModel, data: PhraseData) -> list[list[PhraseReading]]:
            threads = self.resolved("threads")
            charts = model.charts(data, threads)
            found = [[PhraseReading(0.0, EMPTY)] for _ in range(len(data))]
            if len(charts):
                ranked = charts.k_best(model.scores(charts, threads), int(k), threads)
                for number, readings in zip(charts.numbers.tolist(), ranked):
                    found[number] = [PhraseReading(score, tree) for score, tree in readings]
            return found

        return self._answered(X, on_error, several)

    def predict_marginals(self, X: Any, *, on_error: str = "raise") -> list[PhraseProbabilities]:
        """Probabilities of phrases under exp(score / temperature_), over the sum of the trees within `pruning`
        of the best under the grammar.

        The scores of margin learners and of a PCFG are not made for that: without a fitted temperature there is a
        `CalibrationWarning`. Those of a `CRF` are.
        """
        scale = self._scale(self._fitted())

        def sums(model: PhraseParserModel, data: PhraseData) -> list[PhraseProbabilities]:
            threads = self.resolved("threads")
            answers = [PhraseProbabilities(EMPTY, [], {}) for _ in range(len(data))]
            charts = model.charts(data, threads)
            if not len(charts):
                return answers
            scores = model.scores(charts, threads)
            trees = [readings[0][1] for readings in charts.best(scores, threads)]
            table = charts.phrase_probabilities(scale * scores, threads)
            confidences = iter(table.of_trees(trees).tolist())
            for number, tree, spans in zip(charts.numbers.tolist(), trees, table.by_sentence(len(charts))):
                phrases = [ConfidentSpan(*span, next(confidences)) for span in tree.phrases]
                answers[number] = PhraseProbabilities(tree, phrases, {Span(a, b, label): p for a, b, label, p in spans})
            return answers

        return self._answered(X, on_error, sums)

    def _answered(self, X: Any, on_error: str, ask: Callable[[PhraseParserModel, PhraseData], list[Any]]) -> list[Any]:
        """What is answered of each sentence that is not too long."""
        check_on_error(on_error)
        model, data = self._fitted(), PhraseData.of(X)
        failures = too_long(data.lengths, model.longest, model.reason)
        check_on_error(on_error, failures)
        if not failures:
            return ask(model, data)
        return spread(ask(model, data.part([i for i in range(len(data)) if i not in failures])), failures, len(data))

    def explain(self, x: Any) -> PhraseExplanation:
        """Why this is the best tree of a sentence: its steps, and the features of each with their weights."""
        model, data = self._fitted(), PhraseData.of([x])
        check_on_error("raise", too_long(data.lengths, model.longest, model.reason))
        return explained(model, data)

    # What was learned

    @property
    def grammar_(self) -> Any:
        return self.model_.grammar

    @property
    def weights_(self) -> SpanWeights | None:
        return self.model_.weights

    @property
    def classes_(self) -> NDArray[np.object_]:
        labels = dict.fromkeys(s.label for s in self.model_.grammar.symbols if s.kind == "phrase")
        return np.array([*labels, None], dtype=object)[:-1]

    @property
    def tags_(self) -> NDArray[np.object_]:
        return np.array([*self.model_.grammar.tags, None], dtype=object)[:-1]

    # What the template asks of a parser

    def _problem(self, data: TrainingData, start: PhraseParserModel | None, grow: bool) -> PhraseProblem:
        return PhraseProblem.of(self, data, start, grow)

    def _answers(self, model: PhraseParserModel, X: Any, y: Any, sample_weight: Any = None) -> PhraseData:
        data = PhraseData.of(X, y, sample_weight)
        _ = data.right  # refused where there are no trees
        check_on_error("raise", too_long(data.lengths, model.longest, model.reason))
        return data

    def _score(self, model: PhraseParserModel, answers: PhraseData) -> float:
        return phrase_score(answers, self._best(model, answers), None)

    def _report(self, model: PhraseParserModel, answers: PhraseData) -> BracketingReport:
        from margent.metrics.bracketing import bracketing_scores

        return bracketing_scores(answers.right, self._best(model, answers))

    def _finds(self, model: PhraseParserModel, answers: PhraseData) -> Finds | None:
        """The phrases of the best trees. Costs one chart for each sentence and about ten passes over what is left."""
        threads = self.resolved("threads")
        answers = answers.part(answers.counting())
        charts, scores, trees, right, weights = self._judged(model, answers)
        if not len(right):
            return None
        return Finds.that_count(
            lambda scale: charts.phrase_probabilities(scale * scores, threads).of_trees(trees),
            *(right, weights, charts.k_best(scores, 2, threads)),
        )

    def _judged(
        self, model: PhraseParserModel, answers: PhraseData
    ) -> tuple[PhraseCharts, NDArray[np.float64], list[PhraseTree], NDArray[np.bool_], NDArray[np.float64]]:
        """Charts, scores, best trees, whether each of their phrases is right, and what it counts."""
        threads = self.resolved("threads")
        charts = model.charts(answers, threads)
        scores = model.scores(charts, threads) if len(charts) else np.zeros(0)
        trees = [each[0][1] for each in charts.best(scores, threads)] if len(charts) else []
        right, weights = list[bool](), list[float]()
        for gold, tree, count in zip(charts.data.right, trees, charts.data.counts.tolist()):
            there = set(gold.phrases)
            right += [span in there for span in tree.phrases]
            weights += [count] * len(tree.phrases)
        return charts, scores, trees, np.array(right, dtype=bool), np.array(weights, dtype=np.float64)

    def _confidences(self, model: PhraseParserModel, answers: PhraseData) -> Confidences:
        """Of the phrases that are found."""
        scale, threads = self._scale(model, stacklevel=4), self.resolved("threads")
        charts, scores, trees, right, weights = self._judged(model, answers.part(answers.counting()))
        if not len(right):
            raise CorpusError("the data have no sentence with a phrase to compare probabilities with")
        found = charts.phrase_probabilities(scale * scores, threads).of_trees(trees)
        return {"phrases": (found[weights > 0], right[weights > 0])}

    # Search

    def _best(self, model: PhraseParserModel, data: PhraseData) -> list[PhraseTree]:
        threads = self.resolved("threads")
        charts = model.charts(data, threads)
        if not len(charts):
            return [EMPTY] * len(data)
        found = charts.best(model.scores(charts, threads), threads)
        return charts.spread([readings[0][1] for readings in found], len(data))

    # Parameters

    def _default_learner(self) -> Any:
        return PassiveAggressive()

    def resolved(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "learner" and isinstance(value, str) and value == "pcfg":
            return PCFG()
        if value is None and name in ("features", "grammar"):
            return SpanFeatures() if name == "features" else Markovisation()
        return super().resolved(name)

    def check_parameters(self) -> None:
        self.check_common()
        for name, kind in (("features", SpanFeatures), ("grammar", Markovisation)):
            if not isinstance(getattr(self, name), (kind, type(None))):
                raise TypeError(
                    f"{name} of PhraseParser should be {kind.__name__}(...) or None, got {getattr(self, name)!r}"
                )
        check_number(self, "pruning", minimum=0, maximum=LARGEST_PRUNING)
