"""Tuning: development sentences are translated, weights are improved on what was found, and so on."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError, TrainingWarning
from margent.features.token_atoms import TokenAtoms
from margent.metrics.bleu_statistics import References, corpus_bleu
from margent.models.translator.alignment import aligned
from margent.models.translator.data import TranslationData
from margent.models.translator.forests import translation_forests
from margent.models.translator.language_model import LanguageModel
from margent.models.translator.model import TranslatorModel
from margent.models.translator.options import DenseStart
from margent.models.translator.rule_table import DENSE_FEATURES, RuleTable
from margent.models.translator.sentences import EncodedSentences
from margent.models.translator.templates import parsed_templates
from margent.models.translator.tuning.candidates import Candidates
from margent.models.translator.tuning.line_search import Pieces
from margent.models.translator.tuning.mert import Mert
from margent.models.translator.weights import TranslationWeights, initial_weights, weight_rows
from margent.parameters import check_count

if TYPE_CHECKING:
    from margent.models.translator.translator import Translator

Doubles = NDArray[np.float64]
_PASS_THROUGH = -3


class Tuner(Protocol):
    """`Mert`, `Pro`, `BatchMira`, or one of your own."""

    def weights(self, candidates: Candidates, start: Doubles, random: np.random.Generator) -> Doubles: ...


@dataclass(frozen=True, eq=False)
class Tuning:
    """translator : with the tuned weights; weights : (18,) by `DENSE_FEATURES`; history : of each iteration its
    `bleu` on the development data, `candidates` and `weights`; best : the iteration whose weights are taken
    """

    translator: Translator
    weights: Doubles
    history: list[dict[str, Any]]
    best: int


def tune_weights(
    translator: Translator,
    X: Any,
    y: Any,
    tuner: Tuner,
    *,
    iterations: int = 8,
    k: int = 100,
    start: Sequence[float] | None = None,
    seed: int = 0,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> Tuning:
    """Tunes the dense weights of a fitted translator on development data; sparse features are left out.

    Each iteration translates the sentences under the present weights and hands their k best translations, with those of
    all iterations before, to the tuner (`Mert(forests=True)` gets the forests of this iteration alone). The weights
    with the best BLEU of the translations themselves are kept.

    Parameters
    ----------
    X, y : sentences, and the translations of each: one, or a list of several
    tuner : Mert, Pro or BatchMira
    k : int
        How many translations of each sentence.
    start : (18,) or None
        The first weights. None: those that a translator's training begins with.
    seed : int
        Of random directions, samples and orders.
    callback : function or None
        Called with the line of the history after each iteration.
    """
    check_count("iterations", iterations, 1)
    check_count("k", k, 2)
    data = TranslationData.of(X, y)
    chosen = data.part(
        np.flatnonzero([bool(right) and bool(words) for right, words in zip(data.right, data.sentences)])
    )
    if not len(chosen.sentences):
        raise CorpusError("there is nothing to tune on: no sentence with words and a translation")
    weights = _usual() if start is None else np.array(start, np.float64)
    if weights.shape != (len(DENSE_FEATURES),) or not np.isfinite(weights).all():
        raise ValueError(f"start should be {len(DENSE_FEATURES)} finite weights, got {start!r}")
    session = _Session(translator, chosen)
    random = np.random.default_rng(seed)
    history: list[dict[str, Any]] = []
    known: Candidates | None = None
    tried: list[Doubles] = []
    for iteration in range(iterations + 1):
        found, bleu = session.candidates(weights, k)
        known = found if known is None else known.joined(found)
        tried.append(weights)
        history.append({"iteration": iteration, "bleu": bleu, "candidates": len(known.features), "weights": weights})
        if callback is not None:
            callback(history[-1])
        if iteration == iterations:
            break
        if isinstance(tuner, Mert) and tuner.forests:
            steps = list(tuner.ascent(session.along_forests(weights), weights, random))
            new = steps[-1][0] if steps else weights
        else:
            new = tuner.weights(known, weights, random)
        if not np.isfinite(new).all() or not new.any():
            warnings.warn("the tuner left no weights; tuning ends with those before", TrainingWarning, stacklevel=2)
            break
        if np.array_equal(new, weights):
            break
        weights = new
    best = int(np.argmax([line["bleu"] for line in history]))
    return Tuning(session.translator_with(tried[best]), tried[best], history, best)


def rule_translator(translator: Translator, X: Any, y: Any, alignments: Any = None) -> Translator:
    """A copy of a translator that has its rules and language model from sentence pairs, and the first dense weights.

    It translates, and can be tuned; nothing was learned from mistakes. Parameters as in `Translator.fit`.
    """
    translator.check_parameters()
    data = TranslationData.of(X, y, None, alignments)
    pairs = data.part(data.counting())
    targets = [right[0] for right in pairs.right]
    table, _ = RuleTable.extracted(
        pairs.sentences,
        targets,
        pairs.alignments or aligned(pairs.sentences, targets),
        translator.resolved("extraction"),
        threads=translator.resolved("threads"),
    )
    templates = parsed_templates([])
    model = TranslatorModel(
        learner=translator.resolved("learner"),
        history=[],
        table=table,
        language=translator.given_language_model() or LanguageModel.trained(targets, int(translator.order)),
        weights=TranslationWeights(templates, TokenAtoms(templates.token_atoms), _rows(_usual())),
        splits=bool(translator.split_unknown),
        coverage=0.0,
    )
    found = copy.copy(translator)
    found.model_ = model
    return found


def with_dense_weights(model: TranslatorModel, weights: Doubles) -> TranslatorModel:
    """The model with these dense weights and no sparse features."""
    templates = parsed_templates([])
    return replace(model, weights=TranslationWeights(templates, TokenAtoms(templates.token_atoms), _rows(weights)))


def _rows(weights: Doubles) -> _core.FeatureRows:
    keys = np.array([_core.dense_feature_key(k) for k in range(len(DENSE_FEATURES))], np.uint64)
    order = np.argsort(keys)
    return _core.FeatureRows(1, **weight_rows(keys[order], weights[order].astype(np.float32)))


class _Session:
    """Development sentences, encoded once."""

    def __init__(self, translator: Translator, data: TranslationData) -> None:
        self._translator = translator
        self._model: TranslatorModel = translator.model_
        self._references = [References(right) for right in data.right]
        self._encoded = with_dense_weights(self._model, _usual()).encoded(data.sentences, translator.search)
        self._threads = int(translator.resolved("threads"))
        self._known: list[dict[tuple[int, ...], Doubles]] = [{} for _ in data.sentences]

    def translator_with(self, weights: Doubles) -> Translator:
        found = copy.copy(self._translator)
        found.model_ = with_dense_weights(self._model, weights)
        return found

    def statistics(self, sentence: int, numbers: tuple[int, ...]) -> Doubles:
        known = self._known[sentence]
        if numbers not in known:
            known[numbers] = self._references[sentence].statistics(self._encoded.words(sentence, numbers))
        return known[numbers]

    def candidates(self, weights: Doubles, k: int) -> tuple[Candidates, float]:
        """The k best of each sentence, and BLEU of the best. A sentence without a translation has one of no words."""
        table = with_dense_weights(self._model, weights).weights.table
        limit = int(self._translator.search.pop_limit)
        counts, _, word_ptr, words, _, _, dense = self._encoded.native.translate(
            table, k, True, limit, True, self._threads
        )
        numbers = words.tolist()
        features, statistics = [], []
        place = 0
        for sentence, n in enumerate(counts.tolist()):
            rows = range(place, place + n)
            place += n
            features.append(dense[rows.start : rows.stop] if n else np.zeros((1, len(DENSE_FEATURES))))
            texts = [tuple(numbers[word_ptr[row] : word_ptr[row + 1]]) for row in rows] or [()]
            statistics.append(np.array([self.statistics(sentence, text) for text in texts]))
        best = np.sum([rows[0] for rows in statistics], axis=0)
        return Candidates.of(features, statistics), float(corpus_bleu(best))

    def along_forests(self, weights: Doubles) -> Callable[[Doubles, Doubles], Pieces]:
        """The best translations along a line, of all that the forests under `weights` have."""
        model = with_dense_weights(self._model, weights)
        forests = translation_forests(self._encoded, model.weights, self._translator.search, self._threads)
        native, arrays = forests.native, forests.arrays
        dense, edge_ptr = arrays["dense"], arrays["edge_ptr"]
        yields = _Yields(self._encoded, arrays)

        def along(now: Doubles, direction: Doubles) -> Pieces:
            line_ptr, start, ptr, edges = native.best_along(dense @ now, dense @ direction, self._threads)
            corners, changes = [], []
            first_all = np.zeros(len(self._references[0].statistics(())))
            for sentence in range(len(line_ptr) - 1):
                before: Doubles | None = None
                for line in range(line_ptr[sentence], line_ptr[sentence + 1]):
                    used = edges[ptr[line] : ptr[line + 1]] + edge_ptr[sentence]
                    row = self.statistics(sentence, yields.words(sentence, used))
                    if before is None:
                        first_all = first_all + row
                    elif (row != before).any():
                        corners.append(start[line])
                        changes.append(row - before)
                    before = row
                if before is None:
                    first_all = first_all + self.statistics(sentence, ())
            return Pieces(first_all, np.array(corners), np.array(changes).reshape(-1, len(first_all)))

        return along


class _Yields:
    """The words of derivations of forests."""

    def __init__(self, encoded: EncodedSentences, arrays: dict[str, Any]) -> None:
        table = encoded.table
        self._n_targets = len(table.targets)
        self._sides = table.arrays.target_ptr, table.arrays.target_symbols, table.arrays.rule_target
        self._steps = arrays["steps"][0]
        self._n_tails = np.diff(arrays["tail_ptr"])

    def words(self, sentence: int, edges: NDArray[np.int64]) -> tuple[int, ...]:
        """Of a derivation whose edges come those of tails before their head."""
        ptr, symbols, rule_target = self._sides
        open_parts: list[list[int]] = []
        for edge in edges.tolist():
            rule, begin, n = int(self._steps[edge, 0]), int(self._steps[edge, 2]), int(self._n_tails[edge])
            parts = open_parts[len(open_parts) - n :]
            del open_parts[len(open_parts) - n :]
            if rule >= 0:
                side = int(rule_target[rule])
                out: list[int] = []
                for symbol in symbols[ptr[side] : ptr[side + 1]].tolist():
                    out.extend([symbol] if symbol >= 0 else parts[-symbol - 1])
            elif rule == _PASS_THROUGH:
                out = [self._n_targets + begin]
            else:
                out = [word for part in parts for word in part]
            open_parts.append(out)
        return tuple(open_parts[-1])


def _usual() -> Doubles:
    return initial_weights(DenseStart(scale=1.0))
