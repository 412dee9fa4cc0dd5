"""Clusters of words: what a text without annotation says of which words are alike, from a file, a dict or vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.feature_map import Stored, restored_strings
from margent.formats.source import Source
from margent.parameters import is_text
from margent.storage import ModelFile, string_arrays

DEPTH = 10
"""How many times the words with vectors are split in two: up to 2 ** DEPTH clusters."""
_ROUNDS = 20


class WordClusters:
    """The cluster of each word of a list, a short text: usually a path in a binary tree, such as "0110", the beginning
    of which names a larger cluster (Brown et al. 1992; Koo, Carreras and Collins 2008 use 4 and 6 bits for parsing).

    >>> clusters = WordClusters({"cat": "0110", "dog": "0111"})
    >>> clusters.find("dog"), clusters.find("Cat"), clusters.find("bird")
    ('0111', '0110', None)
    """

    def __init__(self, clusters: Mapping[str, str]) -> None:
        for word, cluster in clusters.items():
            if not is_text(word) or not is_text(cluster) or not cluster:
                raise CorpusError(
                    f"clusters: expected a dict from words to clusters, both valid text, got {word!r}: {cluster!r}"
                )
        self._of_word = dict(sorted(clusters.items()))  # in whatever order they were given, the same model file

    def __len__(self) -> int:
        return len(self._of_word)

    @classmethod
    def of(cls, given: Any) -> WordClusters:
        """From a dict, or a file that `from_file` reads."""
        if isinstance(given, WordClusters):
            return given
        if isinstance(given, Mapping):
            return cls(given)
        if isinstance(given, (str, os.PathLike)):
            return cls.from_file(given)
        raise TypeError(f"clusters should be a dict from words to clusters, or a file, got {given!r}")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> WordClusters:
        """A word a line: "word, tab, cluster", or "cluster, tab, word, tab, count" as Liang's program writes them."""
        source = Source(path, "utf-8")
        clusters: dict[str, str] = {}
        for number, line in source.lines():
            if not line.strip():
                continue
            cells = line.split("\t")
            if len(cells) not in (2, 3):
                raise source.error(number, f"expected a word, a tab and its cluster, got {len(cells)} cells")
            word, cluster = (cells[1], cells[0]) if len(cells) == 3 else cells
            if not word or not cluster:
                raise source.error(number, "expected a word and its cluster, got an empty cell")
            clusters[word] = cluster
        if not clusters:
            raise CorpusError(f"{source.name}: expected words with their clusters, got none")
        return cls(clusters)

    @classmethod
    def of_vectors(cls, words: list[str], vectors: NDArray[Any], depth: int = DEPTH) -> WordClusters:
        """From a vector (d,) for each word, by bisecting k-means on vectors of length 1 (Steinbach et al. 2000).

        All words are one cluster; each is split in two, `depth` times, and the sides are the bits of the path. A
        split starts on both sides of the mean, along the direction of largest variance as found by a few power
        iterations, so that nothing is random. O(depth x words x d).
        """
        rows = np.asarray(vectors, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(words) or not np.isfinite(rows).all():
            raise CorpusError(
                f"vectors: expected a row of finite numbers for each of {len(words)} words, got shape {rows.shape}"
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(norms > 0, norms, 1)
        paths = [""] * len(words)
        waiting = [np.arange(len(words))]
        for _ in range(depth):
            parts = []
            for members in waiting:
                right = _bisected(rows[members])
                for side, part in (("0", members[~right]), ("1", members[right])):
                    for i in part if right.any() else ():
                        paths[i] += side
                    if len(part) > 1 and right.any():
                        parts.append(part)
            waiting = parts
        return cls({word: path or "0" for word, path in zip(words, paths)})

    def find(self, word: str) -> str | None:
        """The cluster of a word, or else of the word in lower case; None: there is none."""
        found = self._of_word.get(word)
        return self._of_word.get(word.lower()) if found is None else found

    def stored(self) -> Stored:
        """Arrays for a model file."""
        distinct = list(dict.fromkeys(self._of_word.values()))
        ids = {cluster: i for i, cluster in enumerate(distinct)}
        numbers = np.fromiter((ids[cluster] for cluster in self._of_word.values()), np.int32, len(self))
        return {}, {
            **string_arrays("clusters", distinct),
            **string_arrays("clusters.words", list(self._of_word)),
            "clusters.of_word": numbers,
        }

    @classmethod
    def restored(cls, file: ModelFile) -> WordClusters:
        distinct = file.strings("clusters")
        words: _core.StringTable = restored_strings(file, "clusters.words")
        ids = file.array("clusters.of_word", np.int32, (len(words),), minimum=0, maximum=len(distinct) - 1)
        if not all(distinct):
            raise file.error("its clusters of words should have names")
        return cls(dict(zip(words.strings(0), (distinct[i] for i in ids.tolist()))))


def _bisected(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the rows (n, d) are in the second of two clusters; none where they cannot be told apart."""
    centred = rows - rows.mean(axis=0)
    direction = centred[np.argmax(np.einsum("ij,ij->i", centred, centred))]
    for _ in range(_ROUNDS):
        direction = centred.T @ (centred @ direction)
        norm = np.linalg.norm(direction)
        if norm < 1e-12:
            return np.zeros(len(rows), dtype=bool)
        direction /= norm
    right: NDArray[np.bool_] = centred @ direction > 0
    for _ in range(_ROUNDS):
        if right.all() or not right.any():
            break
        step = rows[right].mean(axis=0) - rows[~right].mean(axis=0)
        middle = (rows[right].mean(axis=0) + rows[~right].mean(axis=0)) / 2
        nearer: NDArray[np.bool_] = (rows - middle) @ step > 0
        if (nearer == right).all():
            break
        right = nearer
    return right
