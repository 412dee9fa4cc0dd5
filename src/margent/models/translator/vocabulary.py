"""Words and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int32]
Rows = tuple[NDArray[np.int64], Words]

NO_WORD = -1
"""The number of a word that is not in a vocabulary."""


class Vocabulary:
    """Different words, numbered in their order; frozen.

    >>> vocabulary = Vocabulary.of([["a", "b"], ["b", "c"]])
    >>> vocabulary.words, vocabulary.numbers(["c", "d"]).tolist()
    (('a', 'b', 'c'), [2, -1])
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        if len(self.ids) < len(self.words):
            raise ValueError("the words of a vocabulary should be different from each other")

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> Vocabulary:
        """The words of sentences in the order in which they first come."""
        return cls(dict.fromkeys(word for sentence in sentences for word in sentence))

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def numbers(self, words: Iterable[str]) -> Words:
        """The numbers of words, NO_WORD for those that are not there."""
        ids = self.ids
        return np.fromiter((ids.get(word, NO_WORD) for word in words), np.int32)

    def rows(self, sentences: Sequence[Sequence[str]]) -> Rows:
        """(ptr, numbers) of sentences one after the other."""
        ptr = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(sentence) for sentence in sentences], out=ptr[1:])
        return ptr, self.numbers(word for sentence in sentences for word in sentence)
