"""Expressions as flat arrays, for native code: preorder, bound variables by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from margent.errors import MeaningError
from margent.meaning.expression import DEEPEST, INDIVIDUAL, Abstraction, Application, Constant, Expression, Variable
from margent.meaning.types import BaseType, parse_type

CONSTANT, BOUND, LAMBDA, APPLY, FREE = range(5)
"""What a row begins: a constant (its id), a bound variable (0 for that of the innermost lambda around it), a lambda
(its type; its body follows), an application (how many arguments; the function and they follow), a free variable (its
place)."""

_INTEGER = BaseType("i")


class SymbolTable:
    """Names and their ids, 0, 1, ... in the order in which they were added."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._ids: dict[str, int] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> int:
        """The id of a name, a new one if need be."""
        return self._ids.setdefault(name, len(self._ids))

    def id(self, name: str) -> int:
        """The id of a name; -1 of one that was never added."""
        return self._ids.get(name, -1)

    def name(self, id: int) -> str:
        """The name of an id."""
        return self.names[id]

    @property
    def names(self) -> list[str]:
        """All names, in the order of their ids."""
        return list(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def flatten(expression: Expression, symbols: SymbolTable, free: Sequence[str] = ()) -> npt.NDArray[np.int32]:
    """An array (size, 2) of what each part is and its number, the parts of a part after it.

    Names of constants get ids from `symbols`, new ones are added; the type of a lambda is 0 for e, 1 for i, or 2 and
    the id of its text. Names of bound variables are forgotten; free ones are those of `free`.
    """
    rows: list[tuple[int, int]] = []
    places = {name: place for place, name in enumerate(free)}

    def visit(part: Expression, depth: int, lambdas: Mapping[str, int]) -> None:
        if isinstance(part, Constant):
            rows.append((CONSTANT, symbols.add(part.name)))
        elif isinstance(part, Variable):
            if part.name in lambdas:
                rows.append((BOUND, depth - lambdas[part.name]))
            elif part.name in places:
                rows.append((FREE, places[part.name]))
            else:
                raise MeaningError(f"{part.name} is not bound in {expression}; expected a lambda for it")
        elif isinstance(part, Abstraction):
            known = {INDIVIDUAL: 0, _INTEGER: 1}.get(part.type)  # type: ignore[call-overload]
            rows.append((LAMBDA, 2 + symbols.add(str(part.type)) if known is None else known))
            visit(part.body, depth + 1, {**lambdas, part.variable: depth + 1})
        elif isinstance(part, Application):
            rows.append((APPLY, len(part.arguments)))
            for inner in (part.function, *part.arguments):
                visit(inner, depth, lambdas)

    visit(expression, 0, {})
    return np.array(rows, dtype=np.int32)


def unflatten(array: npt.ArrayLike, symbols: SymbolTable, free: Sequence[str] = ()) -> Expression:
    """The expression of an array that `flatten` made; its bound variables are $0, $1, ... from the outside."""
    rows = np.asarray(array)
    if rows.ndim != 2 or rows.shape[1] != 2 or not np.issubdtype(rows.dtype, np.integer):
        raise MeaningError(f"expected an array (n, 2) of integers for an expression, got {rows.dtype} {rows.shape}")
    return _Builder(rows.tolist(), symbols, free).whole()


class _Builder:
    def __init__(self, rows: list[list[int]], symbols: SymbolTable, free: Sequence[str]) -> None:
        self.rows = rows
        self.at = 0
        self.names = symbols.names
        self.free = free
        self.lambdas: list[str] = []

    def whole(self) -> Expression:
        result = self.build(0)
        if self.at < len(self.rows):
            raise MeaningError(f"expected the end of an expression after {self.at} rows, got {len(self.rows)} rows")
        return result

    def build(self, depth: int) -> Expression:
        if self.at == len(self.rows) or depth > DEEPEST:
            raise MeaningError(f"expected all rows of an expression of at most {DEEPEST} levels, got {self.at}")
        kind, value = self.rows[self.at]
        self.at += 1
        if kind == CONSTANT and 0 <= value < len(self.names):
            return Constant(self.names[value])
        if kind == FREE and 0 <= value < len(self.free):
            return Variable(self.free[value])
        if kind == BOUND and 0 <= value < len(self.lambdas):
            return Variable(self.lambdas[-1 - value])
        if kind == LAMBDA and 0 <= value < 2 + len(self.names):
            type_ = (INDIVIDUAL, _INTEGER)[value] if value < 2 else parse_type(self.names[value - 2])
            self.lambdas.append(self.unused())
            body = self.build(depth + 1)
            return Abstraction(self.lambdas.pop(), body, type_)
        if kind == APPLY and 1 <= value < len(self.rows):
            function = self.build(depth + 1)
            return Application(function, tuple(self.build(depth + 1) for _ in range(value)))
        raise MeaningError(f"expected a part of an expression in row {self.at - 1}, got {kind}, {value}")

    def unused(self) -> str:
        place = len(self.lambdas)
        while f"${place}" in self.free or f"${place}" in self.lambdas:
            place += 1
        return f"${place}"
