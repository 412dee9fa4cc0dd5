"""Expressions of the lambda calculus as immutable values: variables, constants, applications, abstractions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from margent.errors import MeaningError
from margent.meaning.types import BaseType, Type

DEEPEST = 100
"""So many expressions may lie within each other."""
LARGEST = 100_000
"""So many parts an expression may have."""

INDIVIDUAL = BaseType("e")
"""What a lambda is over where nothing more is said."""


class Expression:
    """A meaning, or a part of one. Equal expressions compare and hash as equal; names of variables count.

    Attributes
    ----------
    size : int
        How many variables, constants, applications and abstractions it is made of.
    depth : int
        How many lie within each other, less one.
    free_variables : frozenset of str
    """

    __slots__ = ("_hash", "depth", "free_variables", "size")

    size: int
    depth: int
    free_variables: frozenset[str]
    _hash: int

    def _children(self) -> tuple[Expression, ...]:
        return ()

    def _key(self) -> tuple[object, ...]:
        raise NotImplementedError

    def _finish(self, key: tuple[object, ...], free: frozenset[str]) -> None:
        children = self._children()
        _set(self, "size", 1 + sum(child.size for child in children))
        _set(self, "depth", 1 + max((child.depth for child in children), default=-1))
        _set(self, "free_variables", free)
        _set(self, "_hash", hash(key))
        if self.depth > DEEPEST:
            raise MeaningError(f"an expression is nested more than {DEEPEST} deep; expected a flatter one")
        if self.size > LARGEST:
            raise MeaningError(f"an expression has more than {LARGEST} parts; expected a smaller one")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression does not change; cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an expression does not change; cannot delete {name}")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Expression):
            return NotImplemented if not isinstance(other, Expression) else False
        return self._hash == other._hash and self.size == other.size and self._key() == other._key()

    def __str__(self) -> str:
        from margent.meaning.notation import meaning_text

        return meaning_text(self)

    def __repr__(self) -> str:
        return f"parse_meaning({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self._key()

    def parts(self) -> Iterator[Expression]:
        """The expression and all within it, each before its own parts, from left to right."""
        stack: list[Expression] = [self]
        while stack:
            part = stack.pop()
            yield part
            stack.extend(reversed(part._children()))

    def constants(self) -> Iterator[str]:
        """The names of its constants, from left to right, as often as they occur."""
        return (part.name for part in self.parts() if isinstance(part, Constant))


_set = object.__setattr__
_BREAK = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_VARIABLE = re.compile(r'[^\s()":\\]+\Z')


def _checked_variable(name: str) -> str:
    if not _VARIABLE.match(name) or name in ("$", "lambda"):
        raise MeaningError(f"expected the name of a variable such as $0, got {name[:40]!r}")
    return name


class Variable(Expression):
    """A variable by the name it is written with: ``$0``."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _set(self, "name", _checked_variable(name))
        self._finish(("variable", name), frozenset((name,)))

    def _key(self) -> tuple[object, ...]:
        return (self.name,)


class Constant(Expression):
    """What a domain knows by name, as it is written: an entity ``texas:s``, a predicate ``loc:t``, the word ``and``."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        if not name or _BREAK.search(name):
            raise MeaningError(f"expected the name of a constant on one line, got {name[:40]!r}")
        _set(self, "name", name)
        self._finish(("constant", name), frozenset())

    def _key(self) -> tuple[object, ...]:
        return (self.name,)

    @property
    def base(self) -> str:
        """The name before its last colon: ``texas`` of ``texas:s``."""
        return split_name(self.name)[0]

    @property
    def suffix(self) -> str:
        """What follows the last colon of the name: ``s`` of ``texas:s``; empty where there is none."""
        return split_name(self.name)[1]


class Application(Expression):
    """A function and its arguments, one or more: ``(loc:t $0 texas:s)``.

    An application to the arguments a of an application to b is one to b and a: `function` is never an application.
    """

    __slots__ = ("arguments", "function")
    function: Expression
    arguments: tuple[Expression, ...]

    def __init__(self, function: Expression, arguments: tuple[Expression, ...]) -> None:
        arguments = tuple(arguments)
        if not arguments:
            raise MeaningError(f"{function} is applied to nothing; expected at least one argument")
        if isinstance(function, Application):
            arguments = function.arguments + arguments
            function = function.function
        _set(self, "function", function)
        _set(self, "arguments", arguments)
        free = function.free_variables.union(*(argument.free_variables for argument in arguments))
        self._finish(("application", function, arguments), free)

    def _children(self) -> tuple[Expression, ...]:
        return (self.function, *self.arguments)

    def _key(self) -> tuple[object, ...]:
        return (self.function, self.arguments)


class Abstraction(Expression):
    """A function of one variable: ``(lambda $0 e (state:t $0))``. `type` is what the notation says the variable is."""

    __slots__ = ("body", "type", "variable")
    variable: str
    body: Expression
    type: Type

    def __init__(self, variable: str, body: Expression, type: Type = INDIVIDUAL) -> None:
        _set(self, "variable", _checked_variable(variable))
        _set(self, "body", body)
        _set(self, "type", type)
        self._finish(("abstraction", variable, body, type), body.free_variables - {variable})

    def _children(self) -> tuple[Expression, ...]:
        return (self.body,)

    def _key(self) -> tuple[object, ...]:
        return (self.variable, self.body, self.type)


def split_name(name: str) -> tuple[str, str]:
    """A name before its colon and after it; where what follows is a type in angle brackets, colons in it do not count.

    >>> split_name("loc:<lo,<lo,t>>"), split_name("texas:s"), split_name("java"), split_name("<")
    (('loc', '<lo,<lo,t>>'), ('texas', 's'), ('java', ''), ('<', ''))
    """
    if name.endswith(">") and ":<" in name:
        base, _, suffix = name.partition(":<")
        return base, "<" + suffix
    base, colon, suffix = name.rpartition(":")
    return (base, suffix) if colon and base else (name, "")
