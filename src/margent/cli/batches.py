"""Sentences on their way through `margent tag`: read in the format of the file, written back with labels."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

from margent.cli.data_files import ATTRIBUTE_FORMATS, DataReader, words_of
from margent.errors import CorpusError
from margent.formats.columns import Columns, format_columns, iter_columns
from margent.models import ConfidentSpan, Tagger

_BLOCK = 256  # sentences tagged at once, where they come from a file


class Answer(NamedTuple):
    """One labelling of a sentence: `cells` are further columns of each token, `reading` counts from 1 with --k."""

    labels: list[str]
    cells: list[tuple[str, ...]] | None = None
    reading: int | None = None
    score: float | None = None


class Batch(Protocol):
    """Some sentences: `X` for the model, `text` with the answers for the user."""

    @property
    def X(self) -> Any: ...

    def text(self, answers: Sequence[Sequence[Answer]]) -> str:
        """The sentences as they are written, each with its labellings."""

    def span_records(self, spans: Sequence[Sequence[ConfidentSpan]]) -> Iterator[dict[str, Any]]:
        """For --spans: one object for each sentence."""


@dataclass(frozen=True)
class ColumnBatch:
    """Tokens in columns, which are `shown` as they were; `words`: whether the first is the token itself."""

    X: Any
    shown: Columns
    words: bool = True

    def text(self, answers: Sequence[Sequence[Answer]]) -> str:
        if all(len(readings) == 1 and readings[0].reading is None for readings in answers):
            firsts = [readings[0] for readings in answers]
            cells = [answer.cells for answer in firsts if answer.cells is not None]
            return format_columns(self.shown, [answer.labels for answer in firsts], *([cells] if cells else []))
        return "".join(
            f"# reading {answer.reading} score={answer.score:.6g}\n"
            + format_columns([sentence], [answer.labels], *([[answer.cells]] if answer.cells is not None else []))
            for sentence, readings in zip(self.shown, answers)
            for answer in readings
        )

    def span_records(self, spans: Sequence[Sequence[ConfidentSpan]]) -> Iterator[dict[str, Any]]:
        for sentence, found in zip(self.shown, spans):
            yield {
                **({"tokens": words_of([sentence])[0]} if self.words else {}),
                "spans": [_span(span) for span in found],
            }


@dataclass(frozen=True)
class ConlluBatch:
    """CoNLL-U keeps everything but the column of the label."""

    sentences: list[Any]
    names: list[str]

    @property
    def X(self) -> Columns:
        return Columns.from_sentences(
            [list(zip(*(sentence.column(name) for name in self.names[:-1]))) for sentence in self.sentences],
            len(self.names) - 1,
        )

    def text(self, answers: Sequence[Sequence[Answer]]) -> str:
        import io
        from dataclasses import replace

        from margent.formats import write_conllu

        written = []
        for sentence, readings in zip(self.sentences, answers):
            for answer in readings:
                tagged = sentence.with_column(self.names[-1], answer.labels)
                if answer.cells is not None:
                    probabilities = [f"Probability={','.join(cells)}" for cells in answer.cells]
                    misc = zip(sentence.column("misc"), probabilities)
                    tagged = tagged.with_column("misc", [new if old == "_" else f"{old}|{new}" for old, new in misc])
                if answer.reading is not None:
                    note = f"# reading {answer.reading} score={answer.score:.6g}"
                    tagged = replace(tagged, comments=[note, *tagged.comments])
                written.append(tagged)
        buffer = io.StringIO()
        write_conllu(buffer, written)
        return buffer.getvalue()

    def span_records(self, spans: Sequence[Sequence[ConfidentSpan]]) -> Iterator[dict[str, Any]]:
        for sentence, found in zip(self.sentences, spans):
            yield {"tokens": sentence.column("form"), "spans": [_span(span) for span in found]}


@dataclass(frozen=True)
class JsonBatch:
    """JSON lines: spans in characters of the text, or a label for each token where the labels spell no spans."""

    documents: list[Any]
    spans: bool

    @property
    def X(self) -> list[list[str]]:
        return [document.tokens for document in self.documents]

    def text(self, answers: Sequence[Sequence[Answer]]) -> str:
        return "".join(
            json.dumps(self._record(document, answer), ensure_ascii=False) + "\n"
            for document, readings in zip(self.documents, answers)
            for answer in readings
        )

    def _record(self, document: Any, answer: Answer) -> dict[str, Any]:
        record: dict[str, Any] = {"text": document.text} if self.spans else {"tokens": document.tokens}
        if answer.reading is not None:
            record |= {"reading": answer.reading, "score": answer.score}
        if self.spans:
            record["spans"] = [span._asdict() for span in document.with_labels(answer.labels).spans()]
        else:
            record["labels"] = answer.labels
        if answer.cells is not None:
            record["probabilities"] = [cells[0] if len(cells) == 1 else list(cells) for cells in answer.cells]
        return record

    def span_records(self, spans: Sequence[Sequence[ConfidentSpan]]) -> Iterator[dict[str, Any]]:
        for document, found in zip(self.documents, spans):
            starts, ends = zip(*document.offsets) if document.offsets else ((), ())
            characters = [span._replace(start=starts[span.start], end=ends[span.end - 1]) for span in found]
            yield {"text": document.text, "spans": [_span(span) for span in characters]}


def _span(span: ConfidentSpan) -> dict[str, Any]:
    return span._replace(confidence=round(span.confidence, 6))._asdict()


def batches(path: str, reader: DataReader, tagger: Tagger) -> Iterator[Batch]:
    """The sentences of a file, as many at once as have arrived ("-": standard input)."""
    from margent import formats

    kind = reader.format_of([path])
    name = "<stdin>" if path == "-" else path
    _check_format(kind, name, tagger)
    if kind == "columns":
        for columns in iter_columns(path, **reader.layout()):
            yield _column_batch(reader.chosen(columns), name, tagger)
    elif kind == "conllu":
        names = reader.names()
        _check_inputs(len(names) - 1, f"--columns names {len(names) - 1}", tagger)
        for sentences in _blocks(path, formats.iter_conllu(path, encoding=reader.encoding)):
            yield ConlluBatch(sentences, names)
    elif kind == "jsonl":
        _check_inputs(1, "JSON lines have 1", tagger)
        for documents in _blocks(path, formats.iter_jsonl(path, encoding=reader.encoding)):
            yield JsonBatch(documents, spans=tagger.scheme_ is not None)
    else:
        read = formats.iter_crfsuite if kind == "crfsuite" else formats.iter_svmhmm
        for pairs in _blocks(path, read(path, encoding=reader.encoding)):
            yield ColumnBatch([items for items, _ in pairs], Columns.from_sentences([y for _, y in pairs], 1), False)


def _check_format(kind: str, name: str, tagger: Tagger) -> None:
    """The format must hold what the model sees: tokens or attributes."""
    seen = "attributes" if kind in ATTRIBUTE_FORMATS else "tokens"
    if seen == tagger.feature_map_.takes:
        return
    wanted = {
        "attributes": f"attributes (--format {' or '.join(ATTRIBUTE_FORMATS)})",
        "tokens": "tokens (--format columns, conllu or jsonl)",
    }.get(tagger.feature_map_.takes, "vectors, which only Python can give it")
    raise CorpusError(f"{name}: the format is {kind}, but the model takes {wanted}")


def _column_batch(columns: Columns, name: str, tagger: Tagger) -> ColumnBatch:
    wanted = _n_inputs(tagger)
    if columns.n_columns not in (wanted, wanted + 1):
        raise CorpusError(
            f"{name}: found {_count(columns.n_columns)}, expected the {wanted} that the model was trained on, "
            "or one more for the right label"
        )
    return ColumnBatch(columns.select(range(wanted)), columns)


def _n_inputs(tagger: Tagger) -> int:
    return tagger.feature_map_.n_columns


def _check_inputs(found: int, what: str, tagger: Tagger) -> None:
    if found != _n_inputs(tagger):
        raise CorpusError(f"the model was trained on {_count(_n_inputs(tagger))} besides the label, but {what}")


def _count(columns: int) -> str:
    return f"{columns} column{'s' if columns != 1 else ''}"


def _blocks(path: str, items: Iterable[Any]) -> Iterator[list[Any]]:
    """A file in large pieces; a pipe or terminal one by one, for it may wait for each answer."""
    size = _BLOCK if _is_file(path) else 1
    remaining = iter(items)
    while block := list(islice(remaining, size)):
        yield block


def _is_file(path: str) -> bool:
    status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
    return stat.S_ISREG(status.st_mode)
