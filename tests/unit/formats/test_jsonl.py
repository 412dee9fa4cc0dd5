from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats import Document, character_offsets, iter_jsonl, read_jsonl, word_offsets, write_jsonl

TEXT = "Ann-Marie flew to São Paulo."
SPANS = [(0, 9, "PER"), (18, 27, "LOC")]
LABELS = ["B-PER", "I-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"]


def lines(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def as_dicts(spans, start="start", end="end"):
    return [{start: s, end: e, "label": label} for s, e, label in spans]


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "spans": as_dicts(SPANS)},
        {"text": TEXT, "spans": as_dicts(SPANS[::-1])},
        {"text": TEXT, "label": SPANS},
        {"text": TEXT, "labels": SPANS, "id": 3},
        {"text": TEXT, "entities": as_dicts(SPANS, "start_offset", "end_offset"), "relations": []},
        {
            "text": TEXT,
            "tokens": [{"text": TEXT[s:e], "start": s, "end": e} for s, e in word_offsets(TEXT)],
            "spans": as_dicts(SPANS),
        },
        {"text": TEXT, "spans": as_dicts([(0, 10, "PER"), (17, 27, "LOC")])},  # blanks at the boundaries do not matter
    ],
)
def test_layouts_with_spans(record):
    (document,) = iter_jsonl(lines(record))
    assert document.tokens == ["Ann", "-", "Marie", "flew", "to", "São", "Paulo", "."]
    assert document.labels == LABELS
    assert document.spans() == SPANS
    X, y = read_jsonl(lines(record, record))
    assert (X[1], y[1]) == (document.tokens, LABELS)


def test_layout_with_tokens():
    for key in ("labels", "tags"):
        (document,) = iter_jsonl(lines({"tokens": ["Ann", "sings"], key: ["B-PER", "O"]}) + b"\n\n")
        assert document == Document("Ann sings", [(0, 3), (4, 9)], ["B-PER", "O"])


def test_text_without_annotation():
    (document,) = iter_jsonl(lines({"text": "Ann sings"}))
    assert document.labels is None
    with pytest.raises(CorpusError, match="document 0 has neither spans nor labels"):
        read_jsonl(lines({"text": "Ann sings"}))
    (empty,) = iter_jsonl(lines({"text": "", "spans": []}))
    assert empty.labels == []


def test_other_schemes_and_tokens():
    record = {"text": "王安石 来", "spans": as_dicts([(0, 3, "PER")])}
    (document,) = iter_jsonl(lines(record), tokenize=character_offsets, scheme="iobes")
    assert document.labels == ["B-PER", "I-PER", "E-PER", "O"]
    assert document.spans("iobes") == [(0, 3, "PER")]


def test_spans_that_cut_a_token():
    data = lines({"text": TEXT, "spans": as_dicts([(19, 24, "LOC")])})
    with pytest.raises(CorpusError, match=r"line 1: .*begins or ends within a token; cut='widen'"):
        read_jsonl(data)
    assert next(iter_jsonl(data, cut="widen")).spans() == [(18, 27, "LOC")]
    with pytest.raises(CorpusError, match="cut must be"):
        read_jsonl(data, cut="drop")


def test_words_with_marks_stay_whole():
    for text in ("हिन्दी", "e\u0301te\u0301", "می\u200cخواهم", "straße_1"):
        assert word_offsets(f"{text} {text}") == [(0, len(text)), (len(text) + 1, 2 * len(text) + 1)]
    assert word_offsets("don't") == [(0, 3), (3, 4), (4, 5)]
    assert word_offsets(" \u00a0\n") == []


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=30))
def test_tokens_cover_everything_but_blanks(text):
    for offsets in (word_offsets(text), character_offsets(text)):
        covered = [i for start, end in offsets for i in range(start, end)]
        assert covered == [i for i, character in enumerate(text) if not character.isspace()]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.text(max_size=25), st.lists(st.integers(0, 40), max_size=6)), max_size=4))
