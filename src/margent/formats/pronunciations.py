"""Pronunciation dictionaries: a word and its phonemes on each line.

Two forms are read, also mixed: ``word<TAB>F OW N IY M Z`` (or blanks after the word), and CMUdict's own, with ``;;;``
before comments, ``# ...`` after a pronunciation, and ``WORD(2)`` for the second pronunciation of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike, TargetLike, open_target

_VARIANT = re.compile(r"(.+)\([0-9]+\)")
_COMMENT = ";;;"


def iter_pronunciations(
    source: SourceLike, *, stress: bool = True, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[str, list[str]]]:
    """Read a pronunciation dictionary line by line: yields (word, phonemes).

    `stress`: False takes the digits off the end of phonemes, so that ``AH0`` and ``AH1`` are both ``AH``.
    """
    opened = Source(source, encoding, limits)
    for number, line in opened.lines():
        if line.startswith(_COMMENT) or not line.strip():
            continue
        word, *rest = line.rstrip().split("\t") if "\t" in line else line.split(None, 1)
        if len(rest) > 1:
            raise opened.error(
                number,
                f"expected a word, a tab and its phonemes between blanks, got {len(rest) + 1} columns in {line!r}",
            )
        phonemes = rest[0].split(" #", 1)[0].split() if rest else []
        if not word.strip() or not phonemes:
            raise opened.error(number, f"expected a word and its phonemes, got {line!r}")
        variant = _VARIANT.fullmatch(word.strip())
        if not stress:
            phonemes = [phoneme.rstrip("0123456789") or phoneme for phoneme in phonemes]
        yield variant[1] if variant else word.strip(), phonemes


def read_pronunciations(
    source: SourceLike, *, stress: bool = True, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[str], list[list[str]]]:
    """Read a pronunciation dictionary, gzip or not.

    A word with several pronunciations comes as often as it has some. Words are left as they are, upper or lower case.
    `stress`: False takes the digits off the end of phonemes; lines that are the same without them stay.

    Examples
    --------
    >>> read_pronunciations(b";;; CMUdict\\nTHE  DH AH0\\nTHE(2)  DH IY0\\n", stress=False)
    (['THE', 'THE'], [['DH', 'AH'], ['DH', 'IY']])
    """
    words, pronunciations = [], []
    for word, phonemes in iter_pronunciations(source, stress=stress, encoding=encoding, limits=limits):
        words.append(word)
        pronunciations.append(phonemes)
    return words, pronunciations


def write_pronunciations(
    target: TargetLike, words: Iterable[str], pronunciations: Iterable[Sequence[str]], *, encoding: str = "utf-8"
) -> None:
    """Write a dictionary of two columns: the word, a tab, and its phonemes with blanks between them."""
    with open_target(target, encoding) as write:
        for number, (word, phonemes) in enumerate(zip(words, pronunciations, strict=True)):
            if not word.strip() or "\t" in word or any(len(phoneme.split()) != 1 for phoneme in phonemes):
                raise CorpusError(f"entry {number}: expected a word without tabs and phonemes without blanks")
            write(f"{word}\t{' '.join(phonemes)}\n")


FORMATS = (
    Format(
        "pronunciations",
        "pronunciations",
        "a word and its phonemes on each line, CMUdict",
        (".dict",),
        lambda path, options: read_pronunciations(path, stress=options.stress, **options.reading),
        None,
        lambda target, X, y, options: write_pronunciations(target, X, y, **options.text),
    ),
)
