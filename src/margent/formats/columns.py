"""Tokens in columns, as in the files of the CoNLL shared tasks and of CRF++: a token a line, a blank line after each
sentence. `Columns` is what the readers give and what the feature templates take without touching a Python string."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from types import EllipsisType
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from margent._core import ColumnParser, ColumnTable
from margent._core import format_columns as native_format
from margent.errors import CorpusError, LimitError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import CHUNK_SIZE, Source, SourceLike, TargetLike, open_target

Sentence: TypeAlias = "list[str] | list[tuple[str, ...]]"
"""One sentence: its tokens where there is one column, otherwise a tuple for each token."""

_BLOCK = 256  # sentences handled at once: few enough to stream, enough to share equal strings


class Columns(Sequence[Sentence]):
    """Sentences of tokens in columns: a sequence of sentences that lives in native memory.

    `columns[3]` is the sentence number 3: a list of str where one column is chosen, otherwise a list of tuples.
    `columns[10:20]` and `columns[[4, 1, 7]]` are again `Columns`: views that copy no text, and so are the results of
    `select` and `split`. Cannot be changed.

    Attributes
    ----------
    table : ColumnTable
        The native table behind the view.
    column_indices : tuple of int
        The columns of the table that are seen, in order.
    sentence_indices : (n_sentences,) int64 array or None
        The sentences of the table that are seen, in order; None: all.

    Examples
    --------
    >>> columns = Columns.from_sentences([[("the", "DT"), ("cat", "NN")], [("sleep", "VB")]])
    >>> columns
    Columns(2 sentences, 3 tokens, 2 columns)
    >>> X, y = columns.split()
    >>> X[0], y[0]
    (['the', 'cat'], ['DT', 'NN'])
    """

    __slots__ = ("_column_array", "column_indices", "sentence_indices", "table")

    def __init__(
        self,
        table: ColumnTable,
        column_indices: Sequence[int] | None = None,
        sentence_indices: npt.ArrayLike | None = None,
    ) -> None:
        chosen = range(table.n_columns) if column_indices is None else column_indices
        self.table = table
        self.column_indices = tuple(_within(c, table.n_columns, "column") for c in chosen)
        self.sentence_indices = (
            None if sentence_indices is None else _sentence_numbers(sentence_indices, table.n_sentences)
        )
        self._column_array = np.array(self.column_indices, dtype=np.int64)

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[Any]], n_columns: int = 0) -> Columns:
        """From sentences of tokens: each token a str, or a tuple or list of str, one for each column.

        `n_columns` is only needed where there may be no token at all to count them in.
        """
        if isinstance(sentences, Columns):
            return sentences
        return cls(ColumnTable.from_rows(sentences if isinstance(sentences, Sequence) else list(sentences), n_columns))

    @property
    def n_columns(self) -> int:
        return len(self.column_indices)

    @property
    def n_tokens(self) -> int:
        return self.table.n_tokens if self.sentence_indices is None else int(self.lengths.sum())

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """(n_sentences,): the number of tokens of each sentence."""
        ptr = self.table.sentence_ptr
        lengths = ptr[1:] - ptr[:-1]
        return lengths if self.sentence_indices is None else lengths[self.sentence_indices]

    @property
    def shape(self) -> tuple[int]:
        """(n_sentences,): scikit-learn then takes parts of it by index arrays, which stay views."""
        return (len(self),)

    def __len__(self) -> int:
        return self.table.n_sentences if self.sentence_indices is None else len(self.sentence_indices)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice | npt.ArrayLike | tuple[npt.ArrayLike, EllipsisType]) -> Columns: ...
    def __getitem__(self, index: Any) -> Sentence | Columns:
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # scikit-learn asks so
            index = index[0]
        if isinstance(index, slice):
            return self._view(self._sentences()[index])
        try:
            number = operator.index(index)
        except TypeError:
            return self._view(self._sentences()[_sentence_numbers(index, len(self))])
        number = _within(number, len(self), "sentence")
        if self.sentence_indices is not None:
            number = int(self.sentence_indices[number])
        sentence: Sentence = self.table.rows(number, self._column_array)
        return sentence

    def __iter__(self) -> Iterator[Sentence]:
        sentences = self._sentences()
        for start in range(0, len(sentences), _BLOCK):
            yield from self.table.sentences(sentences[start : start + _BLOCK], self._column_array)

    def select(self, columns: int | Sequence[int]) -> Columns:
        """These columns, in this order; negative numbers count from the end."""
        chosen = [int(columns)] if isinstance(columns, (int, np.integer)) else columns
        indices = [self.column_indices[_within(c, self.n_columns, "column")] for c in chosen]
        if not indices:
            raise CorpusError("expected at least one column to select, got none")
        return Columns(self.table, indices, self.sentence_indices)

    def split(self, label_column: int = -1) -> tuple[Columns, Columns]:
        """(X, y): all other columns, and the column of labels."""
        label = _within(label_column, self.n_columns, "column")
        if self.n_columns < 2:
            raise CorpusError("expected at least two columns, one of them the label, got 1 column")
        return self.select([c for c in range(self.n_columns) if c != label]), self.select(label)

    def column(self, column: int) -> list[list[str]]:
        """One column of every sentence; equal cells are one and the same object."""
        view = self.select(column)
        sentences: list[list[str]] = self.table.sentences(view._sentences(), view._column_array)
        return sentences

    def __repr__(self) -> str:
        return f"Columns({len(self)} sentences, {self.n_tokens} tokens, {self.n_columns} columns)"

    def __reduce__(self) -> tuple[Any, ...]:  # processes that share the work of scikit-learn hand it on like this
        return Columns.from_sentences, (self.table.sentences(self._sentences(), self._column_array), self.n_columns)

    def _sentences(self) -> npt.NDArray[np.int64]:
        if self.sentence_indices is None:
            return np.arange(self.table.n_sentences, dtype=np.int64)
        return self.sentence_indices

    def _view(self, sentences: npt.NDArray[np.int64]) -> Columns:
        return Columns(self.table, self.column_indices, sentences)


def _within(index: int, size: int, what: str) -> int:
    number = operator.index(index)
    if not -size <= number < size:
        message = f"there is no {what} {number}: there are {size}, counted from 0"
        raise IndexError(message) if what == "sentence" else CorpusError(message)
    return number + size if number < 0 else number


def _sentence_numbers(indices: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    array = np.asarray(indices)
    if array.dtype == bool:
        if array.shape != (size,):
            raise IndexError(f"expected a mask for {size} sentences, got one of shape {array.shape}")
        return np.flatnonzero(array).astype(np.int64)
    if array.ndim != 1 or (array.size > 0 and not np.issubdtype(array.dtype, np.integer)):
        raise TypeError(f"sentences are chosen by an integer, a slice or a list of integers, got {indices!r}")
    array = np.ascontiguousarray(array, dtype=np.int64)
    wrong = array[(array < -size) | (array >= size)]
    if wrong.size:
        raise IndexError(f"there is no sentence {wrong[0]}: there are {size}, counted from 0")
    return np.where(array < 0, array + size, array)


def read_columns(
    source: SourceLike | Sequence[SourceLike],
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    drop_docstart: bool = True,
    limits: Limits = DEFAULT_LIMITS,
) -> Columns:
    """Read a file of columns; this is also the format of CRF++'s data.

    Lines of nothing but blanks separate sentences, how many there are makes no difference. CRLF line ends, a byte
    order mark and a missing line end at the end of the file are understood. Each token must have as many columns as
    the first.

    Parameters
    ----------
    source : path, "-" for standard input, bytes, open file, or a list of those
        Plain or gzip. The sentences of several sources follow one another.
    encoding : str
        Of the text.
    separator : None or "\\t"
        None: any run of spaces and tabs separates two cells. A tab: each single tab does, so that cells may hold
        spaces or be empty.
    comment : str, optional
        Lines that begin with this are skipped. By default no line is a comment, for "#" is a token in many corpora.
    drop_docstart : bool
        Whether lines whose first cell is ``-DOCSTART-`` are left out; they also end a sentence.
    limits : Limits
        How long lines and sentences may be.

    Raises
    ------
    CorpusError
        With file and line: another number of columns, text that is not valid in the encoding, broken gzip data.

    Examples
    --------
    >>> read_columns(b"the DT\\ncat NN\\n\\nsleep VB\\n")
    Columns(2 sentences, 3 tokens, 2 columns)
    """
    parser = _parser(separator, comment, drop_docstart, limits)
    sources: Sequence[Any] = source if isinstance(source, (list, tuple)) else [source]
    for one in sources:
        for _ in _parse(parser, Source(one, encoding, limits), CHUNK_SIZE):
            pass
    return Columns(parser.take())


def iter_columns(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
    comment: str | None = None,
    drop_docstart: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    chunk_size: int = CHUNK_SIZE,
) -> Iterator[Columns]:
    """Read a file of columns piece by piece: yields `Columns` of the sentences that each piece completes.

    At most `chunk_size` bytes are asked for at once; a pipe gives what it holds, so a sentence comes out as soon as the
    blank line after it has come in. The parameters are those of `read_columns`.
    """
    parser = _parser(separator, comment, drop_docstart, limits)
    for _ in _parse(parser, Source(source, encoding, limits), chunk_size):
        table = parser.take()
        if table.n_sentences:
            yield Columns(table)


def _parser(separator: str | None, comment: str | None, drop_docstart: bool, limits: Limits) -> ColumnParser:
    if separator not in (None, "\t"):
        raise CorpusError(f"separator must be None (any run of spaces and tabs) or a tab, got {separator!r}")
    return ColumnParser(
        tabs_only=separator == "\t",
        comment=comment or "",
        drop_docstart=drop_docstart,
        line=limits.line,
        tokens=limits.tokens,
        sentence=limits.sentence,
        empty_lines=limits.empty_lines,
    )


def _parse(parser: ColumnParser, source: Source, chunk_size: int) -> Iterator[None]:
    """Feeds the parser; stops after each piece, and once more at the end."""
    for chunk in chain(source.utf8(chunk_size), [None]):
        try:
            if chunk is None:
                parser.finish()
            else:
                parser.feed(chunk)
        except LimitError as error:
            raise source.beyond(*error.args) from None
        except CorpusError as error:  # it knows the line only
            raise CorpusError(f"{source.name}, {error}") from None
        yield


def write_columns(
    target: TargetLike,
    sentences: Iterable[Sequence[Any]],
    *more: Iterable[Sequence[Any]],
    encoding: str = "utf-8",
    separator: str = "\t",
) -> None:
    """Write sentences as a file of columns; further arguments are further columns, labels for instance.

    Parameters
    ----------
    target : path, "-" for standard output, or open file
        A path appears only when it is complete; compressed where it ends in ".gz".
    sentences, more : Columns or iterables of sentences
        Each token a str, or a tuple of str. They are read side by side and must agree in length. A sentence without
        tokens leaves no trace in this format.
    separator : "\\t" or " "
        What stands between two cells. Cells that hold spaces or are empty can only be written with tabs, and read
        with ``separator="\\t"``.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO()
    >>> write_columns(file, [["the", "cat"]], [["DT", "NN"]], separator=" ")
    >>> file.getvalue()
    'the DT\\ncat NN\\n\\n'
    """
    _check_separator(separator)
    blocks = [_blocks(argument) for argument in (sentences, *more)]
    first = 0
    with open_target(target, encoding) as write:
        for parts in zip_longest(*blocks, fillvalue=Columns.from_sentences([])):
            write(_format(parts, separator, first))
            first += len(parts[0])


def format_columns(sentences: Iterable[Sequence[Any]], *more: Iterable[Sequence[Any]], separator: str = "\t") -> str:
    """The text that `write_columns` writes for these sentences."""
    _check_separator(separator)
    return _format([Columns.from_sentences(argument) for argument in (sentences, *more)], separator, 0)


def _check_separator(separator: str) -> None:
    if separator not in ("\t", " "):
        raise CorpusError(f"separator must be a tab or a space, got {separator!r}")


def _blocks(sentences: Iterable[Sequence[Any]]) -> Iterator[Columns]:
    """The sentences a few at a time, so that an endless stream can be written."""
    if isinstance(sentences, Columns):
        for start in range(0, len(sentences), _BLOCK):
            yield sentences[start : start + _BLOCK]
        return
    remaining = iter(sentences)
    first = n_columns = 0
    while block := list(islice(remaining, _BLOCK)):
        columns = Columns(ColumnTable.from_rows(block, n_columns, first))
        first, n_columns = first + len(block), columns.n_columns
        yield columns


def _format(parts: Sequence[Columns], separator: str, first: int) -> str:
    counts = [first + len(part) for part in parts]
    if len(set(counts)) > 1:
        raise CorpusError(f"expected as many sentences in each argument, got at least {max(counts)} and {min(counts)}")
    return native_format([(part.table, part._sentences(), part._column_array) for part in parts], separator, first)
