"""Some sentences on their way through a tagger: read in the format of a file, written back with labels."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

from margent.errors import CorpusError
from margent.formats.columns import Columns, format_columns

_BLOCK = 256  # sentences tagged at once, where they come from a file


class Answered(Protocol):
    """What the answers to a sentence have in common, whatever is predicted of it.

    cells : further columns of each token, such as probabilities
    reading, score : which one of the k best it is, counted from 1; None where there is one answer alone
    """

    @property
    def cells(self) -> list[tuple[str, ...]] | None: ...
    @property
    def reading(self) -> int | None: ...
    @property
    def score(self) -> float | None: ...


class Prediction(NamedTuple):
    """One labelling of a sentence: `cells` are further columns of each token, `reading` counts the k best from 1."""

    labels: list[str]
    cells: list[tuple[str, ...]] | None = None
    reading: int | None = None
    score: float | None = None


def heading(answer: Answered) -> str:
    """The comment above one of the k best answers."""
    return f"# reading {answer.reading} score={answer.score:.6g}"


def headed(answer: Answered, text: str) -> str:
    """The text of an answer, below a comment if it is one of the k best."""
    return text if answer.reading is None else f"{heading(answer)}\n{text}"


class Expected(NamedTuple):
    """What a model takes: so many `columns` of a token besides the label; `spans`: whether its labels spell spans."""

    columns: int
    spans: bool

    def check(self, found: int, what: str) -> None:
        if found != self.columns:
            raise CorpusError(
                f"the model was trained on {number_of_columns(self.columns)} besides the label, but {what}"
            )


class Batch(Protocol):
    """Some sentences: `X` for the model, `text` with the answers for the user."""

    @property
    def X(self) -> Any: ...

    def text(self, answers: Sequence[Sequence[Prediction]]) -> str:
        """The sentences as they are written, each with its labellings."""

    def span_records(self, spans: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """For spans with their probabilities: one object for each sentence."""


@dataclass(frozen=True)
class ColumnBatch:
    """Tokens in columns, which are `shown` as they were; `words`: whether the first is the token itself."""

    X: Any
    shown: Columns
    words: bool = True

    def text(self, answers: Sequence[Sequence[Prediction]]) -> str:
        if all(len(readings) == 1 and readings[0].reading is None for readings in answers):
            firsts = [readings[0] for readings in answers]
            cells = [answer.cells for answer in firsts if answer.cells is not None]
            return format_columns(self.shown, [answer.labels for answer in firsts], *([cells] if cells else []))
        return "".join(
            (f"{heading(answer)}\n" if answer.reading is not None else "")
            + format_columns([sentence], [answer.labels], *([[answer.cells]] if answer.cells is not None else []))
            for sentence, readings in zip(self.shown, answers)
            for answer in readings
        )

    def span_records(self, spans: Sequence[Sequence[Any] | None]) -> Iterator[dict[str, Any]]:
        for sentence, found in zip(self.shown, spans):
            if found is None:  # it has no answer
                continue
            yield {
                **({"tokens": words_of([sentence])[0]} if self.words else {}),
                "spans": [span_record(span) for span in found],
            }


def attribute_batches(path: str, pairs: Iterable[tuple[Any, list[str]]]) -> Iterator[ColumnBatch]:
    """Of items and labels: what is shown is the label in the file."""
    for block in blocks(path, pairs):
        yield ColumnBatch([items for items, _ in block], Columns.from_sentences([y for _, y in block], 1), False)


def span_record(span: Any) -> dict[str, Any]:
    return dict(span._replace(confidence=round(span.confidence, 6))._asdict())


def blocks(path: str, items: Iterable[Any]) -> Iterator[list[Any]]:
    """A file in large pieces; a pipe or terminal one by one, for it may wait for each answer."""
    status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
    size = _BLOCK if stat.S_ISREG(status.st_mode) else 1
    remaining = iter(items)
    while block := list(islice(remaining, size)):
        yield block


def number_of_columns(columns: int) -> str:
    return f"{columns} column{'s' if columns != 1 else ''}"


def words_of(X: Iterable[Sequence[Any]]) -> list[list[str]]:
    """The first column of sentences of columns."""
    return [[token if isinstance(token, str) else token[0] for token in sentence] for sentence in X]
