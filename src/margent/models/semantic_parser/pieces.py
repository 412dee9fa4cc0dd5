"""Pieces of meaning that words stand for: fragments with the names in them, and what features see of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from margent.meaning import Abstraction, Application, Constant, Expression
from margent.meaning.built_in import built_in_name
from margent.models.semantic_parser.fragments import names_of

SLOT = "?"
"""Stands for the constant that a phrase of the question names."""


@dataclass(frozen=True)
class Piece:
    """A fragment, perhaps with a slot for a constant.

    shape : the fragment with numbers for the names of the domain, so that fragments alike have the same
    names : these names, then the words of every domain (argmax, count, not, ...), without the slot
    """

    expression: Expression
    shape: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, expression: Expression) -> Piece:
        """
        >>> from margent.meaning import parse_meaning
        >>> piece = Piece.of(parse_meaning("(lambda $0 e (argmax $1 ($0 $1) (size:i $1)))"))
        >>> piece.shape, piece.names
        ('(lambda $0 e (argmax $1 ($0 $1) (?1 $1)))', ('size:i', 'argmax'))
        """
        names = list(dict.fromkeys(names_of(expression)))
        own = [name for name in names if built_in_name(name) is None and name != SLOT]
        shape = renamed(expression, {name: f"?{place}" for place, name in enumerate(own, start=1)})
        return cls(expression, str(shape), (*own, *(name for name in names if built_in_name(name) is not None)))

    @property
    def is_open(self) -> bool:
        return SLOT in self.expression.constants()

    @property
    def is_bare(self) -> bool:
        """Whether it is the constant in its slot, and nothing else."""
        return self.expression == Constant(SLOT)

    def filled(self, constant: str) -> Expression:
        """The expression with a constant in the slot."""
        return renamed(self.expression, {SLOT: constant})


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with other names of constants."""
    if isinstance(expression, Constant):
        return Constant(names[expression.name]) if expression.name in names else expression
    if isinstance(expression, Abstraction):
        return Abstraction(expression.variable, renamed(expression.body, names), expression.type)
    if isinstance(expression, Application):
        return Application(
            renamed(expression.function, names), tuple(renamed(argument, names) for argument in expression.arguments)
        )
    return expression
