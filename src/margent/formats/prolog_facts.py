"""Facts of Prolog: ``city('alabama','al','mobile',200452).``, one after the other, of atoms, numbers and lists.

Only ground facts are read: no rules, variables, operators or compound terms. Comments are ``% ...`` and ``/* ... */``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike, read_text

Term: TypeAlias = "str | int | float | list[Term]"

DEEPEST_LIST = 20

_TOKEN = re.compile(
    r"""\s+ | %[^\n]* | /\*.*?\*/ |
    (?P<number>[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?(?![0-9A-Za-z_])) |
    (?P<atom>[a-z][A-Za-z0-9_]*) | '(?P<quoted>(?:[^'\\\n]|''|\\['\\])*)' | (?P<mark>[()\[\],]|\.(?=\s|%|$))""",
    re.VERBOSE | re.DOTALL,
)


class PrologFact(NamedTuple):
    """A fact: the name of its predicate, its arguments, and the line that it begins in."""

    name: str
    arguments: tuple[Term, ...]
    line: int


def iter_prolog_facts(source: SourceLike, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[PrologFact]:
    """Read facts of Prolog one by one.

    >>> [fact.arguments for fact in iter_prolog_facts(b"river('red',1638,['texas','ohio']). state(utah).")]
    [('red', 1638, ['texas', 'ohio']), ('utah',)]
    """
    name, text = read_text(source, "utf-8", limits)
    return _FactReader(Source(name), text).facts()


class _FactReader:
    def __init__(self, source: Source, text: str) -> None:
        self.source, self.text = source, text
        self.at, self.line = 0, 1
        self.kind, self.value = "", ""
        self.advance()

    def advance(self) -> None:
        """To the next token: its kind, "" at the end, and its text."""
        while True:
            if self.at == len(self.text):
                self.kind = self.value = ""
                return
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                shown = self.text[self.at : self.at + 20].split("\n")[0]
                raise self.source.error(self.line, f"expected facts of atoms, numbers and lists, got {shown!r}")
            self.line += self.text.count("\n", self.at, found.end())
            self.at = found.end()
            if found.lastgroup is not None:
                self.kind, self.value = found.lastgroup, found[found.lastgroup]
                return

    def take(self, mark: str) -> None:
        if self.kind != "mark" or self.value != mark:
            raise self.expected(repr(mark))
        self.advance()

    def expected(self, what: str) -> Exception:
        got = repr(self.value[:40]) if self.kind else "the end"
        return self.source.error(self.line, f"expected {what}, got {got}")

    def facts(self) -> Iterator[PrologFact]:
        while self.kind:
            line = self.line
            if self.kind not in ("atom", "quoted"):
                raise self.expected("the name of a predicate")
            name = self.term(0)
            assert isinstance(name, str)
            self.take("(")
            arguments = self.terms(0)
            self.take(")")
            if not self.kind == "mark" or self.value != ".":
                raise self.expected("'.'")
            self.advance()
            yield PrologFact(name, tuple(arguments), line)

    def terms(self, depth: int) -> list[Term]:
        found = [self.term(depth)]
        while self.kind == "mark" and self.value == ",":
            self.advance()
            found.append(self.term(depth))
        return found

    def term(self, depth: int) -> Term:
        kind, value = self.kind, self.value
        if kind == "number":
            self.advance()
            number = float(value)
            if number in (float("inf"), float("-inf")):
                raise self.source.error(self.line, f"expected a number that is not too large, got {value[:40]}")
            return int(number) if number == int(number) and abs(number) < 2**53 else number
        if kind == "atom":
            self.advance()
            return value
        if kind == "quoted":
            self.advance()
            return value.replace("''", "'").replace("\\'", "'").replace("\\\\", "\\")
        if kind == "mark" and value == "[":
            if depth >= DEEPEST_LIST:
                raise self.source.error(self.line, f"expected at most {DEEPEST_LIST} lists within each other")
            self.advance()
            found: list[Term] = []
            if not (self.kind == "mark" and self.value == "]"):
                found = self.terms(depth + 1)
            self.take("]")
            return found
        raise self.expected("an atom, a number or a list")
