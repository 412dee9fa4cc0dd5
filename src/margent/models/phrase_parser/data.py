"""Sentences to be parsed, and their right trees, checked at the boundary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.phrase_tree import PhraseTree
from margent.errors import CorpusError
from margent.models.inputs import as_sentences, sentence_weights

Tags = tuple["str | None", ...]


@dataclass(frozen=True)
class PhraseData:
    """n sentences.

    words : the words of each
    tags : the tag of each word where it was given, else None
    trees : the right tree of each; None: not known
    sample_weight : (n,) what each counts; None: 1
    """

    words: list[tuple[str, ...]]
    tags: list[Tags]
    trees: list[PhraseTree] | None = None
    sample_weight: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, sample_weight: Any = None, *, names: tuple[str, str] = ("X", "y")) -> PhraseData:
        """Of sentences of words, or of (word, tag), and trees. Where tags are given, trees have these."""
        words: list[tuple[str, ...]] = []
        tags: list[Tags] = []
        for number, sentence in enumerate(as_sentences(X)):
            tokens = _tokens(number, sentence, names[0])
            words.append(tuple(word for word, _ in tokens))
            tags.append(tuple(tag for _, tag in tokens))
        if y is None:
            return cls(words, tags, None, sentence_weights(sample_weight, len(words)))
        trees = _trees(y, names)
        if len(trees) != len(words):
            raise CorpusError(f"{names[1]} has {len(trees)} trees; expected {len(words)}, one for each sentence")
        return cls(
            words,
            tags,
            [_fitting(i, tree, words[i], tags[i]) for i, tree in enumerate(trees)],
            sentence_weights(sample_weight, len(words)),
        )

    def __len__(self) -> int:
        return len(self.words)

    @property
    def lengths(self) -> list[int]:
        """How many words each sentence has."""
        return list(map(len, self.words))

    @property
    def counts(self) -> NDArray[np.float64]:
        """(n,) what each sentence counts."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)

    @property
    def right(self) -> list[PhraseTree]:
        """The right trees, which must be known."""
        if self.trees is None:
            raise CorpusError("trees are missing: a PhraseParser requires y to be passed, but the target y is None")
        return self.trees

    def counting(self) -> NDArray[np.int64]:
        """The numbers of the sentences that count and have a word."""
        return np.flatnonzero((self.counts > 0) & np.array([len(words) > 0 for words in self.words], dtype=bool))

    def part(self, numbers: Iterable[int] | NDArray[np.int64]) -> PhraseData:
        """The sentences of these numbers alone."""
        chosen = np.asarray(numbers, dtype=np.int64)
        trees = None if self.trees is None else [self.trees[i] for i in chosen.tolist()]
        weights = None if self.sample_weight is None else self.sample_weight[chosen]
        return PhraseData(
            [self.words[i] for i in chosen.tolist()], [self.tags[i] for i in chosen.tolist()], trees, weights
        )


def _tokens(number: int, sentence: Any, name: str) -> list[tuple[str, str | None]]:
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        raise CorpusError(
            f"sentence {number} of {name} is {sentence!r}, but a list of words, or of (word, tag), was expected"
        )
    tokens: list[tuple[str, str | None]] = []
    for i, token in enumerate(sentence):
        parts: Sequence[Any] = (token,) if isinstance(token, str) else tuple(token) if _listed(token) else ()
        if len(parts) not in (1, 2) or not all(
            isinstance(text, str) and text and text.split() == [text] for text in parts
        ):
            raise CorpusError(
                f"sentence {number} of {name}, token {i} is {token!r}; expected a word or (word, tag), without blanks"
            )
        tokens.append((parts[0], parts[1] if len(parts) == 2 else None))
    return tokens


def _listed(token: Any) -> bool:
    return isinstance(token, (tuple, list))


def _trees(y: Any, names: tuple[str, str]) -> list[PhraseTree]:
    if isinstance(y, (str, PhraseTree)) or not isinstance(y, Iterable):
        raise CorpusError(f"{names[1]} should be a list of PhraseTree, got {type(y).__name__}")
    trees = list(y)
    for number, tree in enumerate(trees):
        if not isinstance(tree, PhraseTree):
            raise CorpusError(f"tree {number} of {names[1]} is a {type(tree).__name__}; expected a PhraseTree")
    return trees


def _fitting(number: int, tree: PhraseTree, words: tuple[str, ...], tags: Tags) -> PhraseTree:
    if len(tree) != len(words):
        raise CorpusError(f"tree {number} has {len(tree)} words; expected {len(words)}, as the sentence has")
    if all(given is None or given == tag for given, tag in zip(tags, tree.tags)):
        return tree
    known = [tag if given is None else given for given, tag in zip(tags, tree.tags)]
    return PhraseTree(tree.words, known, tree.phrases)
