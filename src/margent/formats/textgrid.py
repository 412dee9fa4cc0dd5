"""Praat's TextGrid files: tiers of labelled intervals, in the long and in the short text format.

Praat itself reads a text file by its free-standing numbers, its strings in double quotes and its flags such as
`<exists>`, and takes everything else for decoration. So do we, which makes the two formats one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from margent.annotation.intervals import Interval, check_intervals, interval_problem
from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import SourceLike, TargetLike, open_target, read_text

_TOKEN = re.compile(r'(?P<string>"(?:[^"]|"")*")|(?P<comment>![^\n]*)|(?P<flag><\w+>)|(?P<word>[^\s"]+)|(?P<open>")')

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)

_Token: TypeAlias = "tuple[int, str | float]"
"""The line, and a string with its quotes, a flag in its brackets or a number."""


def read_textgrid(
    source: SourceLike, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> dict[str, list[Interval]]:
    """Read the interval tiers of a TextGrid: name to intervals in seconds. Tiers of points are left out.

    Every interval is there, also those without a text, which have the label "". The encoding is UTF-8 or UTF-16, which
    the file says itself, unless another one is named.
    """
    return textgrid_tiers(*read_text(source, encoding, limits))


def textgrid_tiers(name: str, text: str) -> dict[str, list[Interval]]:
    """The interval tiers in the text of a TextGrid file that error messages call `name`."""
    if text.startswith("ooBinaryFile"):
        raise CorpusError(f"{name}: the TextGrid is in Praat's binary format; expected a text file (save it as text)")
    tokens = _Tokens(name, text)
    kind, content = tokens.string("the file type"), tokens.string("the object class")
    if not kind.startswith("ooTextFile") or content != "TextGrid":
        raise CorpusError(f'{name}: expected a file that begins with "ooTextFile" and "TextGrid", got {kind!r}')
    tokens.number("xmin")
    tokens.number("xmax")
    tiers: dict[str, list[Interval]] = {}
    if tokens.flag() != "<exists>":
        return tiers
    for _ in range(tokens.count("tiers")):
        line, kind = tokens.line, tokens.string("the class of a tier")
        if kind not in ("IntervalTier", "TextTier"):
            raise CorpusError(f'{name}, line {line}: expected "IntervalTier" or "TextTier", got {kind!r}')
        tier = tokens.string("the name of a tier")
        tokens.number("xmin of the tier")
        tokens.number("xmax of the tier")
        number = tokens.count("intervals or points")
        if kind == "TextTier":
            for _ in range(number):
                tokens.number("the time of a point")
                tokens.string("the mark of a point")
            continue
        if tier in tiers:
            raise CorpusError(f"{name}, line {line}: the tier {tier!r} is there twice; expected names that differ")
        tiers[tier] = list(_intervals(tokens, number, name))
    return tiers


def _intervals(tokens: _Tokens, number: int, name: str) -> Iterator[Interval]:
    end = 0.0
    for _ in range(number):
        line = tokens.line
        interval = Interval(tokens.number("xmin"), tokens.number("xmax"), tokens.string("the text of an interval"))
        problem = interval_problem(interval, end)
        if problem:
            raise CorpusError(f"{name}, line {line}: {problem}")
        yield interval
        end = interval.end


def _shown(token: str | float) -> str:
    """A token in one line; where a quote is missing, a string may be half of the file."""
    text = " ".join(str(token).split())
    return text if len(text) <= 60 else f"{text[:60]} ..."


class _Tokens:
    """The numbers, strings and flags of a text, taken one after the other."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._tokens = _scan(name, text)
        self._next = next(self._tokens, None)
        self.line = 1 if self._next is None else self._next[0]

    def _take(self, kind: type, what: str) -> str | float:
        if self._next is None:
            raise CorpusError(f"{self._name}, line {self.line}: the file ends where {what} was expected")
        line, token = self._next
        if not isinstance(token, kind):
            raise CorpusError(f"{self._name}, line {line}: expected {what}, got {_shown(token)}")
        self._next = next(self._tokens, None)
        self.line = line if self._next is None else self._next[0]
        return token

    def number(self, what: str) -> float:
        return float(self._take(float, what))

    def count(self, what: str) -> int:
        line, value = self.line, self.number(f"the number of {what}")
        if not 0 <= value < 2**53 or value != int(value):
            raise CorpusError(f"{self._name}, line {line}: expected the number of {what}, got {value:g}")
        return int(value)

    def flag(self) -> str:
        return str(self._take(str, "<exists> or <absent>"))

    def string(self, what: str) -> str:
        line = self.line
        token = str(self._take(str, f"{what} in double quotes"))
        if not token.startswith('"'):
            raise CorpusError(f"{self._name}, line {line}: expected {what} in double quotes, got {token}")
        return token[1:-1].replace('""', '"')


