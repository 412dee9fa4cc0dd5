"""Constraints that one type is a special case of another, over types with unknown parts, and their largest solution.

Functions are taken apart, S -> T <: S' -> T' if S' <: S and T <: T', until all constraints are between unknowns and
basic types. These have a largest solution: each unknown is the meet of all that lies above it (a fixed point, reached
by passing bounds down). There is a solution if and only if all meets exist and what lies below an unknown is below
them. Cost: constraints x depth of the hierarchy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from margent.errors import MeaningError
from margent.meaning.type_hierarchy import TOP, TypeHierarchy
from margent.meaning.types import BaseType, FunctionType, Type, TypeVariable

MOST_STEPS = 500_000
"""So many steps are taken before the types of an expression count as too hard to find."""
DEEPEST_UNKNOWN = 16
"""So many unknowns may lie within each other."""

_TOP = BaseType(TOP)


class TooHardError(MeaningError):
    """The types of an expression could not be found in the steps allowed."""


class Clash(Exception):
    """Two types that do not fit: what was there, what was expected, and the reason of each."""

    def __init__(self, got: Type, expected: Type, got_by: object, expected_by: object, both: bool = False) -> None:
        super().__init__(f"{got} is no {expected}")
        self.got, self.expected, self.got_by, self.expected_by, self.both = got, expected, got_by, expected_by, both


class _Constraint(NamedTuple):
    """`lower` <: `upper`, one of them an unknown at least, and the other a basic type or an unknown."""

    lower: Type
    upper: Type
    reason: object


class TypeConstraints:
    """Unknowns and what is asked of them. What is added after a `mark` can be taken back."""

    def __init__(self, hierarchy: TypeHierarchy) -> None:
        self.hierarchy = hierarchy
        self._bound: dict[str, FunctionType] = {}
        self._levels: list[int] = []
        self._constraints: list[_Constraint] = []
        self._of: dict[str, list[int]] = {}
        self._changes: list[tuple[str, str]] = []
        self._steps = 0

    def fresh(self, level: int = 0) -> TypeVariable:
        """A new unknown; `level`: in how many others it lies."""
        if level > DEEPEST_UNKNOWN:
            raise TooHardError("expected an expression that has a type; is a function applied to itself?")
        self._levels.append(level)
        return TypeVariable(str(len(self._levels) - 1))

    def mark(self) -> int:
        """A place to return to."""
        return len(self._changes)

    def undo(self, mark: int) -> None:
        """Take back all that was added since."""
        while len(self._changes) > mark:
            what, name = self._changes.pop()
            if what == "shape":
                del self._bound[name]
            elif what == "entry":
                self._of[name].pop()
            else:
                self._constraints.pop()

    def resolved(self, type_: Type) -> Type:
        """A function for an unknown that is known to be one; its argument and result may be unknowns."""
        return self._bound.get(type_.name, type_) if isinstance(type_, TypeVariable) else type_

    def add(self, lower: Type, upper: Type, reason: object) -> None:
        """Ask that lower <: upper. Raises Clash where that cannot be."""
        work = [_Constraint(lower, upper, reason)]
        while work:
            self._step()
            first, second, why = work.pop()
            first, second = self.resolved(first), self.resolved(second)
            if first == second or second == _TOP:
                continue
            functions = isinstance(first, FunctionType), isinstance(second, FunctionType)
            if all(functions):
                assert isinstance(first, FunctionType) and isinstance(second, FunctionType)
                work += [
                    _Constraint(second.argument, first.argument, why),
                    _Constraint(first.result, second.result, why),
                ]
            elif any(functions):
                other = second if functions[0] else first
                if not isinstance(other, TypeVariable):
                    raise Clash(first, second, why, why)
                work += [_Constraint(first, second, why), *self._shaped(other)]
            elif isinstance(first, BaseType) and isinstance(second, BaseType):
                if not self.hierarchy.is_subtype(first, second):
                    raise Clash(first, second, why, why)
            else:
                for end in (first, second):
                    if isinstance(end, TypeVariable):
                        self._of.setdefault(end.name, []).append(len(self._constraints))
                        self._changes.append(("entry", end.name))
                self._constraints.append(_Constraint(first, second, why))
                self._changes.append(("constraint", ""))

    def _shaped(self, unknown: TypeVariable) -> list[_Constraint]:
        """Make an unknown a function; what has to be asked anew by that."""
        level = self._levels[int(unknown.name)] + 1
        self._bound[unknown.name] = FunctionType(self.fresh(level), self.fresh(level))
        self._changes.append(("shape", unknown.name))
        return [self._constraints[place] for place in self._of.get(unknown.name, ())]

    def _step(self, n: int = 1) -> None:
        self._steps += n
        if self._steps > MOST_STEPS:
            raise TooHardError("the types of an expression are too hard to find; expected fewer overloaded names in it")

    def _atomic(self) -> Iterator[_Constraint]:
        """The constraints between unknowns that are no functions, and basic types."""
        self._step(len(self._constraints))
        for one in self._constraints:
            if not isinstance(self.resolved(one.lower), FunctionType) and not isinstance(
                self.resolved(one.upper), FunctionType
            ):
                yield one

    def largest(self) -> dict[str, tuple[BaseType, object]]:
        """The largest type of each unknown that has one, and the reason. Raises Clash if there is no solution."""
        bounds: dict[str, tuple[BaseType, object]] = {}
        below: dict[str, list[str]] = {}
        checks: list[tuple[BaseType, str, object]] = []
        work: list[tuple[str, BaseType, object]] = []
        for lower, upper, why in self._atomic():
            if isinstance(lower, TypeVariable):
                if isinstance(upper, TypeVariable):
                    below.setdefault(upper.name, []).append(lower.name)
                else:
                    assert isinstance(upper, BaseType)
                    work.append((lower.name, upper, why))
            else:
                assert isinstance(lower, BaseType) and isinstance(upper, TypeVariable)
                checks.append((lower, upper.name, why))
        work.reverse()
        while work:
            self._step()
            name, bound, why = work.pop()
            old = bounds.get(name)
            if old is not None:
                met = self.hierarchy.meet(old[0], bound)
                if met == old[0]:
                    continue
                if not isinstance(met, BaseType):
                    raise Clash(old[0], bound, old[1], why, both=True)
                bound = met
            bounds[name] = bound, why
            work += [(other, bound, why) for other in below.get(name, ())]
        for type_, name, why in checks:
            if name in bounds and not self.hierarchy.is_subtype(type_, bounds[name][0]):
                raise Clash(type_, bounds[name][0], why, bounds[name][1])
        return bounds

    def solution(self, type_: Type) -> Type:
        """A type with its unknowns worked out: what is asked for is as large, what is given as small as can be.

        What nothing is asked of stays a type variable.
        """
        bounds = {name: bound for name, (bound, _) in self.largest().items()}
        asked, given = self._leaves(type_, True, set(), set())
        smallest = self._smallest({name: bounds[name] for name in asked if name in bounds})
        for name, below in smallest.items():  # what has no bound from above is as small as what is below it
            if name not in bounds:
                bounds[name] = below
        bounds |= {name: smallest[name] for name in given - asked if name in smallest}
        for lower, upper, _ in reversed(list(self._atomic())):  # and what is below that, and free, as large as that
            if isinstance(lower, TypeVariable) and isinstance(upper, TypeVariable) and upper.name in bounds:
                bounds.setdefault(lower.name, bounds[upper.name])
        return self._ground(type_, bounds, self._one_name(bounds))

    def _leaves(self, type_: Type, positive: bool, asked: set[str], given: set[str]) -> tuple[set[str], set[str]]:
        """The unknowns of what a function asks for, and of what it gives."""
        type_ = self.resolved(type_)
        if isinstance(type_, FunctionType):
            self._leaves(type_.argument, not positive, asked, given)
            self._leaves(type_.result, positive, asked, given)
        elif isinstance(type_, TypeVariable):
            (given if positive else asked).add(type_.name)
        return asked, given

    def _smallest(self, given: dict[str, BaseType]) -> dict[str, BaseType]:
        """The smallest type of each unknown that something is below of, those of `given` as they are."""
        above: dict[str, list[str]] = {}
        work: list[tuple[str, BaseType]] = []
        for lower, upper, _ in self._atomic():
            if not isinstance(upper, TypeVariable):
                continue
            if isinstance(lower, TypeVariable):
                above.setdefault(lower.name, []).append(upper.name)
            elif isinstance(lower, BaseType):
                work.append((upper.name, lower))
        work += given.items()
        found: dict[str, BaseType] = {}
        while work:
            self._step()
            name, bound = work.pop()
            old = found.get(name)
            joined = bound if old is None else self.hierarchy.join(old, bound) or _TOP
            if joined == old or not isinstance(joined, BaseType):
                continue
            found[name] = joined
            work += [(other, joined) for other in above.get(name, ())]
        return found

    def _one_name(self, bounds: dict[str, BaseType]) -> dict[str, str]:
        """One name for all unknowns that depend on each other and that nothing is known of."""
        names: dict[str, str] = {}

        def root(name: str) -> str:
            while name in names:
                name = names[name]
            return name

        for lower, upper, _ in self._atomic():
            if isinstance(lower, TypeVariable) and isinstance(upper, TypeVariable):
                first, second = root(lower.name), root(upper.name)
                if first != second and not {first, second} & set(bounds):
                    names[first] = second
        return {name: root(name) for name in names}

    def _ground(self, type_: Type, bounds: dict[str, BaseType], names: dict[str, str]) -> Type:
        type_ = self.resolved(type_)
        if isinstance(type_, FunctionType):
            return FunctionType(self._ground(type_.argument, bounds, names), self._ground(type_.result, bounds, names))
        if isinstance(type_, TypeVariable):
            return bounds.get(type_.name) or TypeVariable(names.get(type_.name, type_.name))
        return type_
