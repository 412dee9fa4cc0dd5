"""Parameters of a parser that only make sense together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from margent.errors import CorpusError
from margent.features.word_clusters import WordClusters
from margent.models.stored_parameters import storable
from margent.parameters import check_whole


@storable
@dataclass(frozen=True)
class ParserFeatures:
    """The features of a parser: templates over named atoms (docs/parser.md lists them).

    >>> ParserFeatures(min_count=2)
    ParserFeatures(templates=None, clusters=None, vectors=None, min_count=2)
    """

    templates: Any = field(
        default=None,
        metadata={"help": "a preset, or templates as text or lines; None: those that suit the search"},
    )
    clusters: Any = field(
        default=None,
        metadata={"help": "word clusters for the atoms cluster, cluster4, ...: a file, or a dict from words"},
    )
    vectors: Any = field(
        default=None,
        metadata={"help": "word vectors to compute such clusters from: a dict from words to rows of numbers"},
    )
    min_count: int = field(
        default=1,
        metadata={"help": "words and the like that occur less often in the training data are treated as unknown"},
    )

    def __post_init__(self) -> None:
        check_whole(self, "min_count", minimum=1)
        given = self.templates
        lines = isinstance(given, (list, tuple)) and all(isinstance(line, str) for line in given)
        if not (given is None or isinstance(given, str) or lines):
            raise TypeError(f"templates of ParserFeatures should be text, lines of text or None, got {given!r}")
        if self.clusters is not None and self.vectors is not None:
            raise ValueError("clusters and vectors of ParserFeatures were both given; expected at most one of them")
        if not isinstance(self.clusters, (WordClusters, Mapping, str, os.PathLike, type(None))):
            raise TypeError(
                f"clusters of ParserFeatures should be a dict from words to clusters, or a file, got {self.clusters!r}"
            )
        if not isinstance(self.vectors, (Mapping, type(None))):
            raise TypeError(
                f"vectors of ParserFeatures should be a dict from words to rows of numbers, got {self.vectors!r}"
            )

    @classmethod
    def of(cls, given: Any) -> ParserFeatures:
        """As given, or with the usual settings."""
        return given if isinstance(given, cls) else cls(given)

    @property
    def chosen_templates(self) -> str | tuple[str, ...] | None:
        """The name of a preset, the lines of templates, or None."""
        given: str | Sequence[str] | None = self.templates
        if isinstance(given, str):
            return given if _is_name(given) else tuple(given.splitlines())
        return None if given is None else tuple(given)

    def word_clusters(self) -> WordClusters | None:
        """The clusters of words, read or made of vectors."""
        if self.clusters is not None:
            return WordClusters.of(self.clusters)
        if self.vectors is None:
            return None
        words = sorted(self.vectors, key=str)
        try:
            rows = np.array([np.asarray(self.vectors[word], dtype=np.float64) for word in words])
        except (TypeError, ValueError):
            raise CorpusError("vectors of ParserFeatures: expected a row of as many numbers for each word") from None
        return WordClusters.of_vectors(words, rows)


def _is_name(text: str) -> bool:
    """A preset is a word; a template has an address and a dot, or several words."""
    return bool(text) and all(character.isalnum() or character in "-_" for character in text)
