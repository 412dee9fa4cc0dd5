"""Parallel text: a sentence and its translation on each line, words between blanks.

Two forms are read: `source<TAB>target`, and `source ||| target` as cdec and fast_align have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike, TargetLike, open_target

BARS = "|||"
SEPARATORS = {"tab": "\t", "bars": f" {BARS} "}


def iter_parallel_text(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[list[str], list[str]]]:
    """Read sentence pairs line by line. The first line says which form the file has."""
    opened = Source(source, encoding, limits)
    separator = ""
    for number, line in opened.lines():
        if not line.strip():
            continue
        separator = separator or ("\t" if "\t" in line else BARS)
        sides = line.split(separator)
        if len(sides) != 2:
            raise opened.error(
                number, f"expected a sentence, a tab or {BARS} and its translation, got {len(sides)} in {line[:60]!r}"
            )
        first, second = sides[0].split(), sides[1].split()
        if not first or not second:
            raise opened.error(number, "expected words on both sides, got none on one")
        yield first, second


def read_parallel_text(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[list[str]], list[list[str]]]:
    """Read sentences and their translations, gzip or not.

    >>> read_parallel_text(b"das Haus ||| the house\\n")
    ([['das', 'Haus']], [['the', 'house']])
    """
    pairs = list(iter_parallel_text(source, encoding=encoding, limits=limits))
    return [first for first, _ in pairs], [second for _, second in pairs]


def write_parallel_text(
    target: TargetLike,
    sources: Iterable[Sequence[str]],
    translations: Iterable[Sequence[str]],
    *,
    separator: str = "tab",
    encoding: str = "utf-8",
) -> None:
    """Write sentences and their translations. `separator`: "tab", or "bars" for `|||` between blanks."""
    if separator not in SEPARATORS:
        raise ValueError(f"separator should be one of {', '.join(SEPARATORS)}, got {separator!r}")
    with open_target(target, encoding) as write:
        for number, sides in enumerate(zip(sources, translations, strict=True)):
            for words in sides:
                if isinstance(words, str) or not words or any(w.split() != [w] or w == BARS for w in words):
                    raise CorpusError(f"pair {number}: expected words without blanks, and not {BARS}, got {words!r}")
            write(SEPARATORS[separator].join(" ".join(words) for words in sides) + "\n")


FORMATS = (
    Format(
        "parallel-text",
        "translations",
        "a sentence and its translation on each line, between tab or |||",
        (".parallel",),
        lambda path, options: read_parallel_text(path, **options.reading),
        None,
        lambda target, X, y, options: write_parallel_text(target, X, y, **options.text),
    ),
)
