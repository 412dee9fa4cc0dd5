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
from margent.formats.batch import Answered, Expected, Prediction, blocks, heading, span_record, words_of
from margent.formats.columns import Columns
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import Source, SourceLike, TargetLike, open_target

CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
"""The names of the ten columns, in their order."""

_ANY_ID = re.compile(r"(0|[1-9][0-9]{0,17})(?:([-.])([1-9][0-9]{0,17}))?")


@dataclass(frozen=True)
class ConlluSentence:
    """One sentence with everything that stood in the file, so that it can be written back.

    Attributes
    ----------
    rows : list of tuples of 10 str
        All lines in order, also those of multiword tokens and empty nodes.
    comments : list of str
        The lines before the first row, each with its leading "#".
    line_end : "\\n" or "\\r\\n"
        What stands between two of its lines.
    before, after : str
        Blank lines above it, beyond the one that belongs to the sentence before; the end of the last line and the blank
        line below it.
    line : int
        Of the file, where the sentence began, counted from 1; 0 where it was not read.
    """

    rows: list[tuple[str, ...]]
    comments: list[str] = field(default_factory=list)
    line_end: str = "\n"
    before: str = ""
    after: str = "\n\n"
    line: int = field(default=0, compare=False)

    def __len__(self) -> int:
        """The number of words: multiword tokens and empty nodes do not count."""
        return sum(_is_word(row) for row in self.rows)

    @property
    def sent_id(self) -> str | None:
        """The name of the sentence, in a comment ``# sent_id = ...``."""
        for comment in self.comments:
            name, equals, value = comment[1:].partition("=")
            if equals and name.strip() == "sent_id":
                return value.strip()
        return None

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

    def text(self) -> str:
        """The sentence as it stands in a file."""
        lines = [*self.comments, *("\t".join(row) for row in self.rows)]
        return self.before + self.line_end.join(lines) + self.after

    def missing_end(self) -> str:
        """What is missing of the blank line below it where it was the last of a file; mostly nothing."""
        missing = 2 - self.after.count("\n")
        if missing <= 0 or not (self.rows or self.comments):
            return ""
        return "\n" + self.line_end * (missing - 1) if self.after.endswith("\r") else self.line_end * missing


def _is_word(row: tuple[str, ...]) -> bool:
    return row[0].isdecimal()


def _column_index(name: str) -> int:
    if name not in CONLLU_COLUMNS:
        raise CorpusError(f"there is no column {name!r} in CoNLL-U; the columns are {', '.join(CONLLU_COLUMNS)}")
    return CONLLU_COLUMNS.index(name)


class _Ids:
    """The ids of a sentence, one after the other: words 1, 2, ..., a range just before its first word, and the decimals
    of empty nodes after the word that they count from."""

    def __init__(self) -> None:
        self.words = self.empty = self.range_end = 0
        self.in_front = False  # of the first word of a range

    def problem(self, text: str) -> str | None:
        """What is wrong with the next id, None if nothing."""
        following = self.words + 1
        match = _ANY_ID.fullmatch(text)
        if match is None:
            return f"found the id {text!r}, expected a number, a range 3-4 or a decimal 5.1"
        start, kind = int(match[1]), match[2]
        if kind is None or self.in_front:
            if kind is not None or start != following:
                return f"found the id {text}, expected {following}: words are numbered from 1 without gaps"
            self.words, self.empty, self.in_front = following, 0, False
        elif kind == "-":
            end = int(match[3])
            if start != following or start <= self.range_end or end < start:
                return (
                    f"found the id {text}, expected ranges to begin at the next word, here {following}, and not to meet"
                )
            self.range_end, self.in_front = end, True
        else:
            if start != self.words or int(match[3]) != self.empty + 1:
                return f"found the id {text}, expected {self.words}.{self.empty + 1} for an empty node here"
            self.empty += 1
        return None

    def problem_at_end(self) -> str | None:
        if self.range_end > self.words:
            return f"found a range up to {self.range_end}, expected it to end with one of the {self.words} words"
        return None


