"""The weights of a chain of hidden labels: several for each label that is seen, none of which the data name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.features.choice import feature_map_for
from margent.features.feature_map import FeatureMap, Mask
from margent.features.kernel import Kernel
from margent.learners.training import Training
from margent.models.contribution import Contribution
from margent.models.tagger.chain.weights import ChainWeights, chain_oracle
from margent.models.tagger.hidden.search import HiddenStructure
from margent.models.tagger.hidden.starts import best_of_starts, with_noise
from margent.models.tagger.hidden.sublabels import Sublabels
from margent.models.tagger.options import MOST_HIDDEN
from margent.models.tagger.search import Bools
from margent.models.tagger.weights import Comparison, Trainable, Weights
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.problem import TaggerProblem
    from margent.models.tagger.tagger import Tagger


@dataclass(frozen=True, eq=False)
class HiddenWeights(Weights):
    """Those of a chain of H hidden labels, and which of them belongs to which of the L labels that are seen."""

    kind: ClassVar[str] = "hidden"

    chain: ChainWeights
    labels: Sublabels
    hidden: int

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        return self.labels.n_labels

    @property
    def order(self) -> int:  # type: ignore[override]
        return self.chain.order

    # Learning

    @classmethod
    def check(cls, tagger: Tagger, learner: Any) -> None:
        if isinstance(tagger.resolved("features").source, Kernel):
            raise ValueError(f"hidden={tagger.hidden!r} is not for a kernel: give features that are not compared")

    @classmethod
    def feature_map(cls, source: Any, X: Any) -> FeatureMap:
        return feature_map_for(source, X)

    @classmethod
    def trainable(cls, problem: TaggerProblem, start: HiddenWeights | None) -> Trainable:
        return cls._begun(problem, start, np.random.default_rng([problem.seed, 0]))

    @classmethod
    def _begun(cls, problem: TaggerProblem, start: HiddenWeights | None, random: np.random.Generator) -> Trainable:
        """From `start`, labels that are new to it split from random weights; None: all of them."""
        data, n, order = problem.data, problem.n_hidden, problem.order
        known = Sublabels(np.empty(0, dtype=np.int32)) if start is None else start.labels
        groups = known.extended(len(problem.space.labels), n)
        examples = data.encoded.examples(
            groups.gold(data.ids), data.sample_weight, groups.allowed(data.allowed), hidden=groups.n_sublabels
        )
        costs, chain = groups.costs(problem.costs), None if start is None else start.chain
        oracle = chain_oracle(problem, examples, groups.n_hidden, costs, chain)
        with_noise(oracle, groups, known.n_labels, random)

        def weights(exported: Any) -> HiddenWeights:
            return cls(ChainWeights.from_oracle(groups.n_hidden, order, exported), groups, n)

        return Trainable(oracle, weights)

    @classmethod
    def learned(
        cls, problem: TaggerProblem, start: HiddenWeights | None, run: Callable[[Trainable], Training]
    ) -> tuple[Trainable, Training]:
        if start is not None:
            return super().learned(problem, start, run)
        restarts = problem.tagger.resolved("hidden").restarts
        return best_of_starts(lambda random: cls._begun(problem, None, random), run, int(restarts), problem.seed)

    def without_zero_rows(self) -> tuple[HiddenWeights, Mask, Mask]:
        chain, keep, keep_edges = self.chain.without_zero_rows()
        return replace(self, chain=chain), keep, keep_edges

    def structure(self, pairs: Bools | None, beam: int | None = None) -> HiddenStructure:
        return HiddenStructure(self.chain.structure(self.labels.pairs(pairs), beam), self.labels)

    # What was learned

    def margin_breakdown(self, feature_map: FeatureMap, compared: Comparison) -> tuple[float, list[Contribution]]:
        """Of the best hidden labelling of the one over that of the other."""
        structure = self.chain.structure(None)
        winner, rival = (
            structure.search(feature_map, compared.encoded, self.labels.only(labels), 1).best()[0]
            for labels in (compared.winner, compared.rival)
        )
        names = self.labels.names(compared.names)
        return self.chain.margin_breakdown(feature_map, compared._replace(names=names, winner=winner, rival=rival))

    def top_features(self, feature_map: FeatureMap, names: list[str], label: int, n: int) -> list[tuple[str, float]]:
        """Of all hidden labels of the label; a name ends with the hidden label that the weight is for."""
        hidden_names, first = self.labels.names(names), int(self.labels.first[label])
        found = [
            (f"{name} ({hidden_names[y]})" if self.labels.sizes[label] > 1 else name, weight)
            for y in range(first, first + int(self.labels.sizes[label]))
            for name, weight in self.chain.top_features(feature_map, hidden_names, y, n)
        ]
        found.sort(key=lambda item: -item[1])
        return found if len(found) <= 2 * n else found[:n] + found[-n:]

    def top_transitions(self, names: list[str], n: int) -> list[tuple[str, str, float]]:
        """Between hidden labels."""
        return self.chain.top_transitions(self.labels.names(names), n)

    # Storage

    def stored(self, *, half: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = self.chain.stored(half=half)
        return {**header, "hidden": self.hidden}, {**arrays, "hidden_labels": self.labels.sizes}

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int, feature_map: FeatureMap) -> HiddenWeights:
        hidden = file.value("hidden", int, minimum=2, maximum=MOST_HIDDEN)
        sizes = file.array("hidden_labels", np.int32, (n_labels,), minimum=1, maximum=hidden)
        labels = Sublabels(np.array(sizes))
        return cls(ChainWeights.restored(file, labels.n_hidden, feature_map), labels, hidden)
