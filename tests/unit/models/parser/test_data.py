"""Sentences with their trees as training sees them."""

from __future__ import annotations

import numpy as np

from margent.features.token_atoms import TokenAtoms
from margent.models.parser.data import ParserData


def data(weights: list[float] | None = None) -> ParserData:
    tokens = TokenAtoms(["word"]).encode([["a"], ["b", "c"], ["d", "e", "f"], []], grow=True)
    heads = np.array([0, -1, -1, 2, 0, 2], dtype=np.int32)
    labels = np.array([0, -1, -1, 1, 0, -1], dtype=np.int32)
    return ParserData(tokens, heads, labels, None if weights is None else np.array(weights, dtype=np.float32))


def test_sentences_without_a_head_or_weight_do_not_count() -> None:
    assert data().counting().tolist() == [0, 2]
    assert data([0, 1, 1, 1]).counting().tolist() == [2]
    assert data().known.tolist() == [True, False, False, True, True, True]


def test_a_part_keeps_what_belongs_together() -> None:
    part = data([1, 2, 3, 4]).part([2, 0])
    assert part.heads.tolist() == [2, 0, 2, 0] and part.labels.tolist() == [1, 0, -1, 0]
    assert part.tokens.atoms[:, 0].tolist() == [4, 5, 6, 1]
    assert part.counts.tolist() == [3, 1] and len(part) == 2
