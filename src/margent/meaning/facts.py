"""Databases that can answer meanings: what they must offer, and one of plain facts."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Protocol, TypeAlias

from margent.errors import MeaningError
from margent.meaning.built_in import is_number
from margent.meaning.expression import split_name

Value: TypeAlias = "str | int | float"
"""What facts are about: things by their names, and numbers."""

Row: TypeAlias = tuple[Value, ...]

IndexKey: TypeAlias = tuple[str, int, bool, tuple[int, ...]]
Index: TypeAlias = dict[Row, list[Row]]
"""Rows by what stands in some of their columns; of a relation or function by name, number of arguments, and columns."""

MOST_FACTS = 5_000_000
MOST_COLUMNS = 20


class Database(Protocol):
    """What can be asked for the rows of its predicates. Rows are asked for once and indexed by who asks."""

    def relation(self, name: str, n_arguments: int) -> Collection[Row] | None:
        """The rows for which a predicate holds, one value for each argument; None if there is no such predicate."""

    def function(self, name: str, n_arguments: int) -> Collection[Row] | None:
        """Rows of arguments and, last, the value that a predicate gives for them; None if there is no such one."""

    def things(self) -> Collection[Value]:
        """All things and numbers, for questions that nothing else narrows down."""


class Facts:
    """A database in memory.

    Parameters
    ----------
    relations : mapping of str to rows
        Of a predicate, the arguments for which it holds: ``{"in": [("austin", "texas")]}``.
    functions : mapping of str to rows
        Of a predicate, arguments and the value for them: ``{"population": [("austin", 345496)]}``.

    Facts do not change; `indexes` over them are kept from one question to the next.

    Names may be given as meanings write them; those of numbers (``5``, ``1200:ti``) are the numbers.

    Examples
    --------
    >>> facts = Facts({"in": [("austin", "texas"), ("dallas", "texas")]}, {"population": [("austin", 345496)]})
    >>> sorted(facts.relation("in", 2)), facts.function("population", 1), facts.relation("in", 3)
    ([('austin', 'texas'), ('dallas', 'texas')], frozenset({('austin', 345496)}), None)
    """

    def __init__(
        self,
        relations: Mapping[str, Iterable[Iterable[Value]]],
        functions: Mapping[str, Iterable[Iterable[Value]]] | None = None,
    ) -> None:
        self._relations = _tables(relations, 0)
        self._functions = _tables(functions or {}, 1)
        if sum(len(rows) for tables in (self._relations, self._functions) for rows in tables.values()) > MOST_FACTS:
            raise MeaningError(f"expected at most {MOST_FACTS} facts, got more")
        self.indexes: dict[IndexKey, Index] = {}

    @property
    def relations(self) -> Mapping[tuple[str, int], frozenset[Row]]:
        """Rows by the name of a predicate and how many arguments it takes."""
        return MappingProxyType(self._relations)

    @property
    def functions(self) -> Mapping[tuple[str, int], frozenset[Row]]:
        """Rows, the value last, by the name of a predicate and how many arguments it takes."""
        return MappingProxyType(self._functions)

    def relation(self, name: str, n_arguments: int) -> frozenset[Row] | None:
        return self._relations.get((name, n_arguments))

    def function(self, name: str, n_arguments: int) -> frozenset[Row] | None:
        return self._functions.get((name, n_arguments))

    def things(self) -> frozenset[Value]:
        tables = (*self._relations.values(), *self._functions.values())
        return frozenset(value for rows in tables for row in rows for value in row)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Facts):
            return NotImplemented
        return (self._relations, self._functions) == (other._relations, other._functions)

    def __hash__(self) -> int:
        return hash((frozenset(self._relations), frozenset(self._functions)))

    def __repr__(self) -> str:
        n = sum(len(rows) for tables in (self._relations, self._functions) for rows in tables.values())
        return f"Facts({n} facts of {len(self._relations)} relations and {len(self._functions)} functions)"


def _tables(tables: Mapping[str, Iterable[Iterable[Value]]], n_values: int) -> dict[tuple[str, int], frozenset[Row]]:
    """Rows by name and number of arguments."""
    found: dict[tuple[str, int], set[Row]] = {}
    for name, rows in tables.items():
        for given in rows:
            row = tuple(value_of(value) for value in given) if not isinstance(given, str) else ()
            if not n_values < len(row) <= MOST_COLUMNS:
                wanted = "arguments and a value" if n_values else "arguments"
                raise MeaningError(f"{name!r}: expected rows of up to {MOST_COLUMNS} {wanted}, got {given!r}")
            found.setdefault((name, len(row) - n_values), set()).add(row)
    return {key: frozenset(rows) for key, rows in found.items()}


def value_of(value: Value) -> Value:
    """The number that a name is, with or without its type; any other name, or a number, as it is.

    >>> value_of("1200:ti"), value_of("2.5"), value_of("texas:s"), value_of(7)
    (1200, 2.5, 'texas:s', 7)
    """
    if isinstance(value, str):
        base = split_name(value)[0]
        if is_number(base) and len(base) < 400:
            return float(base) if "." in base else int(base)
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise MeaningError(f"expected names and numbers in facts, got {value!r}")
    return value


def in_order(values: Iterable[Value]) -> list[Value]:
    """Numbers first, by size, then names."""
    return sorted(values, key=_order)


def rows_in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows by their first columns, each in order."""
    return sorted(rows, key=lambda row: [_order(value) for value in row])


def _order(value: Value) -> tuple[bool, Value]:
    return isinstance(value, str), value


_PLAIN = re.compile(r'[^\s"#=][^\s"]*\Z')


def written(value: Value) -> str:
    """A value as text: numbers by their digits, names in quotation marks where they need them."""
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    if not isinstance(value, str):
        return str(value)
    return value if _PLAIN.match(value) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
