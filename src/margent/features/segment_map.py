"""What the rest of the library may ask of a feature map of segments."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.feature_map import Mask, Stored
from margent.storage import ModelFile

Self = TypeVar("Self", bound="SegmentMap")
Encoded = TypeVar("Encoded", bound="EncodedSegments")
Ids = NDArray[np.int32]
Ptr = NDArray[np.int64]
Gold = Sequence["NDArray[np.int32] | None"]
"""For each sequence its right segments (J, 3): begin, end, label; None where times are not known."""


@dataclass(frozen=True)
class SegmentLimits:
    """The labels of a model, and how long segments of each last: shortest and longest (L,)."""

    labels: tuple[str, ...]
    shortest: NDArray[np.int32]
    longest: NDArray[np.int32]

    @property
    def most(self) -> int:
        """The longest duration of any label."""
        return int(self.longest.max())

    def within(self, length: int) -> SegmentLimits:
        """For sequences of so many positions, which no segment outlasts: what else there may be costs nothing then."""
        return SegmentLimits(self.labels, self.shortest, np.minimum(self.longest, max(length, 1)))


class EncodedSegments(ABC):
    """Sequences as a feature map has encoded them; `sequence_ptr` (n + 1,) says where each begins."""

    sequence_ptr: Ptr

    @property
    def lengths(self) -> Ptr:
        return np.diff(self.sequence_ptr)

    @property
    def longest_sequence(self) -> int:
        return int(self.lengths.max(initial=0))

    def __len__(self) -> int:
        return len(self.sequence_ptr) - 1

    @abstractmethod
    def part(self: Encoded, numbers: Ptr) -> Encoded:
        """The sequences of these numbers alone."""

    @abstractmethod
    def data(self, limits: SegmentLimits) -> _core.SegmentData:
        """As native code wants them."""


class SegmentMap(ABC):
    """Turns sequences into what a semi-Markov model sees of their segments."""

    kind: ClassVar[str]
    """Its name in model files."""

    @abstractmethod
    def encode(self, X: Any, limits: SegmentLimits, *, grow: bool = False, gold: Gold | None = None) -> EncodedSegments:
        """The sequences; with `grow`, what the map has to learn of them, and of their right segments, it learns."""

    @abstractmethod
    def duration_features(self, most: int, longest: int) -> NDArray[np.float64]:
        """(longest + 1, n): the features of durations up to `longest`, where the longest of all is `most`; row 0 is not
        used."""

    @abstractmethod
    def n_content(self, limits: SegmentLimits) -> int:
        """How many weights the content of segments has."""

    @abstractmethod
    def overlaid(
        self, content: NDArray[np.float32], known: NDArray[np.float32], limits: SegmentLimits, before: SegmentLimits
    ) -> NDArray[np.float32]:
        """Weights of content (n,) for the labels of `limits`, with those that are known, for fewer labels and features,
        put where they belong."""

    def copy(self: Self) -> Self:
        """A map that knows the same and can grow by itself."""
        return copy.copy(self)

    @property
    def n_dimensions(self) -> int | None:
        """How many values a frame has; None: the input is text."""
        return None

    @property
    def functions(self) -> tuple[Any, ...]:
        """The code that it was given and a file cannot hold."""
        return ()

    def weighted(self, content: NDArray[np.float32]) -> Mask | None:
        """Which features have a weight, where others can be left out of a stored map; None: all must stay."""
        return None

    @abstractmethod
    def stored(self, keep: Mask | None = None) -> Stored:
        """All that `restored` needs; `keep`: for these features alone."""

    @classmethod
    @abstractmethod
    def restored(cls, file: ModelFile) -> SegmentMap: ...


def gamma_features(longest: int) -> NDArray[np.float64]:
    """(longest + 1, 3): log d, d and 1, the statistics of the gamma distribution (paper 002, equation 6)."""
    d = np.maximum(np.arange(longest + 1.0), 1)
    return np.stack([np.log(d), d, np.ones_like(d)], axis=1)
