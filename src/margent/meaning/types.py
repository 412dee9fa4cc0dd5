"""Types of expressions: basic types, functions from one type to another, and variables that stand for a type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from margent.errors import MeaningError

DEEPEST_TYPE = 40
"""So many types may lie within each other."""

_TOKEN = re.compile(r"\s*(->|[()<>,*]|'?[^\s()<>,*'-]+)")


class Type:
    """What an expression may be applied to, and what it may be an argument of. Types are values."""

    depth: int

    @property
    def arguments(self) -> tuple[Type, ...]:
        """Of a function a -> b -> c its arguments (a, b), one after the other; () of anything else."""
        found: list[Type] = []
        inner: Type = self
        while isinstance(inner, FunctionType):
            found.append(inner.argument)
            inner = inner.result
        return tuple(found)

    @property
    def final(self) -> Type:
        """Of a function a -> b -> c what it gives in the end, c; of anything else the type itself."""
        inner: Type = self
        while isinstance(inner, FunctionType):
            inner = inner.result
        return inner

    def variables(self) -> Iterator[str]:
        """The names of all type variables, from left to right, as often as they occur."""
        if isinstance(self, TypeVariable):
            yield self.name
        elif isinstance(self, FunctionType):
            yield from self.argument.variables()
            yield from self.result.variables()

    def names(self) -> Iterator[str]:
        """The names of all basic types, from left to right, as often as they occur."""
        if isinstance(self, BaseType):
            yield self.name
        elif isinstance(self, FunctionType):
            yield from self.argument.names()
            yield from self.result.names()


@dataclass(frozen=True)
class BaseType(Type):
    """A type of a hierarchy: ``st``."""

    name: str
    depth = 0

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class TypeVariable(Type):
    """Any type, the same wherever the variable occurs: ``'a``. The name is without the apostrophe.

    A colon in it begins a bound: ``'a:lo`` is a basic type that is ``lo`` or a special case of it.
    """

    name: str
    depth = 0

    @property
    def bound(self) -> BaseType | None:
        bound = self.name.partition(":")[2]
        return BaseType(bound) if bound else None

    def __str__(self) -> str:
        return f"'{self.name}"


@dataclass(frozen=True)
class FunctionType(Type):
    """What turns an `argument` into a `result`: ``st -> ct``. The arrow associates to the right.

    >>> str(FunctionType(FunctionType(TypeVariable("a"), BaseType("t")), BaseType("i")))
    "('a -> t) -> i"
    """

    argument: Type
    result: Type

    def __post_init__(self) -> None:
        if self.depth > DEEPEST_TYPE:
            raise MeaningError(f"a type is nested more than {DEEPEST_TYPE} deep; expected a flatter one")

    @cached_property
    def depth(self) -> int:  # type: ignore[override]
        return max(self.argument.depth, self.result.depth) + 1

    def __str__(self) -> str:
        argument = f"({self.argument})" if isinstance(self.argument, FunctionType) else str(self.argument)
        return f"{argument} -> {self.result}"


def function_type(*types: Type) -> Type:
    """The function of all but the last type to the last: a -> b -> c.

    >>> str(function_type(BaseType("lo"), BaseType("lo"), BaseType("t")))
    'lo -> lo -> t'
    """
    result = types[-1]
    for argument in reversed(types[:-1]):
        result = FunctionType(argument, result)
    return result


def parse_type(text: str) -> Type:
    """The type that a text describes: ``('a -> t) -> 'a``, or between angle brackets ``<<e,t>,e>``.

    An asterisk, as in ``<t*,t>``, says that any number of such arguments may follow; it is read and left out.

    >>> parse_type("<<e,t>,<<e,i>,e>>") == parse_type("(e -> t) -> (e -> i) -> e")
    True
    >>> parse_type("lo -> ->")
    Traceback (most recent call last):
    margent.errors.MeaningError: in the type 'lo -> ->': expected a type, got '->' (character 7)
    """
    return _TypeReader(text).whole()


class _TypeReader:
    """Recursive descent over the tokens of a type."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, int]] = []
        at = 0
        end = len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise self.error(
                    "expected a name, an arrow or a bracket", at + len(text[at:]) - len(text[at:].lstrip())
                )
            self.tokens.append((found.group(1), found.start(1)))
            at = found.end()
        self.tokens.append(("", len(text)))
        self.at = 0

    def error(self, expected: str, where: int) -> MeaningError:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return MeaningError(f"in the type {shown!r}: {expected} (character {where + 1})")

    def expected(self, what: str) -> MeaningError:
        token, where = self.tokens[self.at]
        return self.error(f"expected {what}, got {repr(token) if token else 'the end'}", where)

    def take(self, token: str, what: str) -> None:
        if self.tokens[self.at][0] != token:
            raise self.expected(what)
        self.at += 1

    def whole(self) -> Type:
        result = self.function(0)
        if self.tokens[self.at][0]:
            raise self.expected("'->' or the end")
        return result

    def function(self, depth: int) -> Type:
        parts = [self.single(depth)]
        while self.tokens[self.at][0] == "->":
            self.at += 1
            parts.append(self.single(depth))
        return function_type(*parts)

    def single(self, depth: int) -> Type:
        token, where = self.tokens[self.at]
        if depth > DEEPEST_TYPE:
            raise self.error(f"expected at most {DEEPEST_TYPE} types within each other", where)
        if token == "(":
            self.at += 1
            inner = self.function(depth + 1)
            self.take(")", "'->' or ')'")
            return inner
        if token == "<":
            self.at += 1
            argument = self.single(depth + 1)
            if self.tokens[self.at][0] == "*":
                self.at += 1
            self.take(",", "','")
            result = self.single(depth + 1)
            self.take(">", "'>'")
            return FunctionType(argument, result)
        if token in ("", "->", ")", ">", ",", "*", "'"):
            raise self.expected("a type")
        self.at += 1
        return TypeVariable(token[1:]) if token[0] == "'" else BaseType(token)
