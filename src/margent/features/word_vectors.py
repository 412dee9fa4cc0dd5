"""Vectors of words made elsewhere, such as GloVe's: from a text file, or from a folder of words and a matrix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source
from margent.parameters import is_text

MOST_DIMENSIONS = 10_000


class WordVectors:
    """A vector of d numbers for each of V different words.

    Parameters
    ----------
    words : V str
    vectors : (V, d) finite numbers; kept in the type that they have, at most 32 bits

    >>> vectors = WordVectors(["cat", "dog"], np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> vectors.find("cat"), vectors.find("Cat"), vectors.find("bird")
    (0, 0, -1)
    """

    def __init__(self, words: Sequence[str], vectors: Any) -> None:
        self.words = tuple(words)
        given = np.asarray(vectors)
        if given.ndim != 2 or given.dtype.kind != "f" or given.shape[0] != len(self.words) or not given.shape[1]:
            raise CorpusError(
                f"expected vectors of shape ({len(self.words)}, d), one for each word, got {given.shape} of "
                f"{given.dtype}"
            )
        if given.shape[1] > MOST_DIMENSIONS or not np.isfinite(given).all():
            raise CorpusError(f"expected vectors of at most {MOST_DIMENSIONS:,} finite numbers")
        if not all(map(is_text, self.words)) or len(set(self.words)) < len(self.words):
            raise CorpusError("expected different words, each a str, for vectors of words")
        self.vectors: NDArray[Any] = given if given.dtype == np.float16 else given.astype(np.float32)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimensions(self) -> int:
        return int(self.vectors.shape[1])

    def find(self, word: str) -> int:
        """The number of a word, or of the word in lower case; -1: it has no vector."""
        found = self._numbers.get(word)
        return self._numbers.get(word.lower(), -1) if found is None else found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
    ) -> WordVectors:
        """A text file with a word and its numbers on each line, as GloVe and word2vec write it (a first line of two
        numbers is skipped); or a folder with words.txt, a word a line, and one matrix *.npy."""
        place = Path(path)
        if place.is_dir():
            matrices = sorted(place.glob("*.npy"))
            if len(matrices) != 1 or not (place / "words.txt").is_file():
                raise CorpusError(f"{place}: expected words.txt and one matrix *.npy, got {len(matrices)} matrices")
            words = [line for _, line in Source(place / "words.txt", encoding, limits).lines()]
            try:
                return cls(words, np.load(matrices[0], allow_pickle=False))
            except (ValueError, EOFError, OSError) as error:
                raise CorpusError(f"{matrices[0]}: {error}") from None
        source = Source(path, encoding, limits)
        found: dict[str, NDArray[np.float32]] = {}
        d = 0
        for number, line in source.lines():
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and len(numbers) == 1 and word.isdigit() and numbers[0].isdigit():
                continue
            d = d or len(numbers)
            try:
                vector = np.array(numbers, dtype=np.float32)
            except ValueError:
                vector = np.zeros(0, np.float32)
            if not word or not d or vector.shape != (d,):
                raise source.error(number, f"expected a word and {d or 'some'} numbers, got {line[:60]!r}")
            found.setdefault(word, vector)
        if not found:
            raise CorpusError(f"{source.name}: expected vectors of words, got none")
        return cls(list(found), np.stack(list(found.values())))
