"""JSON with annotated text: an object for each document, one to a line or all in one array.

`margent.formats.records` says which objects are understood: those of Prodigy, doccano and Label Studio, and plain ones.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from margent.annotation import schemes
from margent.errors import CorpusError, CorpusWarning, LimitError
from margent.formats.batch import Expected, Prediction, blocks, span_record, words_of
from margent.formats.columns import Columns
from margent.formats.documents import Document, word_offsets
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.records import SPAN_KEYS, answered_record, document_of, rejected
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.parameters import is_text

_LAYOUTS = ("spans", "doccano", "tokens")
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*)?\{\s*"[^"\n]*"\s*:')


def iter_jsonl(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = word_offsets,
    scheme: str = "iob2",
    cut: str = "error",
    limits: Limits = DEFAULT_LIMITS,
    keep_rejected: bool = True,
) -> Iterator[Document]:
    """Read documents one by one, with the offsets of the tokens kept: JSON lines, or one JSON array.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip. Blank lines are skipped. An array is read as a whole.
    tokenize : callable
        From a text to the (start, end) of its tokens; `character_offsets` suits Chinese, for instance. Not used where
        the file has tokens.
    scheme : str
        The scheme in which spans become labels.
    cut : "error" or "widen"
        What to do with a span that begins or ends within a token: refuse it, or label the whole token.
    limits : Limits
        How long lines may be, and how many tokens they may have.
    keep_rejected : bool
        Otherwise documents that were rejected or ignored in Prodigy are left out; a `CorpusWarning` counts them.
    """
    if cut not in ("error", "widen"):
        raise CorpusError(f"cut must be 'error' or 'widen', got {cut!r}")
    opened = Source(source, encoding, limits)
    left_out: Counter[str] = Counter()
    for where, record in _records(opened):
        answer = None if keep_rejected else rejected(record)
        if answer is not None:
            left_out[answer] += 1
            continue
        try:
            document = document_of(record, tokenize, scheme, cut == "widen")
        except ValueError as error:
            raise CorpusError(f"{opened.name}, {where}: {error}") from None
        if len(document.offsets) > limits.tokens:
            raise LimitError(f"{opened.name}, {where}: {limits.exceeded('tokens')}")
        yield document
    if left_out:
        answers = ", ".join(f"{n} of {answer!r}" for answer, n in sorted(left_out.items()))
        message = f"{opened.name}: {left_out.total()} documents were left out, by their answers in Prodigy: {answers}"
        warnings.warn(message, CorpusWarning, stacklevel=2)


def _records(opened: Source) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, each with where it stands."""
    lines = ((number, line) for number, line in opened.lines() if line.strip())
    first = next(lines, None)
    if first is None:
        return
    if first[1].lstrip().startswith("["):
        size, parts = 0, []
        for _, line in chain([first], lines):
            size += len(line)
            if size > opened.limits.file:
                raise opened.beyond("file")
            parts.append(line)
        values = _parsed(opened, first[0], "\n".join(parts), "an array of JSON objects")
        yield from ((f"document {i}", value) for i, value in enumerate(values))
    else:
        for number, line in chain([first], lines):
            yield f"line {number}", _parsed(opened, number, line, "one JSON object")


