"""Weights of the parts of dependency trees, under exact search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CapabilityError, CorpusError
from margent.features.feature_map import Stored
from margent.features.part_templates import PartTemplates
from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.learners import PassiveAggressive
from margent.models.parser.graph.arc_filter import ArcFilter
from margent.models.parser.graph.explanation import feature_name
from margent.models.parser.graph.hashed_weights import bits_of, fitting_bits, restored_hashed, stored_hashed
from margent.models.parser.graph.templates import (
    ARC,
    PRESETS,
    VOCABULARY,
    native_templates,
    of_order,
    part_kind,
    preset,
    restored_templates,
)
from margent.models.parser.setting import ParserSetting
from margent.models.parser.weights import (
    ArcMarginals,
    Heads,
    Labels,
    ParserTrainable,
    ParserTraining,
    ParserWeights,
    Parses,
    ScoredParse,
)
from margent.storage import ModelFile

MOST_BITS = 25
"""There are at most 2^25 weights; features with equal hashes share one."""


@dataclass(frozen=True)
class GraphWeights(ParserWeights):
    """The weights of features of arcs, of arcs with labels, and of pairs of arcs (core/arcs/tree_features.hpp).

    parts : what is seen of parts
    atoms : the names of the atoms of words
    weights : (2^bits,) float32
    filter : of the arcs that are searched
    projective : whether arcs may not cross ("eisner"), or may ("mst")
    """

    kind: ClassVar[str] = "graph"
    exact: ClassVar[bool] = True

    parts: PartTemplates
    atoms: tuple[str, ...]
    weights: NDArray[np.float32]
    filter: ArcFilter
    n_labels: int
    projective: bool
    single_root: bool

    # Parameters

    @classmethod
    def check(cls, setting: ParserSetting) -> None:
        if setting.search not in ("eisner", "mst"):
            raise ValueError(f"search is {setting.search!r}; expected 'eisner' or 'mst' for a search over arcs")
        if setting.order not in (1, 2):
            raise ValueError(f"order is {setting.order!r}; expected 1 (arcs) or 2 (pairs of arcs as well)")

    @classmethod
    def default_learner(cls, setting: ParserSetting) -> Any:
        return PassiveAggressive()

    @classmethod
    def structure(cls, setting: ParserSetting) -> str:
        return "dependency arcs"

    @classmethod
    def templates(cls, setting: ParserSetting) -> PartTemplates:
        wanted = setting.templates
        if isinstance(wanted, str) and wanted not in PRESETS:
            raise ValueError(f"there are no templates named {wanted!r} for arcs; expected {', '.join(PRESETS)}")
        given = preset(wanted or "arcs") if not isinstance(wanted, tuple) else PartTemplates.parse(wanted, VOCABULARY)
        chosen = of_order(given, setting.order if setting.search == "eisner" else 1)
        if not chosen.templates:
            raise CorpusError(
                "templates are of pairs of arcs alone; expected some of single arcs, such as 'h.upos m.upos'"
            )
        return chosen

    @classmethod
    def makes_crossing_arcs(cls, setting: ParserSetting) -> bool:
        return bool(setting.search == "mst")

    @classmethod
    def trainable(cls, given: ParserTraining, start: GraphWeights | None) -> ParserTrainable:
        data, setting = given.data, given.setting
        atoms, n_labels = given.atoms.names, len(given.labels)
        parts = cls.templates(setting) if start is None else start.parts
        examples = _core.TreeExamples(
            data.tokens.sequence_ptr, data.tokens.atoms, data.heads, data.labels, data.sample_weight, n_labels
        )
        kept = ArcFilter.learned(
            parts,
            atoms,
            examples,
            data.tokens.n_tokens,
            n_labels,
            given.seed,
            None if start is None else start.filter,
        )
        bits = fitting_bits(data.tokens.n_tokens * len(parts), MOST_BITS) if start is None else start.bits
        first = cls(
            parts,
            atoms,
            np.zeros(1 << bits, np.float32),
            kept,
            n_labels,
            setting.search == "eisner",
            bool(setting.single_root),
        )
        problem = _core.TreeProblem(
            native_templates(parts, atoms),
            examples,
            first._filter,
            first.projective,
            first.single_root,
            bits,
            float(setting.label_cost),
        )
        oracle = _core.TreeOracle(problem)
        if start is not None:
            oracle.start_from(start.weights.astype(np.float64))
        return ParserTrainable(oracle, lambda found: replace(first, weights=np.asarray(found, np.float32)))

    @property
    def longest(self) -> int:  # type: ignore[override]
        return _most_words(self.parts, self.projective)

    @classmethod
    def most_words(cls, setting: ParserSetting) -> int:
        return _most_words(cls.templates(setting), setting.search == "eisner")

    @property
    def bits(self) -> int:
        return bits_of(len(self.weights))

    # Search

    def searched(self, setting: ParserSetting) -> GraphWeights:
        self.check(setting)
        if setting.search == "mst" and any(part_kind(terms) != ARC for terms in self.parts.templates):
            raise ValueError(
                "search='mst' has no pairs of arcs, which these weights are of; expected order=1 in training"
            )
        return replace(self, projective=setting.search == "eisner", single_root=bool(setting.single_root))

    @cached_property
    def _filter(self) -> _core.ArcFilter:
        return self.filter.native(self.atoms)

    @cached_property
    def _native(self) -> _core.TreeModel:
        return _core.TreeModel(
            native_templates(self.parts, self.atoms),
            self.weights,
            self.bits,
            self.n_labels,
            self._filter,
            self.projective,
            self.single_root,
        )

    def best(self, tokens: EncodedTokens, threads: int) -> Parses:
        return Parses(*self._native.best(_core.TreeExamples(tokens.sequence_ptr, tokens.atoms), threads))

    def k_best(self, tokens: EncodedTokens, k: int, threads: int) -> list[list[ScoredParse]]:
        found = self._native.k_best(_core.TreeExamples(tokens.sequence_ptr, tokens.atoms), k, threads)
        return [[ScoredParse(*tree) for tree in trees] for trees in found]

    def marginals(
        self, tokens: EncodedTokens, heads: Heads, labels: Labels, scale: float, threads: int
    ) -> ArcMarginals:
        examples = _core.TreeExamples(tokens.sequence_ptr, tokens.atoms)
        of_heads, of_labels, arcs = self._native.marginals(examples, heads, labels, scale, threads)
        ends = np.cumsum([0, *(n * (n + 1) for n in tokens.lengths.tolist())])
        sentences = [of_heads[a:z].reshape(n, n + 1) for (a, z), n in zip(pairwise(ends), tokens.lengths.tolist())]
        return ArcMarginals(sentences, of_labels.reshape(-1, self.n_labels), arcs)

    # Explanation

    def breakdown(
        self, atoms: TokenAtoms, names: Sequence[str], tokens: EncodedTokens, heads: Heads, labels: Labels
    ) -> tuple[float, dict[str, float]]:
        examples = _core.TreeExamples(tokens.sequence_ptr, tokens.atoms, heads, labels, None, self.n_labels)
        found: dict[str, float] = {}
        score = 0.0
        for number, head, modifier, third, label, other, value, weight in self._native.contributions(examples):
            terms = self.parts.templates[number]
            name = feature_name(terms, (head, modifier, third, label, other), value, atoms, tokens.atoms, names)
            found[name] = found.get(name, 0.0) + weight
            score += weight
        return score, found

    def top_features(self, atoms: TokenAtoms, names: Sequence[str], label: int, n: int) -> list[tuple[str, float]]:
        raise CapabilityError(
            "the weights of a search over arcs are found by hashes of their features, of which there is no list: "
            "explain a sentence, which names the features that decide it"
        )

    @property
    def n_features(self) -> int:
        return int(np.count_nonzero(self.weights))

    # Files

    def stored(self, *, half: bool = False) -> Stored:
        header = {"templates": self.parts.lines, "projective": self.projective, "half": half, "bits": self.bits}
        of_filter, arrays = self.filter.stored(half)
        return header | of_filter, arrays | stored_hashed("weights", self.weights, half)

    @classmethod
    def restored(cls, file: ModelFile, setting: ParserSetting, n_labels: int, atoms: TokenAtoms) -> GraphWeights:
        parts = restored_templates(file, "templates", atoms.names)
        projective = file.value("projective", bool)
        if not projective and any(part_kind(terms) != ARC for terms in parts.templates):
            raise file.error("its templates should be of single arcs, as its trees need not be projective")
        half = file.value("half", bool)
        bits = file.value("bits", int, minimum=4, maximum=MOST_BITS)
        return cls(
            parts,
            atoms.names,
            restored_hashed(file, "weights", 1 << bits, half),
            ArcFilter.restored(file, n_labels, atoms.names, half),
            n_labels,
            projective,
            bool(setting.single_root),
        )


def _most_words(parts: PartTemplates, projective: bool) -> int:
    """About 1 GB for one sentence; with pairs of arcs where the filter leaves each word as many arcs as it may."""
    if not projective:
        return 5_000
    return 2_500 if all(part_kind(terms) == ARC for terms in parts.templates) else 1_000
