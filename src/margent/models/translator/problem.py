"""The training of a translator: from sentence pairs to rules, a language model, right derivations, and weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError, TrainingWarning
from margent.features.token_atoms import TokenAtoms
from margent.learners import check_fits
from margent.metrics.bleu_statistics import References, corpus_bleu
from margent.models.base import Problem, Run
from margent.models.fitted import learned_fields
from margent.models.inputs import training_weights
from margent.models.training_data import TrainingData
from margent.models.translator.alignment import aligned
from margent.models.translator.data import TranslationData
from margent.models.translator.groups import folds_of, groups_of, left_out_together
from margent.models.translator.language_model import LanguageModel
from margent.models.translator.model import TranslatorModel
from margent.models.translator.rule_table import RuleTable
from margent.models.translator.sentences import EncodedSentences, target_model
from margent.models.translator.templates import compiled
from margent.models.translator.weights import TranslationWeights, best_translations, initial_weights

if TYPE_CHECKING:
    from margent.models.translator.translator import Translator

STRUCTURE = "derivations of translations"
TRANSLATION_METRICS = ("bleu",)
FOLDS = 5
"""So many language models are trained for the training sentences, each without a part of them."""
FEW = 0.2
"""A smaller share of training sentences with a derivation of their translation is warned of."""

DevMetric = Callable[[Any, "list[list[str]]"], float]
"""From references and predicted translations to a number, higher is better."""


@dataclass(frozen=True)
class PairData(TrainingData):
    """With the word alignments of the pairs, if there are any."""

    alignments: Any = None


@dataclass(frozen=True, eq=False)
class TranslatorProblem(Problem[TranslatorModel]):
    """`translator`: the parameters."""

    translator: Translator
    learner: Any
    data: TranslationData
    development: TranslationData | None = None
    metric: str | DevMetric | None = None

    @classmethod
    def of(cls, translator: Translator, given: TrainingData) -> TranslatorProblem:
        check_translation_metric(given.dev_metric)
        given.check_development()
        learner = translator.resolved("learner")
        check_fits(learner, STRUCTURE)
        alignments = given.alignments if isinstance(given, PairData) else None
        data = TranslationData.of(given.X, given.y, given.sample_weight, alignments)
        training_weights(given.sample_weight, len(data), "sentence")
        if not len(data.counting()):
            raise CorpusError("there is nothing to learn from: no sentence with words and a translation counts")
        development = None
        if given.X_dev is not None:
            development = TranslationData.of(given.X_dev, given.y_dev, names=("X_dev", "y_dev"))
            if development.references is None or not len(development.counting()):
                raise CorpusError("the development data have no translation to choose the best epoch by")
        return cls(translator, learner, data, development, given.dev_metric)

    def learned(self, run: Run) -> TranslatorModel:
        translator = self.translator
        threads, search = translator.resolved("threads"), translator.search
        pairs = self.data.part(self.data.counting())
        targets = [right[0] for right in pairs.right]
        links = pairs.alignments or aligned(pairs.sentences, targets)
        extraction = translator.resolved("extraction")
        table, own = RuleTable.extracted(
            pairs.sentences, targets, links, extraction, left_out=bool(translator.left_out), threads=threads
        )
        groups = groups_of(pairs.sentences, targets)
        if own is not None:
            own = left_out_together(own, groups)
        language = translator.given_language_model() or LanguageModel.trained(targets, int(translator.order))
        languages, folds = self._languages(targets, groups, table, language)
        templates = translator.templates
        atoms = TokenAtoms(templates.token_atoms)
        encoded = EncodedSentences.of(
            *(pairs.sentences, table, languages, atoms, compiled(templates, atoms.names), search),
            grow=True,
            splits=False,
            own=own,
            folds=folds,
        )
        local = search.update == "local"
        right = _core.RightTranslations(encoded.native, *encoded.references(_right_ones(pairs)), threads=threads)
        reached = right.reachable().astype(bool)
        _check_coverage(reached, pairs.sentences, local)
        oracle = _core.TranslationOracle(
            encoded.native,
            right,
            getattr(_core.TranslationUpdate, search.update.replace("-", "_")),
            int(search.pop_limit),
            int(search.k_best),
            int(search.batch),
            threads,
            None if pairs.sample_weight is None else pairs.counts,
            None if local else np.flatnonzero(reached).astype(np.int64),
            float(translator.dense.step),
            search.reference == "derivation",
        )
        oracle.set_dense(initial_weights(translator.dense))

        def weights(arrays: Any) -> TranslationWeights:
            return TranslationWeights(templates, atoms, _core.FeatureRows(1, **arrays))

        result = run(self.learner, oracle, self._evaluation(weights, table, language))
        return TranslatorModel(
            **learned_fields(self.learner, result, None, self.learner.probabilistic),
            table=table,
            language=language,
            weights=weights(result.weights),
            splits=bool(translator.split_unknown),
            coverage=float(reached.mean()),
        )

    def _languages(
        self, targets: Sequence[Sequence[str]], groups: NDArray[np.int64], table: RuleTable, language: LanguageModel
    ) -> tuple[list[_core.TargetModel], NDArray[np.int32] | None]:
        """The language models that training sentences are translated with, and which of them each has.

        Differs: the paper has one model, of other text. One that was trained on the right translations would have them
        by heart, and nothing would be learned; so each sentence has one that was trained without its fold.
        """
        n = min(FOLDS, int(groups.max(initial=0)) + 1)
        if n < 2 or not self.translator.left_out or self.translator.language_model is not None:
            return [target_model(language, table)], None
        folds = folds_of(groups, n, int(self.translator.seed))
        models = []
        for fold in range(n):
            rest = [targets[i] for i in np.flatnonzero(folds != fold).tolist()]
            models.append(target_model(LanguageModel.trained(rest, int(self.translator.order)), table))
        return models, folds

    def _evaluation(
        self, weights_of: Callable[[Any], TranslationWeights], table: RuleTable, language: LanguageModel
    ) -> Callable[[Any], float] | None:
        """From weights to their score on the development data, which are encoded once."""
        data, translator = self.development, self.translator
        if data is None:
            return None
        encoded: EncodedSentences | None = None
        native = target_model(language, table)
        threads, search = translator.resolved("threads"), translator.search

        def score(arrays: Any) -> float:
            nonlocal encoded
            weights = weights_of(arrays)
            encoded = encoded or EncodedSentences.of(
                *(data.sentences, table, [native], weights.atoms, weights.native_templates, search),
                splits=bool(translator.split_unknown),
            )
            return translation_score(data, best_translations(weights, encoded, search, threads), self.metric)

        return score


def _right_ones(pairs: TranslationData) -> list[list[list[str]]]:
    """Of each sentence all translations that it has in any of its pairs."""
    found: dict[tuple[str, ...], dict[tuple[str, ...], list[str]]] = {}
    for words, right in zip(pairs.sentences, pairs.right):
        found.setdefault(tuple(words), {}).update({tuple(one): one for one in right})
    return [list(found[tuple(words)].values()) for words in pairs.sentences]


def translation_score(
    data: TranslationData, found: Sequence[Sequence[str]], metric: str | DevMetric | None = None
) -> float:
    """BLEU of predicted translations, from 0 to 1; sentences without a right one do not count."""
    if callable(metric):
        return float(metric(data.references, [list(words) for words in found]))
    judged = [i for i, right in enumerate(data.right) if right]
    if not judged:
        return 0.0
    statistics = np.array([References(data.right[i]).statistics(found[i]) for i in judged])
    return float(corpus_bleu(data.counts[judged] @ statistics))


def check_translation_metric(metric: Any) -> None:
    if not (metric is None or callable(metric) or metric in TRANSLATION_METRICS):
        raise ValueError(
            f"dev_metric should be one of {', '.join(TRANSLATION_METRICS)}, a function or None, got {metric!r}"
        )


def _check_coverage(reached: Any, sentences: Sequence[Sequence[str]], local: bool) -> None:
    """Without a right derivation there is nothing to learn from a sentence, except by the local update."""
    n, total = int(reached.sum()), len(reached)
    without = next((" ".join(words)[:80] for words, has in zip(sentences, reached.tolist()) if not has), "")
    hint = "left_out=False lets sentences be translated by rules from themselves, and update='local' learns without"
    if local:
        return
    if not n:
        raise CorpusError(
            f"there is nothing to learn from: the rules make the translation of none of the {total} sentences, such "
            f"as {without!r}; {hint}"
        )
    if n < FEW * total:
        warnings.warn(
            f"only {n} of {total} sentences have a derivation of their translation; nothing is learned from the "
            f"others, such as {without!r}; {hint}",
            TrainingWarning,
            stacklevel=2,
        )
