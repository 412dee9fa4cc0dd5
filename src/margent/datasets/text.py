"""Loaders of public data sets for tagging, from files that the user has fetched; Margent ships none of them.

The files lie in one folder for each set under `data_home`, by default the folder that the environment variable
MARGENT_DATA names. Each may be plain or end in ".gz". A missing file is answered with where to get it and where to put
it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError, DataNotFoundError
from margent.formats.columns import Columns, read_columns
from margent.formats.conllu import read_conllu
from margent.formats.muc import read_muc
from margent.formats.pronunciations import read_pronunciations
from margent.formats.source import Source


class Part(NamedTuple):
    """Input sequences and their label sequences."""

    X: Any
    y: Any


@dataclass(frozen=True)
class Dataset:
    """A public data set.

    Attributes
    ----------
    train, dev, test : Part or None
        As published. A set without a published split is all in `train`.
    folds : (n_sequences,) int array or None
        The published fold of each sequence of `train`.
    description : str
        What it is, and whom to cite.
    terms : str
        What its makers allow.
    """

    name: str
    train: Part
    dev: Part | None
    test: Part | None
    description: str
    terms: str
    folds: npt.NDArray[np.int64] | None = None

    def hold_out(self, folds: int | Iterable[int]) -> Dataset:
        """The same data with the sequences of these folds as `test` and all others as `train`."""
        if self.folds is None:
            raise CorpusError(f"{self.name} has no folds")
        chosen = [folds] if isinstance(folds, int) else list(folds)
        unknown = set(chosen) - set(self.folds.tolist())
        if unknown:
            known = sorted(set(self.folds.tolist()))
            raise CorpusError(f"{self.name} has no fold {min(unknown)}; its folds are {known}")
        held = np.isin(self.folds, chosen)
        return replace(self, train=_take(self.train, ~held), test=_take(self.train, held), folds=self.folds[~held])

    def __repr__(self) -> str:
        parts = {"train": self.train, "dev": self.dev, "test": self.test}
        counts = ", ".join(f"{len(part.X)} {name}" for name, part in parts.items() if part is not None)
        return f"Dataset({self.name}: {counts})"


def _take(part: Part, mask: npt.NDArray[np.bool_]) -> Part:
    numbers = np.flatnonzero(mask)
    return Part([part.X[i] for i in numbers], [part.y[i] for i in numbers])


class DataHome:
    """The folder of one data set, and what to say when something is missing from it."""

    def __init__(self, data_home: str | os.PathLike[str] | None, folders: Sequence[str], origin: str) -> None:
        home = data_home or os.environ.get("MARGENT_DATA")
        self.origin = origin
        if not home:
            raise DataNotFoundError(
                f"expected the folder of the data sets in data_home or in the environment variable MARGENT_DATA, got"
                f" neither; {folders[0]} is available from {origin} and belongs in its subfolder {folders[0]}"
            )
        self.folder = next((path for name in folders if (path := Path(home, name)).is_dir()), Path(home, folders[0]))

    def find(self, *names: str) -> Path:
        """The first of these files that exists, plain or compressed."""
        for name in names:
            for path in (self.folder / name, self.folder / f"{name}.gz"):
                if path.is_file():
                    return path
        raise self.missing(" or ".join(names))

    def missing(self, what: str) -> DataNotFoundError:
        return DataNotFoundError(
            f"found no file {what} (plain or .gz) in {self.folder}; get it from {self.origin} and put it there"
        )


def load_conll2000(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Text chunking, CoNLL-2000: X has the columns word and part of speech, y chunk labels in IOB2.

    8,936 sentences to train on (211,727 tokens), 2,012 to test. Files: ``conll2000/{train,test}.txt``.
    """
    home = DataHome(
        data_home, ["conll2000"], "https://www.clips.uantwerpen.be/conll2000/chunking/ (or NLTK's data set 'conll2000')"
    )
    return Dataset(
        "conll2000",
        train=Part(*read_columns(home.find("train.txt")).split()),
        dev=None,
        test=Part(*read_columns(home.find("test.txt")).split()),
        description="Text chunking of the Wall Street Journal; Tjong Kim Sang and Buchholz, CoNLL 2000.",
        terms="Derived from the Penn Treebank, free to fetch for research.",
    )


