"""How much a reader takes before it says that something is wrong: a small file can hold an endless line or sentence.

A megabyte of gzip may stand for a gigabyte. Everything that has to be in memory at once therefore has a limit, far
above what texts have, and each limit is a parameter: `limits=Limits(line=...)` of every reader, `--limit line=...` of
every command.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from margent.parameters import check_whole


@dataclass(frozen=True)
class Limits:
    """The largest that readers take.

    Parameters
    ----------
    line : int
        Characters of a line; in columns, bytes of UTF-8.
    tokens : int
        Tokens of a sentence; comments count as lines do.
    sentence : int
        Characters of all lines of a sentence or story; in columns, bytes.
    empty_lines : int
        Empty lines one after the other.
    file : int
        Bytes of a file that is read as a whole: label files, TextGrids.
    expansion : int
        How many times larger the text of a gzip file may be than the file, if it is larger than 16 MiB.

    Examples
    --------
    >>> Limits(tokens=100)
    Limits(line=4194304, tokens=100, sentence=67108864, empty_lines=1048576, file=268435456, expansion=256)
    """

    line: int = 1 << 22
    tokens: int = 1 << 20
    sentence: int = 1 << 26
    empty_lines: int = 1 << 20
    file: int = 1 << 28
    expansion: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            check_whole(self, field.name, minimum=1, maximum=1 << 62)

    def exceeded(self, limit: str) -> str:
        """What is wrong, and what to do about it."""
        return (
            f"{_WHAT[limit].format(f'{getattr(self, limit):,}')}; if that is right, read it with a larger limit: "
            f"limits=Limits({limit}=...), or --limit {limit}=N"
        )


DEFAULT_LIMITS = Limits()
EXPANSION_FROM = 1 << 24
"""Text of a gzip file that is no larger than this may be any number of times larger than the file."""

_WHAT = {
    "line": "the line is longer than {} characters",
    "tokens": "the sentence has more than {} tokens",
    "sentence": "the sentence is longer than {} characters",
    "empty_lines": "there are more than {} empty lines one after the other",
    "file": "the file is larger than {} bytes",
    "expansion": "the text is more than {} times as large as the gzip file",
}