def test_documents_come_back_with_their_spans(drawn):
    documents = []
    for text, cuts in drawn:
        offsets = word_offsets(text)
        boundaries = sorted({cut % (len(offsets) + 1) for cut in cuts})
        labels = ["O"] * len(offsets)
        for kind, (start, end) in enumerate(zip(boundaries[::2], boundaries[1::2])):
            labels[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
        documents.append(Document(text, offsets, labels))
    for layout in ("spans", "doccano"):
        file = io.StringIO()
        write_jsonl(file, documents, layout=layout)
        assert list(iter_jsonl(io.StringIO(file.getvalue()))) == documents
    file = io.StringIO()
    write_jsonl(file, documents, layout="tokens")
    again = list(iter_jsonl(io.StringIO(file.getvalue())))
    assert [(d.tokens, d.labels) for d in again] == [(d.tokens, d.labels) for d in documents]


def test_tokens_and_labels_become_spans_of_characters():
    file = io.StringIO()
    write_jsonl(file, [["Ann", "Lee", "sings"]], [["B-PER", "I-PER", "O"]])
    assert json.loads(file.getvalue()) == {"text": "Ann Lee sings", "spans": [{"start": 0, "end": 7, "label": "PER"}]}
    file = io.StringIO()
    write_jsonl(file, [["Ann", "語"]], layout="tokens")
    assert file.getvalue() == '{"tokens": ["Ann", "語"]}\n'


def test_labels_of_another_number():
    for labels, message in (
        ([["O"]], "document 0 has 1 labels, expected one for each of 2 tokens"),
        ([], "labels for 0 documents only"),
        ([["O", "O"]] * 2, "more documents"),
    ):
        with pytest.raises(CorpusError, match=message):
            write_jsonl(io.StringIO(), [["a", "b"]], labels)
    with pytest.raises(CorpusError, match="layout must be one of spans, doccano, tokens"):
        write_jsonl(io.StringIO(), [], layout="brat")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: expected one JSON object, got invalid JSON"),
        ("[" * 100_000, "line 2: expected one JSON object, got invalid JSON"),
        ("[]", "line 2: expected a JSON object, got list"),
        ("{}", 'line 2: expected "text"'),
        ('{"tokens": [1]}', 'line 2: expected "text"'),
        ('{"text": "ab", "spans": [3]}', "expected a span with start, end and label, got 3"),
        ('{"text": "ab", "spans": [{"start": 0, "end": 2}]}', "expected a span with start, end and label"),
        ('{"text": "ab", "label": [[0, 3, "X"]]}', "expected a span within the 2 characters"),
        ('{"text": "ab", "label": [[1, 1, "X"]]}', "expected a span within the 2 characters"),
        ('{"text": "ab", "label": [[true, 2, "X"]]}', "expected a span within the 2 characters"),
        ('{"text": "a b", "label": [[1, 2, "X"]]}', "holds no token"),
        ('{"text": "a b", "label": [[0, 3, "X"], [2, 3, "Y"]]}', "line 2: .*overlaps"),
        ('{"text": "ab", "tokens": [{"start": 0, "end": 2}, {"start": 1, "end": 2}]}', "tokens that overlap"),
        ('{"tokens": ["a", "b"], "labels": ["O"]}', "expected 2 labels"),
    ],
)
def test_wrong_lines(line, message):
    with pytest.raises(CorpusError, match=message):
        list(iter_jsonl(b'{"text": ""}\n' + line.encode()))


@pytest.mark.parametrize("line", ['{"text": "a \\ud800"}', '{"tokens": ["a"], "labels": ["\\udfff"]}'])
def test_half_a_surrogate_pair_is_told_with_its_line(line):
    with pytest.raises(CorpusError, match="line 2: expected text that can be written as UTF-8, got a lone surrogate"):
        list(iter_jsonl(('{"text": "\\u00e9 \\ud83d\\ude00"}\n' + line).encode()))
