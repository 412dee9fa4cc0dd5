"""Facts of a database as text, one on a line: a predicate and what it holds of, or its value for something.

    # places
    in austin texas
    state "new york"
    population austin = 345496

A line that begins with "#" is a comment. Names with blanks stand in quotation marks; numbers are numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from margent.errors import MeaningError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.meaning.facts import MOST_FACTS, Facts, Row, Value, rows_in_order, written

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s|\Z)|([^\s"]\S*)')
_ESCAPED = re.compile(r"\\(.)")


def read_facts(source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS) -> Facts:
    """Read the facts of a database.

    Examples
    --------
    >>> facts = read_facts(b"in austin texas\\nin dallas texas\\npopulation austin = 345496\\n")
    >>> sorted(facts.relation("in", 2)), facts.function("population", 1)
    ([('austin', 'texas'), ('dallas', 'texas')], frozenset({('austin', 345496)}))
    """
    opened = Source(source, encoding, limits)
    relations: dict[str, list[Row]] = {}
    functions: dict[str, list[Row]] = {}
    n_facts = 0
    for number, line in opened.lines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        n_facts += 1
        if n_facts > MOST_FACTS:
            raise opened.error(number, f"expected at most {MOST_FACTS} facts")
        tokens = list(_tokens(text))
        if "" in tokens:
            raise opened.error(number, f"expected names between blanks or quotation marks, got {text[:60]!r}")
        words = [_ESCAPED.sub(r"\1", token[1:-1]) if token[0] == '"' else token for token in tokens]
        if "=" in tokens:
            if tokens.index("=") != len(tokens) - 2 or len(tokens) < 4:
                raise opened.error(number, f"expected 'PREDICATE NAME ... = VALUE', got {text[:60]!r}")
            functions.setdefault(words[0], []).append((*words[1:-2], words[-1]))
        elif len(words) < 2:
            raise opened.error(number, f"expected a predicate and what it holds of, got {text[:60]!r}")
        else:
            relations.setdefault(words[0], []).append(tuple(words[1:]))
    try:
        return Facts(relations, functions)
    except MeaningError as error:
        raise opened.error(1, str(error)) from None


def write_facts(target: TargetLike, facts: Facts, *, encoding: str = "utf-8") -> None:
    """Write the facts of a database as `read_facts` reads them, in order."""
    with open_target(target, encoding) as write:
        for (name, _), rows in facts.relations.items():
            for row in rows_in_order(rows):
                write(f"{' '.join(_checked(value) for value in (name, *row))}\n")
        for (name, _), rows in facts.functions.items():
            for row in rows_in_order(rows):
                arguments = " ".join(_checked(value) for value in (name, *row[:-1]))
                write(f"{arguments} = {_checked(row[-1])}\n")


def _checked(value: Value) -> str:
    text = written(value)
    if not text or "\n" in text or "\r" in text or value == "":
        raise MeaningError(f"expected names of one line in facts, got {text[:60]}")
    return text


def _tokens(text: str) -> Iterator[str]:
    """Names as they stand, those in quotation marks with these; "" for what is neither."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        yield found.group() if found and len(found.group().strip('"')) else ""
        if found is None:
            return
        at = found.end()
        while at < len(text) and text[at].isspace():
            at += 1
