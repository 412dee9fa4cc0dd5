"""Pairs of sentences, and their labels, checked at the boundary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.binary_tree import BinaryTree
from margent.annotation.phrase_tree import PhraseTree
from margent.errors import CorpusError
from margent.models.inputs import sentence_weights
from margent.parameters import is_text

_PIECE = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|m|d|re|ve|ll)\b|\w+(?:[-./]\w+)*|[^\w\s]", re.IGNORECASE)
LONGEST = 500
"""Words of a sentence: all words of both sentences are compared with each other."""


@dataclass(frozen=True)
class PairData:
    """n pairs.

    premises, hypotheses : a tree of each
    labels : the label of each, None where it is not known; None: of none
    sample_weight : (n,) what each counts; None: 1
    n_without_tree : how many sentences came without a tree, and are taken as right-branching
    """

    premises: list[BinaryTree]
    hypotheses: list[BinaryTree]
    labels: list[str | None] | None = None
    sample_weight: NDArray[np.float32] | None = None
    n_without_tree: int = 0

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None, *, names: tuple[str, str] = ("X", "y")) -> PairData:
        if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
            raise CorpusError(f"{names[0]}: expected a list of pairs (premise, hypothesis), got {type(X).__name__}")
        if hasattr(X, "tocsr") or getattr(getattr(X, "dtype", None), "kind", "O") not in "OU":
            raise CorpusError(
                f"{names[0]}: expected a list of sequences (premise, hypothesis), got an array of numbers"
            )
        sides: tuple[list[BinaryTree], list[BinaryTree]] = ([], [])
        n_without_tree = 0
        for number, pair in enumerate(X):
            if isinstance(pair, (str, bytes, BinaryTree)) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise CorpusError(f"pair {number} of {names[0]} is {_shown(pair)}; expected (premise, hypothesis)")
            for side, sentence, what in zip(sides, pair, ("premise", "hypothesis")):
                tree = _tree(sentence, f"the {what} of pair {number} of {names[0]}")
                n_without_tree += not isinstance(sentence, (BinaryTree, PhraseTree)) and len(tree) > 2
                side.append(tree)
        n = len(sides[0])
        labels = None if y is None else _labels(y, n, names)
        return cls(*sides, labels, sentence_weights(sample_weight, n), n_without_tree)

    def __len__(self) -> int:
        return len(self.premises)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(n,) what each pair counts."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    @property
    def right(self) -> list[str | None]:
        """The labels, which must be there."""
        if self.labels is None:
            raise CorpusError(
                "labels are missing: an EntailmentClassifier requires y to be passed, but the target y is None"
            )
        return self.labels

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the pairs that count and have a label."""
        known = np.array([label is not None for label in self.right], dtype=bool)
        return np.flatnonzero((self.counts > 0) & known)

    def part(self, numbers: Iterable[int] | NDArray[np.int64]) -> PairData:
        """The pairs of these numbers alone."""
        chosen = np.asarray(numbers, dtype=np.int64)
        listed = chosen.tolist()
        return PairData(
            [self.premises[i] for i in listed],
            [self.hypotheses[i] for i in listed],
            None if self.labels is None else [self.labels[i] for i in listed],
            None if self.sample_weight is None else self.sample_weight[chosen],
            self.n_without_tree,
        )


def words_of_text(text: str) -> list[str]:
    """The words of a text, as the Penn Treebank has them for the most part; punctuation marks are words.

    >>> words_of_text("She isn't at Ann's, is she?")
    ['She', 'is', "n't", 'at', 'Ann', "'s", ',', 'is', 'she', '?']
    """
    return _PIECE.findall(text)


def _tree(sentence: Any, what: str) -> BinaryTree:
    if isinstance(sentence, str):
        words: Sequence[str] = words_of_text(sentence)
    elif isinstance(sentence, (BinaryTree, PhraseTree)):
        words = sentence.words
    elif isinstance(sentence, Sequence) or hasattr(sentence, "__iter__"):
        words = list(sentence)
    else:
        raise CorpusError(f"{what} is {_shown(sentence)}; expected a text, a list of words or a tree")
    if not words:
        raise CorpusError(f"{what} has no words; expected at least one")
    if len(words) > LONGEST:
        raise CorpusError(f"{what} has {len(words)} words; expected at most {LONGEST}")
    if isinstance(sentence, BinaryTree):
        return sentence
    if isinstance(sentence, PhraseTree):
        return BinaryTree.from_phrases(sentence)
    for word in words:
        if not isinstance(word, str) or not word or word.split() != [word]:
            raise CorpusError(f"{what} holds {_shown(word)}; expected words, str without blanks")
    try:
        return BinaryTree.right_branching(words)
    except CorpusError as error:  # text that cannot be written to a file
        raise CorpusError(f"{what}: {error}") from None


def _labels(y: Any, n: int, names: tuple[str, str]) -> list[str | None]:
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise CorpusError(f"{names[1]}: expected a list of labels, got {type(y).__name__}")
    labels = list(y)
    if len(labels) != n:
        raise CorpusError(f"{names[1]} has {len(labels)} labels; expected {n}, one for each pair")
    for number, label in enumerate(labels):
        if label is not None and (not is_text(label) or not label):
            raise CorpusError(f"label {number} of {names[1]} is {_shown(label)}; expected text, or None if not known")
    return [None if label is None else str(label) for label in labels]


def _shown(value: Any) -> str:
    return repr(value)[:60]