def _scan(name: str, text: str) -> Iterator[_Token]:
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match.lastgroup == "open":
            raise CorpusError(f"{name}, line {line}: a string begins here that does not end; expected a double quote")
        if match.lastgroup in ("string", "flag"):
            yield line, match[0]
        elif match.lastgroup == "word" and _NUMBER.fullmatch(match[0]):  # nan and inf are words like others
            yield line, float(match[0])


def write_textgrid(
    target: TargetLike,
    tiers: Mapping[str, Iterable[tuple[float, float, str]]],
    *,
    end: float | None = None,
    short: bool = False,
    encoding: str = "utf-8",
) -> None:
    """Write interval tiers as a TextGrid for Praat; what lies between intervals becomes one without a text.

    Parameters
    ----------
    tiers : dict from name to intervals (start, end, label) in seconds
        Several tiers are shown one above the other: `{"gold": ..., "predicted": ...}`.
    end : float or None
        The length of the recording in seconds. None: the end of the last interval.
    short : bool
        The short text format, without the names of the fields.
    """
    checked = {name: check_intervals(intervals, f"tier {name!r}") for name, intervals in tiers.items()}
    latest = max((intervals[-1].end for intervals in checked.values() if intervals), default=0.0)
    if end is not None and latest > end:
        raise CorpusError(f"the labels end at {latest:g} s, but the TextGrid should end at {end:g} s")
    stop = latest if end is None else end
    with open_target(target, encoding) as write:
        write('File type = "ooTextFile"\nObject class = "TextGrid"\n\n')
        if short:
            write(f"0\n{stop!r}\n<exists>\n{len(checked)}\n")
            for name, intervals in checked.items():
                filled = _filled(intervals, stop)
                write(f'"IntervalTier"\n{_quoted(name)}\n0\n{stop!r}\n{len(filled)}\n')
                for since, until, label in filled:
                    write(f"{since!r}\n{until!r}\n{_quoted(label)}\n")
            return
        write(f"xmin = 0 \nxmax = {stop!r} \ntiers? <exists> \nsize = {len(checked)} \nitem []: \n")
        for number, (name, intervals) in enumerate(checked.items(), 1):
            filled = _filled(intervals, stop)
            write(f'    item [{number}]:\n        class = "IntervalTier" \n        name = {_quoted(name)} \n')
            write(f"        xmin = 0 \n        xmax = {stop!r} \n        intervals: size = {len(filled)} \n")
            for index, (since, until, label) in enumerate(filled, 1):
                write(f"        intervals [{index}]:\n            xmin = {since!r} \n            xmax = {until!r} \n")
                write(f"            text = {_quoted(label)} \n")


def _filled(intervals: list[Interval], stop: float) -> list[Interval]:
    """Praat wants the intervals of a tier to cover all of it."""
    filled: list[Interval] = []
    end = 0.0
    for interval in [*intervals, None]:
        start = stop if interval is None else interval.start
        if start > end:
            filled.append(Interval(end, start, ""))
        if interval is not None:
            filled.append(interval._replace(start=max(interval.start, end)))
            end = interval.end
    return filled


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
