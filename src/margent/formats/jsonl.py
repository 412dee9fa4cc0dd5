"""JSON lines with annotated text: a document a line, its entities as spans of characters.

Read are, one to a line and mixed at will:

- ``{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}``, also with ``"tokens"`` as Prodigy adds
  them; the list may be called ``spans``, ``entities``, ``label`` or ``labels``;
- ``{"text": "Ann sings", "label": [[0, 3, "PER"]]}`` and ``{"text": ..., "entities": [{"start_offset": 0, ...}]}``, as
  doccano exports them;
- ``{"tokens": ["Ann", "sings"], "labels": ["B-PER", "O"]}``, a label for each token; ``tags`` is the same.

Offsets count characters (code points) from 0, the end is exclusive.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

from margent.annotation import schemes
from margent.errors import CorpusError
from margent.formats.batch import Expected, Prediction, blocks, span_record, words_of
from margent.formats.columns import Columns
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.parameters import is_text

Offsets: TypeAlias = "list[tuple[int, int]]"

_PIECE = re.compile(r"\w+|[^\w\s]")
_JOINERS = "\u200c\u200d"  # zero width: they bind letters of Persian and Indic words, and parts of one emoji
_SPAN_KEYS = ("spans", "entities", "label", "labels")
_LABEL_KEYS = ("labels", "tags", "label")
_LAYOUTS = ("spans", "doccano", "tokens")


def word_offsets(text: str) -> Offsets:
    """Start and end of each word and each other visible character; blanks are left out.

    A word is a run of letters, digits and underscores with the combining marks that belong to them.

    >>> word_offsets("Ann's cat!")
    [(0, 3), (3, 4), (4, 5), (6, 9), (9, 10)]
    """
    offsets: Offsets = []
    binds = False  # whether the last piece ended with a mark, so that letters after it belong to it
    for match in _PIECE.finditer(text):
        start, end = match.span()
        mark = text[start] in _JOINERS or unicodedata.category(text[start]).startswith("M")
        if offsets and offsets[-1][1] == start and (mark or binds):
            offsets[-1] = (offsets[-1][0], end)
        else:
            offsets.append((start, end))
        binds = mark
    return offsets


def character_offsets(text: str) -> Offsets:
    """Start and end of each character that is not a blank: the tokens for scripts without spaces between words."""
    return [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]


@dataclass(frozen=True)
class Document:
    """A text, its tokens, and a label for each token.

    Attributes
    ----------
    text : str
    offsets : list of (start, end)
        Where in the text each token stands.
    labels : list of str, or None
        None where the text was not annotated.
    """

    text: str
    offsets: Offsets
    labels: list[str] | None = None

    @property
    def tokens(self) -> list[str]:
        return [self.text[start:end] for start, end in self.offsets]

    @classmethod
    def from_tokens(cls, tokens: Sequence[str], labels: Sequence[str] | None = None) -> Document:
        """The tokens with a space between any two."""
        offsets, position = [], 0
        for token in tokens:
            offsets.append((position, position + len(token)))
            position += len(token) + 1
        return cls(" ".join(tokens), offsets, None if labels is None else list(labels))

    def with_labels(self, labels: Sequence[str]) -> Document:
        """The same text with other labels."""
        return replace(self, labels=list(labels))

    def spans(self, scheme: str | None = None) -> list[schemes.Span]:
        """The labelled spans, in characters of the text; `scheme` is how the labels are read, as in `schemes.spans`."""
        return [
            schemes.Span(self.offsets[start][0], self.offsets[end - 1][1], label)
            for start, end, label in schemes.spans(self.labels or [], scheme)
        ]


def iter_jsonl(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = word_offsets,
    scheme: str = "iob2",
    cut: str = "error",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Document]:
    """Read JSON lines document by document, with the offsets of the tokens kept.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip. Blank lines are skipped.
    tokenize : callable
        From a text to the (start, end) of its tokens; `character_offsets` suits Chinese, for instance. Not used where
        the file has tokens.
    scheme : str
        The scheme in which spans become labels.
    cut : "error" or "widen"
        What to do with a span that begins or ends within a token: refuse it, or label the whole token.
    limits : Limits
        How long lines may be, and how many tokens they may have.
    """
    if cut not in ("error", "widen"):
        raise CorpusError(f"cut must be 'error' or 'widen', got {cut!r}")
    opened = Source(source, encoding, limits)
    for number, line in opened.lines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise opened.error(number, f"expected one JSON object, got invalid JSON ({error})") from None
        if "\\u" in line and not is_text(json.dumps(record, ensure_ascii=False)):
            raise opened.error(number, "expected text that can be written as UTF-8, got a lone surrogate")
        try:
            document = _document(record, tokenize, scheme, cut == "widen")
        except ValueError as error:
            raise opened.error(number, str(error)) from None
        if len(document.offsets) > limits.tokens:
            raise opened.beyond("tokens", number)
        yield document


def read_jsonl(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = word_offsets,
    scheme: str = "iob2",
    cut: str = "error",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Columns, Columns]:
    """Read annotated JSON lines as (X, y): the tokens and the labels of each document.

    The parameters are those of `iter_jsonl`, which keeps text and offsets as well.

    Examples
    --------
    >>> X, y = read_jsonl(b'{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}')
    >>> X[0], y[0]
    (['Ann', 'sings'], ['B-PER', 'O'])
    """
    X, y = [], []
    documents = iter_jsonl(source, encoding=encoding, tokenize=tokenize, scheme=scheme, cut=cut, limits=limits)
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


def _document(record: Any, tokenize: Callable[[str], Iterable[tuple[int, int]]], scheme: str, widen: bool) -> Document:
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {type(record).__name__}")
    text, tokens = record.get("text"), record.get("tokens")
    if isinstance(text, str):
        if isinstance(tokens, list) and tokens and all(isinstance(token, dict) for token in tokens):
            offsets = [_bounds(token, "token", len(text)) for token in tokens]
        else:
            offsets = list(tokenize(text))
        if any(before[1] > after[0] for before, after in pairwise(offsets)):
            raise ValueError("expected tokens that follow one another, got tokens that overlap")
        found = _first(record, _SPAN_KEYS)
        if found is None:
            return Document(text, offsets)
        spans = [_span(item, len(text)) for item in found]
        in_tokens = [_in_tokens(span, offsets, widen) for span in spans]
        return Document(text, offsets, schemes.labels_of(in_tokens, len(offsets), scheme))
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        labels = _first(record, _LABEL_KEYS)
        if labels is not None and (len(labels) != len(tokens) or not all(isinstance(x, str) for x in labels)):
            raise ValueError(f"expected {len(tokens)} labels, one str for each token, got {labels!r}")
        return Document.from_tokens(tokens, labels)
    raise ValueError('expected "text" (a string) or "tokens" (a list of strings)')


def _first(record: dict[str, Any], keys: Sequence[str]) -> list[Any] | None:
    for key in keys:
        if isinstance(record.get(key), list):
            return record[key]  # type: ignore[no-any-return]
    return None


def _span(item: Any, length: int) -> schemes.Span:
    if isinstance(item, list) and len(item) == 3:
        item = dict(zip(("start", "end", "label"), item))
    if not isinstance(item, dict) or not isinstance(item.get("label"), str):
        raise ValueError(f"expected a span with start, end and label, got {item!r}")
    return schemes.Span(*_bounds(item, "span", length), item["label"])


def _bounds(item: dict[str, Any], what: str, length: int) -> tuple[int, int]:
    start, end = (item.get(key, item.get(f"{key}_offset")) for key in ("start", "end"))
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
        raise ValueError(f"expected a {what} within the {length} characters of the text, got {item!r}")
    return start, end


def _in_tokens(span: schemes.Span, offsets: Offsets, widen: bool) -> schemes.Span:
    """The span counted in tokens: all that it touches."""
    first = bisect_right(offsets, span.start, key=lambda bounds: bounds[1])
    last = bisect_left(offsets, span.end, key=lambda bounds: bounds[0]) - 1
    if last < first:
        raise ValueError(f"{span} holds no token")
    if not widen and (offsets[first][0] < span.start or offsets[last][1] > span.end):
        raise ValueError(f"{span} begins or ends within a token; cut='widen' takes the whole token")
    return schemes.Span(first, last + 1, span.label)


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

    def span_records(self, spans: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        for document, found in zip(self.documents, spans):
            starts, ends = zip(*document.offsets) if document.offsets else ((), ())
            characters = [span._replace(start=starts[span.start], end=ends[span.end - 1]) for span in found]
            yield {"text": document.text, "spans": [span_record(span) for span in characters]}


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
        (".jsonl", ".ndjson"),
        lambda path, options: read_jsonl(path, scheme=options.scheme or "iob2", **options.reading),
        _stream,
        _write,
    ),
)
