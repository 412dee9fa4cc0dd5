"""N-gram models of target sentences: trained here, or read from an ARPA file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core, storage
from margent.errors import CorpusError
from margent.formats.arpa import ArpaGrams, read_arpa
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import SourceLike
from margent.models.translator.vocabulary import Vocabulary, Words
from margent.parameters import check_count
from margent.storage import ModelFile

UNKNOWN_WORD = "<unk>"
START, END = "<s>", "</s>"
LARGEST_ORDER = 12
_ARRAYS = ("begin", "word", "suffix", "log_p", "backoff")
_TYPES = (np.int32, np.int32, np.int32, np.float32, np.float32)
_FALLBACK = (0.5, 1.0, 1.5)  # as lmplz --discount_fallback


class LanguageModel:
    """p(word | the words before it), with back-off to shorter histories; frozen.

    words : Vocabulary
        Its first word is UNKNOWN_WORD, which stands for all others.
    grams : _core.GramModel
        The native model. A sentence begins in context `grams.start`; its end is symbol len(words).

    >>> model = LanguageModel.trained([["the", "house"], ["the", "garden"], ["a", "house"]], order=2)
    >>> model.log_probability(["the", "house"]) > model.log_probability(["house", "the"])
    True
    """

    def __init__(self, words: Vocabulary, grams: _core.GramModel) -> None:
        self.words, self.grams = words, grams

    @classmethod
    def trained(cls, sentences: Sequence[Sequence[str]], order: int = 5) -> LanguageModel:
        """Grams of up to `order` words, smoothed by interpolated, modified Kneser-Ney.

        Discounts come from counts of counts (Chen and Goodman 1999, equation 26), one set for each length; where there
        are too few counts for that, or they make no sense, 0.5, 1 and 1.5 are taken off. It is the model that KenLM's
        `lmplz --discount_fallback` makes of the same text.
        """
        check_count("order", order, 1, maximum=LARGEST_ORDER)
        words = Vocabulary(dict.fromkeys((UNKNOWN_WORD, *(word for sentence in sentences for word in sentence))))
        for word in (START, END):
            if word in words:
                raise CorpusError(f"the word {word!r} has another meaning in language models")
        counts = _core.GramCounts()
        n = len(words)
        for sentence in sentences:
            symbols = [n + 1, *words.numbers(sentence).tolist(), n]
            for place in range(1, len(symbols)):
                counts.add(symbols[max(0, place - order + 1) : place + 1], 1.0)
        grams = _core.GramModel.of(counts, n)
        grams.estimate(np.zeros((1, 3)))
        grams.estimate(_discounts(grams, n))
        return cls(words, grams.trimmed())

    @classmethod
    def read_arpa(
        cls, source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
    ) -> LanguageModel:
        """The model in an ARPA file, gzip or not. Without an entry `<unk>`, unknown words have log10 p = -100."""
        names, levels = read_arpa(source, encoding=encoding, limits=limits)
        if END not in names:
            raise CorpusError(f"a language model of sentences has a probability of {END}, got none")
        words = Vocabulary([UNKNOWN_WORD, *(name for name in names if name not in (UNKNOWN_WORD, START, END))])
        special = {START: len(words) + 1, END: len(words)}
        symbols = np.array([special.get(name, words.ids.get(name, 0)) for name in names], np.int32)
        if UNKNOWN_WORD not in names:
            one, p, backoff = levels[0]
            row = np.full((1, 1), len(symbols), np.int32)
            levels[0] = ArpaGrams(np.concatenate([one, row]), np.append(p, -100.0), np.append(backoff, 0.0))
            symbols = np.append(symbols, np.int32(0))
        arrays = _tree([(symbols[rows], p, backoff) for rows, p, backoff in levels], len(words))
        try:
            return cls(words, _core.GramModel.stored(len(words), *arrays))
        except ValueError as error:
            raise CorpusError(f"the language model cannot be used: {error}") from None

    @property
    def order(self) -> int:
        return int(self.grams.order)

    @property
    def n_grams(self) -> int:
        return len(self.grams) - 1

    def __repr__(self) -> str:
        return f"LanguageModel({len(self.words)} words, {self.n_grams} grams of up to {self.order} words)"

    def numbers(self, words: Sequence[str]) -> Words:
        """The symbols of words; 0, that of UNKNOWN_WORD, for those it does not know."""
        return np.maximum(self.words.numbers(words), 0)

    def log_probability(self, sentence: Sequence[str]) -> float:
        """log p of a sentence and its end."""
        symbols = [len(self.words) + 1, *self.numbers(sentence).tolist(), len(self.words)]
        return math.fsum(
            self.grams.log_probability(symbols[max(0, place - self.order + 1) : place], symbols[place])
            for place in range(1, len(symbols))
        )

    def perplexity(self, sentences: Sequence[Sequence[str]]) -> float:
        """exp of minus the mean log p of a word, ends of sentences with them."""
        total = math.fsum(self.log_probability(sentence) for sentence in sentences)
        n = sum(len(sentence) + 1 for sentence in sentences)
        return math.exp(-total / n) if n else math.nan

    # Files

    @cached_property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(self.grams.arrays())

    def stored(self) -> dict[str, Any]:
        """The arrays for a model file."""
        arrays = {f"language.{name}": array for name, array in zip(_ARRAYS, self._arrays)}
        return {**storage.string_arrays("language words", self.words.words), **arrays}

    @classmethod
    def restored(cls, file: ModelFile) -> LanguageModel:
        """The model in a file, everything in it checked."""
        try:
            words = Vocabulary(file.strings("language words"))
        except ValueError as error:
            raise file.error(f"its language model is wrong: {error}") from None
        if not words.words or words.words[0] != UNKNOWN_WORD:
            raise file.error(f"the first word of its language model should be {UNKNOWN_WORD}")
        arrays = [file.array(f"language.{name}", kind, (None,)) for name, kind in zip(_ARRAYS, _TYPES)]
        try:
            return cls(words, _core.GramModel.stored(len(words), *arrays))
        except ValueError as error:
            raise file.error(f"its language model is wrong: {error}") from None


def _discounts(grams: _core.GramModel, n_words: int) -> NDArray[np.float64]:
    """(order, 3): D_k = k - (k + 1) Y n_(k+1) / n_k with Y = n_1 / (n_1 + 2 n_2), from the counts of each level."""
    begin = grams.arrays()[0]
    counts, symbols = np.asarray(grams.counts()), np.asarray(grams.graphones())
    found = []
    first, last = 1, int(begin[1])
    for _ in range(grams.order):
        level = counts[first:last][symbols[first:last] != n_words + 1]
        n = [int((level == k).sum()) for k in range(1, 5)]
        discounts: tuple[float, ...] = _FALLBACK
        if all(n):
            y = n[0] / (n[0] + 2 * n[1])
            own = tuple(k - (k + 1) * y * n[k] / n[k - 1] for k in (1, 2, 3))
            if all(0 <= d <= k for k, d in enumerate(own, 1)):
                discounts = own
        found.append(discounts)
        first, last = last, int(begin[last])
    return np.array(found)


def _tree(
    levels: list[tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]], n_words: int
) -> tuple[NDArray[Any], ...]:
    """The arrays of a native model: nodes level by level, by parent and symbol; see `core/cosegments/gram_model.hpp`.

    A gram whose beginning or end is not there, as pruning may leave them, gets it, with the probability that backing
    off gives it.
    """
    known = [dict(zip(map(tuple, rows.tolist()), zip(p.tolist(), b.tolist()))) for rows, p, b in levels]
    for length in range(len(known) - 1, 0, -1):
        for gram in list(known[length]):
            for part in (gram[:-1], gram[1:]):
                if part not in known[length - 1]:
                    known[length - 1][part] = (math.nan, 0.0)
    for length in range(1, len(known)):
        for gram, (p, backoff) in known[length].items():
            if math.isnan(p):
                before = known[length - 1].get(gram[:-1], (0.0, 0.0))[1]
                known[length][gram] = (before + known[length - 1][gram[1:]][0], backoff)
    numbers: dict[tuple[int, ...], int] = {(): 0}
    children = [0]
    symbol, suffix, log_p, backoffs = [-1], [0], [0.0], [0.0]
    for level in known:
        for gram in sorted(level, key=lambda g: (numbers[g[:-1]], g[-1])):
            p, backoff = level[gram]
            numbers[gram] = len(symbol)
            children[numbers[gram[:-1]]] += 1
            children.append(0)
            symbol.append(gram[-1])
            suffix.append(numbers[gram[1:]])
            log_p.append(0.0 if gram[-1] == n_words + 1 else p)
            backoffs.append(backoff)
    begin = np.concatenate([[1], 1 + np.cumsum(children)]).astype(np.int32)
    scores = (np.array(column) * math.log(10) for column in (log_p, backoffs))
    return (begin, np.array(symbol, np.int32), np.array(suffix, np.int32), *(s.astype(np.float32) for s in scores))
