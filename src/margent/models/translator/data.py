"""Sentences with their translations, checked once for all that is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.word_alignment import WordAlignment
from margent.errors import CorpusError
from margent.models.inputs import sentence_weights
from margent.models.translator.options import LONGEST

Sentence = list[str]


@dataclass(frozen=True, eq=False)
class TranslationData:
    """sentences : lists of words; references : right translations of each, one or several
    alignments : of each sentence with its first translation
    sample_weight : (n,) what each counts; None: 1
    """

    sentences: list[Sentence]
    references: list[list[Sentence]] | None = None
    alignments: list[WordAlignment] | None = None
    sample_weight: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        alignments: Any = None,
        names: tuple[str, str] = ("X", "y"),
    ) -> TranslationData:
        sentences = _sentences(X, names[0])
        references = None if y is None else _references(y, len(sentences), names)
        links = None
        if alignments is not None:
            if references is None:
                raise CorpusError("alignments are of sentences with translations, and y is None")
            links = _alignments(alignments, sentences, references)
        return cls(sentences, references, links, sentence_weights(sample_weight, len(sentences)))

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def right(self) -> list[list[Sentence]]:
        """The right translations; CorpusError where there are none."""
        if self.references is None:
            raise CorpusError("the translations are missing: y is None; expected one for each sentence of X")
        return self.references

    @property
    def counts(self) -> NDArray[np.float64]:
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the sentences that count and have words and a translation."""
        known = np.array([bool(s) and bool(r) for s, r in zip(self.sentences, self.right)], dtype=bool)
        return np.flatnonzero(known & (self.counts > 0))

    def part(self, numbers: Sequence[int] | NDArray[np.int64]) -> TranslationData:
        """The sentences of these numbers alone."""
        chosen = np.asarray(numbers, dtype=np.int64)
        at = chosen.tolist()
        return TranslationData(
            [self.sentences[i] for i in at],
            None if self.references is None else [self.references[i] for i in at],
            None if self.alignments is None else [self.alignments[i] for i in at],
            None if self.sample_weight is None else self.sample_weight[chosen],
        )


def _words(given: Any, what: str) -> Sentence:
    words = given.split() if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not all(isinstance(w, str) and w and w.split() == [w] for w in words):
        raise CorpusError(f"{what}: expected text or a list of words without blanks, got {str(given)[:60]!r}")
    if len(words) > LONGEST:
        raise CorpusError(f"{what} has {len(words)} words; expected at most {LONGEST}")
    return list(words)


def _sentences(X: Any, name: str) -> list[Sentence]:
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        raise CorpusError(f"expected a list of sentences for {name}, got {type(X).__name__}")
    return [_words(each, f"sentence {number} of {name}") for number, each in enumerate(X)]


def _references(y: Any, n: int, names: tuple[str, str]) -> list[list[Sentence]]:
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise CorpusError(f"expected a list of translations for {names[1]}, got {type(y).__name__}")
    given = list(y)
    if len(given) != n:
        raise CorpusError(f"{names[0]} has {n} sentences and {names[1]} {len(given)} translations; expected as many")
    found = []
    for number, each in enumerate(given):
        what = f"translation {number} of {names[1]}"
        several = isinstance(each, (list, tuple)) and bool(each) and isinstance(each[0], (list, tuple))
        references = [_words(one, what) for one in (each if several else () if each is None else [each])]
        found.append([reference for reference in references if reference])
    return found


def _alignments(given: Any, sentences: list[Sentence], references: list[list[Sentence]]) -> list[WordAlignment]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise CorpusError(f"expected a list of alignments, got {type(given).__name__}")
    links = list(given)
    if len(links) != len(sentences):
        raise CorpusError(f"X has {len(sentences)} sentences, and there are {len(links)} alignments; expected as many")
    found = []
    for number, (each, words, right) in enumerate(zip(links, sentences, references)):
        alignment = WordAlignment.parse(each) if isinstance(each, str) else each
        if not isinstance(alignment, WordAlignment):
            raise CorpusError(f"alignment {number}: expected a WordAlignment or text such as '0-0 1-2', got {each!r}")
        alignment.check_fits(len(words), len(right[0]) if right else 0, f"alignment {number}")
        found.append(alignment)
    return found
