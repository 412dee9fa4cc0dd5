"""What a parser of questions learned: weights of what is seen of states and actions, and the search by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.part_templates import PartTemplates
from margent.features.token_atoms import TokenAtoms
from margent.meaning import Expression
from margent.models.semantic_parser.fragments import Part, names_of
from margent.models.semantic_parser.grammar import Choices, MeaningGrammar, built
from margent.models.semantic_parser.lexicon import END
from margent.models.semantic_parser.templates import compiled


class Derivation(NamedTuple):
    """How a meaning was made: actions by number, and what each shift chose (-1: no shift)."""

    score: float
    actions: NDArray[np.uint8]
    choices: NDArray[np.int32]


@dataclass
class EncodedQuestions:
    """Questions as native code sees them."""

    grammar: MeaningGrammar
    choices: Choices
    atoms: NDArray[np.int32]
    sequence_ptr: NDArray[np.int64]
    _expressions: dict[int, Expression] = field(default_factory=dict)

    @classmethod
    def of(
        cls, questions: Sequence[Sequence[str]], grammar: MeaningGrammar, atoms: TokenAtoms, grow: bool = False
    ) -> EncodedQuestions:
        choices = Choices(grammar)
        for words in questions:
            choices.add(words)
        tokens = atoms.encode([[(word,) for word in (*words, END)] for words in questions], grow=grow)
        return cls(grammar, choices, tokens.atoms, tokens.sequence_ptr)

    def __len__(self) -> int:
        return len(self.sequence_ptr) - 1

    def native(self, prior: float, sample_weight: Any = None, *, logs: Any = None) -> _core.Questions:
        return self.choices.native(self.atoms, self.sequence_ptr, self.names, prior, sample_weight, logs=logs)

    def said(self, number: int) -> Expression:
        """What a choice puts on the stack."""
        number = self.choices.said[number]
        if number not in self._expressions:
            self._expressions[number] = self.grammar.filled(*self.choices.filled[number])
        return self._expressions[number]

    def meaning(self, derivation: Derivation) -> Expression:
        said = [None if choice < 0 else self.said(choice) for choice in derivation.choices.tolist()]
        return built(derivation.actions.tolist(), said)

    @cached_property
    def name_numbers(self) -> dict[str, int]:
        return {}

    @cached_property
    def names(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        rows = [
            [
                self.name_numbers.setdefault(name, len(self.name_numbers))
                for name in names_of(self.grammar.filled(*piece))
            ]
            for piece in self.choices.filled
        ]
        ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return ptr, np.array([name for row in rows for name in row], dtype=np.int32)

    def right(self, meanings: Sequence[Sequence[Part]]) -> _core.RightMeanings:
        """Meanings by their parts (`parts_of`), made by the pieces that the questions have among their choices."""
        _ = self.names
        pieces: dict[str, list[int]] = {}
        for number, piece in enumerate(self.choices.filled):
            pieces.setdefault(str(self.grammar.filled(*piece)), []).append(number)
        part_ptr, member_ptr, way_ptr, arg_ptr, name_ptr = [0], [0], [0], [0], [0]
        connectives: list[int] = []
        members: list[int] = []
        used: list[int] = []
        arguments: list[int] = []
        names: list[int] = []
        for parts in meanings:
            for part in parts:
                connectives.append(("", "and", "or").index(part.connective.partition(":")[0]))
                members.extend(part.members)
                member_ptr.append(len(members))
                for way in part.ways:
                    for number in pieces.get(str(way.fragment), ()):
                        used.append(number)
                        arguments.extend(way.arguments)
                        arg_ptr.append(len(arguments))
                way_ptr.append(len(used))
            part_ptr.append(len(connectives))
            names.extend(
                self.name_numbers.setdefault(name, len(self.name_numbers)) for name in names_of(parts[-1].meaning)
            )
            name_ptr.append(len(names))
        long, short = np.int64, np.int32
        return _core.RightMeanings(
            np.array(part_ptr, long),
            np.array(connectives, np.uint8),
            np.array(member_ptr, long),
            np.array(members, short),
            np.array(way_ptr, long),
            np.array(used, short),
            np.array(arg_ptr, long),
            np.array(arguments, short),
            np.array(name_ptr, long),
            np.array(names, short),
        )


@dataclass(frozen=True, eq=False)
class MeaningWeights:
    """Weights of features in a native table; `prior`: what the logarithm of the strength of a choice counts."""

    templates: PartTemplates
    atoms: TokenAtoms
    table: _core.FeatureRows
    prior: float
    most_expressions: int

    @cached_property
    def native_templates(self) -> _core.QuestionTemplates:
        return compiled(self.templates, self.atoms.names)

    def understood(
        self, encoded: EncodedQuestions, beam: int, k: int, threads: int, types: _core.TypeTables | None = None
    ) -> list[list[Derivation]]:
        """Of each question up to k derivations of different expressions, best first. `types`: those of the grammar,
        perhaps with fewer that a question may mean something of."""
        counts, scores, ptr, actions, choices = _core.understand(
            encoded.native(self.prior),
            encoded.grammar.native_types if types is None else types,
            self.native_templates,
            self.table,
            beam,
            self.most_expressions,
            k,
            threads,
        )
        found: list[list[Derivation]] = []
        at = 0
        for n in counts.tolist():
            found.append([])
            for _ in range(n):
                begin, end = int(ptr[at]), int(ptr[at + 1])
                found[-1].append(Derivation(float(scores[at]), actions[begin:end], choices[begin:end]))
                at += 1
        return found
