"""Domains as text: types, names, phrases and seeds, one thing on a line.

    # states and what they have to do with each other
    type state < location
    type price < i
    predicate loc:t : location -> location -> t
    constant texas:s : state = texas | state of texas
    constant "visual c++" : language = visual c++
    word how many = (lambda $0 <e,t> (count $0))
    suffix ti = time
    value clock = {}:ti

A line that begins with "#" is a comment. Names with blanks stand in quotation marks. A name that has several types has
several lines. `predicate` and `constant` differ for readers alone; the types may be left out where only phrases are
added. See docs/meanings.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from margent.errors import MeaningError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.meaning.domain import MOST_BASIC_TYPES, MOST_ENTRIES, Domain, Seed
from margent.meaning.notation import meaning_text, parse_meaning
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.types import FunctionType, Type, parse_type

_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"]+)')
_ESCAPED = re.compile(r"\\(.)")
_BASIC = re.compile(r"[^\s()<>,*'|=#-][^\s()<>,*'|=-]*\Z")


def read_domain(source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS) -> Domain:
    """Read a domain.

    Examples
    --------
    >>> domain = read_domain(b"type state < location\\nconstant texas:s : state = texas | state of texas\\n")
    >>> str(domain.types_of("texas:s")[0]), domain.constants_of(["state", "of", "texas"])
    ('state', ('texas:s',))
    """
    opened = Source(source, encoding, limits)
    return _DomainReader(opened).read()


def write_domain(target: TargetLike, domain: Domain, *, encoding: str = "utf-8") -> None:
    """Write a domain as `read_domain` reads it."""
    for name in (*domain.hierarchy.names, *domain.suffixes):
        if not _BASIC.match(name):
            raise MeaningError(f"expected types and suffixes without blanks and signs, got {name!r}")
    for pattern in (pattern for patterns in domain.values.values() for pattern in patterns):
        if pattern != pattern.strip():
            raise MeaningError(f"expected names of values without blanks around them, got {pattern!r}")
    lines = [f"type {name}{' < ' if above else ''}{', '.join(above)}" for name, above in _types(domain)]
    called: dict[str, list[str]] = {}
    for words, names in domain.phrases.items():
        text = " ".join(words)
        if "|" in words:
            raise MeaningError(f"expected phrases without the word |, which lies between them, got {text!r}")
        for name in names:
            called.setdefault(name, []).append(text)
    for name, types in domain.types.items():
        for type_ in types:
            kind = "predicate" if isinstance(type_, FunctionType) else "constant"
            phrases = called.pop(name, [])
            lines.append(f"{kind} {_quoted(name)} : {type_}{' = ' if phrases else ''}{' | '.join(phrases)}")
    lines += [f"constant {_quoted(name)} = {' | '.join(phrases)}" for name, phrases in called.items()]
    lines += [f"suffix {suffix} = {name}" for suffix, name in domain.suffixes.items()]
    lines += [f"value {kind} = {pattern}" for kind, patterns in domain.values.items() for pattern in patterns]
    for words, meaning in domain.seeds:
        text = " ".join(words)
        if "=" in words:
            raise MeaningError(f"expected seeds without the word =, which lies before the meaning, got {text!r}")
        lines.append(f"word {text} = {meaning_text(meaning)}")
    with open_target(target, encoding) as write:
        for line in lines:
            write(f"{line}\n")


def _types(domain: Domain) -> list[tuple[str, tuple[str, ...]]]:
    parents = domain.hierarchy.parents
    return [(name, above) for name, above in parents.items() if above or name not in ("t", "i")]


def _quoted(name: str) -> str:
    if re.match(r'[^\s"]+\Z', name) and name not in (":", "="):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _DomainReader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.parents: dict[str, tuple[str, ...]] = {}
        self.named: set[str] = {"t", "i", "top"}
        self.types: dict[str, dict[Type, int]] = {}
        self.phrases: dict[tuple[str, ...], list[str]] = {}
        self.seeds: list[Seed] = []
        self.suffixes: dict[str, tuple[str, int]] = {}
        self.values: dict[str, list[str]] = {}
        self.known: dict[str, Type] = {}

    def read(self) -> Domain:
        kinds: dict[str, Callable[[str, int], None]] = {
            "type": self.type,
            "predicate": self.name,
            "constant": self.name,
            "word": self.word,
            "suffix": self.suffix,
            "value": self.value,
        }
        number = entries = 0
        for number, line in self.source.lines():
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            kind, _, rest = text.partition(" ")
            if kind not in kinds:
                raise self.source.error(
                    number, f"expected one of {', '.join(kinds)} at the beginning, got {kind[:40]!r}"
                )
            entries += 1
            if entries > 4 * MOST_ENTRIES:
                raise self.source.error(number, f"expected at most {4 * MOST_ENTRIES} entries")
            try:
                kinds[kind](rest.strip(), number)
            except MeaningError as error:
                raise self.source.error(number, str(error)) from None
        for name, types in self.types.items():
            for type_, line_number in types.items():
                for basic in type_.names():
                    if basic not in self.named:
                        raise self.source.error(
                            line_number, f"{name!r}: expected types that a line 'type ...' names, got {basic!r}"
                        )
        for suffix, (basic, line_number) in self.suffixes.items():
            if basic not in self.named:
                raise self.source.error(
                    line_number, f"suffix {suffix!r}: expected a type that a line 'type ...' names, got {basic!r}"
                )
        try:
            return Domain(
                TypeHierarchy(self.parents),
                {name: tuple(types) for name, types in self.types.items()},
                {words: tuple(names) for words, names in self.phrases.items()},
                tuple(self.seeds),
                {suffix: basic for suffix, (basic, _) in self.suffixes.items()},
                {kind: tuple(patterns) for kind, patterns in self.values.items()},
            )
        except MeaningError as error:
            raise self.source.error(max(number, 1), str(error)) from None

    def type(self, rest: str, number: int) -> None:
        name, less, above = (part.strip() for part in rest.partition("<"))
        parents = tuple(part.strip() for part in above.split(",")) if less else ()
        for one in (name, *parents):
            if not _BASIC.match(one):
                raise MeaningError(f"expected 'type NAME' or 'type NAME < NAME, ...', got {rest[:60]!r}")
        if name in self.parents:
            raise MeaningError(f"expected each type once, got {name!r} again")
        if len(self.parents) >= MOST_BASIC_TYPES:
            raise MeaningError(f"expected at most {MOST_BASIC_TYPES} types")
        self.parents[name] = parents
        self.named.update((name, *parents))

    def name(self, rest: str, number: int) -> None:
        """NAME : TYPE, NAME = PHRASE | PHRASE, or NAME : TYPE = PHRASE | PHRASE."""
        name, after = self.named_first(rest)
        if after.startswith(":"):
            text, _, phrases = f"{after[1:]} ".partition(" = ")
            text = text.strip()
            if text not in self.known:
                self.known[text] = parse_type(text)
            self.types.setdefault(name, {}).setdefault(self.known[text], number)
            if not phrases.strip() and " = " not in f"{after} ":
                return
        elif after.startswith("="):
            phrases = after[1:]
        else:
            raise MeaningError(f"expected ': TYPE' or '= WORDS' after the name {name!r}, got {after[:60]!r}")
        for phrase in phrases.split("|"):
            words = tuple(phrase.lower().split())
            if not words:
                raise MeaningError(f"{name!r}: expected words between '=' and '|', got none")
            self.phrases.setdefault(words, []).append(name)

    def named_first(self, rest: str) -> tuple[str, str]:
        found = _NAME.match(rest)
        if found is None or not (found[1] or found[2]):
            raise MeaningError(f"expected a name, in quotation marks if it has blanks, got {rest[:60]!r}")
        name = _ESCAPED.sub(r"\1", found[1]) if found[1] else found[2]
        after = rest[found.end() :]
        if after and not after[0].isspace():
            raise MeaningError(f"expected a blank after the name {name!r}, got {after[:60]!r}")
        return name, after.strip()

    def word(self, rest: str, number: int) -> None:
        words, equals, meaning = f" {rest}".partition(" = ")
        if not equals or not words.split():
            raise MeaningError(f"expected 'word WORDS = MEANING', got {rest[:60]!r}")
        self.seeds.append(Seed(tuple(words.lower().split()), parse_meaning(meaning)))

    def suffix(self, rest: str, number: int) -> None:
        suffix, equals, basic = (part.strip() for part in rest.partition("="))
        if not equals or not _BASIC.match(basic) or not _BASIC.match(suffix):
            raise MeaningError(f"expected 'suffix NAME = TYPE', got {rest[:60]!r}")
        if suffix in self.suffixes:
            raise MeaningError(f"expected each suffix once, got {suffix!r} again")
        self.suffixes[suffix] = basic, number

    def value(self, rest: str, number: int) -> None:
        kind, equals, pattern = (part.strip() for part in rest.partition("="))
        if not equals or not kind or not pattern:
            raise MeaningError(f"expected 'value KIND = NAME', with {{}} for the number, got {rest[:60]!r}")
        Domain(TypeHierarchy({}), {}, values={kind: (pattern,)})
        self.values.setdefault(kind, []).append(pattern)
