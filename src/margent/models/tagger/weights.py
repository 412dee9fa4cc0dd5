"""What a tagger learns: scores of labellings, of one kind or another.

A kind of weights knows how it is learned, searched, explained and stored; the tagger does the rest the same way for
all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap, Mask, Stored
from margent.learners.training import Training
from margent.models.contribution import Contribution
from margent.models.tagger.search import Ids, Structure
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.problem import TaggerProblem
    from margent.models.tagger.tagger import Tagger

Self = TypeVar("Self", bound="Weights")

LONGEST_ORDER = 16
"""No chain looks back further."""


class Trainable(NamedTuple):
    """An oracle for `margent.train`, and what makes `Weights` of the weights that it gives."""

    oracle: Any
    weights: Callable[[Any], Weights]


class Comparison(NamedTuple):
    """Two labellings (T,) of a sentence, `winner` and `rival`, that differ at the token `position`.

    names : of the labels
    top : of many parts, so many of the largest are enough
    """

    names: list[str]
    encoded: Encoded
    position: int
    winner: Ids
    rival: Ids
    top: int


class Weights(ABC):
    """Scores of all labellings of L labels."""

    kind: ClassVar[str]
    """Its name in model files, and as the `structure` of a learner that is made for it."""

    n_labels: int
    order: int
    """The `order` of the tagger."""
    hidden: int = 1
    """The parameter `hidden` of the tagger."""

    @classmethod  # noqa: B027
    def check(cls, tagger: Tagger, learner: Any) -> None:
        """ValueError for parameters that this kind has no use for; the chain has one for all."""

    @classmethod
    @abstractmethod
    def feature_map(cls, source: Any, X: Any) -> FeatureMap:
        """A new, empty feature map for what a tagger was told to see, which is checked, and these data."""

    @classmethod
    @abstractmethod
    def trainable(cls: type[Self], problem: TaggerProblem, start: Self | None) -> Trainable:
        """A training; `start`: the weights to continue from, perhaps of fewer labels."""

    @classmethod
    def learned(
        cls: type[Self], problem: TaggerProblem, start: Self | None, run: Callable[[Trainable], Training]
    ) -> tuple[Trainable, Training]:
        """Trains as `trainable` says, once or more often; what was best comes back. `run` does one training."""
        trainable = cls.trainable(problem, start)
        return trainable, run(trainable)

    @abstractmethod
    def structure(self, pairs: NDArray[np.bool_] | None, beam: int | None = None) -> Structure:
        """Ready to be searched. `pairs`: (L + 1, L + 1) which label may follow which, the boundary last; None: any.

        `beam`: how many states the search keeps at each token; None: all.
        """

    @abstractmethod
    def without_zero_rows(self: Self) -> tuple[Self, Mask | None, Mask | None]:
        """Without features that have no weight, and which features and edge features were kept; None: all."""

    @abstractmethod
    def margin_breakdown(self, feature_map: FeatureMap, compared: Comparison) -> tuple[float, list[Contribution]]:
        """By how much the winner outscores the rival, and the parts that concern the token.

        `ConstraintError`: the rival has a label there that could not be chosen.
        """

    @abstractmethod
    def top_features(self, feature_map: FeatureMap, names: list[str], label: int, n: int) -> list[tuple[str, float]]:
        """The n features with the highest weights for a label, then the n with the lowest, from high to low."""

    @abstractmethod
    def top_transitions(self, names: list[str], n: int) -> list[tuple[str, str, float]]:
        """The n pairs of labels with the largest and the n with the smallest weights, from high to low."""

    @abstractmethod
    def stored(self, *, half: bool = False) -> Stored:
        """Header entries and arrays for a model file; `half`: numbers in 16 bits."""

    @classmethod
    @abstractmethod
    def restored(cls: type[Self], file: ModelFile, n_labels: int, feature_map: FeatureMap) -> Self:
        """The weights that were stored, everything checked."""
