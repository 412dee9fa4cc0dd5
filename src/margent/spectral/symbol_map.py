"""The feature map of symbols: tokens as they are."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.encoded import Encoded, keep_features, sequence_ptr
from margent.features.feature_map import FeatureMap, Mask, Stored, rare, restored_strings
from margent.formats.columns import Columns
from margent.storage import ModelFile

UNKNOWN = -1
"""The number of every symbol that the map has not seen in growing."""


class SymbolMap(FeatureMap):
    """Each different token is one feature, and nothing else is seen of it.

    For sequences of symbols: letters, signs, words. A sentence may also be a str, whose symbols are its letters.
    """

    kind: ClassVar[str] = "symbols"

    def __init__(self) -> None:
        self._strings = _core.StringTable()

    def copy(self) -> SymbolMap:
        copied = super().copy()
        copied._strings = self._strings.copy()
        return copied

    @property
    def n_unigrams(self) -> int:
        return len(self._strings)

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        columns = Columns.from_sentences(X if isinstance(X, Columns) else [_symbols(sentence) for sentence in X])
        if columns.n_tokens and columns.n_columns != 1:
            raise CorpusError(
                f"symbols are in one column, and the data have {columns.n_columns}: choose one, as columns.select([0]) "
                "or on the command line --columns 0,N with N the number of the labels"
            )
        starts = sequence_ptr(columns.lengths)
        if not columns.n_tokens:
            return Encoded(starts, np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
        known = len(self._strings)
        ids, _ = _core.encode_column(
            columns.table, columns.column_indices[0], columns.sentence_indices, self._strings, grow
        )
        ptr = np.arange(len(ids) + 1, dtype=np.int64)
        keep = rare(ids, known, len(self._strings), min_count) if grow else None
        if keep is not None:
            self._strings = self._strings.filter(keep)
        elif not grow:
            keep = np.arange(max(int(ids.max()) + 1, known)) < known
        if keep is not None:
            ids, ptr, _ = keep_features(ids, ptr, None, keep)
        return Encoded(starts, ids, ptr)

    def name(self, feature: int, *, edge: bool = False) -> str:
        return str(self._strings[feature])

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        strings = self._strings if keep is None else self._strings.filter(keep)
        data, ends = strings.dump()
        return {}, {"symbols": data, "symbols.ends": ends}

    @classmethod
    def restored(cls, file: ModelFile) -> SymbolMap:
        self = cls()
        self._strings = restored_strings(file, "symbols")
        return self


def symbol_numbers(encoded: Encoded) -> NDArray[np.int64]:
    """(n_tokens,): the number of each symbol, as a `SymbolMap` encodes them; `UNKNOWN` where it knows none."""
    numbers = np.full(encoded.n_tokens, UNKNOWN, dtype=np.int64)
    numbers[np.diff(encoded.ptr) > 0] = encoded.ids
    return numbers


def _symbols(sentence: Any) -> Any:
    return list(sentence) if isinstance(sentence, str) else sentence
