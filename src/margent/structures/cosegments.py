"""Co-segments: a word and its pronunciation aligned by graphones of some letters and some phonemes.

A graphone is a pair (letters, phonemes), either of which may be empty. `phoenix` and `F IY N IH K S` may be aligned as
ph:F o:- e:IY n:N i:IH x:K+S, and in many other ways; which one is right is not known, and is summed over (paper 003,
section 4.1). The alignments of a word of n letters and m phonemes are the paths through a grid of (n + 1)(m + 1) cells.
Symbols are numbers here, as in all structures; `Transcriber` gives them names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.structures.forest import Forest

SIZES = ((0, 1), (1, 0), (1, 1))
"""Sizes of graphones (letters, phonemes): one or none on each side, which does best with grams of six or more."""


class CosegmentForest(NamedTuple):
    """The alignments of one pair as a forest of lattice shape, one derivation each. `graphones`: that of each edge."""

    forest: Forest
    graphones: NDArray[np.int32]


class Cosegments:
    """Pairs of letter and phoneme sequences, and the graphones that they may be aligned by.

    Parameters
    ----------
    words, pronunciations : sequences of sequences of numbers from 0 on
    sizes : pairs (letters, phonemes)
        How large graphones may be.
    n_held_out : int
        So many of the last pairs are held out: a learner may watch them before it learns from them too.
    development : (words, pronunciations) or None
        More pairs to watch, which are never learned from.

    `graphones` are all graphones of these sizes that occur in an alignment of some pair.
    """

    structure = "alignments"

    def __init__(
        self,
        words: Iterable[Sequence[int]],
        pronunciations: Iterable[Sequence[int]],
        sizes: Sequence[tuple[int, int]] = SIZES,
        *,
        n_held_out: int = 0,
        development: tuple[Iterable[Sequence[int]], Iterable[Sequence[int]]] | None = None,
    ) -> None:
        words, pronunciations = list(words), list(pronunciations)
        self.pairs = native_pairs(words, pronunciations)
        self._empty = {i for i, (word, spoken) in enumerate(zip(words, pronunciations)) if not len(word) + len(spoken)}
        self.development = None if development is None else native_pairs(*development)
        self.n_held_out = n_held_out
        self.n_impossible = 0  # how many pairs a learner could not align with the graphones that it kept
        self.graphones = _core.Graphones.discovered(self.pairs, checked_sizes(sizes))

    def __len__(self) -> int:
        return len(self.pairs)

    def forest(self, pair: int, graphone_scores: NDArray[np.float64]) -> CosegmentForest:
        """All alignments of a pair, scored by the sum of the scores of their graphones.

        `graphone_scores`: (graphones,). A pair without an alignment gives a forest without derivations; one without any
        symbols has one derivation, of no graphones.
        """
        arcs = self.graphones.arcs(self.pairs, pair)
        cells = np.unique(arcs[:, :2]) if len(arcs) else np.zeros(1, np.int32)
        heads = np.searchsorted(cells, arcs[:, 1])
        tails = np.searchsorted(cells, arcs[:, 0])
        scores = np.asarray(graphone_scores, np.float64)[arcs[:, 2]]
        order = np.argsort(heads, kind="stable")
        # The start is a leaf edge of its own, with no graphone.
        forest = Forest(
            heads=np.concatenate([[0], heads[order]]),
            tail_ptr=np.concatenate([[0], np.arange(len(arcs) + 1)]),
            tails=tails[order],
            scores=np.concatenate([[0.0 if len(arcs) or pair in self._empty else -np.inf], scores[order]]),
            n_nodes=len(cells),
        )
        return CosegmentForest(forest, np.concatenate([[-1], arcs[order, 2]]).astype(np.int32))


def native_pairs(words: Iterable[Sequence[int]], pronunciations: Iterable[Sequence[int]]) -> _core.SpellingPairs:
    """Sequences of numbers, as native code takes them."""
    return _core.SpellingPairs(*flat_rows(words), *flat_rows(pronunciations))


def flat_rows(rows: Iterable[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows of numbers as one array, and where each begins: (ptr, numbers)."""
    listed = list(rows)
    ptr = np.zeros(len(listed) + 1, np.int64)
    np.cumsum([len(row) for row in listed], out=ptr[1:])
    return ptr, np.fromiter((symbol for row in listed for symbol in row), np.int32, int(ptr[-1]))


def checked_sizes(sizes: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """The sizes as an array (sizes, 2), each once; a ValueError where one cannot be."""
    try:
        table = np.array([(int(letters), int(phonemes)) for letters, phonemes in sizes], dtype=np.int32).reshape(-1, 2)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"sizes should be pairs of numbers (letters, phonemes), got {sizes!r}") from None
    if not len(table) or (table < 0).any() or (table > 16).any() or (table.sum(axis=1) == 0).any():
        raise ValueError(f"sizes should be pairs (letters, phonemes) from 0 to 16, not both 0, got {sizes!r}")
    return np.unique(table, axis=0)
