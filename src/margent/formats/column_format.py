"""Columns as a format of the command line: which columns are chosen, and which of them is the label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from margent.errors import CorpusError
from margent.formats.batch import ColumnBatch, Expected, number_of_columns
from margent.formats.columns import Columns, iter_columns, read_columns, write_columns
from margent.formats.registry import Format, FormatOptions


def chosen_columns(columns: Columns, options: FormatOptions) -> Columns:
    """The columns that are asked for; all where none are named."""
    if options.columns is None or not len(columns):
        return columns
    try:
        numbers = [int(item) for item in options.columns.split(",")]
    except ValueError:
        raise ValueError(f"columns: expected numbers from 0 separated by commas, got {options.columns!r}") from None
    try:
        return columns.select(numbers)
    except CorpusError as error:
        raise CorpusError(f"--columns {options.columns}: {error}") from None


def read_chosen(path: Any, options: FormatOptions) -> Columns:
    """The chosen columns of a file, or of several."""
    return chosen_columns(read_columns(path, **_layout(options)), options)


def _read(path: Any, options: FormatOptions) -> tuple[Columns, Columns]:
    columns = read_chosen(path, options)
    if columns.n_columns < 2:
        found = "no tokens" if not len(columns) else "1 column"
        names = ", ".join(path) if isinstance(path, list) else path
        raise CorpusError(f"{names}: found {found}, expected at least two columns, the last of them the label")
    return columns.split()


def _stream(path: str, options: FormatOptions, expected: Expected) -> Iterator[ColumnBatch]:
    for piece in iter_columns(path, **_layout(options)):
        columns = chosen_columns(piece, options)
        if columns.n_columns not in (expected.columns, expected.columns + 1):
            raise CorpusError(
                f"{'<stdin>' if path == '-' else path}: found {number_of_columns(columns.n_columns)}, expected the "
                f"{expected.columns} that the model was trained on, or one more for the right label"
            )
        yield ColumnBatch(columns.select(range(expected.columns)), columns)


def _write(target: Any, X: Any, y: Any, options: FormatOptions) -> None:
    write_columns(target, X, y, **options.text)


def _layout(options: FormatOptions) -> dict[str, Any]:
    return {**options.reading, "separator": "\t" if options.tabs else None, "comment": options.comment}


FORMATS = (Format("columns", "tokens", "CoNLL, CRF++", (), _read, _stream, _write, True),)
