"""The feature map of attributes: what sklearn-crfsuite takes, and what a function of one's own makes of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from margent import _core
from margent.errors import CorpusError
from margent.features.encoded import Encoded, keep_features
from margent.features.feature_map import FeatureMap, Mask, Stored, rare, restored_strings
from margent.storage import ModelFile

Self = TypeVar("Self", bound="AttributeMap")
SentenceFunction = Callable[[Any], Sequence[Any]]
"""From a sentence to the attributes of its tokens."""


class AttributeMap(FeatureMap):
    """Tokens as dicts or lists of attributes.

    A list of names gives each the value 1. In a dict, text makes the attribute `name:text` with value 1, a number or
    bool makes `name` with that value, a nested dict, list or set makes `name:inner`. With a `function`, sentences may
    be anything: it turns each into a list with the attributes of each token.
    """

    kind: ClassVar[str] = "attributes"
    takes = "attributes"

    def __init__(self, function: SentenceFunction | None = None) -> None:
        self._function = function
        self._needs: str | None = None
        self._strings = _core.StringTable()

    @property
    def function(self) -> SentenceFunction | None:
        return self._function

    def copy(self: Self) -> Self:
        copied = super().copy()
        copied._strings = self._strings.copy()
        return copied

    @property
    def needs_function(self) -> bool:  # type: ignore[override]
        return self._needs is not None

    def give_function(self, function: Any) -> None:
        if not self.needs_function:
            super().give_function(function)
        if not callable(function):
            raise TypeError(
                f"function should be the feature function that the model was trained with, got {function!r}"
            )
        self._function = function

    @property
    def n_unigrams(self) -> int:
        return len(self._strings)

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        known = len(self._strings)
        ids, values, ptr, starts = _core.encode_attributes(self._attributes(X), self._strings, grow)
        if grow:
            keep = rare(ids, known, len(self._strings), min_count)
            if keep is not None:
                self._strings = self._strings.filter(keep)
                ids, ptr, values = keep_features(ids, ptr, values, keep)
        return Encoded(starts, ids, ptr, values)

    def _attributes(self, X: Any) -> Any:
        if self._needs is not None and self.function is None:
            raise CorpusError(
                f"this model was trained with the feature function {self._needs}; code is not stored in model files, "
                "so give it again: margent.load(path, function=...)"
            )
        if self.function is None:
            return X
        result = []
        for number, sentence in enumerate(X):
            tokens = self.function(sentence)
            if isinstance(tokens, (str, dict)) or not isinstance(tokens, Iterable):
                raise CorpusError(
                    f"sentence {number}: the feature function should give a list with the attributes of each token, "
                    f"got {type(tokens).__name__}"
                )
            tokens = list(tokens)
            if hasattr(sentence, "__len__") and len(tokens) != len(sentence):
                raise CorpusError(
                    f"sentence {number}: the feature function gave {len(tokens)} tokens for {len(sentence)}"
                )
            result.append(tokens)
        return result

    def name(self, feature: int, *, edge: bool = False) -> str:
        return str(self._strings[feature])

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        header: dict[str, Any] = {}
        if self.function is not None:
            header["function"] = getattr(self.function, "__qualname__", repr(self.function))
        elif self._needs is not None:
            header["function"] = self._needs
        data, ends = (self._strings if keep is None else self._strings.filter(keep)).dump()
        return header, {"attributes": data, "attributes.ends": ends}

    @classmethod
    def restored(cls, file: ModelFile) -> AttributeMap:
        self = cls()
        if "function" in file.header:
            self._needs = file.value("function", str)
        self._strings = restored_strings(file, "attributes")
        return self


class VectorMap(FeatureMap):
    """Tokens as rows of numbers: dense arrays (T, D) or scipy sparse matrices, one per sequence, or a TokenMatrix."""

    kind: ClassVar[str] = "vectors"
    takes = "vectors"
    can_drop = False  # a vector has all its dimensions, whether they weigh anything or not

    def __init__(self) -> None:
        self.n_dimensions: int = 0

    @property
    def n_unigrams(self) -> int:
        return self.n_dimensions

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        from margent.features.token_matrix import TokenMatrix

        matrix = TokenMatrix.of(X, self.n_dimensions or None)
        if self.n_dimensions == 0:
            if matrix.n_dimensions == 0 and matrix.matrix.shape[0]:
                raise CorpusError(
                    f"found tokens of 0 feature(s) (shape={matrix.matrix.shape}) while a minimum of 1 is required."
                )
            self.n_dimensions = matrix.n_dimensions
        if matrix.n_dimensions != self.n_dimensions and len(matrix):
            raise CorpusError(
                f"X has {matrix.n_dimensions} features, but {type(self).__name__} is expecting {self.n_dimensions} "
                f"features as input: {matrix.n_dimensions} features a token, the model {self.n_dimensions}"
            )
        ids, values, ptr = matrix.rows()
        return Encoded(matrix.starts, ids, ptr, None if np.all(values == 1) else values)

    def name(self, feature: int, *, edge: bool = False) -> str:
        return f"x[{feature}]"

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        return {"n_dimensions": self.n_dimensions}, {}

    @classmethod
    def restored(cls, file: ModelFile) -> VectorMap:
        self = cls()
        self.n_dimensions = file.value("n_dimensions", int, minimum=0, maximum=2**31 - 1)
        return self
