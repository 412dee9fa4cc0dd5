"""The weights of a transition-based parser: of features of a configuration, with each action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CapabilityError, CorpusError
from margent.features.feature_map import Stored
from margent.features.part_templates import PartTemplates, Term
from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.learners import Perceptron
from margent.models.parser.data import ParserData
from margent.models.parser.setting import SYSTEMS, ParserSetting
from margent.models.parser.transitions.actions import Actions, native_system
from margent.models.parser.transitions.templates import compiled, parsed_templates, term_order
from margent.models.parser.weights import (
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

_LARGEST_BEAM = 2**31 - 1
_BEAM_OF_EXPLANATIONS = 64
_BEAM_OF_RIVALS = 512


@dataclass(frozen=True)
class TransitionWeights(ParserWeights):
    """Weights of (feature, action) pairs in a native table, of which there are as many as training has moved.

    A feature is a template with the values of its atoms, known by a hash of 64 bits. What an action scores in a
    configuration is the sum of its weights with the features of that; what a tree scores, the sum over the actions of
    the best path to it that the beam has found.
    """

    setting: ParserSetting
    atom_names: tuple[str, ...]
    actions: Actions
    table: _core.FeatureRows

    kind: ClassVar[str] = "transitions"
    exact: ClassVar[bool] = False

    @classmethod
    def check(cls, setting: ParserSetting) -> None:
        if setting.beam is None:
            raise ValueError(f"a transition system is searched with a beam, got search={setting.search!r}")
        if setting.system not in SYSTEMS:
            raise ValueError(f"system must be one of {', '.join(SYSTEMS)}, got {setting.system!r}")
        if not setting.single_root:
            raise ValueError("transition systems hang exactly one word on the root; expected single_root=True")
        if setting.exploration and setting.system not in EXPLORING:
            raise ValueError(
                f"exploration needs a dynamic oracle, which {' and '.join(EXPLORING)} have, got {setting.system!r}"
            )
        if setting.exploration and setting.beam.width != 1:
            raise ValueError(f"exploration is for greedy training, Beam(1), got a beam of {setting.beam.width}")

    @classmethod
    def default_learner(cls, setting: ParserSetting) -> Any:
        return Perceptron(epochs=15)

    @classmethod
    def structure(cls, setting: ParserSetting) -> str:
        return "decisions of a parser" if setting.exploration else "transitions of a parser"

    @classmethod
    def templates(cls, setting: ParserSetting) -> PartTemplates:
        return parsed_templates(setting.templates, setting.system)

    @classmethod
    def makes_crossing_arcs(cls, setting: ParserSetting) -> bool:
        return setting.system == "swap"

    @classmethod
    def trainable(cls, given: ParserTraining, start: TransitionWeights | None) -> ParserTrainable:
        setting, data = given.setting, given.data
        assert setting.beam is not None
        if setting.system == "swap" and not data.known.all():
            raise CorpusError(
                "system='swap' learns from whole trees, and some heads are not known; choose arc-eager or arc-hybrid"
            )
        actions = Actions.seen_in(data, setting.system, None if start is None else start.actions)
        templates = compiled(cls.templates(setting), given.atoms.names)
        treebank = _treebank(data.tokens, data)
        system = native_system(setting.system)
        common = system, treebank, templates, actions.native
        oracle: _core.ParserOracle
        if setting.exploration:
            probability = float(setting.exploration)
            oracle = _core.DecisionOracle.exploring(*common, probability, given.seed, float(setting.label_cost))
        else:
            update = getattr(_core.BeamUpdate, setting.beam.update.replace("-", "_"))
            width = min(int(setting.beam.width), _LARGEST_BEAM)
            oracle = _core.ParserOracle.searching(*common, width, update, float(setting.label_cost), True)
        if start is not None:
            oracle.start_from(start.table, list(range(len(start.actions))))

        def weights(arrays: Any) -> TransitionWeights:
            return cls(setting, given.atoms.names, actions, _core.FeatureRows(len(actions), **arrays))

        return ParserTrainable(oracle, weights)

    @cached_property
    def part_templates(self) -> PartTemplates:
        return self.templates(self.setting)

    @cached_property
    def _compiled(self) -> _core.ParserTemplates:
        return compiled(self.part_templates, self.atom_names)

    @property
    def _common(self) -> tuple[_core.ParserTemplates, _core.ParserActions, _core.FeatureRows]:
        return self._compiled, self.actions.native, self.table

    def rival(self, tokens: EncodedTokens, word: int, arc: tuple[int, int]) -> ScoredParse | None:
        """Looked for with a wider beam than that of predictions, in which other trees survive."""
        assert self.setting.beam is not None
        beam = replace(self.setting.beam, width=max(_BEAM_OF_RIVALS, int(self.setting.beam.width)))
        wide = replace(self, setting=replace(self.setting, search=beam, exploration=0.0))
        found = wide.k_best(tokens, _BEAM_OF_RIVALS, 1)[0]
        return next((one for one in found if (int(one.heads[word - 1]), int(one.labels[word - 1])) != arc), None)

    def searched(self, setting: ParserSetting) -> TransitionWeights:
        self.check(setting)
        if setting.system != self.setting.system:
            raise ValueError(
                f"these weights are of the system {self.setting.system!r}, and {setting.system!r} needs others"
            )
        return replace(self, setting=replace(setting, templates=self.setting.templates))

    def best(self, tokens: EncodedTokens, threads: int) -> Parses:
        _, scores, heads, labels = self._parse(tokens, 1, threads)
        return Parses(scores, heads, labels)

    def k_best(self, tokens: EncodedTokens, k: int, threads: int) -> list[list[ScoredParse]]:
        counts, scores, heads, labels = self._parse(tokens, k, threads)
        found: list[list[ScoredParse]] = []
        tree = word = 0
        for n_trees, length in zip(counts.tolist(), tokens.lengths.tolist()):
            found.append([])
            for _ in range(n_trees):
                end = word + length
                found[-1].append(ScoredParse(float(scores[tree]), heads[word:end], labels[word:end]))
                tree, word = tree + 1, end
        return found

    def _parse(self, tokens: EncodedTokens, k: int, threads: int) -> tuple[NDArray[Any], ...]:
        assert self.setting.beam is not None
        system, width = native_system(self.setting.system), min(int(self.setting.beam.width), _LARGEST_BEAM)
        return _core.parse(system, _treebank(tokens), *self._common, width, k, threads)

    def breakdown(
        self, atoms: TokenAtoms, names: Sequence[str], tokens: EncodedTokens, heads: Heads, labels: Labels
    ) -> tuple[float, dict[str, float]]:
        assert self.setting.beam is not None
        treebank = _treebank(tokens, ParserData(tokens, heads, labels))
        width = max(_BEAM_OF_EXPLANATIONS, int(self.setting.beam.width))
        explained = _core.explain_tree(native_system(self.setting.system), treebank, *self._common, width)
        if explained is None:
            raise CapabilityError(
                f"the tree with the heads {heads.tolist()} cannot be made by the system {self.setting.system!r} with "
                "the labels that it knows"
            )
        score, found = explained
        parts: dict[str, float] = {}
        for _, action, template, weight, values in found:
            terms = self.part_templates.templates[template]
            seen = " ".join(self._shown(term, value, atoms, names) for term, value in zip(terms, values))
            name = f"{seen} -> {self.actions.name(action, tuple(names))}"
            parts[name] = parts.get(name, 0.0) + weight
        return score, parts

    def _shown(self, term: Term, value: int, atoms: TokenAtoms, names: Sequence[str]) -> str:
        """A term with its value, as native code numbers it (core/parsing/parser_templates.hpp)."""
        if term.atom in self.atom_names:
            seen = "ROOT" if value == 1 else atoms.name(self.atom_names.index(term.atom), value - 1)
        elif term.atom.endswith("labels"):  # a set of bits
            seen = f"{{{','.join(name for i, name in enumerate(names) if value - 1 >> i % 64 & 1)}}}"
        else:
            seen = names[value - 1] if term.atom == "label" else str(value - 1)
        return f"{term}={seen}"

    def top_features(self, atoms: TokenAtoms, names: Sequence[str], label: int, n: int) -> list[tuple[str, float]]:
        """Of the features of templates with one atom of a token: others are known by hashes alone."""
        order = term_order(self.part_templates)
        chosen = np.flatnonzero(self.actions.labels == label)
        found: list[tuple[str, float]] = []
        for number, template in enumerate(self.part_templates.templates):
            if len(template) != 1 or template[0].atom not in self.atom_names:
                continue
            term, values = template[0], [0] * len(order)
            atom = self.atom_names.index(term.atom)
            for value in range(1, int(atoms.n_values[atom]) + 1):
                values[order.index(term)] = value
                row = self.table.row(self._compiled.key(number, values))
                for action in chosen[row[chosen] != 0].tolist():
                    name = f"{self._shown(term, value, atoms, names)} -> "
                    found.append((name + self.actions.name(action, tuple(names)), float(row[action])))
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return found if len(found) <= 2 * n else [*found[:n], *found[-n:]]

    @property
    def n_features(self) -> int:
        return len(self.table)

    def stored(self, *, half: bool = False) -> Stored:
        arrays = self.table.arrays()
        header = {"half": half, "system": self.setting.system}
        return header, {
            "actions.transitions": self.actions.transitions,
            "actions.labels": self.actions.labels,
            "rows.keys": arrays["keys"],
            "rows.ptr": arrays["row_ptr"],
            "rows.columns": arrays["columns"].astype(np.uint16),
            "rows.weights": stored_numbers(arrays["weights"], half),
        }

    @classmethod
    def restored(cls, file: ModelFile, setting: ParserSetting, n_labels: int, atoms: TokenAtoms) -> TransitionWeights:
        file.value("system", str, choices=(setting.system,))
        transitions = file.array("actions.transitions", np.int32, (None,), minimum=0, maximum=5)
        labels = file.array("actions.labels", np.int32, transitions.shape, minimum=-1, maximum=n_labels - 1)
        keys = file.array("rows.keys", np.uint64, (None,), minimum=1)
        columns = file.array("rows.columns", np.uint16, (None,), maximum=len(transitions) - 1).astype(np.int32)
        weights = restored_numbers(file, "rows.weights", file.value("half", bool), columns.shape)
        ptr = file.row_starts("rows.ptr", len(columns), len(keys))
        try:
            table = _core.FeatureRows(len(transitions), keys, ptr, columns, weights)
            self = cls(setting, atoms.names, Actions(transitions, labels), table)
            self._parse(EncodedTokens(np.zeros((0, len(atoms.names)), np.int32), np.zeros(1, np.int64)), 1, 1)
        except ValueError as error:
            raise file.error(f"its weights or actions are not those of a parser: {error}") from None
        return self


EXPLORING = ("arc-hybrid", "arc-eager")
"""The systems that have dynamic oracles."""


def _treebank(tokens: EncodedTokens, data: ParserData | None = None) -> _core.Treebank:
    if data is None:
        return _core.Treebank(tokens.atoms, tokens.sequence_ptr)
    weights = None if data.sample_weight is None else data.sample_weight.astype(np.float64)
    return _core.Treebank(tokens.atoms, tokens.sequence_ptr, data.heads, data.labels, weights)
