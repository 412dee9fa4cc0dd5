"""Columns as a format of the command line: which columns are chosen, and which of them is the label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from margent.errors import CorpusError
from margent.formats.batch import ColumnBatch, Expected, number_of_columns
from margent.formats.columns import Columns, iter_columns, read_columns, write_columns
from margent.formats.registry import Format, Reading


def chosen_columns(columns: Columns, reading: Reading) -> Columns:
    """The columns that are asked for; all where none are named."""
    if reading.columns is None or not len(columns):
        return columns
    try:
        numbers = [int(item) for item in reading.columns.split(",")]
    except ValueError:
        raise ValueError(f"columns: expected numbers from 0 separated by commas, got {reading.columns!r}") from None
    try:
        return columns.select(numbers)
    except CorpusError as error:
        raise CorpusError(f"--columns {reading.columns}: {error}") from None


def read_chosen(path: Any, reading: Reading) -> Columns:
    """The chosen columns of a file, or of several."""
    return chosen_columns(read_columns(path, **_layout(reading)), reading)


def _read(path: Any, reading: Reading) -> tuple[Columns, Columns]:
    columns = read_chosen(path, reading)
    if columns.n_columns < 2:
        found = "no tokens" if not len(columns) else "1 column"
        names = ", ".join(path) if isinstance(path, list) else path
        raise CorpusError(f"{names}: found {found}, expected at least two columns, the last of them the label")
    return columns.split()


def _stream(path: str, reading: Reading, expected: Expected) -> Iterator[ColumnBatch]:
    for piece in iter_columns(path, **_layout(reading)):
        columns = chosen_columns(piece, reading)
        if columns.n_columns not in (expected.columns, expected.columns + 1):
            raise CorpusError(
                f"{'<stdin>' if path == '-' else path}: found {number_of_columns(columns.n_columns)}, expected the "
                f"{expected.columns} that the model was trained on, or one more for the right label"
            )
        yield ColumnBatch(columns.select(range(expected.columns)), columns)


def _write(target: Any, X: Any, y: Any, reading: Reading) -> None:
    write_columns(target, X, y, **reading.text)


def _layout(reading: Reading) -> dict[str, Any]:
    return {**reading.text, "separator": "\t" if reading.tabs else None, "comment": reading.comment}


FORMATS = (Format("columns", "tokens", "CoNLL, CRF++", (), _read, _stream, _write, True),)