def _parsed(opened: Source, number: int, text: str, expected: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise opened.error(number, f"expected {expected}, got invalid JSON ({error})") from None
    if "\\u" in text and not is_text(json.dumps(value, ensure_ascii=False)):
        raise opened.error(number, "expected text that can be written as UTF-8, got a lone surrogate")
    return value


def read_jsonl(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = word_offsets,
    scheme: str = "iob2",
    cut: str = "error",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Columns, Columns]:
    """Read annotated documents as (X, y): the tokens and the labels of each.

    The parameters are those of `iter_jsonl`, which keeps text and offsets as well. Documents that were rejected in
    Prodigy are left out, with a `CorpusWarning`.

    Examples
    --------
    >>> X, y = read_jsonl(b'{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}')
    >>> X[0], y[0]
    (['Ann', 'sings'], ['B-PER', 'O'])
    """
    X, y = [], []
    documents = iter_jsonl(
        source, encoding=encoding, tokenize=tokenize, scheme=scheme, cut=cut, limits=limits, keep_rejected=False
    )
    for number, document in enumerate(documents):
        if document.labels is None:
            raise CorpusError(f"{Source(source).name}: document {number} has neither spans nor labels")
        X.append(document.tokens)
        y.append(document.labels)
    return Columns.from_sentences(X, 1), Columns.from_sentences(y, 1)


def write_jsonl(
    target: TargetLike,
    documents: Iterable[Document | Sequence[str]],
    labels: Iterable[Sequence[str]] | None = None,
    *,
    layout: str = "spans",
    scheme: str | None = None,
    encoding: str = "utf-8",
) -> None:
    """Write documents as JSON lines.

    Parameters
    ----------
    documents : iterable of Document, or of sentences of tokens
        Tokens are put into a text with a space between any two.
    labels : iterable of label sequences, optional
        In place of the documents' own.
    layout : "spans", "doccano" or "tokens"
        ``{"text", "spans"}``, ``{"text", "label"}`` or ``{"tokens", "labels"}``; see the head of this module.
    scheme : str, optional
        How the labels are read, as in `schemes.spans`.
    """
    if layout not in _LAYOUTS:
        raise CorpusError(f"layout must be one of {', '.join(_LAYOUTS)}, got {layout!r}")
    given = iter(labels) if labels is not None else None
    with open_target(target, encoding) as write:
        for number, item in enumerate(documents):
            document = item if isinstance(item, Document) else Document.from_tokens(item)
            if given is not None:
                own = next(given, None)
                if own is None:
                    raise CorpusError(f"there are labels for {number} documents only, expected as many as documents")
                document = document.with_labels(own)
            if document.labels is not None and len(document.labels) != len(document.offsets):
                n_tokens, n_labels = len(document.offsets), len(document.labels)
                raise CorpusError(
                    f"document {number} has {n_labels} labels, expected one for each of {n_tokens} tokens"
                )
            write(json.dumps(_record(document, layout, scheme), ensure_ascii=False) + "\n")
        if given is not None and next(given, None) is not None:
            raise CorpusError("there are labels for more documents than are given")


def _record(document: Document, layout: str, scheme: str | None) -> dict[str, Any]:
    if layout == "tokens":
        tokens: dict[str, Any] = {"tokens": document.tokens}
        return tokens if document.labels is None else {**tokens, "labels": document.labels}
    text: dict[str, Any] = {"text": document.text}
    if document.labels is None:
        return text
    spans = document.spans(scheme)
    if layout == "doccano":
        return {**text, "label": [list(span) for span in spans]}
    return {**text, "spans": [span._asdict() for span in spans]}


@dataclass(frozen=True)
class JsonBatch:
    """Documents with spans in characters of the text, or a label for each token where the labels spell no spans."""

    documents: list[Document]
    spans: bool

    @property
    def X(self) -> list[list[str]]:
        return [document.tokens for document in self.documents]

    def text(self, answers: Sequence[Sequence[Prediction]]) -> str:
        return "".join(
            json.dumps(self._record(document, answer), ensure_ascii=False) + "\n"
            for document, readings in zip(self.documents, answers)
            for answer in readings
        )

    def _record(self, document: Document, answer: Prediction) -> dict[str, Any]:
        record = answered_record(document, answer.labels, self.spans)
        if answer.reading is not None:
            record |= {"reading": answer.reading, "score": answer.score}
        if answer.cells is not None:
            record["probabilities"] = [cells[0] if len(cells) == 1 else list(cells) for cells in answer.cells]
        return record

    def span_records(self, spans: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        for document, found in zip(self.documents, spans):
            starts, ends = zip(*document.offsets) if document.offsets else ((), ())
            characters = [span._replace(start=starts[span.start], end=ends[span.end - 1]) for span in found]
            kept = {name: value for name, value in (document.record or {}).items() if name not in SPAN_KEYS}
            yield {**kept, "text": document.text, "spans": [span_record(span) for span in characters]}


def _stream(path: str, options: FormatOptions, expected: Expected) -> Iterator[JsonBatch]:
    expected.check(1, "JSON lines have 1")
    for documents in blocks(path, iter_jsonl(path, **options.reading)):
        yield JsonBatch(documents, spans=expected.spans)


def _write(target: Any, X: Any, y: Any, options: FormatOptions) -> None:
    layout = "spans" if schemes.detect_scheme(y) is not None else "tokens"
    write_jsonl(target, words_of(X), y, layout=layout, **options.text)


FORMATS = (
    Format(
        "jsonl",
        "tokens",
        "text with spans of characters, or tokens with labels",
        (".jsonl", ".ndjson", ".json"),
        lambda path, options: read_jsonl(path, scheme=options.scheme or "iob2", **options.reading),
        _stream,
        _write,
        recognises=lambda beginning: _BEGINNING.match(beginning) is not None,
    ),
)
