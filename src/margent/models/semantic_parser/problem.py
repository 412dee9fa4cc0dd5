"""The training of a semantic parser: from questions and meanings to derivations, and from weights to a model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from margent import _core
from margent.errors import CorpusError, TrainingWarning
from margent.features.token_atoms import TokenAtoms
from margent.learners import check_fits
from margent.meaning import Domain, Expression, meaning_key
from margent.models.base import Problem, Run
from margent.models.fitted import learned_fields
from margent.models.inputs import training_weights
from margent.models.semantic_parser.alignment import aligned
from margent.models.semantic_parser.data import QuestionData
from margent.models.semantic_parser.fragments import Part, parts_of
from margent.models.semantic_parser.grammar import MeaningGrammar
from margent.models.semantic_parser.lexicon import Lexicon
from margent.models.semantic_parser.model import SemanticParserModel, best_meanings, used_domain
from margent.models.semantic_parser.stored_grammar import grown_domain, grown_lexicon
from margent.models.semantic_parser.templates import compiled
from margent.models.semantic_parser.weights import EncodedQuestions, MeaningWeights
from margent.models.training_data import TrainingData, check_unchanged

if TYPE_CHECKING:
    from margent.models.semantic_parser.semantic_parser import SemanticParser

STRUCTURE = "derivations of meanings"
MEANING_METRICS = ("f1", "precision", "recall")
"""What meanings may be judged by: precision over the questions that are understood, recall over all."""
MOST_STATES = 5000
"""So many states of a question are looked at for those from which its meaning is in reach."""
FEW = 0.5
"""A smaller share of training questions with a derivation is warned of."""

DevMetric = Callable[[Any, "list[Expression | None]"], float]
"""From right and predicted meanings to a number, higher is better."""


@dataclass(frozen=True, eq=False)
class SemanticParserProblem(Problem[SemanticParserModel]):
    """`parser`: the parameters; `start`: the model to continue from; `grow`: whether new words, pieces and features are
    added."""

    parser: SemanticParser
    learner: Any
    data: QuestionData
    start: SemanticParserModel | None = None
    grow: bool = True
    development: QuestionData | None = None
    metric: str | DevMetric | None = None

    @classmethod
    def of(
        cls, parser: SemanticParser, given: TrainingData, start: SemanticParserModel | None, grow: bool
    ) -> SemanticParserProblem:
        check_meaning_metric(given.dev_metric)
        given.check_development()
        learner = parser.resolved("learner")
        check_fits(learner, STRUCTURE)
        data = QuestionData.of(given.X, given.y, given.sample_weight)
        _ = data.right  # refused where there are none
        if not len(data):
            raise CorpusError("there is nothing to learn from: the training data have no question")
        training_weights(given.sample_weight, len(data), "question")
        if not len(data.counting()):
            raise CorpusError("there is nothing to learn from: no question has a meaning and a sample_weight above 0")
        if start is not None:
            _check_continues(parser, start)
        development = None
        if given.X_dev is not None:
            development = QuestionData.of(given.X_dev, given.y_dev, names=("X_dev", "y_dev"))
            if development.meanings is None or not len(development.counting()):
                raise CorpusError("the development data have no question with a meaning to choose the best epoch by")
        return cls(parser, learner, data, start, grow, development, given.dev_metric)

    # Learning

    def learned(self, run: Run) -> SemanticParserModel:
        parser, start = self.parser, self.start
        threads, most_expressions = parser.resolved("threads"), int(parser.most_expressions)
        chosen = self.data.part(self.data.counting())
        meanings = [meaning for meaning in chosen.right if meaning is not None]
        parts = [parts_of(meaning, int(parser.most_names)) for meaning in meanings]
        domain, made = self._domain(meanings)
        if start is not None and not self.grow:
            grammar, atoms = start.grammar, start.weights.atoms
        else:
            grammar = self._grammar(chosen.questions, parts, used_domain(domain, parser.types), threads)
            atoms = TokenAtoms(self._templates.token_atoms) if start is None else start.weights.atoms.copy()
        encoded = EncodedQuestions.of(chosen.questions, grammar, atoms, grow=start is None or self.grow)
        right = encoded.right(parts)
        questions = encoded.native(
            float(parser.prior), None if chosen.sample_weight is None else chosen.sample_weight.astype(np.float64)
        )
        right.find_reach(questions, grammar.native_types, most_expressions, MOST_STATES, threads)
        covered = right.n_states() > 0
        _check_coverage(covered, chosen.questions)
        oracle = _core.QuestionOracle(
            questions,
            grammar.native_types,
            compiled(self._templates, atoms.names),
            right,
            parser.width,
            getattr(_core.BeamUpdate, parser.search.update.replace("-", "_")),
            most_expressions,
            follows_answer=parser.search.reference == "derivation",
        )
        if start is not None:
            oracle.start_from(start.weights.table, [0])

        def weights(arrays: Any) -> MeaningWeights:
            table = _core.FeatureRows(1, **arrays)
            return MeaningWeights(self._templates, atoms, table, float(parser.prior), most_expressions)

        result = run(self.learner, oracle, self._evaluation(weights, grammar))
        return SemanticParserModel(
            **learned_fields(self.learner, result, start, self.learner.probabilistic),
            domain=domain,
            made=made,
            types=parser.types,
            grammar=grammar,
            weights=weights(result.weights),
            coverage=float(covered.mean()),
        )

    @property
    def _templates(self) -> Any:
        return self.parser.templates if self.start is None else self.start.weights.templates

    def _domain(self, meanings: Sequence[Expression]) -> tuple[Domain, bool]:
        """The domain, and whether it is made of meanings: then it grows with them."""
        given = self.parser.given_domain() if self.start is None else None
        if given is not None:
            return given, False
        if self.start is None:
            return Domain.from_meanings(meanings), True
        if not self.start.made or not self.grow:
            return self.start.domain, self.start.made
        return grown_domain(self.start.domain, Domain.from_meanings(meanings)), True

    def _grammar(
        self, questions: Sequence[Sequence[str]], parts: Sequence[Sequence[Part]], domain: Domain, threads: int
    ) -> MeaningGrammar:
        options = self.parser.resolved("lexicon")
        lexicon = aligned(
            Lexicon.learned(questions, parts, domain, options),
            questions,
            parts,
            complexity=float(options.complexity),
            iterations=int(options.iterations),
            most_expressions=int(self.parser.most_expressions),
            most_states=MOST_STATES,
            threads=threads,
        )
        if self.start is not None:
            known = self.start.grammar
            return MeaningGrammar.of(grown_lexicon(known.lexicon, lexicon, domain), known.types)
        if not lexicon.pieces:
            raise CorpusError("there is nothing to learn from: no meaning has a piece that a word could say")
        return MeaningGrammar.of(lexicon)

    def _evaluation(
        self, weights_of: Callable[[Any], MeaningWeights], grammar: MeaningGrammar
    ) -> Callable[[Any], float] | None:
        """From weights to their score on the development data, which are encoded once."""
        data, encoded = self.development, None
        if data is None:
            return None
        threads, width = self.parser.resolved("threads"), self.parser.width

        def score(arrays: Any) -> float:
            nonlocal encoded
            weights = weights_of(arrays)
            encoded = encoded or EncodedQuestions.of(data.questions, grammar, weights.atoms)
            return meaning_score(data, best_meanings(weights, encoded, width, threads), self.metric)

        return score


def meaning_score(data: QuestionData, found: Sequence[Expression | None], metric: str | DevMetric | None) -> float:
    """Of predicted meanings, higher is better. Questions without a right meaning do not count."""
    if callable(metric):
        return float(metric(data.meanings, list(found)))
    right = understood = total = 0.0
    for key, meaning, weight in zip(data.keys, found, data.counts.tolist()):
        if key is None:
            continue
        total += weight
        if meaning is not None:
            understood += weight
            right += weight * (meaning_key(meaning) == key)
    of = {"precision": (right, understood), "recall": (right, total)}.get(metric or "", (2 * right, understood + total))
    return of[0] / of[1] if of[1] else 0.0


def check_meaning_metric(metric: Any) -> None:
    if not (metric is None or callable(metric) or metric in MEANING_METRICS):
        raise ValueError(
            f"dev_metric should be one of {', '.join(MEANING_METRICS)}, a function or None, got {metric!r}"
        )


def _check_continues(parser: SemanticParser, start: SemanticParserModel) -> None:
    """ValueError where the parameters have changed so that `partial_fit` cannot continue."""
    weights = start.weights
    check_unchanged("SemanticParser", "types", parser.types, start.types)
    check_unchanged("SemanticParser", "templates", parser.templates.lines, weights.templates.lines)
    check_unchanged("SemanticParser", "prior", float(parser.prior), weights.prior)
    check_unchanged("SemanticParser", "most_expressions", int(parser.most_expressions), weights.most_expressions)


def _check_coverage(covered: Any, questions: Sequence[Sequence[str]]) -> None:
    """There is nothing to learn from a question whose meaning cannot be made of what its words may mean."""
    n, total = int(covered.sum()), len(covered)
    without = next((" ".join(words)[:80] for words, has in zip(questions, covered.tolist()) if not has), "")
    if not n:
        raise CorpusError(
            f"there is nothing to learn from: no meaning of the {total} questions can be made of what their words may "
            f"mean, such as that of {without!r}; a domain with phrases for its constants, or lexicon=LexiconOptions("
            "per_piece=12, most=200), lets words mean more"
        )
    if n < FEW * total:
        warnings.warn(
            f"only {n} of {total} questions have a derivation of their meaning; nothing is learned from the others, "
            f"such as {without!r}; a domain with phrases for its constants, or lexicon=LexiconOptions(per_piece=12, "
            "most=200), lets words mean more",
            TrainingWarning,
            stacklevel=2,
        )
