"""Simple types (e, i, t) of the names in meanings, by how they are used: unification over all meanings together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from margent.errors import MeaningError
from margent.meaning.built_in import BUILT_IN, CONNECTIVES, INTEGER, TRUTH, built_in_name, is_number
from margent.meaning.domain import Domain
from margent.meaning.expression import Abstraction, Application, Constant, Expression, Variable, split_name
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.types import BaseType, FunctionType, Type, TypeVariable, function_type

INDIVIDUAL = BaseType("e")


def simple_domain(meanings: Iterable[Expression]) -> Domain:
    """See `Domain.from_meanings`. A meaning that does not fit to those before it changes nothing of them."""
    meanings = list(meanings)
    uses = arities(meanings)
    unifier = _Unifier(uses)
    for meaning in meanings:
        unifier.take(meaning)
    unifier.guess_results()
    types: dict[str, list[Type]] = {}
    for name, numbers in uses.items():
        if is_number(name) or built_in_name(name) is not None:
            continue
        for n_arguments in sorted(numbers):
            types.setdefault(name, []).append(unifier.type_of(name, n_arguments))
    phrases: dict[tuple[str, ...], list[str]] = {}
    of_suffix: dict[str, set[Type]] = {}
    for name, given in types.items():
        if not isinstance(given[0], BaseType):
            continue
        base, suffix = split_name(name)
        of_suffix.setdefault(suffix, set()).add(given[0])
        words = tuple(base.replace("_", " ").lower().split())
        if words:
            phrases.setdefault(words, []).append(name)
    return Domain(
        TypeHierarchy({"e": "", "i": "", "t": ""}),
        {name: tuple(given) for name, given in types.items()},
        {words: tuple(names) for words, names in phrases.items()},
        suffixes={
            suffix: str(next(iter(found)))
            for suffix, found in of_suffix.items()
            if len(found) == 1 and suffix and suffix[0] != "<" and suffix not in ("e", "i", "t", "top")
        },
    )


def arities(meanings: Iterable[Expression]) -> dict[str, set[int]]:
    """With how many arguments each constant occurs; {0} for one that never has any."""
    found: dict[str, set[int]] = {}
    for meaning in meanings:
        for part in meaning.parts():
            if isinstance(part, Application) and isinstance(part.function, Constant):
                found.setdefault(part.function.name, set()).add(len(part.arguments))
            elif isinstance(part, Constant):
                found.setdefault(part.name, set())
    return {name: numbers or {0} for name, numbers in found.items()}


class _Unifier:
    """Types with variables, and what these are bound to. Everything is equal or not: there are no subtypes."""

    def __init__(self, uses: Mapping[str, set[int]]) -> None:
        self.uses = uses
        self.bound: dict[str, Type] = {}
        self.trail: list[str] = []
        self.names: dict[tuple[str, int], Type] = {}
        self.n_variables = 0
        self.asked: list[Type] = []  # what questions of the form (lambda $0 e BODY) ask of their body

    def fresh(self) -> TypeVariable:
        self.n_variables += 1
        return TypeVariable(str(self.n_variables))

    def named(self, name: str, n_arguments: int) -> Type:
        """The type of a constant that has so many arguments; without any it is that with the fewest."""
        numbers = self.uses[name]
        n_arguments = n_arguments if n_arguments in numbers else min(numbers)
        found = self.names.get((name, n_arguments))
        if found is None:
            found = function_type(*(self.fresh() for _ in range(n_arguments + 1)))
            self.names[name, n_arguments] = found
        return found

    def take(self, meaning: Expression) -> None:
        """Use a meaning; if it does not fit, undo what was made of it."""
        self.trail.clear()
        try:
            type_ = self.visit(meaning, {})
        except MeaningError:
            for name in self.trail:
                del self.bound[name]
            return
        if isinstance(meaning, Abstraction):
            self.asked.append(type_.final)

    def guess_results(self) -> None:
        """Where nothing says what a predicate gives: t or i if its name ends so, else t if a set is asked for by it."""
        for (name, n_arguments), type_ in self.names.items():
            hint = split_name(name)[1]
            if n_arguments and hint in ("t", "i"):
                self.unify_result(type_.final, BaseType(hint))
        things = {
            variable for type_ in self.names.values() for of in type_.arguments for variable in self.variables(of)
        }
        for result in self.asked:
            if things.isdisjoint(self.variables(result)):
                self.unify_result(result, TRUTH)

    def unify_result(self, result: Type, type_: Type) -> None:
        if isinstance(self.resolved(result), TypeVariable):
            self.unify(result, type_)

    def type_of(self, name: str, n_arguments: int) -> Type:
        return self.ground(self.named(name, n_arguments))

    def ground(self, type_: Type) -> Type:
        type_ = self.resolved(type_)
        if isinstance(type_, FunctionType):
            return FunctionType(self.ground(type_.argument), self.ground(type_.result))
        return INDIVIDUAL if isinstance(type_, TypeVariable) else type_

    def resolved(self, type_: Type) -> Type:
        while isinstance(type_, TypeVariable) and type_.name in self.bound:
            type_ = self.bound[type_.name]
        return type_

    def unify(self, first: Type, second: Type) -> None:
        first, second = self.resolved(first), self.resolved(second)
        if first == second:
            return
        if isinstance(second, TypeVariable) and not (
            isinstance(first, TypeVariable) and int(first.name) > int(second.name)
        ):
            first, second = second, first
        if isinstance(first, TypeVariable):  # the newer of two variables, so that what many share is found in few steps
            if first.name in self.variables(second):
                raise MeaningError("a type lies within itself")
            self.bound[first.name] = second
            self.trail.append(first.name)
        elif isinstance(first, FunctionType) and isinstance(second, FunctionType):
            self.unify(first.argument, second.argument)
            self.unify(first.result, second.result)
        else:
            raise MeaningError(f"{first} is not {second}")

    def variables(self, type_: Type) -> Iterator[str]:
        type_ = self.resolved(type_)
        if isinstance(type_, TypeVariable):
            yield type_.name
        elif isinstance(type_, FunctionType):
            yield from self.variables(type_.argument)
            yield from self.variables(type_.result)

    def instance(self, type_: Type, names: dict[str, Type]) -> Type:
        if isinstance(type_, TypeVariable):
            return names.setdefault(type_.name, self.fresh())
        if isinstance(type_, FunctionType):
            return FunctionType(self.instance(type_.argument, names), self.instance(type_.result, names))
        return type_

    def visit(self, expression: Expression, around: Mapping[str, Type], n_arguments: int = 0) -> Type:
        if isinstance(expression, Variable):
            return around[expression.name] if expression.name in around else self.fresh()
        if isinstance(expression, Constant):
            word = built_in_name(expression.name)
            if word in BUILT_IN:
                return self.instance(BUILT_IN[word], {})
            return INTEGER if is_number(expression.name) else self.named(expression.name, n_arguments)
        if isinstance(expression, Abstraction):
            of: Type = self.fresh()
            if expression.type != INDIVIDUAL and not isinstance(expression.type, BaseType):
                of = self.shape(expression.type)
            return FunctionType(of, self.visit(expression.body, {**around, expression.variable: of}))
        assert isinstance(expression, Application)
        function, arguments = expression.function, expression.arguments
        if isinstance(function, Constant) and built_in_name(function.name) in CONNECTIVES:
            common: Type = self.fresh()
            for argument in arguments:
                self.unify(self.visit(argument, around), common)
            last = self.resolved(common)
            while isinstance(last, FunctionType):
                last = self.resolved(last.result)
            self.unify(last, TRUTH)
            return common
        result = self.visit(function, around, len(arguments))
        for argument in arguments:
            of, after = self.fresh(), self.fresh()
            self.unify(result, FunctionType(of, after))
            self.unify(self.visit(argument, around), of)
            result = after
        return result

    def shape(self, type_: Type) -> Type:
        """The type that a lambda says its variable has, with any type for each e in it."""
        if isinstance(type_, FunctionType):
            return FunctionType(self.shape(type_.argument), self.shape(type_.result))
        return type_ if type_ in (TRUTH, INTEGER) else self.fresh()