def iter_conllu(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[ConlluSentence]:
    """Read a CoNLL-U file sentence by sentence, with comments, multiword tokens and empty nodes.

    The sentences hold the whole file but for a byte order mark: `write_conllu` writes it as it was. Comments without a
    sentence, and blank lines at the end of a file beyond the usual one, make a sentence without words.
    """
    opened = Source(source, encoding, limits)
    return sentences_of_lines(opened, opened.lines_with_ends())


def sentences_of_lines(source: Source, lines: Iterable[tuple[int, str, str]]) -> Iterator[ConlluSentence]:
    """The sentences of lines with their numbers and ends, which come from `source`."""
    rows: list[tuple[str, ...]] = []
    comments: list[str] = []
    ends: list[str] = []  # of its lines
    ids = _Ids()
    before: list[str] = []
    first, size = 1, 0
    most_lines, longest = source.limits.tokens, source.limits.sentence

    def sentence(after: str) -> ConlluSentence:
        if (problem := ids.problem_at_end()) is not None:
            raise source.error(first + len(ends) - 1, problem)
        return ConlluSentence(rows, comments, ends[0] if len(ends) > 1 else "\n", "".join(before), after, first)

    for number, line, end in lines:
        if not line.strip():
            if ends:
                yield sentence(ends[-1] + line + end)  # at once: a pipe may wait for the answer
                rows, comments, ends, ids, before, size = [], [], [], _Ids(), [], 0
            else:
                before.append(line + end)
            continue
        size += len(line)
        if len(ends) == most_lines or size > longest:
            raise source.beyond("tokens" if size <= longest else "sentence", number)
        if not ends:
            first = number
        elif ends[-1] != ends[0]:
            raise source.error(number - 1, "found a line end unlike those above, expected all LF or all CRLF")
        ends.append(end)
        if line.startswith("#"):
            if rows:
                raise source.error(number, "found a comment within a sentence, expected comments before its first word")
            comments.append(line)
            continue
        row = tuple(line.split("\t"))
        if len(row) != len(CONLLU_COLUMNS):
            raise source.error(number, f"found {len(row)} columns, expected 10 separated by tabs")
        if (problem := ids.problem(row[0])) is not None:
            raise source.error(number, problem)
        rows.append(row)
    if ends or before:
        yield sentence(ends[-1] if ends else "")


def read_conllu(
    source: SourceLike,
    columns: Sequence[str] = ("form", "upos"),
    *,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> Columns:
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
        for sentence in iter_conllu(source, encoding=encoding, limits=limits)
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
        missing = ""
        for number, sentence in enumerate(sentences):
            _check(sentence, number)
            write(missing + sentence.text())
            missing = sentence.missing_end()


def conllu_text(sentences: Sequence[ConlluSentence]) -> str:
    """What `write_conllu` writes, with a blank line at the end in any case, so that more can follow."""
    buffer = io.StringIO()
    write_conllu(buffer, sentences)
    return buffer.getvalue() + (sentences[-1].missing_end() if sentences else "")


def _check(sentence: ConlluSentence, number: int) -> None:
    """Refuses what would not be read back."""
    for comment in sentence.comments:
        if not comment.startswith("#") or "\n" in comment or comment.endswith("\r"):
            raise CorpusError(f"sentence {number}: expected a comment of one line with '#', got {comment!r}")
    ids = _Ids()
    for row in sentence.rows:
        line = "\t".join(row)
        one_line = line.count("\t") == len(CONLLU_COLUMNS) - 1 and "\n" not in line and not line.endswith("\r")
        if not one_line or len(row) != len(CONLLU_COLUMNS):
            message = "expected 10 cells without tabs and line ends, the first an id"
            raise CorpusError(f"sentence {number}: {message}, got {row!r}")
        if (problem := ids.problem(row[0])) is not None:
            raise CorpusError(f"sentence {number}: {problem}")
    if (problem := ids.problem_at_end()) is not None:
        raise CorpusError(f"sentence {number}: {problem}")


def with_answer(sentence: ConlluSentence, answer: Answered) -> ConlluSentence:
    """The sentence with the probabilities of an answer under misc, and what reading it is as a comment."""
    if answer.cells is not None:
        probabilities = [f"Probability={','.join(cells)}" for cells in answer.cells]
        misc = zip(sentence.column("misc"), probabilities)
        sentence = sentence.with_column("misc", [new if old == "_" else f"{old}|{new}" for old, new in misc])
    if answer.reading is not None:
        sentence = replace(sentence, comments=[heading(answer), *sentence.comments])
    return sentence


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
                written.append(with_answer(tagged, answer))
        return conllu_text(written)

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
    return read_conllu(path, _names(options), **options.reading).split()


def _stream(path: str, options: FormatOptions, expected: Expected) -> Iterator[ConlluBatch]:
    names = _names(options)
    expected.check(len(names) - 1, f"--columns names {len(names) - 1}")
    for sentences in blocks(path, iter_conllu(path, **options.reading)):
        yield ConlluBatch(sentences, names)


def _write(target: Any, X: Any, y: Any, options: FormatOptions) -> None:
    """Word and label as form and upos."""
    sentences = (
        ConlluSentence([(str(i), word, "_", label, *["_"] * 6) for i, (word, label) in enumerate(zip(*pair), start=1)])
        for pair in zip(words_of(X), y)
    )
    write_conllu(target, sentences, **options.text)


FORMATS = (Format("conllu", "tokens", "Universal Dependencies", (".conllu",), _read, _stream, _write, True),)
