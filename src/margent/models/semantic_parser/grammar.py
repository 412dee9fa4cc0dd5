"""Which pieces of meaning there are, of which types, and what comes of putting two expressions together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import MeaningError
from margent.meaning import (
    Abstraction,
    Application,
    Constant,
    Domain,
    Expression,
    Type,
    TypeTable,
    Variable,
    is_first_order,
    normal_form,
    parse_type,
)
from margent.models.semantic_parser.lexicon import END, Lexicon
from margent.models.semantic_parser.piece_types import piece_type
from margent.models.semantic_parser.pieces import SLOT

ACTIONS = ("skip", "shift", "forward", "backward", "both", "either", "finish")
"""By number, as native code has them (core/meaning/meaning_nodes.hpp)."""


MOST_ARGUMENTS, FEW_ARGUMENTS = 6, 2
"""A piece has at most so many arguments: at first, and where types are too many."""


@dataclass(frozen=True, eq=False)
class MeaningGrammar:
    """A lexicon with the types of its pieces, and two tables of what applications and unions of types give.

    types : all types that can come up
    piece_types : by piece, and by the type of the constant in its slot if it has one, the number of its type
    apply, combine : (n, n) int32; -1: there is nothing
    """

    lexicon: Lexicon
    types: tuple[Type, ...]
    piece_types: dict[tuple[int, str], int]
    apply: NDArray[np.int32]
    combine: NDArray[np.int32]

    @classmethod
    def of(cls, lexicon: Lexicon, known: Sequence[Type] = ()) -> MeaningGrammar:
        """Pieces without a type in the domain are left out, and where more types come of all pieces than tables can
        hold, those of many arguments. `known`: types that keep their numbers."""
        for most in range(MOST_ARGUMENTS, FEW_ARGUMENTS, -1):
            try:
                return cls._of(lexicon, known, most)
            except MeaningError:
                continue
        return cls._of(lexicon, known, FEW_ARGUMENTS)

    @classmethod
    def _of(cls, lexicon: Lexicon, known: Sequence[Type], most_arguments: int) -> MeaningGrammar:
        domain = lexicon.domain
        table = TypeTable(domain.hierarchy)
        for type_ in known:
            table.intern(type_)
        found: dict[tuple[int, str], int] = {}
        constants = {str(type_): type_ for type_ in (parse_type(text) for text in lexicon.slots)}
        domains = {name: replace(domain, types={**domain.types, SLOT: (type_,)}) for name, type_ in constants.items()}
        for number, piece in enumerate(lexicon.pieces):
            for name in domains if piece.is_open else ("",):
                if name and all(number != other for other, _ in lexicon.slots[name]):
                    continue
                try:
                    type_ = piece_type(piece.expression, domains[name] if name else domain)
                except MeaningError:
                    continue
                if len(type_.arguments) <= most_arguments:
                    found[number, name] = table.intern(type_)
        apply, combine = table.closed()
        return cls(lexicon, tuple(table.type(id_) for id_ in range(len(table))), found, apply, combine)

    @property
    def domain(self) -> Domain:
        return self.lexicon.domain

    @cached_property
    def native_types(self) -> _core.TypeTables:
        return _core.TypeTables(
            self.apply, self.combine, np.array([self.is_answer(type_) for type_ in self.types], dtype=np.uint8)
        )

    @staticmethod
    def is_answer(type_: Type) -> bool:
        """Whether a question may mean something of a type: a value, a set, a relation."""
        return is_first_order(type_)

    @cached_property
    def shapes(self) -> dict[str, int]:
        """The numbers of the shapes of pieces, from 1."""
        return {shape: n for n, shape in enumerate(dict.fromkeys(p.shape for p in self.lexicon.pieces), start=1)}

    @cached_property
    def names(self) -> dict[str, int]:
        """The numbers of the names in pieces, from 1."""
        return {name: n for n, name in enumerate(dict.fromkeys(n for p in self.lexicon.pieces for n in p.names), 1)}

    @cached_property
    def piece_atoms(self) -> list[tuple[int, int, int, int]]:
        """By piece, what features see of it: itself, its shape, its first two names."""
        found = []
        for number, piece in enumerate(self.lexicon.pieces, start=1):
            first, second, *_ = (*(self.names[name] for name in piece.names), 0, 0)
            found.append((number, self.shapes[piece.shape], first, second))
        return found

    def filled(self, piece: int, constant: str | None) -> Expression:
        found = self.lexicon.pieces[piece]
        return found.expression if constant is None else found.filled(constant)


@dataclass
class Choices:
    """What the words of some questions may mean, as arrays for native code, and as what each choice says.

    said : by choice, the number of a piece with its constant among `filled`
    skips : by word, how probable it is that it says nothing
    """

    grammar: MeaningGrammar
    ptr: list[int] = field(default_factory=lambda: [0])
    lengths: list[int] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    evidence: list[int] = field(default_factory=list)
    strengths: list[float] = field(default_factory=list)
    skips: list[float] = field(default_factory=list)
    filled: list[tuple[int, str | None]] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    numbers: dict[tuple[int, str | None, str], int] = field(default_factory=dict)

    def add(self, words: Sequence[str]) -> None:
        """The choices of one more question, and of the mark of its end."""
        by_word: list[list[tuple[int, int, int, float]]] = [[] for _ in range(len(words) + 1)]
        for choice in self.grammar.lexicon.choices(words):
            number = self.number(choice.piece, choice.constant, choice.type)
            if number >= 0:
                by_word[choice.start].append((choice.length, number, choice.evidence, choice.strength))
        self.skips.extend(self.grammar.lexicon.skipped(word) for word in (*words, END))
        for found in by_word:
            for length, number, evidence, strength in found:
                self.lengths.append(length)
                self.said.append(number)
                self.evidence.append(evidence)
                self.strengths.append(strength)
            self.ptr.append(len(self.lengths))

    def number(self, piece: int, constant: str | None, type_: str) -> int:
        """The number of a piece with a constant of a type; -1: it has no type."""
        key = piece, constant, type_
        if key not in self.numbers:
            of = self.grammar.piece_types.get((piece, type_), -1)
            self.numbers[key] = -1 if of < 0 else len(self.filled)
            if of >= 0:
                self.filled.append((piece, constant))
                self.types.append(of)
        return self.numbers[key]

    def native(
        self, atoms: Any, sequence_ptr: Any, names: PieceNames, prior: float, weights: Any = None, *, logs: Any = None
    ) -> _core.Questions:
        """`logs`: logarithms of strengths of choices, and of skips, other than their own."""
        strengths, skips = (np.log(np.array(each, np.float64)) for each in (self.strengths, self.skips))
        strengths, skips = (strengths, skips) if logs is None else logs
        piece_atoms = [(*self.grammar.piece_atoms[piece], constant_number(constant)) for piece, constant in self.filled]
        return _core.Questions(
            atoms,
            sequence_ptr,
            np.array(self.ptr, np.int64),
            np.array(self.lengths, np.int32),
            np.array(self.said, np.int32),
            np.array(self.evidence, np.int32),
            (prior * strengths).astype(np.float32),
            (prior * skips).astype(np.float32),
            np.array(self.types, np.int32),
            np.array(piece_atoms, np.int32).reshape(-1, 5),
            *names,
            weights,
        )


def constant_number(constant: str | None) -> int:
    """What features know a constant by: the same number in all processes, for names that no training has seen, too."""
    return 0 if constant is None else crc32(constant.encode()) >> 1 | 1


PieceNames = tuple[NDArray[np.int64], NDArray[np.int32]]
"""The names of each piece: offsets, and numbers of names."""


def built(actions: Sequence[int], said: Sequence[Expression | None]) -> Expression:
    """The meaning that a derivation makes; `said`: what each shift puts on the stack."""
    stack: list[Expression] = []
    for action, piece in zip(actions, said):
        name = ACTIONS[action]
        if name == "shift":
            assert piece is not None
            stack.append(piece)
        elif name in ("forward", "backward"):
            top = stack.pop()
            function, argument = (stack[-1], top) if name == "forward" else (top, stack[-1])
            stack[-1] = Application(function, (argument,))
        elif name in ("both", "either"):
            top = stack.pop()
            stack[-1] = union("and" if name == "both" else "or", stack[-1], top)
    return normal_form(stack[0])


def union(connective: str, first: Expression, second: Expression) -> Expression:
    """What is in both sets, or in either."""
    taken = first.free_variables | second.free_variables
    name = next(f"$u{n}" for n in range(len(taken) + 1) if f"$u{n}" not in taken)
    members = tuple(Application(each, (Variable(name),)) for each in (first, second))
    return Abstraction(name, Application(Constant(connective), members))
