"""Labelled data files of any format, as the commands read them."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from margent.cli.command_line import UsageError
from margent.errors import CorpusError
from margent.formats.columns import Columns

_ENDINGS = {
    ".conllu": "conllu",
    ".crfsuite": "crfsuite",
    ".svmhmm": "svmhmm",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
ATTRIBUTE_FORMATS = ("crfsuite", "svmhmm")


def guessed_format(path: str) -> str | None:
    """The format that a file's name promises, whether compressed or not."""
    return _ENDINGS.get(os.path.splitext(path.removesuffix(".gz"))[1].lower())


@dataclass(frozen=True)
class DataReader:
    """How data files are read, as the options of `add_reading` say it."""

    format: str | None = None
    encoding: str = "utf-8"
    columns: str | None = None
    tabs: bool = False
    comment: str | None = None

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> DataReader:
        reader = cls(arguments.format, arguments.encoding, arguments.columns, arguments.tabs, arguments.comment)
        if reader.columns is not None and reader.format in (*ATTRIBUTE_FORMATS, "jsonl"):
            raise UsageError(f"--columns has no meaning for the format {reader.format}")
        return reader

    def format_of(self, paths: Sequence[str], otherwise: str = "columns") -> str:
        """The format given, or the one that the names promise; they must agree."""
        if self.format is not None:
            return self.format
        found = {guessed_format(path) or otherwise for path in paths}
        if len(found) > 1:
            raise UsageError(
                f"the files look like different formats ({', '.join(sorted(found))}): say which with --format"
            )
        return found.pop() if found else otherwise

    def labelled(self, paths: Sequence[str], scheme: str | None = None) -> tuple[Any, Any]:
        """(X, y) of all files together. `scheme`: in which the spans of JSON lines become labels, iob2 if None."""
        kind = self.format_of(paths)
        if kind == "columns":
            columns = self.all_columns(paths)
            if columns.n_columns < 2:
                found = "no tokens" if not len(columns) else "1 column"
                raise CorpusError(
                    f"{', '.join(paths)}: found {found}, expected at least two columns, the last of them the label"
                )
            return columns.split()
        if kind == "conllu":
            from margent.formats import read_conllu

            names = self.names()
            sentences = [s for path in paths for s in read_conllu(path, names, encoding=self.encoding)]
            return Columns.from_sentences(sentences, len(names)).split()
        X: list[Any] = []
        y: list[Any] = []
        for path in paths:
            more_X, more_y = self._read(kind, path, scheme)
            X += more_X
            y += more_y
        return X, y

    def all_columns(self, paths: Sequence[str]) -> Columns:
        """The chosen columns of files of columns."""
        from margent.formats.columns import read_columns

        return self.chosen(read_columns(list(paths), **self.layout()))

    def chosen(self, columns: Columns) -> Columns:
        """The columns that --columns names; all without it."""
        if self.columns is None or not len(columns):
            return columns
        try:
            return columns.select(self.numbers())
        except CorpusError as error:
            raise CorpusError(f"--columns {self.columns}: {error}") from None

    def layout(self) -> dict[str, Any]:
        """The options of `read_columns` and `iter_columns`."""
        return {"encoding": self.encoding, "separator": "\t" if self.tabs else None, "comment": self.comment}

    def numbers(self) -> list[int]:
        """--columns as numbers."""
        try:
            return [int(item) for item in (self.columns or "").split(",")]
        except ValueError:
            raise UsageError(f"--columns: expected numbers from 0 separated by commas, got {self.columns!r}") from None

    def names(self) -> list[str]:
        """--columns as names of CoNLL-U columns, the label last."""
        from margent.formats import CONLLU_COLUMNS

        names = (self.columns or "form,upos").split(",")
        if len(names) < 2 or not set(names) <= set(CONLLU_COLUMNS):
            raise UsageError(
                f"--columns: expected at least two of {', '.join(CONLLU_COLUMNS)} separated by commas, "
                f"got {self.columns!r}"
            )
        return names

    def _read(self, kind: str, path: str, scheme: str | None) -> tuple[Any, Any]:
        from margent import formats

        if kind == "crfsuite":
            return formats.read_crfsuite(path, encoding=self.encoding)
        if kind == "svmhmm":
            return formats.read_svmhmm(path, encoding=self.encoding)
        return formats.read_jsonl(path, encoding=self.encoding, scheme=scheme or "iob2")


def check_target(path: str) -> None:
    """What cannot be written should be known before the work, not after it."""
    if path == "-":
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "the folder cannot be written to", path)


def check_model_target(path: str) -> None:
    """As `check_target`, for a model, which cannot be written to standard output."""
    if path == "-":
        raise UsageError("a model is saved to a file: give it a name instead of '-'")
    check_target(path)


def check_plot_target(path: str) -> None:
    """As `check_target`, for a picture: its format and what draws it should be known before the work, too."""
    from margent.metrics.drawing import check_format

    check_target(path)
    try:
        check_format(path)
    except ValueError as error:
        raise UsageError(str(error)) from None


def counted(X: Any) -> str:
    """How much data this is, in words."""
    tokens = X.n_tokens if hasattr(X, "n_tokens") else sum(map(len, X))
    return f"{number_of(len(X), 'sentence')} ({number_of(tokens, 'token')})"


def number_of(n: int, what: str) -> str:
    """As many as there are, in words: 1 sentence, 2,000 sentences."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def words_of(X: Iterable[Sequence[Any]]) -> list[list[str]]:
    """The first column of sentences of columns."""
    return [[token if isinstance(token, str) else token[0] for token in sentence] for sentence in X]
