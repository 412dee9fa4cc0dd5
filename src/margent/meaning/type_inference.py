"""The type of a whole expression in a domain: subtypes, type variables, overloaded names.

What is found step by step is in `type_application`; here nothing is bound before all of the expression was seen, so
that a variable is of the largest type that all its uses allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from margent.errors import MeaningError
from margent.meaning.built_in import CONNECTIVES, TRUTH, built_in_name
from margent.meaning.domain import Domain
from margent.meaning.expression import Abstraction, Application, Constant, Expression, Variable
from margent.meaning.type_application import canonical
from margent.meaning.type_constraints import Clash, TooHardError, TypeConstraints
from margent.meaning.types import BaseType, FunctionType, Type, TypeVariable

MOST_AMBIGUOUS = 200
"""So many overloaded names of an expression may have several types that fit."""

_ANY = BaseType("e")
"""What notations write for an individual of any kind."""


def infer_type(expression: Expression, domain: Domain) -> Type:
    """The type of an expression, or a MeaningError that says what does not fit.

    - A function S -> T may be applied to whatever is of a special case of S.
    - A bound variable is of the largest type that all its uses allow; ``e`` after a lambda says nothing, any other type
      that it is that or a special case.
    - Type variables of a name are bound anew wherever it occurs. One that occurs as argument alone (``= : 'a -> 'a ->
      t``) asks for arguments that have something in common, and for the same type of variables.
    - Of the types of an overloaded name any that fit are taken: those with as many arguments as there are before those
      with more, the more general before the more special.
    - ``and`` and ``or`` join truth values, or sets and relations.

    Examples
    --------
    >>> from margent.meaning import Domain, TypeHierarchy, parse_meaning, parse_type
    >>> domain = Domain(
    ...     TypeHierarchy({"state": "place", "river": "place"}),
    ...     {
    ...         "state": [parse_type("state -> t")],
    ...         "in": [parse_type("place -> place -> t")],
    ...         "capital": [parse_type("state -> place")],
    ...         "ohio": [parse_type("river")],
    ...     },
    ... )
    >>> str(infer_type(parse_meaning("(lambda $0 e (and (state $0) (in $0 ohio)))"), domain))
    'state -> t'
    >>> str(infer_type(parse_meaning("(argmax $0 (in $0 ohio) (count $1 (in $1 $0)))"), domain))
    'place'
    >>> infer_type(parse_meaning("(capital ohio)"), domain)
    Traceback (most recent call last):
    margent.errors.MeaningError: in (capital ohio): capital expects state, got ohio, which is of type river
    """
    return _Inference(domain).whole(expression)


class _Use(NamedTuple):
    """Where a type is asked for: an argument of an application, or its result (place -1)."""

    application: Application
    place: int


class _Overloaded(NamedTuple):
    """An application of a name with several types, of which one has to be chosen."""

    application: Expression
    name: str
    types: Sequence[Type]
    arguments: Sequence[Type]
    result: Type


class _Inference:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.constraints = TypeConstraints(domain.hierarchy)
        self.free: dict[str, Type] = {}
        self.overloaded: list[_Overloaded] = []
        self.truths: list[tuple[Application, Type]] = []

    def whole(self, expression: Expression) -> Type:
        try:
            type_ = self.visit(expression, {})
            for application, joined in self.truths:
                self.end_in_truth(application, joined)
            self.choose()
            return canonical(self.constraints.solution(type_))
        except Clash as clash:
            raise MeaningError(_sentence(clash, expression)) from None

    def visit(self, expression: Expression, around: Mapping[str, Type]) -> Type:
        if isinstance(expression, Variable):
            if expression.name in around:
                return around[expression.name]
            return self.free.setdefault(expression.name, self.constraints.fresh())
        if isinstance(expression, Abstraction):
            of = self.annotated(expression.type)
            return FunctionType(of, self.visit(expression.body, {**around, expression.variable: of}))
        if isinstance(expression, Constant):
            return self.constant(expression)
        assert isinstance(expression, Application)
        function, arguments = expression.function, expression.arguments
        if isinstance(function, Constant) and built_in_name(function.name) in CONNECTIVES:
            return self.joined(expression, around)
        given = [self.visit(argument, around) for argument in arguments]
        if not isinstance(function, Constant):
            return self.applied(expression, self.visit(function, around), frozenset(), given)
        types = self.fitting(function.name, len(arguments), expression)
        if len(types) == 1:
            return self.applied(expression, *self.instance(types[0]), given)
        result = self.constraints.fresh()
        self.overloaded.append(_Overloaded(expression, function.name, types, given, result))
        return result

    def annotated(self, type_: Type) -> Type:
        """The type of a variable of which a lambda says this."""
        if isinstance(type_, FunctionType):
            return FunctionType(self.annotated(type_.argument), self.annotated(type_.result))
        if type_ == TRUTH or isinstance(type_, TypeVariable):
            return type_ if type_ == TRUTH else self.constraints.fresh()
        found = self.constraints.fresh()
        if type_ != _ANY:
            self.domain.hierarchy.check(type_)
            self.constraints.add(found, type_, None)
        return found

    def constant(self, constant: Constant) -> Type:
        types = self.fitting(constant.name, 0, constant)
        if len(types) == 1:
            return self.instance(types[0])[0]
        result = self.constraints.fresh()
        self.overloaded.append(_Overloaded(constant, constant.name, types, (), result))
        return result

    def fitting(self, name: str, n_arguments: int, where: Expression) -> list[Type]:
        """The types of a name that take so many arguments, the best first."""
        types = self.domain.types_of(name)
        if not types:
            if built_in_name(name) in CONNECTIVES:
                raise MeaningError(f"expected arguments after {name}, got none in {_short(where)}")
            raise MeaningError(f"in {_short(where)}: expected a name that the domain knows, got {name}")
        found = [
            type_
            for type_ in types
            if len(type_.arguments) >= n_arguments or isinstance(type_.final, TypeVariable) or n_arguments == 0
        ]
        if not found:
            most = max(len(type_.arguments) for type_ in types)
            raise MeaningError(f"in {_short(where)}: {name} takes {_counted(most)}, got {n_arguments}")
        hierarchy = self.domain.hierarchy

        def rank(type_: Type) -> tuple[int, int]:
            below = sum(hierarchy.is_subtype(type_, other) for other in found)
            return abs(len(type_.arguments) - n_arguments) if n_arguments else 0, -below

        return sorted(found, key=rank)

    def instance(self, type_: Type) -> tuple[Type, frozenset[Type]]:
        """The type with unknowns for its variables, and those unknowns that occur as argument alone."""
        names: dict[str, Type] = {}
        made = self.renewed(type_, names)
        alone = {of.name for of in type_.arguments if isinstance(of, TypeVariable)}
        others = [name for of in type_.arguments if not isinstance(of, TypeVariable) for name in of.variables()]
        alone -= {*others, *type_.final.variables()}
        return made, frozenset(names[name] for name in alone)

    def renewed(self, type_: Type, names: dict[str, Type]) -> Type:
        if isinstance(type_, TypeVariable):
            if type_.name not in names:
                names[type_.name] = self.constraints.fresh()
            return names[type_.name]
        if isinstance(type_, FunctionType):
            return FunctionType(self.renewed(type_.argument, names), self.renewed(type_.result, names))
        return type_

    def applied(self, application: Application, type_: Type, compared: frozenset[Type], given: Sequence[Type]) -> Type:
        """What comes of applying something of a type to arguments of the types given."""
        constraints = self.constraints
        for place, (argument, got) in enumerate(zip(application.arguments, given, strict=True)):
            use = _Use(application, place)
            type_ = constraints.resolved(type_)
            if isinstance(type_, BaseType):
                taker = _short(application.function)
                raise MeaningError(f"in {_short(application)}: {taker} takes {_counted(place)}, got {len(given)}")
            if isinstance(type_, TypeVariable):
                function = FunctionType(constraints.fresh(), constraints.fresh())
                constraints.add(type_, function, use)
                type_ = function
            assert isinstance(type_, FunctionType)
            if type_.argument in compared:
                constraints.add(type_.argument, got, use)
                if isinstance(argument, Variable):
                    constraints.add(got, type_.argument, use)
            else:
                constraints.add(got, type_.argument, use)
            type_ = type_.result
        return type_

    def joined(self, application: Application, around: Mapping[str, Type]) -> Type:
        """The type of `and` or `or` of something."""
        result = self.constraints.fresh()
        for place, argument in enumerate(application.arguments):
            self.constraints.add(self.visit(argument, around), result, _Use(application, place))
        self.truths.append((application, result))
        return result

    def end_in_truth(self, application: Application, joined: Type) -> None:
        last = self.constraints.resolved(joined)
        while isinstance(last, FunctionType):
            last = self.constraints.resolved(last.result)
        self.constraints.add(last, TRUTH, _Use(application, -1))

    def choose(self) -> None:
        """Choose a type of each overloaded name, so that all fit. Those that only one is left for come first."""
        self.constraints.largest()
        open_ = self.overloaded
        settled = True
        while settled:
            settled = False
            left = []
            for one in open_:
                types = self.possible(one)
                if len(types) == 1:
                    self.take(one, types[0])
                    settled = True
                else:
                    left.append(one._replace(types=types))
            open_ = left
        if len(open_) > MOST_AMBIGUOUS:
            raise MeaningError(f"expected at most {MOST_AMBIGUOUS} names whose type is left open, got {len(open_)}")
        self.search(open_)

    def search(self, open_: Sequence[_Overloaded]) -> None:
        """Take the first types that fit together, depth first."""
        if not open_:
            return
        failure: MeaningError | Clash | None = None
        for type_ in open_[0].types:
            mark = self.constraints.mark()
            try:
                self.take(open_[0], type_)
                self.search(open_[1:])
                return
            except TooHardError:
                raise
            except (Clash, MeaningError) as problem:
                failure = failure or problem
                self.constraints.undo(mark)
        assert failure is not None
        raise failure

    def possible(self, one: _Overloaded) -> list[Type]:
        """Which of the types of a name fit to all that is known."""
        found, failure = [], ""
        for type_ in one.types:
            mark = self.constraints.mark()
            try:
                self.take(one, type_)
                found.append(type_)
            except TooHardError:
                raise
            except Clash as clash:
                failure = failure or _sentence(clash, one.application)
            except MeaningError as error:
                failure = failure or str(error)
            self.constraints.undo(mark)
        if not found and len(one.types) > 1:
            shown = " nor ".join(str(type_) for type_ in one.types[:5])
            raise MeaningError(f"{one.name} can be neither {shown}: {failure}")
        if not found:
            raise MeaningError(failure)
        return found

    def take(self, one: _Overloaded, type_: Type) -> None:
        made, compared = self.instance(type_)
        if isinstance(one.application, Application):
            made = self.applied(one.application, made, compared, one.arguments)
        use = _Use(one.application, -1) if isinstance(one.application, Application) else None
        self.constraints.add(made, one.result, use)
        self.constraints.add(one.result, made, use)
        self.constraints.largest()


def _short(expression: Expression) -> str:
    text = str(expression)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _counted(n: int) -> str:
    return f"{n or 'no'} argument{'' if n == 1 else 's'}"


def _sentence(clash: Clash, whole: Expression) -> str:
    """What does not fit, for people."""
    by, other = clash.expected_by, clash.got_by
    if clash.both:
        if isinstance(by, _Use) and isinstance(other, _Use) and by.application is not other.application:
            return (
                f"in {_short(whole)}: nothing is both {clash.got}, as {_short(other.application)} expects, and "
                f"{clash.expected}, as {_short(by.application)} does"
            )
        where = by.application if isinstance(by, _Use) else whole
        return f"in {_short(where)}: nothing is both {clash.got} and {clash.expected}"
    use = by if isinstance(by, _Use) else other
    if not isinstance(use, _Use):
        return f"in {_short(whole)}: expected {clash.expected}, got {clash.got}"
    where = use.application
    if use.place < 0:
        return f"in {_short(whole)}: expected {clash.expected}, got {_short(where)}, which is of type {clash.got}"
    argument = where.arguments[use.place]
    of = f" for argument {use.place + 1}" if len(where.arguments) > 1 else ""
    sentence = f"in {_short(where)}: {_short(where.function)} expects {clash.expected}{of}, got"
    if by == other:
        return f"{sentence} {_short(argument)}, which is of type {clash.got}"
    source = f", by {_short(other.application)}" if isinstance(other, _Use) else ""
    return f"{sentence} {clash.got}{source}"
