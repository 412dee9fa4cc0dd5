"""Which types are special cases of which: a hierarchy, subtypes of functions, what two types have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from margent.errors import MeaningError
from margent.meaning.types import BaseType, FunctionType, Type

TOP = "top"
"""The name of what every basic type is a kind of."""


class TypeHierarchy:
    """Basic types, each below one or more others; those that are below none are right below ``top``.

    Parameters
    ----------
    parents : mapping of str to str or list of str
        What each type is a special case of; nothing, "" or "top" for the topmost. Types named only as parents are
        topmost, too.

    Examples
    --------
    >>> from margent.meaning import parse_type
    >>> kinds = TypeHierarchy({"lo": "e", "st": "lo", "ct": "lo"})
    >>> kinds.is_subtype(parse_type("st"), parse_type("lo"))
    True
    >>> kinds.is_subtype(parse_type("lo -> t"), parse_type("st -> t"))
    True
    >>> str(kinds.meet(parse_type("st -> t"), parse_type("lo -> t"))), kinds.meet(parse_type("st"), parse_type("ct"))
    ('lo -> t', None)
    """

    def __init__(self, parents: Mapping[str, str | Iterable[str]]) -> None:
        self._parents: dict[str, tuple[str, ...]] = {TOP: ()}
        listed = {name: (given,) if isinstance(given, str) else tuple(given) for name, given in parents.items()}
        for name, above in listed.items():
            if name == TOP:
                raise MeaningError(f"expected nothing above the type {TOP}, got {', '.join(above)}")
            for other in above:
                if other and other != TOP and other not in listed:
                    self._parents.setdefault(other, (TOP,))
        for name, above in listed.items():
            self._parents[name] = tuple(dict.fromkeys(other or TOP for other in above)) or (TOP,)
        self._above: dict[str, frozenset[str]] = {}
        for name in self._parents:
            self._ancestors(name)
        below: dict[str, set[str]] = {name: set() for name in self._parents}
        for name, ancestors in self._above.items():
            for other in ancestors:
                below[other].add(name)
        self._below = {name: frozenset(found) for name, found in below.items()}

    def _ancestors(self, name: str) -> frozenset[str]:
        """The type itself and all above it; without recursion, so that a chain may be of any length."""
        path: list[str] = [name]
        open_: set[str] = {name}
        while path:
            current = path[-1]
            missing = [other for other in self._parents[current] if other not in self._above]
            if not missing or current in self._above:
                self._above.setdefault(
                    current, frozenset((current,)).union(*(self._above[other] for other in self._parents[current]))
                )
                open_.discard(path.pop())
            elif missing[0] in open_:
                raise MeaningError(f"the type {missing[0]} is below itself; expected a hierarchy without a circle")
            else:
                path.append(missing[0])
                open_.add(missing[0])
        return self._above[name]

    @property
    def names(self) -> tuple[str, ...]:
        """All basic types but ``top``, in the order given."""
        return tuple(name for name in self._parents if name != TOP)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The types right above each, ``top`` left out."""
        return {
            name: tuple(other for other in above if other != TOP)
            for name, above in self._parents.items()
            if name != TOP
        }

    def __contains__(self, name: object) -> bool:
        return name in self._parents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeHierarchy) and self._parents == other._parents

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._parents.items())))

    def __repr__(self) -> str:
        return f"TypeHierarchy({self.parents!r})"

    def check(self, type_: Type) -> None:
        """MeaningError if a basic type in it is not of this hierarchy."""
        for name in type_.names():
            if name not in self._parents:
                raise MeaningError(f"the type {type_} has {name!r}; expected one of {', '.join(self.names[:20])}")

    def above(self, name: str) -> frozenset[str]:
        """The type and all that it is a special case of."""
        return self._above[name] if name in self._above else frozenset((name,))

    def below(self, name: str) -> frozenset[str]:
        """The type and all special cases of it."""
        return self._below[name] if name in self._below else frozenset((name,))

    def is_subtype(self, first: Type, second: Type) -> bool:
        """Whether whatever is of the first type may stand where the second is expected.

        A <: B for basic types by the hierarchy; A -> B <: C -> D if C <: A and B <: D (the argument is contravariant);
        a type variable is a special case of itself and of top alone.
        """
        if isinstance(first, FunctionType) and isinstance(second, FunctionType):
            return self.is_subtype(second.argument, first.argument) and self.is_subtype(first.result, second.result)
        if isinstance(first, BaseType) and isinstance(second, BaseType):
            return second.name in self.above(first.name)
        return first == second or second == BaseType(TOP)

    def meet(self, first: Type, second: Type) -> Type | None:
        """The largest type that is a special case of both; None where there is none, or no single one."""
        return self._bound(first, second, True)

    def join(self, first: Type, second: Type) -> Type | None:
        """The smallest type that both are special cases of; None where there is none, or no single one."""
        return self._bound(first, second, False)

    def _bound(self, first: Type, second: Type, lower: bool) -> Type | None:
        if first == second:
            return first
        for one, other in ((first, second), (second, first)):
            if one == BaseType(TOP):
                return other if lower else one
        if isinstance(first, BaseType) and isinstance(second, BaseType):
            side = self.below if lower else self.above
            other_side = self.above if lower else self.below
            common = side(first.name) & side(second.name)
            best = [name for name in common if not (other_side(name) & common) - {name}]
            return BaseType(best[0]) if len(best) == 1 else None
        if isinstance(first, FunctionType) and isinstance(second, FunctionType):
            argument = self._bound(first.argument, second.argument, not lower)
            result = self._bound(first.result, second.result, lower)
            return FunctionType(argument, result) if argument is not None and result is not None else None
        return None if lower else BaseType(TOP)

    def simple(self, name: str) -> str:
        """The topmost type that a type is a special case of: with ``lo < e`` and ``st < lo``, e for st."""
        topmost = sorted(other for other in self.above(name) if self._parents.get(other) == (TOP,))
        if len(topmost) > 1:
            raise MeaningError(f"the type {name} is below {' and '.join(topmost)}; expected one topmost type above it")
        return topmost[0] if topmost else name