def load_conll2002(
    language: str = "esp", *, encoding: str = "utf-8", data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """Named entities in news, CoNLL-2002: Spanish ("esp") or Dutch ("ned"), y in IOB2.

    X has the columns word and part of speech, or the word alone where the file has two columns. Files:
    ``conll2002/{esp,ned}.{train,testa,testb}``; testa is `dev`. The first release of the Spanish files was written in
    Latin 1: pass ``encoding="latin-1"`` for those.
    """
    if language not in ("esp", "ned"):
        raise CorpusError(f"CoNLL-2002 has the languages 'esp' and 'ned', got {language!r}")
    home = DataHome(
        data_home, ["conll2002"], "https://www.clips.uantwerpen.be/conll2002/ner/ (or NLTK's data set 'conll2002')"
    )
    train, dev, test = (
        Part(*read_columns(home.find(f"{language}.{name}"), encoding=encoding).split())
        for name in ("train", "testa", "testb")
    )
    return Dataset(
        f"conll2002-{language}",
        train=train,
        dev=dev,
        test=test,
        description="Named entity recognition in Spanish or Dutch news; Tjong Kim Sang, CoNLL 2002.",
        terms="For research in the context of the CoNLL-2002 shared task; no commercial use.",
    )


def load_wnut17(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Novel and emerging entities in English tweets and web text, WNUT 2017: X tokens, y in IOB2, six types.

    Files: ``ner-wnut17/{train,dev,test}.conll``, or under their first names ``wnut17train.conll``,
    ``emerging.dev.conll`` and ``emerging.test.annotated``.
    """
    home = DataHome(data_home, ["ner-wnut17", "wnut17"], "https://github.com/leondz/emerging_entities_17")
    names = [
        ("train.conll", "wnut17train.conll"),
        ("dev.conll", "emerging.dev.conll"),
        ("test.conll", "emerging.test.annotated"),
    ]
    train, dev, test = (Part(*read_columns(home.find(*pair), separator="\t").split()) for pair in names)
    return Dataset(
        "wnut17",
        train=train,
        dev=dev,
        test=test,
        description="Emerging entities in noisy text; Derczynski, Nichols, van Erp and Limsopatham, W-NUT 2017.",
        terms="CC BY 4.0.",
    )


def load_muc7(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Named entities in English news, MUC-7: X tokens, y in IOB2, seven types; licensed by the LDC.

    Files: ``muc7/{train,dev,test}.sgml``, the tagged stories (answer keys) of the named entity task: the training, the
    dry-run and the formal-test set, several files of the release one after the other; `dev` is None where there is
    none. `margent.formats.read_muc` says how they are read.
    """
    home = DataHome(data_home, ["muc7"], "https://catalog.ldc.upenn.edu/LDC2001T02")
    parts = {name: Part(*read_muc(home.find(f"{name}.sgml")).split()) for name in ("train", "test")}
    try:
        dev = Part(*read_muc(home.find("dev.sgml")).split())
    except DataNotFoundError:
        dev = None
    return Dataset(
        "muc7",
        train=parts["train"],
        dev=dev,
        test=parts["test"],
        description="Named entities in the New York Times; Chinchor and Robinson, MUC-7 1998.",
        terms="Licensed by the Linguistic Data Consortium, LDC2001T02.",
    )


def load_ud(
    treebank: str = "english-ewt",
    *,
    columns: Sequence[str] = ("form",),
    label: str = "upos",
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """A treebank of Universal Dependencies: X the words, y one of the other columns.

    Parameters
    ----------
    treebank : str
        As in "english-ewt" or "chinese-gsd". Any treebank will do: its files ``*-ud-{train,dev,test}.conllu`` are
        looked for in the folder ``ud-english-ewt`` or, as in the releases, ``UD_English-EWT``.
    columns, label : names from `margent.formats.CONLLU_COLUMNS`
        What is in X, and what is in y.
    """
    return ud_dataset(treebank, data_home, lambda path: Part(*read_conllu(path, (*columns, label)).split()))


def ud_dataset(treebank: str, data_home: str | os.PathLike[str] | None, read: Callable[[Path], Part]) -> Dataset:
    """The three files of a treebank of Universal Dependencies, each read by `read`."""
    language, _, name = treebank.lower().partition("-")
    release = f"UD_{language.capitalize()}-{name.upper()}"
    origin = f"https://github.com/UniversalDependencies/{release}"
    home = DataHome(data_home, [f"ud-{treebank.lower()}", release], origin)

    def part(which: str) -> Part:
        paths = sorted(home.folder.glob(f"*-ud-{which}.conllu")) + sorted(home.folder.glob(f"*-ud-{which}.conllu.gz"))
        if not paths:
            raise home.missing(f"*-ud-{which}.conllu")
        return read(paths[0])

    return Dataset(
        f"ud-{treebank.lower()}",
        train=part("train"),
        dev=part("dev"),
        test=part("test"),
        description="A treebank of Universal Dependencies; Nivre et al., LREC 2020.",
        terms="Each treebank has its own licence, mostly CC BY-SA 4.0; see the LICENSE file beside it.",
    )


def load_treebank_sample(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """The sample of the Penn Treebank that NLTK distributes: X words, y parts of speech; all in `train`.

    3,914 sentences of the Wall Street Journal. File: ``treebank-sample/wsj-pos.tsv``, a word, a tab and its tag on each
    line, a blank line after each sentence, empty elements (tag ``-NONE-``) left out.
    """
    home = DataHome(
        data_home,
        ["treebank-sample"],
        "NLTK's data set 'treebank' (nltk.corpus.treebank.tagged_sents(), less '-NONE-')",
    )
    return Dataset(
        "treebank-sample",
        train=Part(*read_columns(home.find("wsj-pos.tsv"), separator="\t").split()),
        dev=None,
        test=None,
        description="Parts of speech, 5 % of the Wall Street Journal; Marcus, Santorini and Marcinkiewicz 1993.",
        terms="Non-commercial use only.",
    )


def load_nettalk(
    *, stress: bool = False, common_words: bool = False, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """Pronunciations of English words, letter by letter, NETtalk: X letters, y phonemes.

    20,008 words, all in `train`; the phoneme "-" is silent. Files: ``nettalk/nettalk.tsv`` with the fields word,
    phonemes, stress and flag, or the file ``nettalk.data`` of the first release, whose heading is skipped.

    Parameters
    ----------
    stress : bool
        Whether the label of a letter is phoneme and stress, such as "a1". The one word without stress in the corpus,
        gunpowder, is then left out.
    common_words : bool
        Only the 1,000 most common words, as listed in ``nettalk/top1000.txt``.
    """
    origin = "https://archive.ics.uci.edu/dataset/150/connectionist+bench+nettalk+corpus"
    home = DataHome(data_home, ["nettalk"], origin)
    path = home.find("nettalk.tsv", "nettalk.data")
    chosen = {word for _, word in Source(home.find("top1000.txt")).lines()} if common_words else None
    X: list[list[str]] = []
    y: list[list[str]] = []
    source = Source(path, "latin-1")
    for number, line in source.lines():
        word, phonemes, marks, *rest = [*line.split("\t"), "", ""]
        if not phonemes and not X:
            continue  # the heading
        if len(phonemes) != len(word) or not rest:
            raise source.error(number, f"expected a word with one phoneme for each letter, got {line!r}")
        if (chosen is not None and word not in chosen) or (stress and len(marks) != len(word)):
            continue
        X.append(list(word))
        y.append([p + m for p, m in zip(phonemes, marks)] if stress else list(phonemes))
    return Dataset(
        "nettalk",
        train=Part(Columns.from_sentences(X, 1), Columns.from_sentences(y, 1)),
        dev=None,
        test=None,
        description="Letters to phonemes, aligned by hand; Sejnowski and Rosenberg, Complex Systems 1987.",
        terms="Copyright 1988 Terrence J. Sejnowski; non-commercial research only.",
    )


def load_cmudict(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """CMUdict as the literature on grapheme-to-phoneme conversion has it: X words, y phonemes without stress.

    106,837 words to train on and 12,000 to test, a line for each pronunciation. Files:
    ``cmudict-g2p/classic.{train,test}.tsv``, a word, a tab and its phonemes on each line; and, where it exists,
    ``classic.dev-words.txt`` with words that are taken out of the training data to be `dev`.
    """
    home = DataHome(
        data_home, ["cmudict-g2p"], "https://github.com/AdolfVonKleist/Phonetisaurus (test/g014b2b, as classic.*.tsv)"
    )
    words, pronunciations = read_pronunciations(home.find("classic.train.tsv"))
    try:
        chosen = {word for _, word in Source(home.find("classic.dev-words.txt")).lines()}
    except DataNotFoundError:
        chosen = set()
    held = np.array([word in chosen for word in words], dtype=bool)
    whole = Part(words, pronunciations)
    return Dataset(
        "cmudict",
        train=_take(whole, ~held),
        dev=_take(whole, held) if chosen else None,
        test=Part(*read_pronunciations(home.find("classic.test.tsv"))),
        description="English pronunciations; the split of Chen 2003 and of Bisani and Ney 2008.",
        terms="Copyright 1993-2015 Carnegie Mellon University; BSD 2-clause.",
    )


def load_ocr_letters(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Handwritten words as images of their letters: X arrays (T, 128) of uint8 pixels 0 and 1, y letters.

    6,877 words, all in `train`, their first letters left out; images of 16 by 8 pixels, row by row. `folds` gives the
    ten folds as published: the usual experiments are ``hold_out(range(1, 10))`` (small) and ``hold_out(0)`` (large).
    Files: ``ocr-letters/letter.data`` as published, or ``ocr-letters/letters.npz`` with the arrays pixels, labels,
    offsets and folds.
    """
    home = DataHome(data_home, ["ocr-letters"], "http://ai.stanford.edu/~btaskar/ocr/ (letter.data.gz)")
    path = home.find("letters.npz", "letter.data")
    pixels, letters, starts, folds = _ocr_packed(path) if path.suffix == ".npz" else _ocr_published(path)
    ends = [*starts[1:], len(letters)]
    return Dataset(
        "ocr-letters",
        train=Part(
            [pixels[start:end] for start, end in zip(starts, ends)],
            [letters[start:end] for start, end in zip(starts, ends)],
        ),
        dev=None,
        test=None,
        description="Handwritten words; Kassel 1995, as prepared by Taskar, Guestrin and Koller, NIPS 2003.",
        terms="No licence is stated; free to fetch for research.",
        folds=folds,
    )


def _ocr_packed(path: Path) -> tuple[npt.NDArray[np.uint8], list[str], list[int], npt.NDArray[np.int64]]:
    from zipfile import BadZipFile

    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            pixels = np.unpackbits(arrays["pixels"], axis=1)
            letters = [chr(ord("a") + label) for label in arrays["labels"].tolist()]
            return pixels, letters, arrays["offsets"].tolist()[:-1], arrays["folds"].astype(np.int64)
    except (BadZipFile, EOFError, KeyError, OSError, ValueError) as error:
        raise CorpusError(f"{path}: expected the arrays pixels, labels, offsets and folds ({error})") from None


def _ocr_published(path: Path) -> tuple[npt.NDArray[np.uint8], list[str], list[int], npt.NDArray[np.int64]]:
    """A letter a line: id, letter, next_id, word_id, position, fold, 128 pixels; next_id is -1 at the end of a word."""
    source = Source(path)
    pixels: list[npt.NDArray[np.uint8]] = []
    letters: list[str] = []
    starts: list[int] = []
    folds: list[int] = []
    at_start = True
    for number, line in source.lines():
        fields = line.split()
        bits = "".join(fields[6:])
        if len(fields) != 6 + 128 or set(bits) - {"0", "1"} or not fields[5].isdigit():
            raise source.error(number, f"expected 6 fields and 128 pixels 0 or 1, got {len(fields)} fields")
        if at_start:
            starts.append(len(letters))
            folds.append(int(fields[5]))
        at_start = fields[2] == "-1"
        letters.append(fields[1])
        pixels.append(np.frombuffer(bits.encode(), dtype=np.uint8) - ord("0"))
    if not letters:
        raise CorpusError(f"{path}: the file is empty, expected a letter a line")
    return np.array(pixels, dtype=np.uint8), letters, starts, np.array(folds, dtype=np.int64)
