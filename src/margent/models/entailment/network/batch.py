"""Pairs of sentences as a network reads them: words as numbers, trees in levels, nodes in a rectangle."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from margent.models.entailment.data import PairData
from margent.models.entailment.network.levels import Levels
from margent.models.entailment.network.vocabulary import Vocabulary

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedTrees:
    """n pairs, once and for all.

    data : the pairs
    words, spellings : of each pair the numbers of the words of premise and hypothesis; spellings None: not needed
    """

    data: PairData
    words: list[tuple[Ints, Ints]]
    spellings: list[tuple[Ints, Ints]] | None

    @classmethod
    def of(cls, data: PairData, vocabulary: Vocabulary, spelled: bool) -> EncodedTrees:
        distinct = dict.fromkeys(chain.from_iterable(tree.words for tree in chain(data.premises, data.hypotheses)))
        texts = list(distinct)
        numbers = dict(zip(texts, vocabulary.numbers(texts).tolist()))
        both = list(zip(data.premises, data.hypotheses))
        words = [tuple(np.array([numbers[w] for w in tree.words], np.int64) for tree in pair) for pair in both]
        spellings = None
        if spelled:
            of = dict(zip(texts, vocabulary.spellings(texts)))
            spellings = [tuple(np.stack([of[w] for w in tree.words]) for tree in pair) for pair in both]
        return cls(data, words, spellings)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False)
class PairBatch:
    """B pairs. `levels` has the premises, then the hypotheses, `relations` the hypotheses alone.

    words : (W,) of the first level of `levels` (of sequences: of all), in order of rows
    spellings : (W, 3) or None
    premise, hypothesis : (B, p), (B, q) rows of nodes in `levels`; and masks of those that are there
    places : (M,) of each row of `relations`, its place in the rectangle (B, q)
    aligned : (3, E) all nodes of each hypothesis with all of its premise and null: rows of the two in `levels`, where
        null is the row after the last, and the place in the block (B, q, p + 1)
    """

    levels: Levels
    relations: Levels | None
    words: Ints
    spellings: Ints | None
    premise: Ints
    premise_mask: NDArray[np.bool_]
    hypothesis: Ints
    hypothesis_mask: NDArray[np.bool_]
    places: Ints
    aligned: Ints

    @classmethod
    def of(cls, encoded: EncodedTrees, numbers: Ints, sequence: bool) -> PairBatch:
        chosen = numbers.tolist()
        premises = [encoded.data.premises[i] for i in chosen]
        hypotheses = [encoded.data.hypotheses[i] for i in chosen]
        trees = [*premises, *hypotheses]
        relations = None
        if sequence:
            levels = Levels.of_sequences(np.array([len(tree) for tree in trees]))
        else:
            levels, relations = Levels.of(trees), Levels.of(hypotheses)
        order = np.concatenate([
            levels.row[start : start + len(tree)] for start, tree in zip(levels.node_ptr.tolist(), trees)
        ])  # fmt: skip
        place = np.argsort(order)  # words are the first rows, or all
        words = np.concatenate([encoded.words[i][side] for side in (0, 1) for i in chosen])[place]
        spellings = None
        if encoded.spellings is not None:
            spellings = np.concatenate([encoded.spellings[i][side] for side in (0, 1) for i in chosen])[place]
        n = len(chosen)
        first = Levels(levels.ptr, levels.row[: levels.node_ptr[n]], levels.node_ptr[: n + 1], levels.children)
        start = int(levels.node_ptr[n])
        second = Levels(levels.ptr, levels.row[start:], levels.node_ptr[n:] - start, levels.children)
        premise, premise_mask = first.padded()
        hypothesis, hypothesis_mask = second.padded()
        places = np.zeros(0, np.int64)
        if relations is not None:
            places = np.empty(relations.n_nodes, np.int64)
            places[relations.row] = np.flatnonzero(hypothesis_mask)
        with_null = np.column_stack([premise, np.full(n, levels.n_nodes)])
        null_mask = np.column_stack([premise_mask, np.ones(n, dtype=bool)])
        block = hypothesis_mask[:, :, None] & null_mask[:, None, :]
        pair, i, j = np.nonzero(block)
        aligned = np.stack([hypothesis[pair, i], with_null[pair, j], np.flatnonzero(block)])
        return cls(
            levels,
            relations,
            words,
            spellings,
            premise,
            premise_mask,
            hypothesis,
            hypothesis_mask,
            places,
            aligned,
        )
