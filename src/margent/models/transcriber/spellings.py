"""Words and pronunciations as they are given: strings, sequences of symbols, one pronunciation or several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from margent.errors import CorpusError
from margent.parameters import is_text


def as_words(X: Any) -> list[Sequence[str]]:
    """Each word as a sequence of letters: a string is its characters, anything else a sequence of strings."""
    if isinstance(X, str) or not isinstance(X, Iterable):
        raise CorpusError(f"expected a list of words, got {X!r}")
    words: list[Sequence[str]] = []
    for number, word in enumerate(X):
        letters = word if isinstance(word, str) else _symbols(word)
        if letters is None:
            raise CorpusError(f"word {number} should be a string or a sequence of letters, got {word!r}")
        words.append(letters)
    return words


def as_pronunciations(y: Any) -> list[list[list[str]]]:
    """For each word the list of its pronunciations, each a list of phonemes.

    A string is one pronunciation, its phonemes between blanks; a sequence of strings is one pronunciation; a sequence
    of sequences is several.
    """
    if isinstance(y, str) or not isinstance(y, Iterable):
        raise CorpusError(f"expected a list of pronunciations, got {y!r}")
    return [_alternatives(number, given) for number, given in enumerate(y)]


def as_pairs(X: Any, y: Any) -> tuple[list[Sequence[str]], list[list[list[str]]]]:
    """Words and their pronunciations, as many of the one as of the other."""
    words, pronunciations = as_words(X), as_pronunciations(y)
    if len(words) != len(pronunciations):
        raise CorpusError(f"expected as many pronunciations as words, got {len(pronunciations)} and {len(words)}")
    return words, pronunciations


def check_entries(words: list[Sequence[str]], pronunciations: list[list[list[str]]]) -> None:
    """Nothing can be learned from a word without letters, or a pronunciation without phonemes; nor can a model file
    hold what is no valid text."""
    for number, (word, several) in enumerate(zip(words, pronunciations)):
        for symbols in (word, *several):
            if not is_text("".join(symbols)):
                raise CorpusError(f"word {number}: expected valid text, got {''.join(symbols)!r}")
        if not len(word):
            raise CorpusError(f"word {number} has no letters")
        if not all(map(len, several)):
            raise CorpusError(f"a pronunciation of word {number}, {''.join(word)!r}, has no phonemes")


def _symbols(value: Any) -> list[str] | None:
    if isinstance(value, (bytes, dict, set)) or not isinstance(value, Iterable):
        return None
    listed = list(value)
    return [str(symbol) for symbol in listed] if all(isinstance(symbol, (str, np.str_)) for symbol in listed) else None


def _alternatives(number: int, given: Any) -> list[list[str]]:
    if isinstance(given, str):
        return [given.split()]
    symbols = _symbols(given)
    if symbols is None and isinstance(given, (list, tuple)) and given:
        several = [_symbols(one) if not isinstance(one, str) else None for one in given]
        if all(one is not None for one in several):
            return [_checked(number, one or []) for one in several]
    if symbols is None:
        raise CorpusError(f"the pronunciation of word {number} should be a string or phonemes, got {given!r}")
    return [_checked(number, symbols)]


def _checked(number: int, phonemes: list[str]) -> list[str]:
    for phoneme in phonemes:
        if len(phoneme.split()) != 1 or phoneme != phoneme.strip():
            raise CorpusError(
                f"the pronunciation of word {number} has the phoneme {phoneme!r}, expected phonemes without blanks: "
                "several pronunciations are given as a list of lists of phonemes"
            )
    return phonemes
