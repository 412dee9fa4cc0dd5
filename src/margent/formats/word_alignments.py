"""Files of word alignments: the links of a sentence pair on each line, as Pharaoh, Moses and eflomal write them.

    0-0 1-2 2-1 3?3

A link is a source and a target position, counted from 0; `?` marks those that are possible but not sure, which only
alignments made by hand have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from margent.annotation.word_alignment import WordAlignment
from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike, TargetLike, open_target


def iter_word_alignments(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[WordAlignment]:
    """Read alignments line by line; a line without links is a pair without any."""
    opened = Source(source, encoding, limits)
    for number, line in opened.lines():
        try:
            yield WordAlignment.parse(line)
        except CorpusError as error:
            raise opened.error(number, str(error)) from None


def read_word_alignments(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> list[WordAlignment]:
    """Read all alignments of a file, gzip or not.

    >>> [len(alignment) for alignment in read_word_alignments(b"0-0 1-1\\n\\n0-1\\n")]
    [2, 0, 1]
    """
    return list(iter_word_alignments(source, encoding=encoding, limits=limits))


def write_word_alignments(target: TargetLike, alignments: Iterable[WordAlignment], *, encoding: str = "utf-8") -> None:
    """Write alignments, the links of each in order on a line."""
    with open_target(target, encoding) as write:
        for alignment in alignments:
            write(f"{alignment}\n")
