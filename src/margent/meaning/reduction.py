"""What may be done to an expression without a change of meaning: substitution, beta and eta reduction."""

from __future__ import annotations

from margent.errors import MeaningError
from margent.meaning.expression import (
    Abstraction,
    Application,
    Constant,
    Expression,
    Variable,
    split_name,
)

MOST_WORK = 300_000
"""So many parts of expressions are made in a reduction before it counts as endless."""


def substitute(expression: Expression, name: str, value: Expression) -> Expression:
    """The expression with `value` for each free `name`. What it binds is renamed where `value` has such a variable.

    >>> from margent.meaning import Variable, parse_meaning
    >>> str(substitute(parse_meaning("(lambda $0 e (loc:t $0 $1))"), "$1", Variable("$0")))
    '(lambda $2 e (loc:t $2 $0))'
    """
    if name not in expression.free_variables:
        return expression
    if isinstance(expression, Variable):
        return value
    if isinstance(expression, Abstraction):
        variable, body = expression.variable, expression.body
        if variable in value.free_variables:
            fresh = fresh_variable(value.free_variables | body.free_variables)
            body = substitute(body, variable, Variable(fresh))
            variable = fresh
        return Abstraction(variable, substitute(body, name, value), expression.type)
    assert isinstance(expression, Application)
    arguments = tuple(substitute(argument, name, value) for argument in expression.arguments)
    return Application(substitute(expression.function, name, value), arguments)


def fresh_variable(taken: frozenset[str], start: int = 0) -> str:
    """The first of $0, $1, ... (from `start`) that is not taken."""
    while f"${start}" in taken:
        start += 1
    return f"${start}"


def beta_reduced(expression: Expression) -> Expression:
    """With every application of a lambda carried out, the outermost first.

    >>> from margent.meaning import parse_meaning
    >>> str(beta_reduced(parse_meaning("((lambda $0 <e,t> (count $1 ($0 $1))) state:t)")))
    '(count $1 (state:t $1))'
    """
    return _Reduction().reduced(expression)


class _Reduction:
    """One reduction, and how much of the work allowed to it is left: some expressions reduce for ever."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def reduced(self, expression: Expression) -> Expression:
        while isinstance(expression, Application) and isinstance(expression.function, Abstraction):
            function, (first, *rest) = expression.function, expression.arguments
            expression = substitute(function.body, function.variable, first)
            if rest:
                expression = Application(expression, tuple(rest))
            self.left -= expression.size
            if self.left < 0:
                raise MeaningError("an expression cannot be reduced to an end; expected one that has a type")
        if isinstance(expression, Abstraction):
            body = self.reduced(expression.body)
            return expression if body is expression.body else Abstraction(expression.variable, body, expression.type)
        if isinstance(expression, Application):
            arguments = tuple(self.reduced(argument) for argument in expression.arguments)
            if all(new is old for new, old in zip(arguments, expression.arguments)):
                return expression
            return Application(expression.function, arguments)
        return expression


def eta_reduced(expression: Expression) -> Expression:
    """With f for each lambda x: f(x) where f has no x of its own.

    >>> from margent.meaning import parse_meaning
    >>> str(eta_reduced(parse_meaning("(argmax $0 (state:t $0) (size:i $0))")))
    '(argmax state:t size:i)'
    """
    if isinstance(expression, Abstraction):
        return eta_step(Abstraction(expression.variable, eta_reduced(expression.body), expression.type))
    if isinstance(expression, Application):
        arguments = tuple(eta_reduced(argument) for argument in expression.arguments)
        return Application(eta_reduced(expression.function), arguments)
    return expression


def eta_step(expression: Abstraction) -> Expression:
    """f for a lambda x: f(x), where f has no x of its own; the lambda as it is where it is not of this form."""
    body = expression.body
    if not isinstance(body, Application) or body.arguments[-1] != Variable(expression.variable):
        return expression
    if is_connective(body.function):
        return expression  # `and` of fewer arguments is another `and`
    before = body.arguments[:-1]
    if any(expression.variable in part.free_variables for part in (body.function, *before)):
        return expression
    return Application(body.function, before) if before else body.function


def is_connective(expression: Expression) -> bool:
    """Whether it is the word `and` or `or`, with or without its type."""
    if not isinstance(expression, Constant):
        return False
    base, suffix = split_name(expression.name)
    return base in ("and", "or") and (not suffix or suffix[0] == "<")
