"""The types of pieces: as general as their sets allow."""

from __future__ import annotations

from collections.abc import Iterator

from margent.errors import MeaningError
from margent.meaning import Abstraction, BaseType, Domain, Expression, FunctionType, Type, TypeVariable, infer_type
from margent.meaning.built_in import TRUTH
from margent.meaning.type_application import canonical


def piece_type(expression: Expression, domain: Domain) -> Type:
    """The type of a piece, in which what asks for a set takes any special one: ``('a:lo -> t) -> 'a:lo``.

    `infer_type` says of ``(lambda h (argmax h elevation:i))`` that it makes a place of a set, ``('a -> t) -> lo``. But
    the highest of a set of lakes is a lake. Where a set is asked for, the types of what is in it, and of what is made
    of that, become one variable with a bound. What is made of it is found by trying a special case. A set that nothing
    else depends on gets a bound where not all basic types fit; those without special cases are tried for that.
    """
    type_ = infer_type(expression, domain)
    for place, asked in enumerate(type_.arguments):
        members = asked.argument if isinstance(asked, FunctionType) and asked.result == TRUTH else None
        # Of a set of a basic type, that type; of a set of anything, what is made of it, which may be of the same type.
        kind = members if isinstance(members, BaseType) else type_.final
        if members is None or not isinstance(kind, BaseType) or kind == TRUTH:
            continue
        special = next(iter(sorted(domain.hierarchy.below(kind.name) - {kind.name})), None)
        variable = TypeVariable(f"{place}:{kind.name}")
        tried = None if special is None else _with_argument(expression, domain, place, BaseType(special))
        general = _generalised(type_, tried, place, kind, BaseType(special or kind.name), variable)
        if members == kind or general.final == variable:
            type_ = general
    return canonical(_bounded(type_, expression, domain))


def _bounded(type_: Type, expression: Expression, domain: Domain) -> Type:
    """With bounds for sets whose members may be of some basic types only, and of which nothing else depends:
    ``('a:st -> t) -> ct`` of ``(lambda h (capital (the h)))``."""
    arguments = list(type_.arguments)
    for place, asked in enumerate(arguments):
        if not isinstance(asked, FunctionType) or asked.result != TRUTH:
            continue
        members = asked.argument
        if not isinstance(members, TypeVariable) or members.bound is not None:
            continue
        others = (*arguments[:place], *arguments[place + 1 :], type_.final)
        if any(members.name in each.variables() for each in others):
            continue
        bound = _bound(expression, domain, place)
        if bound is not None:
            arguments[place] = FunctionType(TypeVariable(f"set{place}:{bound}"), TRUTH)
    result = type_.final
    for argument in reversed(arguments):
        result = FunctionType(argument, result)
    return result


def _bound(expression: Expression, domain: Domain, place: int) -> str | None:
    """The one basic type above all that the members of the set at a place may be of; None if they may be anything."""
    below = {name: domain.hierarchy.below(name) for name in domain.hierarchy.names if name not in ("t", "top")}
    lowest = [name for name, special in below.items() if len(special - {name}) == 0]
    fit = {name for name in lowest if _with_argument(expression, domain, place, BaseType(name)) is not None}
    if len(fit) in (0, len(lowest)):
        return None
    return next((name for name, special in below.items() if special & set(lowest) == fit), None)


def _with_argument(expression: Expression, domain: Domain, place: int, kind: BaseType) -> Type | None:
    """The type if the argument at a place is a set of a special kind."""
    outer: list[Abstraction] = []
    body = expression
    for _ in range(place + 1):
        if not isinstance(body, Abstraction):
            return None
        outer.append(body)
        body = body.body
    last = outer.pop()
    body = Abstraction(last.variable, body, FunctionType(kind, TRUTH))
    for each in reversed(outer):
        body = Abstraction(each.variable, body, each.type)
    try:
        return infer_type(body, domain)
    except MeaningError:
        return None


def _generalised(
    type_: Type, tried: Type | None, place: int, kind: BaseType, special: BaseType, variable: TypeVariable
) -> Type:
    """The type with the variable for the members of the set at a place, and for what followed it when it was tried."""
    arguments = list(type_.arguments)
    followed = [False] * (len(arguments) + 1)
    if tried is not None and len(tried.arguments) == len(arguments):
        pairs = zip((*type_.arguments, type_.final), (*tried.arguments, tried.final))
        followed = [old == kind and new == special for old, new in pairs]
    arguments[place] = FunctionType(variable, TRUTH)
    parts: Iterator[Type] = (
        variable if follows and number != place else part
        for number, (part, follows) in enumerate(zip((*arguments, type_.final), followed))
    )
    *before, result = parts
    for argument in reversed(before):
        result = FunctionType(argument, result)
    return result
