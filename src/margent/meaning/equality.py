"""When two expressions mean the same: the normal form of an expression, and texts that tell it."""

from __future__ import annotations

from collections.abc import Mapping

from margent.meaning.expression import INDIVIDUAL, Abstraction, Application, Constant, Expression, Variable
from margent.meaning.reduction import beta_reduced, eta_step, is_connective
from margent.meaning.types import FunctionType


def normal_form(expression: Expression) -> Expression:
    """The one expression that stands for all of the same meaning, as exact match counts it.

    Beta and eta reduced; `and` and `or` flat, in a fixed order, without repetitions, and left out around a single
    argument; variables named $0, $1, ... from the outside; a lambda over individuals of any basic type is one over e.

    >>> from margent.meaning import parse_meaning
    >>> str(normal_form(parse_meaning("(lambda $7 e (and (state:t $7) (and (loc:t $7 $1) (state:t $7))))")))
    '(lambda $0 e (and (loc:t $0 $1) (state:t $0)))'
    """
    return _renamed(_simplified(beta_reduced(expression), {}), {}, 0)


def meaning_key(expression: Expression) -> str:
    """A text that is equal for expressions of the same meaning, and only for these."""
    return _key(_simplified(beta_reduced(expression), {}), {}, False)


def same_meaning(first: Expression, second: Expression) -> bool:
    """Whether the normal forms are equal."""
    return first == second or meaning_key(first) == meaning_key(second)


def alpha_equivalent(first: Expression, second: Expression) -> bool:
    """Whether they differ in names of bound variables at most."""
    return first == second or _key(first, {}, True) == _key(second, {}, True)


def _key(expression: Expression, places: Mapping[str, int], types: bool) -> str:
    """Text with numbers for bound variables: how many lambdas lie between a variable and its own."""
    if isinstance(expression, Variable):
        place = places.get(expression.name)
        return f"?{expression.name}" if place is None else f"#{_around(places) - place}"
    if isinstance(expression, Constant):
        return f"{len(expression.name)}:{expression.name}"
    if isinstance(expression, Abstraction):
        note = f"{expression.type};" if types or isinstance(expression.type, FunctionType) else ""
        return f"(\\{note}{_key(expression.body, _within(places, expression.variable), types)})"
    assert isinstance(expression, Application)
    parts = (expression.function, *expression.arguments)
    return f"({' '.join(_key(part, places, types) for part in parts)})"


_DEPTH = ""  # no variable has this name: how many lambdas are around


def _around(places: Mapping[str, int]) -> int:
    return places.get(_DEPTH, 0)


def _within(places: Mapping[str, int], variable: str) -> dict[str, int]:
    depth = _around(places) + 1
    return {**places, variable: depth, _DEPTH: depth}


def _simplified(expression: Expression, places: Mapping[str, int]) -> Expression:
    """Of a beta-reduced expression: connectives flat and in order, and eta reduced. From the inside out."""
    if isinstance(expression, Abstraction):
        body = _simplified(expression.body, _within(places, expression.variable))
        return eta_step(Abstraction(expression.variable, body, expression.type))
    if not isinstance(expression, Application):
        return expression
    arguments = [_simplified(argument, places) for argument in expression.arguments]
    if not is_connective(expression.function):
        return Application(_simplified(expression.function, places), tuple(arguments))
    flat: dict[str, Expression] = {}
    for argument in arguments:
        same = isinstance(argument, Application) and argument.function == expression.function
        for part in argument.arguments if same and isinstance(argument, Application) else (argument,):
            flat.setdefault(_key(part, places, False), part)
    if len(flat) == 1:
        return next(iter(flat.values()))
    return Application(expression.function, tuple(flat[key] for key in sorted(flat)))


def _renamed(expression: Expression, names: Mapping[str, str], depth: int) -> Expression:
    if isinstance(expression, Variable):
        return Variable(names.get(expression.name, expression.name))
    if isinstance(expression, Abstraction):
        taken = expression.free_variables
        free = frozenset(name for name in taken if name not in names)
        while f"${depth}" in free:
            depth += 1
        name = f"${depth}"
        type_ = expression.type if isinstance(expression.type, FunctionType) else INDIVIDUAL
        return Abstraction(name, _renamed(expression.body, {**names, expression.variable: name}, depth + 1), type_)
    if isinstance(expression, Application):
        arguments = tuple(_renamed(argument, names, depth) for argument in expression.arguments)
        return Application(_renamed(expression.function, names, depth), arguments)
    return expression
