"""Types of applications, found step by step as a parser makes them: variables are bound to what they meet first.

Zhao's thesis, Section 5.1.1: a function S -> T may be applied to an R with R <: S, where a type variable in S is bound
by unification. `type_inference` looks at whole expressions instead, and binds nothing early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from margent.errors import MeaningError
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.types import BaseType, FunctionType, Type, TypeVariable

TRUTH = BaseType("t")


def applied(function: Type, argument: Type, hierarchy: TypeHierarchy) -> Type | None:
    """What a function gives for an argument; None if it cannot be applied to it.

    >>> from margent.meaning import TypeHierarchy, parse_type
    >>> kinds = TypeHierarchy({"lo": "e", "st": "lo", "ct": "lo"})
    >>> argmax = parse_type("('a -> t) -> ('a -> i) -> 'a")
    >>> of_states = applied(argmax, parse_type("st -> t"), kinds)
    >>> str(of_states), str(applied(of_states, parse_type("lo -> i"), kinds))
    ('(st -> i) -> st', 'st')
    """
    if not isinstance(function, FunctionType):
        return None
    bindings: dict[str, Type] = {}
    if not _fits(_marked(argument), function.argument, bindings, hierarchy):
        return None
    return canonical(_substituted(function.result, bindings))


def combined(first: Type, second: Type, hierarchy: TypeHierarchy) -> Type | None:
    """The type of the set that `and` or `or` makes of two sets or relations; None if their members differ in type.

    >>> from margent.meaning import TypeHierarchy, parse_type
    >>> kinds = TypeHierarchy({"lo": "e", "st": "lo", "ct": "lo"})
    >>> str(combined(parse_type("st -> t"), parse_type("lo -> t"), kinds))
    'st -> t'
    >>> combined(parse_type("st -> t"), parse_type("ct -> t"), kinds) is None
    True
    """
    if not isinstance(first, FunctionType) or not isinstance(second, FunctionType):
        return TRUTH if first == second == TRUTH else None
    one, other = first.argument, _marked(second.argument)
    if isinstance(one, TypeVariable):
        argument = _within(one, other, hierarchy)
    elif isinstance(other, TypeVariable):
        argument = _within(other, one, hierarchy)
    else:
        argument = hierarchy.meet(one, other)
    result = combined(first.result, second.result, hierarchy)
    return None if argument is None or result is None else canonical(FunctionType(argument, result))


def is_first_order(type_: Type, most_arguments: int = 2) -> bool:
    """Whether it is a basic type, or a function of so many basic types at most to a basic type. Type variables count
    as basic types.

    >>> from margent.meaning import parse_type
    >>> [is_first_order(parse_type(text)) for text in ("st", "st -> ct -> t", "(st -> t) -> st")]
    [True, True, False]
    """
    return len(type_.arguments) <= most_arguments and not any(isinstance(of, FunctionType) for of in type_.arguments)


def matches(pattern: Type, type_: Type, hierarchy: TypeHierarchy) -> bool:
    """Whether something of the type may stand where the pattern is asked for, its variables bound as need be.

    >>> from margent.meaning import TypeHierarchy, parse_type
    >>> matches(parse_type("'b -> 'c"), parse_type("st -> ct"), TypeHierarchy({}))
    True
    """
    return _fits(_marked(type_), pattern, {}, hierarchy)


def canonical(type_: Type) -> Type:
    """The type with its variables named 'a, 'b, ... in the order in which they occur."""
    names = dict.fromkeys(type_.variables())
    if not names:
        return type_
    return _renamed(type_, {name: _letters(place) + _bound(name) for place, name in enumerate(names)})


def _bound(name: str) -> str:
    return name[name.index(":") :] if ":" in name else ""


def _stem(name: str) -> str:
    return name.partition(":")[0]


def _letters(place: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[place] if place < 26 else f"a{place}"


def _marked(type_: Type) -> Type:
    """The same type with variables of other names than any type has in a text."""
    return _renamed(type_, {name: f"'{name}" for name in type_.variables()})


def _renamed(type_: Type, names: Mapping[str, str]) -> Type:
    if isinstance(type_, TypeVariable):
        return TypeVariable(names[type_.name])
    if isinstance(type_, FunctionType) and names:
        return FunctionType(_renamed(type_.argument, names), _renamed(type_.result, names))
    return type_


def _substituted(type_: Type, bindings: Mapping[str, Type]) -> Type:
    """The type with what its variables are bound to, and the variables in that."""
    if isinstance(type_, TypeVariable):
        bound = bindings.get(type_.name)
        return type_ if bound is None or bound == type_ else _substituted(bound, _without(bindings, type_.name))
    if isinstance(type_, FunctionType) and bindings:
        return FunctionType(_substituted(type_.argument, bindings), _substituted(type_.result, bindings))
    return type_


def _without(bindings: Mapping[str, Type], name: str) -> dict[str, Type]:
    return {other: type_ for other, type_ in bindings.items() if other != name}


def _fits(first: Type, second: Type, bindings: dict[str, Type], hierarchy: TypeHierarchy, below: bool = False) -> bool:
    """Whether first <: second under the bindings and more of them, which are added.

    A variable is bound to what it meets, as far as its own bound allows; `below`: if it comes first, to any special
    case of that. So a set tells what its members are, and a function of them what they may be at most.
    """
    first, second = _resolved(first, bindings), _resolved(second, bindings)
    if first == second:
        return True
    for variable, other in ((second, first), (first, second)):
        if isinstance(variable, TypeVariable):
            if variable.name in set(_substituted(other, bindings).variables()):
                return False
            found = _within(variable, other, hierarchy)
            if found is None:
                return False
            if below and variable is first and isinstance(found, BaseType):
                found = TypeVariable(f"<{_stem(variable.name)}:{found.name}")
            bindings[variable.name] = found
            if isinstance(other, TypeVariable) and found is not other:
                bindings[other.name] = found
            return True
    if isinstance(first, FunctionType) and isinstance(second, FunctionType):
        return _fits(second.argument, first.argument, bindings, hierarchy, first.result != TRUTH) and _fits(
            first.result, second.result, bindings, hierarchy
        )
    return hierarchy.is_subtype(first, second)


def _within(variable: TypeVariable, other: Type, hierarchy: TypeHierarchy) -> Type | None:
    """What another type leaves of a variable with a bound."""
    bound = variable.bound
    if bound is None:
        return other
    if isinstance(other, BaseType):
        return hierarchy.meet(other, bound)
    if not isinstance(other, TypeVariable):
        return None
    if other.bound is None:
        return TypeVariable(f"<{variable.name}")
    common = hierarchy.meet(other.bound, bound)
    return (
        other if common == other.bound else None if common is None else TypeVariable(f"<{_stem(other.name)}:{common}")
    )


def _resolved(type_: Type, bindings: Mapping[str, Type]) -> Type:
    while isinstance(type_, TypeVariable) and type_.name in bindings:
        type_ = bindings[type_.name]
    return type_


class TypeTable:
    """Types by number, and what comes of applying and combining them, worked out once.

    Only what is of first order is an argument, and only sets of things are combined: pieces of meanings, which ask for
    more, would otherwise come to no end of types.

    >>> from margent.meaning import TypeHierarchy, parse_type
    >>> table = TypeTable(TypeHierarchy({"lo": "e", "st": "lo"}))
    >>> size, texas = table.intern(parse_type("lo -> i")), table.intern(parse_type("st"))
    >>> str(table.type(table.apply(size, texas))), table.apply(texas, size)
    ('i', -1)
    """

    def __init__(self, hierarchy: TypeHierarchy) -> None:
        self.hierarchy = hierarchy
        self._types: list[Type] = []
        self._ids: dict[Type, int] = {}
        self._applied: dict[tuple[int, int], int] = {}
        self._combined: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._types)

    def intern(self, type_: Type) -> int:
        """The number of a type; the same for types that differ in names of variables only."""
        type_ = canonical(type_)
        found = self._ids.get(type_)
        if found is None:
            found = self._ids[type_] = len(self._types)
            self._types.append(type_)
        return found

    def type(self, id: int) -> Type:
        """The type of a number."""
        return self._types[id]

    def apply(self, function: int, argument: int) -> int:
        """The number of what the function gives for the argument; -1 if it cannot be applied to it."""
        if not self._is_argument(argument):
            return -1
        return self._looked_up(self._applied, applied, function, argument)

    def combine(self, first: int, second: int) -> int:
        """The number of the type of `and` or `or` of two sets; -1 if there is none."""
        if not (self._is_set(first) and self._is_set(second)):
            return -1
        return self._looked_up(self._combined, combined, first, second)

    def _is_argument(self, id: int) -> bool:
        return is_first_order(self._types[id])

    def _is_set(self, id: int) -> bool:
        type_ = self._types[id]
        return is_first_order(type_, 1) and type_.final == TRUTH

    def _looked_up(
        self,
        known: dict[tuple[int, int], int],
        made: Callable[[Type, Type, TypeHierarchy], Type | None],
        first: int,
        second: int,
    ) -> int:
        found = known.get((first, second))
        if found is None:
            result = made(self._types[first], self._types[second], self.hierarchy)
            found = known[first, second] = -1 if result is None else self.intern(result)
        return found

    def closed(self, limit: int = 2000) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Tables (n, n) of `apply` and `combine` over all types that come of those interned so far.

        MeaningError if these are more than `limit`.
        """
        done = 0
        while done < len(self):
            if len(self) > limit:
                raise MeaningError(f"more than {limit} types come of those given; expected fewer")
            for other in range(done + 1):
                for pair in {(done, other), (other, done)}:
                    self.apply(*pair)
                    self.combine(*pair)
            done += 1
        n = len(self)
        tables = np.full((2, n, n), -1, dtype=np.int32)
        for table, known in zip(tables, (self._applied, self._combined)):
            for pair, result in known.items():
                table[pair] = result
        return tables[0], tables[1]
