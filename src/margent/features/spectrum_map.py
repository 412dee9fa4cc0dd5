"""The feature map of substrings: how often each string of some letters is in a word."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from margent.errors import CorpusError
from margent.features.attribute_map import AttributeMap
from margent.features.encoded import Encoded
from margent.features.feature_map import Mask, Stored, restored_strings
from margent.formats.columns import Columns
from margent.storage import ModelFile

_BEGIN, _END = "\x02", "\x03"  # control characters, which words do not have


class SpectrumMap(AttributeMap):
    """The substrings of `length` letters of each column of a token, with how often they are there.

    Words are marked at both ends, so that `he` at the end of `the` and inside of `then` differ from length 2 on where
    the mark is part of them; a word shorter than `length` with its marks is one substring as a whole.
    """

    kind: ClassVar[str] = "substrings"
    takes = "tokens"

    def __init__(self, length: int = 2) -> None:
        super().__init__()
        self.length = length
        self.n_columns = 0

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        columns = Columns.from_sentences(X)
        if self.n_columns == 0 and columns.n_tokens:
            self.n_columns = columns.n_columns
        if columns.n_tokens and columns.n_columns != self.n_columns:
            raise CorpusError(
                f"the data has {columns.n_columns} input column{'s' if columns.n_columns != 1 else ''}, "
                f"but the kernel was trained on {self.n_columns}"
            )
        return super().encode(columns, grow=grow, min_count=min_count)

    def _attributes(self, X: Any) -> Any:
        counted: dict[Any, dict[str, float]] = {}
        result = []
        for sentence in X:
            tokens = []
            for token in sentence:
                if token not in counted:
                    counted[token] = self._counts((token,) if isinstance(token, str) else token)
                tokens.append(counted[token])
            result.append(tokens)
        return result

    def _counts(self, cells: tuple[str, ...]) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for column, cell in enumerate(cells):
            marked = f"{_BEGIN}{cell}{_END}"
            for start in range(max(len(marked) - self.length + 1, 1)):
                counts[f"{column}:{marked[start : start + self.length]}"] += 1
        return {name: float(count) for name, count in counts.items()}

    def name(self, feature: int, *, edge: bool = False) -> str:
        return super().name(feature).replace(_BEGIN, "^").replace(_END, "$")

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        header, arrays = super().stored(keep, keep_edges)
        return {**header, "length": self.length, "n_columns": self.n_columns}, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> SpectrumMap:
        self = cls(file.value("length", int, minimum=1, maximum=100))
        self.n_columns = file.value("n_columns", int, minimum=0, maximum=10_000)
        self._strings = restored_strings(file, "attributes")
        return self
