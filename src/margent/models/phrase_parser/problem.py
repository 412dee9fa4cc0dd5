"""The training of a phrase-structure parser: from trees to a grammar and charts, and from weights to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.binarisation import BinaryNode
from margent.annotation.phrase_tree import PhraseTree
from margent.capability import Capability
from margent.errors import CorpusError
from margent.features.span_templates import SpanTemplates
from margent.features.token_atoms import TokenAtoms
from margent.learners import check_fits
from margent.learners.training import Training
from margent.models.base import Problem, Run
from margent.models.failures import check_lengths
from margent.models.fitted import learned_fields
from margent.models.phrase_parser.charts import PhraseCharts
from margent.models.phrase_parser.data import PhraseData
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.phrase_parser.lexicon import Lexicon
from margent.models.phrase_parser.model import PhraseParserModel
from margent.models.phrase_parser.weights import SpanWeights
from margent.models.training_data import TrainingData

if TYPE_CHECKING:
    from margent.models.phrase_parser.phrase_parser import PhraseParser

STRUCTURE = "trees of phrases"
PHRASE_METRICS = ("f1", "exact")
"""What trees may be judged by: F1 of labelled phrases as evalb counts them, or the share of trees without a mistake."""

DevMetric = Callable[[Any, "list[PhraseTree]"], float]
"""From right and predicted trees to a number, higher is better."""


@dataclass(frozen=True, eq=False)
class PhraseProblem(Problem[PhraseParserModel]):
    """`parser`: the parameters; `start`: the model to continue from; `grow`: whether new features are added."""

    parser: PhraseParser
    learner: Any
    data: PhraseData
    start: PhraseParserModel | None = None
    grow: bool = True
    development: PhraseData | None = None
    metric: str | DevMetric | None = None

    @classmethod
    def of(
        cls, parser: PhraseParser, given: TrainingData, start: PhraseParserModel | None, grow: bool
    ) -> PhraseProblem:
        metric = given.dev_metric
        if not (metric is None or callable(metric) or metric in PHRASE_METRICS):
            names = ", ".join(PHRASE_METRICS)
            raise ValueError(f"dev_metric should be one of {names}, a function or None, got {metric!r}")
        given.check_development()
        learner = parser.resolved("learner")
        check_fits(learner, STRUCTURE)
        data = PhraseData.of(given.X, given.y, given.sample_weight)
        if data.trees is None or not len(data.counting()):
            _ = data.right  # refused where there are no trees
            raise CorpusError("there is nothing to learn from: no sentence has a word and a sample_weight above zero")
        if start is not None and (start.weights is None) != _counts_rules(learner):
            before, now = ("PCFG()", type(learner).__name__) if start.weights is None else ("weights", "PCFG()")
            raise ValueError(f"the model has been learned with {before} and cannot continue with {now}: call fit")
        development = None
        if given.X_dev is not None:
            development = PhraseData.of(given.X_dev, given.y_dev, names=("X_dev", "y_dev"))
            if development.trees is None:
                raise CorpusError("y_dev is missing: X_dev was given without trees")
        return cls(parser, learner, data, start, grow, development, metric)

    # Learning

    def learned(self, run: Run) -> PhraseParserModel:
        trees = self._binarised()
        counting = self.data.counting()
        chosen = self.data.part(counting)
        grammar = self._grammar.grown([trees[i] for i in counting.tolist()], chosen.counts)
        lexicon = (Lexicon.empty() if self.start is None else self.start.lexicon).grown(
            [(words, tree.tags) for words, tree in zip(chosen.words, chosen.right)], chosen.counts.tolist()
        )
        model = PhraseParserModel(
            learner=self.learner, history=[], grammar=grammar, lexicon=lexicon, pruning=float(self.parser.pruning)
        )
        self._check_lengths(model)
        if _counts_rules(self.learner):
            return replace(model, **learned_fields(self.learner, Training(weights=np.zeros(0)), self.start, False))
        threads = self.parser.resolved("threads")
        charts = PhraseCharts.of(
            grammar, lexicon, chosen, self.parser.pruning, threads, [trees[i] for i in counting.tolist()]
        )
        weights = self._weights(grammar, charts)
        places = weights.places(charts, threads)
        oracle = places.oracle(None if self.data.sample_weight is None else chosen.counts)
        oracle.start_from(weights.values)
        result = run(self.learner, oracle, self._evaluation(model, weights))
        return replace(
            model,
            **learned_fields(self.learner, result, self.start, self.learner.probabilistic),
            weights=weights.with_values(result.weights),
        )

    def _check_lengths(self, model: PhraseParserModel) -> None:
        """Before any chart is made: data that would take more memory than there is."""
        for data, name in ((self.data, "X"), (self.development, "X_dev")):
            if data is not None:
                check_lengths(data.lengths, model.longest, name, model.reason)

    @cached_property
    def _grammar(self) -> TreebankGrammar:
        if self.start is not None:
            return self.start.grammar
        return TreebankGrammar.empty(self.parser.resolved("grammar"))

    def _binarised(self) -> list[Sequence[BinaryNode]]:
        return [self._grammar.nodes(tree) if len(tree) else [] for tree in self.data.right]

    def _weights(self, grammar: TreebankGrammar, charts: PhraseCharts) -> SpanWeights:
        """Zero, with a row for whatever is seen of right phrases; or those of the model to continue from."""
        known = None if self.start is None else self.start.weights
        features = self.parser.resolved("features")
        if known is None:
            templates = SpanTemplates.of(features.templates)
            atoms, keys = TokenAtoms(templates.atoms), _core.PhraseKeys()
        else:
            templates, atoms, keys = known.templates, known.atoms.copy(), _core.PhraseKeys(known.keys.keys())
        weights = SpanWeights(grammar, templates, atoms, keys, np.zeros(0))
        if self.grow:
            encoded = atoms.encode(charts.tokens, grow=True)
            keys.add_right(charts.forests, weights.native_templates, encoded.atoms, int(features.min_count))
        weights = weights.with_values(np.zeros(weights.size))
        return weights if known is None else weights.overlaid(known)

    def _evaluation(
        self, model: PhraseParserModel, weights: SpanWeights
    ) -> Callable[[NDArray[np.float64]], float] | None:
        """From weights to their score on the development data, whose charts are made once."""
        data, threads = self.development, self.parser.resolved("threads")
        if data is None:
            return None
        charts = model.charts(data, threads)
        places = weights.places(charts, threads)

        def score(values: NDArray[np.float64]) -> float:
            found = charts.best(places.scores(np.asarray(values, np.float64), threads), threads)
            return phrase_score(data, charts.spread([each[0][1] for each in found], len(data)), self.metric)

        return score


def _counts_rules(learner: Any) -> bool:
    """Whether the grammar, counted in the trees, is all that the learner wants."""
    return Capability.RULE_COUNTS in learner.needs


def phrase_score(data: PhraseData, found: list[PhraseTree], metric: str | DevMetric | None) -> float:
    """Of predicted trees, higher is better."""
    from margent.metrics.bracketing import BracketingRules, bracketing_scores

    if callable(metric):
        return metric(data.right, found)
    rules, good, total = BracketingRules(), 0.0, 0.0
    for right, guess, weight in zip(data.right, found, data.counts.tolist()):
        report = bracketing_scores([right], [guess], rules=rules)
        good += weight * (report.exact if metric == "exact" else 2 * report.total.correct)
        total += weight * (1 if metric == "exact" else report.total.gold + report.total.found)
    return good / total if total else 0.0
