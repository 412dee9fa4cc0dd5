"""CoNLL-U, the format of Universal Dependencies (https://universaldependencies.org/format.html): ten columns separated
by tabs, comments before each sentence, and lines for multiword tokens (``3-4``) and empty nodes (``5.1``) among the
words."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from margent.errors import CorpusError
from margent.formats.batch import Expected, Prediction, blocks, span_record, words_of
from margent.formats.columns import Columns
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import Source, SourceLike, TargetLike, open_target

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""The names of the ten columns, in their order."""

_ANY_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


@dataclass(frozen=True)
class ConlluSentence:
    """One sentence with everything that stood in the file, so that it can be written back.

    Attributes
    ----------
    rows : list of tuples of 10 str
        All lines in order, also those of multiword tokens and empty nodes.
    comments : list of str
        The lines before the first row, each with its leading "#".
    """

    rows: list[tuple[str, ...]]
    comments: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """The number of words: multiword tokens and empty nodes do not count."""
        return sum(_is_word(row) for row in self.rows)

    def column(self, name: str) -> list[str]:
        """One column of the words, by its name in `CONLLU_COLUMNS`."""
        index = _column_index(name)
        return [row[index] for row in self.rows if _is_word(row)]

    def with_column(self, name: str, values: Sequence[str]) -> ConlluSentence:
        """A copy in which the words have these values in one column; the other rows stay as they are."""
        index = _column_index(name)
        if len(values) != len(self):
            raise CorpusError(f"expected a {name} for each of {len(self)} words, got {len(values)}")
        rest = iter(values)
        rows = [(*row[:index], next(rest), *row[index + 1 :]) if _is_word(row) else row for row in self.rows]
        return replace(self, rows=rows)


def _is_word(row: tuple[str, ...]) -> bool:
    return row[0].isdecimal()


def _column_index(name: str) -> int:
    if name not in CONLLU_COLUMNS:
        raise CorpusError(f"there is no column {name!r} in CoNLL-U; the columns are {', '.join(CONLLU_COLUMNS)}")
    return CONLLU_COLUMNS.index(name)


def iter_conllu(source: SourceLike, *, encoding: str = "utf-8") -> Iterator[ConlluSentence]:
    """Read a CoNLL-U file sentence by sentence, with comments, multiword tokens and empty nodes."""
    opened = Source(source, encoding)
    rows: list[tuple[str, ...]] = []
    comments: list[str] = []
    for number, line in opened.lines():
        if not line.strip():
            if rows or comments:
                yield ConlluSentence(rows, comments)
                rows, comments = [], []
        elif line.startswith("#"):
            if rows:
                raise opened.error(number, "found a comment within a sentence, expected comments before its first word")
            comments.append(line)
        else:
            row = tuple(line.split("\t"))
            if len(row) != len(CONLLU_COLUMNS):
                raise opened.error(number, f"found {len(row)} columns, expected 10 separated by tabs")
            if not _ANY_ID.fullmatch(row[0]):
                raise opened.error(number, f"found the id {row[0]!r}, expected a number, a range 3-4 or a decimal 5.1")
            rows.append(row)
    if rows or comments:
        yield ConlluSentence(rows, comments)


def read_conllu(source: SourceLike, columns: Sequence[str] = ("form", "upos"), *, encoding: str = "utf-8") -> Columns:
    """Read the words of a CoNLL-U file.

    Multiword tokens and empty nodes are left out: the words alone carry the annotation. A sentence without words is
    left out too.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip.
    columns : names from `CONLLU_COLUMNS`
        What to keep, in this order.

    Examples
    --------
    >>> rows = ["1 It it PRON _ _ 2 nsubj _ _", "2 rains rain VERB _ _ 0 root _ _"]
    >>> read_conllu("\\n".join(rows).replace(" ", "\\t").encode())[0]
    [('It', 'PRON'), ('rains', 'VERB')]
    """
    if isinstance(columns, str):
        columns = [columns]
    chosen = [_column_index(name) for name in columns]
    if not chosen:
        raise CorpusError("expected at least one column of CoNLL-U to read, got none")
    sentences = (
        [tuple(row[c] for c in chosen) for row in sentence.rows if _is_word(row)]
        for sentence in iter_conllu(source, encoding=encoding)
    )
    return Columns.from_sentences(filter(None, sentences), len(chosen))


