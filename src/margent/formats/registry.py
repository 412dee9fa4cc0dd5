"""The formats by name: what they hold, how they are read and written. A new format is one file.

A file of this package that reads or writes a format declares it in `FORMATS`, and is found by that. What a format gives
decides what can be done with it: a tagger takes `tokens` or `attributes`, a transcriber `pronunciations`, a segmenter
the `intervals` of label files, parsers `dependencies` or `phrases`, a semantic parser `meanings`, a translator
`translations`, an entailment classifier `pairs`.
Any format becomes any other that gives the same. A file that holds several of these, as CoNLL-U does, is declared once
for each, under one name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, TypeAlias

from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source

Gives: TypeAlias = Literal[
    "tokens",
    "attributes",
    "pronunciations",
    "intervals",
    "dependencies",
    "phrases",
    "meanings",
    "translations",
    "pairs",
]


_BEGINNING = 1 << 16


@dataclass(frozen=True)
class FormatOptions:
    """How a file is read or written; a format uses those that apply to it.

    encoding : of the text; None: as is usual for the format
    columns : which columns of each token to take, the label last: numbers, or names for CoNLL-U
    tabs : single tabs separate columns
    comment : lines that begin with this are comments
    scheme : in which spans become labels; None: iob2
    stress : False takes the digits off the end of phonemes
    rate : samples per second, for label files that count samples
    tier : which one of a TextGrid
    single_root : whether a dependency tree with several roots is refused
    limits : how large lines, sentences and files may be
    functions, traces, unaries : whether function tags, empty elements and chains of phrases over the same words are
        kept in phrase-structure trees
    """

    encoding: str | None = None
    columns: str | None = None
    tabs: bool = False
    comment: str | None = None
    scheme: str | None = None
    stress: bool = True
    rate: int = 16000
    tier: str | None = None
    single_root: bool = True
    limits: Limits = DEFAULT_LIMITS
    functions: bool = False
    traces: bool = False
    unaries: bool = True

    @property
    def text(self) -> dict[str, Any]:
        """The keyword arguments of a writer of text."""
        return {"encoding": self.encoding or "utf-8"}

    @property
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of a reader of text."""
        return {**self.text, "limits": self.limits}


@dataclass(frozen=True)
class Format:
    """A file format.

    name : after `--format`
    gives : what it holds
    about : in a few words, for help texts
    extensions : of file names, in lower case
    read : from path and `FormatOptions` to (X, y), all of the file; intervals: to a list of them
    stream : from path, `FormatOptions` and `Expected` to batches of sentences, as they arrive; see `formats.batch`
    write : from target, X, y and `FormatOptions` to a file; intervals: from target, intervals and `FormatOptions`
    takes_columns : whether `FormatOptions.columns` means something
    recognises : whether a file whose name promises no format is of this one, by its first bytes
    """

    name: str
    gives: Gives
    about: str
    extensions: tuple[str, ...] = ()
    read: Callable[[Any, FormatOptions], Any] | None = None
    stream: Callable[..., Iterator[Any]] | None = None
    write: Callable[..., None] | None = None
    takes_columns: bool = False
    recognises: Callable[[bytes], bool] | None = None


@cache
def all_formats() -> tuple[Format, ...]:
    """All formats, one for each name and what it gives."""
    folder = import_module("margent.formats")
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(folder.__path__)]
    return tuple(format for module in modules for format in getattr(module, "FORMATS", ()))


def format_names(*gives: Gives, read: bool = True, write: bool = False) -> tuple[str, ...]:
    """The names of the formats that give one of these, all if none, and can be read or written as asked."""
    found = (
        format.name
        for format in all_formats()
        if (not gives or format.gives in gives) and (not read or format.read) and (not write or format.write)
    )
    return tuple(dict.fromkeys(found))


def formats_named(name: str, *gives: Gives) -> tuple[Format, ...]:
    """The formats of this name that give one of these, in the order of `gives`; all if none. Never without one."""
    found = [format for format in all_formats() if format.name == name and (not gives or format.gives in gives)]
    if not found:
        raise CorpusError(f"there is no format {name!r}; expected one of {', '.join(format_names(*gives, read=False))}")
    return tuple(sorted(found, key=lambda format: gives.index(format.gives) if gives else 0))


def format_named(name: str, *gives: Gives) -> Format:
    """The format of this name; where it holds several things, the first one of `gives` that it does."""
    return formats_named(name, *gives)[0]


def guessed_format(path: str, *gives: Gives) -> str | None:
    """The format of a file, of those that give one of these; all if none.

    It is what the name promises, compressed or not, and if that is nothing, what the file begins with.
    """
    extension = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    formats = [format for format in all_formats() if not gives or format.gives in gives]
    for format in formats:
        if extension in format.extensions:
            return format.name
    if any(format.recognises for format in formats) and os.path.isfile(path):
        beginning = next(Source(path).utf8(_BEGINNING), b"")[:_BEGINNING]
        for format in formats:
            if format.recognises is not None and format.recognises(beginning):
                return format.name
    return None
