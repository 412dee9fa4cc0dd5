"""The words of a network: those with a given vector, those whose vector is learned, and all others."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import storage
from margent.errors import CorpusError
from margent.features.word_vectors import WordVectors
from margent.storage import ModelFile

Ints = NDArray[np.int64]
SPELLINGS = 256
"""Learned vectors of beginnings and ends of words; several share one."""
_N_SPELLINGS = 3


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Numbers of words: 0 is unknown, then the learned ones, then those with given vectors.

    given : None: all vectors are learned
    learned : words in lower case
    """

    given: WordVectors | None
    learned: tuple[str, ...] = ()

    def grown(self, sentences: Iterable[Sequence[str]], min_count: int) -> Vocabulary:
        """With the words that have no vector and are seen at least `min_count` times, in the order of the alphabet."""
        counts = Counter(word.lower() for word in chain.from_iterable(sentences) if not self._number(word))
        new = sorted(word for word, count in counts.items() if count >= min_count)
        return replace(self, learned=(*self.learned, *new))

    @property
    def n_learned(self) -> int:
        return 1 + len(self.learned)

    def numbers(self, words: Iterable[str]) -> Ints:
        return np.fromiter(map(self._number, words), dtype=np.int64)

    def spellings(self, words: Sequence[str]) -> Ints:
        """(n, 3) of beginning, end and shape of each word."""
        found = [
            [zlib.crc32(text.encode()) % SPELLINGS for text in (f"<{w[:3]}", f"{w[-3:]}>", _shape(word))]
            for word, w in ((word, word.lower()) for word in words)
        ]
        return np.array(found, dtype=np.int64).reshape(-1, _N_SPELLINGS)

    def _number(self, word: str) -> int:
        number = self._learned.get(word.lower())
        if number is not None:
            return number
        place = -1 if self.given is None else self.given.find(word)
        return self.n_learned + place if place >= 0 else 0

    @cached_property
    def _learned(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.learned, start=1)}

    # Files

    def stored(self) -> dict[str, NDArray[Any]]:
        arrays = storage.string_arrays("learned", self.learned)
        if self.given is not None:
            arrays |= storage.string_arrays("given", self.given.words)
            arrays["given.vectors"] = self.given.vectors
        return arrays

    @classmethod
    def restored(cls, file: ModelFile, has_given: bool) -> Vocabulary:
        given = None
        if has_given:
            words = file.strings("given")
            kind = file.arrays["given.vectors"].dtype if "given.vectors" in file.arrays else np.dtype(np.float32)
            half = kind == np.float16
            try:
                vectors = file.array(
                    "given.vectors", np.float16 if half else np.float32, (len(words), None), finite=True
                )
                given = WordVectors(words, vectors)
            except CorpusError as error:
                raise file.error(f"its vectors of words are wrong: {error}") from None
        learned = file.strings("learned")
        if len(set(learned)) < len(learned):
            raise file.error("its learned words should be different")
        return cls(given, tuple(learned))


def _shape(word: str) -> str:
    kind = "digit" if any(map(str.isdigit, word)) else "other" if not any(map(str.isalpha, word)) else "word"
    return f"{kind}{min(len(word), 9)}"
