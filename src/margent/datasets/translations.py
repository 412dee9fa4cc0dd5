"""Loaders of public sentence pairs: Chinese and English of Tatoeba, and word alignments made by hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from margent.annotation.word_alignment import WordAlignment
from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError
from margent.formats.source import Source
from margent.formats.word_alignments import read_word_alignments

_TATOEBA = "https://www.manythings.org/anki/ (cmn-eng; segmented and split, as a table zh-en.tsv)"
_ALIGNMENTS = "https://github.com/neulab/awesome-align (examples), as tables of source, target and links"
_COLUMNS = ("split", "en", "zh")
SPLITS = ("train", "dev", "test")
ALIGNED_LANGUAGES = ("zh-en", "ja-en", "en-fr", "ro-en")


class AlignedSentences(NamedTuple):
    """Source sentences, their translations, and which words belong together."""

    X: list[list[str]]
    y: list[list[str]]
    alignments: list[WordAlignment]


def load_tatoeba(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Short Chinese sentences and their English translations: X and y words.

    26,702 pairs to train on, 1,271 to develop, 1,082 to test. A sentence with several translations comes several times,
    in one part; `grouped_references` brings them together. File: ``tatoeba-zh-en/zh-en.tsv`` with the columns split, en
    and zh, words between blanks.
    """
    found = _pairs(DataHome(data_home, ["tatoeba-zh-en"], _TATOEBA))
    train, dev, test = (
        Part([zh for split, _, zh in found if split == name], [en for split, en, _ in found if split == name])
        for name in SPLITS
    )
    return Dataset(
        "tatoeba-zh-en",
        train=train,
        dev=dev,
        test=test,
        description="Chinese and English sentences of tatoeba.org, lower case, Chinese simplified and segmented.",
        terms="CC BY 2.0 FR, attribution tatoeba.org and the authors named in the file.",
    )


def load_tatoeba_alignments(
    split: str = "train", *, data_home: str | os.PathLike[str] | None = None
) -> list[WordAlignment]:
    """Automatic alignments of the pairs of a part ("train", "dev", "test"), Chinese-English, in their order.

    File: ``tatoeba-zh-en/zh-en.align``, a line for each row of the table.
    """
    if split not in SPLITS:
        raise CorpusError(f"the pairs have the parts {', '.join(SPLITS)}, got {split!r}")
    home = DataHome(data_home, ["tatoeba-zh-en"], _TATOEBA)
    found, alignments = _pairs(home), read_word_alignments(home.find("zh-en.align"))
    if len(found) != len(alignments):
        raise CorpusError(f"zh-en.align has {len(alignments)} lines, expected {len(found)} as the table has rows")
    for number, ((_, en, zh), alignment) in enumerate(zip(found, alignments), 1):
        alignment.check_fits(len(zh), len(en), f"zh-en.align, line {number}")
    return [alignment for (name, _, _), alignment in zip(found, alignments) if name == split]


def load_gold_alignments(
    languages: str = "zh-en", *, data_home: str | os.PathLike[str] | None = None
) -> AlignedSentences:
    """Sentence pairs with word alignments made by hand: "zh-en" (450 pairs), "ja-en", "en-fr" or "ro-en".

    File: ``word-alignment-gold/zh-en.tsv`` without names of columns: source words, target words, links.
    """
    if languages not in ALIGNED_LANGUAGES:
        raise CorpusError(f"there are gold alignments of {', '.join(ALIGNED_LANGUAGES)}, got {languages!r}")
    home = DataHome(data_home, ["word-alignment-gold"], _ALIGNMENTS)
    opened = Source(home.find(f"{languages}.tsv"))
    found = AlignedSentences([], [], [])
    for number, line in opened.lines():
        fields = line.split("\t")
        if len(fields) != 3:
            raise opened.error(number, f"expected source, target and links between tabs, got {len(fields)} columns")
        X, y = fields[0].split(), fields[1].split()
        try:
            alignment = WordAlignment.parse(fields[2])
            alignment.check_fits(len(X), len(y))
        except CorpusError as error:
            raise opened.error(number, str(error)) from None
        found.X.append(X)
        found.y.append(y)
        found.alignments.append(alignment)
    return found


def grouped_references(
    sources: Iterable[Sequence[str]], translations: Iterable[Sequence[str]]
) -> tuple[list[list[str]], list[list[list[str]]]]:
    """Each source sentence once, in the order in which they first come, with all its different translations.

    >>> grouped_references([["a"], ["b"], ["a"]], [["x"], ["y"], ["z"]])
    ([['a'], ['b']], [[['x'], ['z']], [['y']]])
    """
    found: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    for source, translation in zip(sources, translations, strict=True):
        found.setdefault(tuple(source), {})[tuple(translation)] = None
    return [list(source) for source in found], [[list(one) for one in several] for several in found.values()]


def _pairs(home: DataHome) -> list[tuple[str, list[str], list[str]]]:
    """(split, English, Chinese) of all rows."""
    opened = Source(home.find("zh-en.tsv"))
    found: list[tuple[str, list[str], list[str]]] = []
    columns: list[str] = []
    for number, line in opened.lines():
        fields = line.split("\t")
        if not columns:
            columns = fields
            missing = [name for name in _COLUMNS if name not in columns]
            if missing:
                raise opened.error(number, f"expected the columns {', '.join(_COLUMNS)}, got no {missing[0]}")
            continue
        if len(fields) != len(columns):
            raise opened.error(number, f"expected {len(columns)} columns between tabs, got {len(fields)}")
        split, en, zh = (fields[columns.index(name)] for name in _COLUMNS)
        if split not in SPLITS:
            raise opened.error(number, f"expected a split of {', '.join(SPLITS)}, got {split!r}")
        found.append((split, en.split(), zh.split()))
    return found
