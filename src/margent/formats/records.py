"""JSON objects of annotation tools as documents, and answers in the layout of the object they are about.

One object is one text, in one of these layouts, told apart by their keys:

- ``{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}``, also with ``"tokens"`` as Prodigy adds
  them; the list may be called ``spans``, ``entities``, ``label`` or ``labels``;
- ``{"text": "Ann sings", "label": [[0, 3, "PER"]]}`` and ``{"text": ..., "entities": [{"start_offset": 0, ...}]}``, as
  doccano exports them;
- ``{"text": "Ann sings", "label": [{"start": 0, "end": 3, "labels": ["PER"]}]}``, as Label Studio exports with
  JSON_MIN, and its full export, ``{"data": {"text": ...}, "annotations": [{"result": [{"value": ...}]}]}``;
- ``{"tokens": ["Ann", "sings"], "labels": ["B-PER", "O"]}``, a label for each token; ``tags`` is the same.

Offsets count characters (code points) from 0, the end is exclusive.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from margent.annotation import schemes
from margent.formats.documents import Document, Offsets

SPAN_KEYS = ("spans", "entities", "label", "labels")
_LABEL_KEYS = ("labels", "tags", "label")
_REJECTED = ("reject", "ignore")


def rejected(record: Any) -> str | None:
    """Prodigy's answer to a text that is not to be learned from: "reject" or "ignore"; None for any other."""
    answer = record.get("answer") if isinstance(record, dict) else None
    return answer if answer in _REJECTED else None


def document_of(
    record: Any, tokenize: Callable[[str], Iterable[tuple[int, int]]], scheme: str, widen: bool
) -> Document:
    """The text of an object with its tokens and, where it is annotated, their labels; `ValueError` says what is wrong.

    Where several people have annotated a text in Label Studio, the first annotation counts that was not cancelled.
    """
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {type(record).__name__}")
    if _is_full_export(record):
        return _from_text(_studio_text(record["data"]), _studio_spans(record), record, tokenize, scheme, widen)
    text, tokens = record.get("text"), record.get("tokens")
    if isinstance(text, str):
        return _from_text(text, _first(record, SPAN_KEYS), record, tokenize, scheme, widen)
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        labels = _first(record, _LABEL_KEYS)
        if labels is not None and (len(labels) != len(tokens) or not all(isinstance(x, str) for x in labels)):
            raise ValueError(f"expected {len(tokens)} labels, one str for each token, got {labels!r}")
        whole = Document.from_tokens(tokens, labels)
        return Document(whole.text, whole.offsets, whole.labels, record)
    raise ValueError('expected "text" (a string) or "tokens" (a list of strings)')


def answered_record(document: Document, labels: Sequence[str], spans: bool) -> dict[str, Any]:
    """The object that a document was read from with other labels, in its own layout; all else stays as it was.

    A document that was read from none is ``{"text", "spans"}`` or, without spans, ``{"tokens", "labels"}``. Label
    Studio's full export gets a prediction, which it shows beside the annotations.
    """
    record = dict(document.record or {})
    found = document.with_labels(labels).spans() if spans else []
    if not spans:
        key = next((key for key in _LABEL_KEYS if key in record), "labels")
        return {**(record or {"tokens": document.tokens}), key: list(labels)}
    if not record:
        return {"text": document.text, "spans": [span._asdict() for span in found]}
    if _is_full_export(record):
        name = _studio_names(record)
        result = [{**name, "type": "labels", "value": _studio_value(span, document.text)} for span in found]
        return {**record, "predictions": [{"model_version": "margent", "result": result}]}
    key = next((key for key in SPAN_KEYS if isinstance(record.get(key), list)), "spans")
    if "text" not in record:
        record = {"text": document.text, **record}
    return {**record, key: [_like(span, document.text, record.get(key) or []) for span in found]}


def _from_text(
    text: str,
    found: list[Any] | None,
    record: dict[str, Any],
    tokenize: Callable[[str], Iterable[tuple[int, int]]],
    scheme: str,
    widen: bool,
) -> Document:
    tokens = record.get("tokens")
    if isinstance(tokens, list) and tokens and all(isinstance(token, dict) for token in tokens):
        offsets = [_bounds(token, "token", len(text)) for token in tokens]
    else:
        offsets = list(tokenize(text))
    if any(before[1] > after[0] for before, after in pairwise(offsets)):
        raise ValueError("expected tokens that follow one another, got tokens that overlap")
    if found is None:
        return Document(text, offsets, None, record)
    spans = [_in_tokens(_span(item, len(text)), offsets, widen) for item in found]
    return Document(text, offsets, schemes.labels_of(spans, len(offsets), scheme), record)


def _first(record: dict[str, Any], keys: Sequence[str]) -> list[Any] | None:
    for key in keys:
        if isinstance(record.get(key), list):
            return record[key]  # type: ignore[no-any-return]
    return None


def _span(item: Any, length: int) -> schemes.Span:
    if isinstance(item, list) and len(item) == 3:
        item = dict(zip(("start", "end", "label"), item))
    if isinstance(item, dict) and "label" not in item and isinstance(item.get("labels"), list):
        if len(item["labels"]) != 1:
            raise ValueError(f"expected a span with one label, got {item!r}")
        item = {**item, "label": item["labels"][0]}
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


def _like(span: schemes.Span, text: str, others: Sequence[Any]) -> Any:
    """A span in the form of those that were there."""
    form = others[0] if others else {}
    if isinstance(form, list):
        return list(span)
    if isinstance(form, Mapping) and "labels" in form:
        return _studio_value(span, text)
    if isinstance(form, Mapping) and "start_offset" in form:
        return {"label": span.label, "start_offset": span.start, "end_offset": span.end}
    return span._asdict()


# The full export of Label Studio


def _is_full_export(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("data"), dict) and "text" not in record and "tokens" not in record


def _studio_text(data: dict[str, Any]) -> str:
    texts = [value for value in data.values() if isinstance(value, str)]
    text = data.get("text", texts[0] if len(texts) == 1 else None)
    if not isinstance(text, str):
        raise ValueError(f'expected a "text" (a string) in "data", got {sorted(data)}')
    return text


def _studio_spans(record: dict[str, Any]) -> list[Any] | None:
    annotations = record.get("annotations", [])
    if not isinstance(annotations, list) or not all(isinstance(each, dict) for each in annotations):
        raise ValueError('expected "annotations" to be a list of objects')
    counted = next((each for each in annotations if not each.get("was_cancelled")), None)
    if counted is None:
        return None
    results = counted.get("result")
    if not isinstance(results, list) or not all(isinstance(item, dict) for item in results):
        raise ValueError('expected the "result" of an annotation to be a list of objects')
    return [item.get("value") for item in results if item.get("type", "labels") == "labels"]


def _studio_names(record: Mapping[str, Any]) -> dict[str, Any]:
    for annotation in record.get("annotations", []):
        for item in annotation.get("result", []):
            if "from_name" in item and "to_name" in item:
                return {"from_name": item["from_name"], "to_name": item["to_name"]}
    return {"from_name": "label", "to_name": "text"}


def _studio_value(span: schemes.Span, text: str) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": text[span.start : span.end], "labels": [span.label]}
