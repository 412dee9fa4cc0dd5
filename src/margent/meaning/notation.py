"""Expressions as text: the notations in which meanings are written, read by one parser and printed in each.

    lambda      (lambda $0 e (exists $1 (and (state:t $1) (loc:t $1 $0))))
    annotated   (lambda $0:e (exists $1:e (and (state $1) (loc $1 $0))))
    typed       (lambda $0:e (exists:<<e,t>,t> (lambda $1:e (and:<t*,t> (state:<s,t> $1) (loc:<lo,<lo,t>> $1 $0)))))

The first is that of Zettlemoyer and Collins (2005), the third that of the Cornell semantic parsing framework. In the
first two, words of `BINDERS` bring a variable with them: ``(argmax $0 BODY KEY)`` is argmax, applied to two functions
of $0.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from margent.errors import MeaningError
from margent.meaning.expression import (
    DEEPEST,
    INDIVIDUAL,
    Abstraction,
    Application,
    Constant,
    Expression,
    Variable,
    split_name,
)
from margent.meaning.types import BaseType, FunctionType, Type, parse_type

BINDERS = {"argmax": 2, "argmin": 2, "count": 1, "exists": 1, "forall": 1, "max": 1, "min": 1, "sum": 2, "the": 1}
"""Words that may bring a variable, and how many functions of it follow."""

NOTATIONS = ("lambda", "annotated", "typed")

_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+')
_PLAIN = re.compile(r'[^\s()"$\\][^\s()"\\]*\Z')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def parse_meaning(text: str) -> Expression:
    """The expression that a text in any of the notations describes.

    A name is a variable if it begins with ``$`` or a lambda around it binds it; all other names are constants. Names
    with blanks or brackets stand in quotation marks.

    >>> parse_meaning("(lambda $0 e (loc:t $0 texas:s))") == parse_meaning("(lambda $0:e (loc:t $0 texas:s))")
    True
    >>> parse_meaning("(argmax $0 (state:t $0) (size:i $0))").arguments[1].body.function.name
    'size:i'
    >>> parse_meaning("(lambda $0 e (state:t $0)")
    Traceback (most recent call last):
    margent.errors.MeaningError: in the meaning '(lambda $0 e (state:t $0)': a bracket is not closed; expected ')' at \
