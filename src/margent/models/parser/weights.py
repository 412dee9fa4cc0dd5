"""What a parser learns: scores of dependency trees, of one kind or another.

A kind of weights knows how it is learned, searched, explained and stored; the parser does the rest the same way for all
of them: data, labels, tags, metrics, calibration, files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import CapabilityError
from margent.features.feature_map import Stored
from margent.features.part_templates import PartTemplates
from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.models.parser.data import ParserData
from margent.models.parser.setting import ParserSetting
from margent.storage import ModelFile

RIVALS = 64
"""Among how many trees a rival is looked for."""

Heads = NDArray[np.int32]
Labels = NDArray[np.int32]
Self = TypeVar("Self", bound="ParserWeights")


@dataclass(frozen=True)
class ParserTraining:
    """What weights are learned from.

    data : the sentences with their right trees, their tokens with the numbers of `atoms`
    atoms : what is seen of tokens, as the templates ask for it; it has grown with the training data
    labels : the labels of arcs, in the order in which they first come; those of weights to continue from come first
    setting : how to search
    seed : for what is drawn at random
    """

    data: ParserData
    atoms: TokenAtoms
    labels: tuple[str, ...]
    setting: ParserSetting
    seed: int = 0


class ParserTrainable(NamedTuple):
    """An oracle for `margent.train`, and what makes `ParserWeights` of the weights that it gives."""

    oracle: Any
    weights: Callable[[Any], ParserWeights]


class Parses(NamedTuple):
    """The best tree of each of n sentences of T words together: scores (n,), heads and labels (T,)."""

    scores: NDArray[np.float64]
    heads: Heads
    labels: Labels


class ScoredParse(NamedTuple):
    """One tree of a sentence of n words: its score, heads and labels (n,)."""

    score: float
    heads: Heads
    labels: Labels


class ArcMarginals(NamedTuple):
    """Under exp(scale * score) over the sum of all trees.

    heads : by sentence of n words, (n, n + 1): row w - 1 is how probable each head of word w is, 0 being the root
    labels : (T, L) how probable each label of each word is, whatever its head
    arcs : (T,) how probable the head and the label together are that were asked about
    """

    heads: list[NDArray[np.float64]]
    labels: NDArray[np.float64]
    arcs: NDArray[np.float64]


class ParserWeights(ABC):
    """Scores of all trees with L labels. A frozen value; `tokens` of its methods have the atoms of its templates."""

    kind: ClassVar[str]
    """Its name in model files."""

    exact: ClassVar[bool]
    """Whether the search finds the best of all trees, so that there are sums over all of them."""

    # Before training: what the parameters mean for this kind

    @classmethod
    @abstractmethod
    def check(cls, setting: ParserSetting) -> None:
        """ValueError for parameters that this kind cannot do."""

    @classmethod
    @abstractmethod
    def default_learner(cls, setting: ParserSetting) -> Any:
        """The learner that `learner=None` stands for."""

    @classmethod
    @abstractmethod
    def structure(cls, setting: ParserSetting) -> str:
        """The structure that is learned, by its name in `margent.capability`."""

    @classmethod
    @abstractmethod
    def templates(cls, setting: ParserSetting) -> PartTemplates:
        """The templates of `setting`, which may be the name of a preset, or those that this kind has by itself.

        CorpusError for wrong ones, ValueError for a preset that there is none of.
        """

    @classmethod
    @abstractmethod
    def makes_crossing_arcs(cls, setting: ParserSetting) -> bool:
        """Whether trees that are not projective can be learned and found."""

    @classmethod
    @abstractmethod
    def trainable(cls: type[Self], given: ParserTraining, start: Self | None) -> ParserTrainable:
        """A training; `start`: the weights to continue from, perhaps of fewer labels and atoms."""

    # Search

    longest: int = 10_000
    """No sentence that is searched may have more words: memory is proportional to their number, or to its square."""

    @classmethod
    def most_words(cls, setting: ParserSetting) -> int:
        """`longest`, before there are weights."""
        return cls.longest

    @abstractmethod
    def searched(self: Self, setting: ParserSetting) -> Self:
        """The same weights, searched otherwise (another width of the beam); ValueError where that needs others."""

    @abstractmethod
    def best(self, tokens: EncodedTokens, threads: int) -> Parses:
        """The best tree of each sentence. Sentences are handed out to threads; any number gives the same bits."""

    @abstractmethod
    def k_best(self, tokens: EncodedTokens, k: int, threads: int) -> list[list[ScoredParse]]:
        """By sentence up to k different trees, best first."""

    def marginals(
        self, tokens: EncodedTokens, heads: Heads, labels: Labels, scale: float, threads: int
    ) -> ArcMarginals:
        """Probabilities of arcs, and of those with the given heads and labels (T,). Only where the search is exact."""
        raise CapabilityError(
            f"probabilities of arcs are sums over all trees, which a search of the kind {self.kind!r} does not have: "
            "search='eisner' or search='mst' have them"
        )

    # Explanation

    def rival(self, tokens: EncodedTokens, word: int, arc: tuple[int, int]) -> ScoredParse | None:
        """The best tree of one sentence in which a word, counted from 1, has another head or label than `arc`.

        Here: the first such one among the `RIVALS` best; None where they all have it. A kind that can search under
        constraints finds the best of all.
        """
        found = self.k_best(tokens, RIVALS, 1)[0]
        return next((one for one in found if (int(one.heads[word - 1]), int(one.labels[word - 1])) != arc), None)

    @abstractmethod
    def breakdown(
        self, atoms: TokenAtoms, names: Sequence[str], tokens: EncodedTokens, heads: Heads, labels: Labels
    ) -> tuple[float, dict[str, float]]:
        """The score of one tree of one sentence, and by the readable name of each feature how much it adds to that.

        Where a tree has several derivations, of the best of them; CapabilityError for a tree that cannot be made.
        """

    @abstractmethod
    def top_features(self, atoms: TokenAtoms, names: Sequence[str], label: int, n: int) -> list[tuple[str, float]]:
        """The n features with the highest weights for a label, then the n with the lowest, from high to low."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features have weights."""

    # Files

    @abstractmethod
    def stored(self, *, half: bool = False) -> Stored:
        """Header entries and arrays for a model file; `half`: numbers in 16 bits, and without features of weight 0."""

    @classmethod
    @abstractmethod
    def restored(cls: type[Self], file: ModelFile, setting: ParserSetting, n_labels: int, atoms: TokenAtoms) -> Self:
        """The weights that were stored, everything checked."""