def write_conllu(target: TargetLike, sentences: Iterable[ConlluSentence], *, encoding: str = "utf-8") -> None:
    """Write sentences as CoNLL-U: what `iter_conllu` gives comes out as it was.

    Examples
    --------
    Replace one column and keep everything else::

        write_conllu("tagged.conllu", (s.with_column("upos", tag(s.column("form"))) for s in iter_conllu("in.conllu")))
    """
    with open_target(target, encoding) as write:
        for number, sentence in enumerate(sentences):
            for comment in sentence.comments:
                if not comment.startswith("#") or "\n" in comment or comment.endswith("\r"):
                    raise CorpusError(f"sentence {number}: expected a comment of one line with '#', got {comment!r}")
            lines = ["\t".join(row) for row in sentence.rows]
            for row, line in zip(sentence.rows, lines):
                one_line = line.count("\t") == len(row) - 1 and "\n" not in line and not line.endswith("\r")
                if not one_line or len(row) != len(CONLLU_COLUMNS) or not _ANY_ID.fullmatch(row[0]):
                    message = "expected 10 cells without tabs and line ends, the first an id"
                    raise CorpusError(f"sentence {number}: {message}, got {row!r}")
            write("\n".join([*sentence.comments, *lines, "", ""]))


@dataclass(frozen=True)
class ConlluBatch:
    """Sentences that keep everything but the column of the label, the last of `names`."""

    sentences: list[ConlluSentence]
    names: list[str]

    @property
    def X(self) -> Columns:
        return Columns.from_sentences(
            [list(zip(*(sentence.column(name) for name in self.names[:-1]))) for sentence in self.sentences],
            len(self.names) - 1,
        )

    def text(self, answers: Sequence[Sequence[Prediction]]) -> str:
        written = []
        for sentence, readings in zip(self.sentences, answers):
            for answer in readings:
                tagged = sentence.with_column(self.names[-1], answer.labels)
                if answer.cells is not None:
                    probabilities = [f"Probability={','.join(cells)}" for cells in answer.cells]
                    misc = zip(sentence.column("misc"), probabilities)
                    tagged = tagged.with_column("misc", [new if old == "_" else f"{old}|{new}" for old, new in misc])
                if answer.reading is not None:
                    tagged = replace(tagged, comments=[answer.heading, *tagged.comments])
                written.append(tagged)
        buffer = io.StringIO()
        write_conllu(buffer, written)
        return buffer.getvalue()

    def span_records(self, spans: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        for sentence, found in zip(self.sentences, spans):
            yield {"tokens": sentence.column("form"), "spans": [span_record(span) for span in found]}


def _names(options: FormatOptions) -> list[str]:
    """The columns to read, the label last."""
    names = (options.columns or "form,upos").split(",")
    if len(names) < 2 or not set(names) <= set(CONLLU_COLUMNS):
        raise ValueError(
            f"columns: expected at least two of {', '.join(CONLLU_COLUMNS)} separated by commas, "
            f"got {options.columns!r}"
        )
    return names


def _read(path: Any, options: FormatOptions) -> tuple[Columns, Columns]:
    return read_conllu(path, _names(options), **options.text).split()


def _stream(path: str, options: FormatOptions, expected: Expected) -> Iterator[ConlluBatch]:
    names = _names(options)
    expected.check(len(names) - 1, f"--columns names {len(names) - 1}")
    for sentences in blocks(path, iter_conllu(path, **options.text)):
        yield ConlluBatch(sentences, names)


def _write(target: Any, X: Any, y: Any, options: FormatOptions) -> None:
    """Word and label as form and upos."""
    sentences = (
        ConlluSentence([(str(i), word, "_", label, *["_"] * 6) for i, (word, label) in enumerate(zip(*pair), start=1)])
        for pair in zip(words_of(X), y)
    )
    write_conllu(target, sentences, **options.text)


FORMATS = (Format("conllu", "tokens", "Universal Dependencies", (".conllu",), _read, _stream, _write, True),)