the end (character 1)
    """
    return _Reader(text).read()


def meaning_text(expression: Expression, notation: str = "lambda") -> str:
    """The expression as text in a notation; `parse_meaning` makes the same expression of it.

    >>> meaning_text(parse_meaning("(count $0 (state:t $0))"), "typed")
    '(count (lambda $0:e (state:t $0)))'
    """
    if notation not in NOTATIONS:
        raise MeaningError(f"expected a notation, one of {', '.join(NOTATIONS)}, got {notation!r}")
    return _written(expression, notation, frozenset())


def type_in_angles(type_: Type) -> str:
    """A type as notations write it: ``<e,t>``.

    >>> type_in_angles(parse_type("('a -> t) -> 'a"))
    "<<'a,t>,'a>"
    """
    if isinstance(type_, FunctionType):
        return f"<{type_in_angles(type_.argument)},{type_in_angles(type_.result)}>"
    return str(type_)


class _Token(NamedTuple):
    text: str
    start: int


class _Bracket(NamedTuple):
    """What stands between two brackets."""

    parts: list[_Token | _Bracket]
    start: int


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, problem: str, start: int) -> NoReturn:
        shown = self.text if len(self.text) <= 120 else self.text[:117] + "..."
        raise MeaningError(f"in the meaning {shown!r}: {problem} (character {start + 1})")

    def read(self) -> Expression:
        outer = _Bracket([], 0)
        stack = [outer]
        at = 0
        for found in _TOKEN.finditer(self.text):
            self.check_blank(at, found.start())
            at = found.end()
            token = _Token(found.group(), found.start())
            if token.text == "(":
                if len(stack) > DEEPEST:
                    self.fail(f"expected at most {DEEPEST} brackets within each other", token.start)
                stack.append(_Bracket([], token.start))
                stack[-2].parts.append(stack[-1])
            elif token.text == ")":
                if len(stack) == 1:
                    self.fail("a bracket is closed that was not opened; expected no ')'", token.start)
                stack.pop()
            else:
                stack[-1].parts.append(token)
        self.check_blank(at, len(self.text))
        if len(stack) > 1:
            self.fail("a bracket is not closed; expected ')' at the end", stack[-1].start)
        if not outer.parts:
            self.fail("expected an expression, got nothing", 0)
        if len(outer.parts) > 1:
            self.fail("expected one expression, got another after it", outer.parts[1].start)
        return self.expression(outer.parts[0], frozenset())

    def check_blank(self, start: int, end: int) -> None:
        """What lies between two tokens is blank, or a quotation mark that is not closed."""
        rest = self.text[start:end]
        if rest.strip():
            self.fail("a quotation mark is not closed; expected another", end - len(rest.lstrip()))

    def expression(self, part: _Token | _Bracket, bound: frozenset[str]) -> Expression:
        if isinstance(part, _Token):
            return self.atom(part, bound)
        if not part.parts:
            self.fail("expected an expression, got nothing between two brackets", part.start)
        head = part.parts[0]
        if isinstance(head, _Token):
            if head.text == "lambda":
                return self.abstraction(part, bound)
            if BINDERS.get(head.text) == len(part.parts) - 2 and isinstance(part.parts[1], _Token):
                return self.binder(part, head, bound)
        if len(part.parts) == 1:
            self.fail("expected at least one argument after the function, got none", part.start)
        function, *arguments = (self.expression(inner, bound) for inner in part.parts)
        return Application(function, tuple(arguments))

    def atom(self, token: _Token, bound: frozenset[str]) -> Expression:
        if token.text in bound:
            return Variable(token.text)
        if token.text[0] == '"':
            try:
                return Constant(_ESCAPED.sub(r"\1", token.text[1:-1]))
            except MeaningError:
                self.fail("expected a name of one line between quotation marks", token.start)
        if token.text[0] == "$":
            return Variable(self.variable(token)[0])
        return Constant(token.text)

    def abstraction(self, part: _Bracket, bound: frozenset[str]) -> Expression:
        parts = part.parts
        if len(parts) not in (3, 4) or not isinstance(parts[1], _Token):
            self.fail("expected a variable, perhaps its type, and an expression after 'lambda'", part.start)
        name, type_ = self.variable(parts[1])
        if len(parts) == 4:
            if not isinstance(parts[2], _Token) or type_ is not None:
                self.fail("expected one type of the variable after 'lambda'", part.start)
            type_ = self.type_of(parts[2].text, parts[2].start)
        return Abstraction(name, self.expression(parts[-1], bound | {name}), type_ or INDIVIDUAL)

    def binder(self, part: _Bracket, head: _Token, bound: frozenset[str]) -> Expression:
        assert isinstance(part.parts[1], _Token)
        name, type_ = self.variable(part.parts[1])
        bodies = [self.expression(inner, bound | {name}) for inner in part.parts[2:]]
        functions = tuple(Abstraction(name, body, type_ or INDIVIDUAL) for body in bodies)
        return Application(Constant(head.text), functions)

    def variable(self, token: _Token) -> tuple[str, Type | None]:
        name, colon, text = token.text.partition(":")
        try:
            Variable(name)
        except MeaningError:
            self.fail(f"expected the name of a variable such as $0, got {token.text[:40]!r}", token.start)
        return name, self.type_of(text, token.start) if colon else None

    def type_of(self, text: str, start: int) -> Type:
        try:
            return parse_type(text)
        except MeaningError:
            self.fail(f"expected a type such as e or <e,t>, got {text[:40]!r}", start)


def _written(expression: Expression, notation: str, bound: frozenset[str]) -> str:
    if isinstance(expression, Variable):
        return expression.name
    if isinstance(expression, Constant):
        return _name(expression.name, bound)
    if isinstance(expression, Abstraction):
        body = _written(expression.body, notation, bound | {expression.variable})
        type_ = type_in_angles(expression.type)
        between = " " if notation == "lambda" else ":"
        return f"(lambda {expression.variable}{between}{type_} {body})"
    assert isinstance(expression, Application)
    arguments = expression.arguments
    written = [_written(argument, notation, bound) for argument in arguments]
    head = _written(expression.function, notation, bound)
    n_functions = BINDERS.get(head, -1)
    if notation != "typed" and n_functions == len(arguments):
        first = arguments[0]
        if isinstance(first, Abstraction) and all(
            isinstance(other, Abstraction) and (other.variable, other.type) == (first.variable, first.type)
            for other in arguments
        ):
            inner = bound | {first.variable}
            bodies = [_written(part.body, notation, inner) for part in arguments if isinstance(part, Abstraction)]
            if notation == "annotated":
                return f"({head} {first.variable}:{type_in_angles(first.type)} {' '.join(bodies)})"
            if first.type == INDIVIDUAL:
                return f"({head} {first.variable} {' '.join(bodies)})"
    if n_functions == len(arguments) - 1 and not isinstance(arguments[0], (Application, Abstraction)):
        head, written = f"({head} {written[0]})", written[1:]  # or else the first would be read as what the word binds
    return f"({head} {' '.join(written)})"


def _name(name: str, bound: frozenset[str]) -> str:
    if _PLAIN.match(name) and name != "lambda" and name not in bound:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def plain_type(name: str) -> Type | None:
    """The type that the name of a constant carries in the typed notation; None if it carries none.

    >>> str(plain_type("loc:<lo,<lo,t>>")), str(plain_type("texas:s")), plain_type("texas")
    ('lo -> lo -> t', 's', None)
    """
    suffix = split_name(name)[1]
    if not suffix:
        return None
    return parse_type(suffix) if suffix[0] == "<" else BaseType(suffix)
