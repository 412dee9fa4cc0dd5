"""Random terms that have a type, and the same as nested tuples."""

from __future__ import annotations

import random

from margent.meaning import Abstraction, Application, Constant, Variable

CONSTANTS = {
    "e": ["texas:s", "utah:s"],
    "t": ["yes"],
    "e -> t": ["state:t", "river:t"],
    "e -> e -> t": ["loc:t"],
    "(e -> t) -> e": ["the"],
    "(e -> t) -> t": ["exists"],
}


def split(type_):
    """Arguments and result of a type as text."""
    depth, at, parts = 0, 0, []
    for i, character in enumerate(type_):
        depth += (character == "(") - (character == ")")
        if depth == 0 and type_.startswith(" -> ", i):
            parts.append(type_[at:i])
            at = i + 4
    parts.append(type_[at:])
    return [part[1:-1] if part.startswith("(") and part.endswith(")") else part for part in parts]


def random_term(dice: random.Random, type_: str, around: tuple[tuple[str, str], ...] = (), depth: int = 5):
    """An expression of a type, with lambdas that are applied at once and connectives of few arguments."""
    arguments = split(type_)
    names = [name for name, of in around if of == type_ and dict(around)[name] == of]
    choices = [*(Variable(name) for name in names), *(Constant(name) for name in CONSTANTS.get(type_, ()))]
    if depth <= 0 and choices:
        return dice.choice(choices)
    kind = dice.random()
    if len(arguments) > 1 and (kind < 0.7 or not choices):
        name = dice.choice(["$0", "$1", "$2"])
        rest = (
            arguments[1]
            if len(arguments) == 2
            else " -> ".join(f"({part})" if "->" in part else part for part in arguments[1:])
        )
        kept = tuple(pair for pair in around if pair[0] != name)
        return Abstraction(name, random_term(dice, rest, (*kept, (name, arguments[0])), depth - 1))
    if type_ == "t" and kind < 0.45:
        word = Constant(dice.choice(["and", "or"]))
        parts = [random_term(dice, "t", around, depth - 1) for _ in range(dice.choice([1, 2, 2, 3]))]
        return Application(word, tuple(parts))
    if kind < 0.3 and depth > 0:  # a lambda, applied at once
        of = dice.choice(["e", "t", "e -> t"])
        name = dice.choice(["$0", "$1", "$2"])
        kept = tuple(pair for pair in around if pair[0] != name)
        function = Abstraction(name, random_term(dice, type_, (*kept, (name, of)), depth - 2))
        return Application(function, (random_term(dice, of, around, depth - 2),))
    known = [(Variable(name), of) for name, of in around if dict(around)[name] == of]
    known += [(Constant(name), of) for of, all_ in CONSTANTS.items() for name in all_]
    fitting = [(function, split(of)) for function, of in known if split(of)[-1] == type_ and len(split(of)) > 1]
    if depth > 0 and fitting and (kind < 0.9 or not choices):
        function, parts = dice.choice(fitting)
        return Application(function, tuple(random_term(dice, part, around, depth - 1) for part in parts[:-1]))
    if choices:
        return dice.choice(choices)
    function, parts = dice.choice(fitting)
    return Application(function, tuple(random_term(dice, part, around, depth - 1) for part in parts[:-1]))


def as_tuples(expression):
    if isinstance(expression, Variable):
        return ("var", expression.name)
    if isinstance(expression, Constant):
        return ("const", expression.name)
    if isinstance(expression, Abstraction):
        return ("lam", expression.variable, as_tuples(expression.body))
    return ("app", as_tuples(expression.function), [as_tuples(part) for part in expression.arguments])


def shuffled(dice: random.Random, expression, names=None):
    """The same meaning written otherwise: other names, another order, repeated parts, nested connectives."""
    names = names or {}
    if isinstance(expression, Variable):
        return Variable(names.get(expression.name, expression.name))
    if isinstance(expression, Constant):
        return expression
    if isinstance(expression, Abstraction):
        new = f"${dice.randrange(3, 9)}" if dice.random() < 0.8 else expression.variable
        while new in {names.get(name, name) for name in expression.free_variables}:
            new = f"{new}0"
        body = shuffled(dice, expression.body, {**names, expression.variable: new})
        return Abstraction(new, body, expression.type)
    arguments = [shuffled(dice, part, names) for part in expression.arguments]
    if expression.function in (Constant("and"), Constant("or")):
        dice.shuffle(arguments)
        if dice.random() < 0.3:
            arguments.insert(dice.randrange(len(arguments) + 1), dice.choice(arguments))
        if dice.random() < 0.3 and len(arguments) > 1:
            arguments[:2] = [Application(expression.function, tuple(arguments[:2]))]
    return Application(shuffled(dice, expression.function, names), tuple(arguments))
