"""The layouts of annotation tools: read, and written with other labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import margent
from margent.cli import main
from margent.formats import iter_jsonl, read_jsonl
from margent.formats.batch import Prediction
from margent.formats.jsonl import JsonBatch
from margent.formats.registry import guessed_format

TEXT = "Ann lives in Rome"
LABELS = ["B-PER", "O", "O", "B-LOC"]
FULL = {
    "id": 7,
    "data": {"text": TEXT, "source": {"page": 3}},
    "annotations": [
        {"was_cancelled": True, "result": []},
        {
            "result": [
                {
                    "from_name": "ner",
                    "to_name": "txt",
                    "type": "labels",
                    "value": {"start": 0, "end": 3, "labels": ["PER"]},
                },
                {"type": "choices", "value": {"choices": ["good"]}},
                {
                    "from_name": "ner",
                    "to_name": "txt",
                    "type": "labels",
                    "value": {"start": 13, "end": 17, "labels": ["LOC"]},
                },
            ]
        },
    ],
}
SMALL = {
    "id": 7,
    "text": TEXT,
    "label": [
        {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]},
        {"start": 13, "end": 17, "text": "Rome", "labels": ["LOC"]},
    ],
    "annotator": 1,
}
DOCCANO = {"id": 7, "text": TEXT, "label": [[0, 3, "PER"], [13, 17, "LOC"]], "Comments": []}
OFFSETS = {
    "text": TEXT,
    "entities": [
        {"label": "PER", "start_offset": 0, "end_offset": 3},
        {"label": "LOC", "start_offset": 13, "end_offset": 17},
    ],
}
PRODIGY = {
    "text": TEXT,
    "meta": {"source": "x"},
    "spans": [{"start": 0, "end": 3, "label": "PER"}, {"start": 13, "end": 17, "label": "LOC"}],
    "answer": "accept",
}
TOKENS = {"id": 7, "tokens": TEXT.split(), "tags": LABELS}
ALL = {"full": FULL, "small": SMALL, "doccano": DOCCANO, "offsets": OFFSETS, "prodigy": PRODIGY, "tokens": TOKENS}


def bytes_of(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.mark.parametrize("name", ALL)
def test_every_layout_is_read(name: str) -> None:
    (document,) = iter_jsonl(bytes_of(ALL[name]))
    assert document.tokens == TEXT.split() and document.labels == LABELS
    for array in (json.dumps([ALL[name]] * 2), json.dumps([ALL[name]] * 2, indent=2)):
        assert list(iter_jsonl(array.encode())) == [document, document]


@pytest.mark.parametrize("name", ALL)
def test_answers_have_the_layout_of_the_input(name: str) -> None:
    (document,) = iter_jsonl(bytes_of(ALL[name]))
    batch = JsonBatch([document], spans=name != "tokens")
    same = json.loads(batch.text([[Prediction(LABELS)]]))
    if name == "full":
        (prediction,) = same.pop("predictions")
        assert same == FULL
        assert [item["value"] for item in prediction["result"]] == SMALL["label"]
        assert {(item["from_name"], item["to_name"]) for item in prediction["result"]} == {("ner", "txt")}
    else:
        assert same == ALL[name]
    other = json.loads(batch.text([[Prediction(["O", "O", "O", "B-PER"], reading=2, score=1.5)]]))
    assert (other.pop("reading"), other.pop("score")) == (2, 1.5)
    if name != "full":
        (again,) = iter_jsonl(bytes_of(other))
        assert again.labels == ["O", "O", "O", "B-PER"] and set(other) == set(ALL[name])


def test_without_an_annotation_there_are_no_labels() -> None:
    for record in ({**FULL, "annotations": FULL["annotations"][:1]}, {"data": {"body": TEXT}}, {"text": TEXT}):
        (document,) = iter_jsonl(bytes_of(record))
        assert document.labels is None and document.text == TEXT
    written = json.loads(JsonBatch([document], spans=True).text([[Prediction(LABELS)]]))
    assert written == {"text": TEXT, "spans": PRODIGY["spans"]}


def test_what_was_rejected_is_left_out_and_counted() -> None:
    data = bytes_of(PRODIGY, {**PRODIGY, "answer": "reject"}, *[{**PRODIGY, "answer": "ignore"}] * 2)
    with pytest.warns(margent.CorpusWarning, match="3 documents were left out.*2 of 'ignore', 1 of 'reject'"):
        X, _ = read_jsonl(data)
    assert len(X) == 1
    assert len(list(iter_jsonl(data))) == 4  # to be tagged, all count


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'[{"text": "a"}, 3]', "<bytes>, document 1: expected a JSON object, got int"),
        (b'[{"text": "a"},', r"<bytes>, line 1: expected an array of JSON objects, got invalid JSON"),
        (b'{\n  "text": "a"\n}', "<bytes>, line 1: expected one JSON object, got invalid JSON"),
        (bytes_of({"data": {"a": "x", "b": "y"}}), 'expected a "text"'),
        (bytes_of({"data": {"text": "x"}, "annotations": [{"result": 3}]}), 'expected the "result" of an annotation'),
        (bytes_of({"data": {"text": "x"}, "annotations": [3]}), 'expected "annotations" to be a list of objects'),
        (bytes_of({"text": "ab", "label": [{"start": 0, "end": 2, "labels": ["A", "B"]}]}), "a span with one label"),
    ],
)
def test_what_cannot_be_understood(data: bytes, message: str) -> None:
    with pytest.raises(margent.CorpusError, match=message):
        list(iter_jsonl(data))


def test_files_are_recognised_by_what_they_hold(tmp_path: Path) -> None:
    for name, text, wanted in [
        ("export", json.dumps([FULL]), "jsonl"),
        ("export.txt", "\ufeff" + json.dumps(FULL), "jsonl"),
        ("tokens.txt", "{ O\n} O\n", None),
        ("quotes.txt", '{" O\n', None),
        ("list.txt", "[ O\n", None),
        ("empty.txt", "", None),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert guessed_format(str(tmp_path / name), "tokens", "attributes") == wanted
    assert guessed_format("there is none.json", "tokens") == "jsonl"


def test_the_command_line_learns_from_an_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export, model = tmp_path / "export.json", tmp_path / "model.margent"
    export.write_text(json.dumps([FULL] * 4 + [SMALL] * 4), encoding="utf-8")
    assert main(["train", str(export), "-m", str(model), "--epochs", "3"]) == 0
    (tmp_path / "new.jsonl").write_text(json.dumps({"id": "x", "meta": [1], "text": TEXT}) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["apply", str(model), str(tmp_path / "new.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": "x", "meta": [1], "text": TEXT, "spans": PRODIGY["spans"]}
