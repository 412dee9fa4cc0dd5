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
from margent.models.parser.graph.explanation import feature_name
from margent.models.parser.graph.head_filter import filter_templates, fitting_bits, learned_filter, native_filter
from margent.models.parser.graph.templates import PRESETS, VOCABULARY, native_templates, of_order, part_kind, preset
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
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

MOST_BITS = 24
"""There are at most 2^24 weights; features with equal hashes share one."""


@dataclass(frozen=True)
class GraphWeights(ParserWeights):
    """The weights of features of arcs, of arcs with labels, and of pairs of arcs (core/arcs/tree_features.hpp).

    parts : what is seen of parts
    atoms : the names of the atoms of words
    weights : (2^bits + padding,) float32; the label l of an arc has the weight l places after that of its feature
    filter_weights : (2^filter_bits,) float32 of the filter of heads
    projective : whether arcs may not cross ("eisner"), or may ("mst")
    """

    kind: ClassVar[str] = "graph"
    exact: ClassVar[bool] = True

    parts: PartTemplates
    atoms: tuple[str, ...]
    weights: NDArray[np.float32]
    filter_weights: NDArray[np.float32]
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
        small = filter_templates(parts, atoms)
        filter_weights = (
            learned_filter(small, atoms, examples, data.tokens.n_tokens, given.seed)
            if start is None
            else start.filter_weights
        )
        bits = fitting_bits(data.tokens.n_tokens * len(parts), MOST_BITS) if start is None else start.bits
        first = cls(
            parts,
            atoms,
            np.zeros(_n_weights(bits, n_labels), np.float32),
            filter_weights,
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
            known = np.zeros(_n_weights(bits, n_labels))
            known[: len(start.weights)] = start.weights
            oracle.start_from(known)
        return ParserTrainable(oracle, lambda found: replace(first, weights=np.asarray(found, np.float32)))

    @property
    def longest(self) -> int:  # type: ignore[override]
        """About 1 GB for one sentence."""
        return 2_500 if self.projective else 5_000

    @property
    def bits(self) -> int:
        return (len(self.weights) - int(_core.padded_width(self.n_labels))).bit_length() - 1

    # Search

    def searched(self, setting: ParserSetting) -> GraphWeights:
        self.check(setting)
        if setting.search == "mst" and any(part_kind(terms) > 1 for terms in self.parts.templates):
            raise ValueError(
                "search='mst' has no pairs of arcs, which these weights are of; expected order=1 in training"
            )
        return replace(self, projective=setting.search == "eisner", single_root=bool(setting.single_root))

    @cached_property
    def _filter(self) -> _core.HeadFilter:
        return native_filter(filter_templates(self.parts, self.atoms), self.atoms, self.filter_weights)

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
        for number, head, modifier, third, value, weight in self._native.contributions(examples):
            terms = self.parts.templates[number]
            name = feature_name(terms, (head, modifier, third), value, atoms, tokens.atoms, names)
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
        header = {"templates": self.parts.lines, "projective": self.projective, "half": half}
        header["bits"], header["filter_bits"] = self.bits, len(self.filter_weights).bit_length() - 1
        arrays: dict[str, NDArray[Any]] = {}
        for name, weights in (("weights", self.weights), ("filter_weights", self.filter_weights)):
            used = weights != 0
            arrays[f"{name}.used"] = np.packbits(used)
            arrays[name] = stored_numbers(weights[used], half)
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, setting: ParserSetting, n_labels: int, atoms: TokenAtoms) -> GraphWeights:
        try:
            parts = PartTemplates.parse(file.texts("templates"), VOCABULARY, source="its templates")
            for terms in parts.templates:
                part_kind(terms)
        except CorpusError as error:
            raise file.error(str(error)) from None
        if not set(parts.token_atoms) <= set(atoms.names):
            raise file.error("its templates should ask for the atoms that it has")
        projective = file.value("projective", bool)
        if not projective and any(part_kind(terms) > 1 for terms in parts.templates):
            raise file.error("its templates should be of single arcs, as its trees need not be projective")
        half = file.value("half", bool)
        bits, filter_bits = (file.value(name, int, minimum=4, maximum=MOST_BITS) for name in ("bits", "filter_bits"))
        return cls(
            parts,
            atoms.names,
            _restored(file, "weights", _n_weights(bits, n_labels), half),
            _restored(file, "filter_weights", 1 << filter_bits, half),
            n_labels,
            projective,
            bool(setting.single_root),
        )


def _n_weights(bits: int, n_labels: int) -> int:
    return (1 << bits) + int(_core.padded_width(n_labels))


def _restored(file: ModelFile, name: str, n: int, half: bool) -> NDArray[np.float32]:
    bits = file.array(f"{name}.used", np.uint8, (-(-n // 8),))
    used = np.unpackbits(bits, count=n).astype(bool)
    weights = np.zeros(n, np.float32)
    weights[used] = restored_numbers(file, name, half, (int(used.sum()),))
    return weights
