"""What the rest of the library may ask of a feature map."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.encoded import Encoded, FloatArray, IntArray
from margent.storage import ModelFile

Self = TypeVar("Self", bound="FeatureMap")

Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""What a feature map puts into a model file: header entries and arrays."""

Mask = NDArray[np.bool_]
KernelRows = Callable[[IntArray], FloatArray]
"""From numbers (b,) of features to their kernel values (b, n_unigrams) with all features."""


class FeatureMap(ABC):
    """Turns sequences into rows of feature ids, and ids back into readable names.

    A map starts empty, grows with `encode(X, grow=True)`, and otherwise leaves out what it has not seen in growing.
    Ids are never given twice: those of known features stay when it grows. The map of a fitted model does not grow any
    more: further training grows a `copy`.
    """

    kind: ClassVar[str]
    """Its name in model files."""

    takes: str = "tokens"
    """What it makes features of: "tokens" (text, in columns), "attributes" or "vectors"."""

    n_columns: int = 1
    """How many columns of text a token has."""

    n_dimensions: int | None = None
    """How many numbers a token has, where it is a row of numbers."""

    needs_function: bool = False
    """Whether it was trained with a function, which a model file cannot hold."""

    can_drop: bool = True
    """Whether features can be left out of a stored map."""

    drops_unused: bool = False
    """Whether features that have no weight after training are dropped."""

    label_transitions: bool = True
    """Whether the model should learn label transitions besides the features."""

    @property
    @abstractmethod
    def n_unigrams(self) -> int:
        """How many features are paired with one label."""

    @property
    def n_edges(self) -> int:
        """How many features are paired with two adjacent labels."""
        return 0

    @abstractmethod
    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        """The sequences as feature ids. With `grow`, new features that occur at least `min_count` times get ids.

        `threads`: how many may work at once; the ids do not depend on it.
        """

    def copy(self: Self) -> Self:
        """A map that knows the same and can grow by itself. Maps that hold native tables copy these too."""
        return copy.copy(self)

    @property
    def function(self) -> Any:
        """The code that it was given and a file cannot hold, or None."""
        return None

    @property
    def source(self) -> Any:
        """What `features` of a tagger says for this map, where that is code."""
        return self.function

    @property
    def kernel(self) -> KernelRows | None:
        """What features have in common with each other, where they are more than names that differ or not."""
        return None

    @property
    def cache_bytes(self) -> int:
        """Memory for rows of the kernel in training."""
        return 0

    def rows(self, encoded: Encoded, unigrams: Any) -> Any:
        """The weights (n, width) that the ids of `encoded` point to, given those of the map's own features."""
        return unigrams

    def contributions(self, encoded: Encoded, token: int) -> tuple[IntArray, FloatArray]:
        """The features, and how much of each, of which a token of `encoded` has the weights."""
        part = slice(int(encoded.ptr[token]), int(encoded.ptr[token + 1]))
        ids = encoded.ids[part]
        return ids, np.ones(len(ids), dtype=np.float32) if encoded.values is None else encoded.values[part]

    def kept(self, keep: Mask) -> FeatureMap:
        """The map of the features of a mask (n_unigrams,) alone, where `drops_unused`."""
        return self

    def give_function(self, function: Any) -> None:
        """Takes the code that it needs and a file cannot hold."""
        raise ValueError("this model was not trained with a feature function; leave out `function`")

    @abstractmethod
    def name(self, feature: int, *, edge: bool = False) -> str:
        """The readable name of a feature."""

    @abstractmethod
    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        """All that `restored` needs; given masks (n_unigrams,) and (n_edges,), for the features kept alone."""

    @classmethod
    @abstractmethod
    def restored(cls, file: ModelFile) -> FeatureMap:
        """The map that was stored."""


def restored_strings(file: ModelFile, name: str) -> _core.StringTable:
    """A table of distinct strings from a model file."""
    data, ends = file.packed_strings(name)
    try:
        return _core.StringTable.restore(data, ends)
    except ValueError as error:
        raise file.error(f"{name!r}: {error}") from None


def rare(ids: NDArray[np.int32], known: int, total: int, min_count: int) -> Mask | None:
    """Which of `total` features to keep: all below `known` and those with `min_count` occurrences. None: all."""
    if min_count <= 1 or known == total:
        return None
    keep = np.bincount(ids, minlength=total) >= min_count
    keep[:known] = True
    return None if keep.all() else keep
