from __future__ import annotations

import io
import json

import pytest

import margent as library
from margent.annotation import spans
from margent.formats import read_columns

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")


def blocks(text: str) -> list[list[list[str]]]:
    return [[line.split("\t") for line in block.splitlines()] for block in text.split("\n\n") if block]


def test_output_is_input_and_label(margent, folder):
    outcome = margent("tag", folder / "model.margent", folder / "one.txt")
    (sentence,) = blocks(outcome.output)
    assert [row[0] for row in sentence] == ["Rue", "de", "Paris"]
    assert [row[1] for row in sentence] == library.load(folder / "model.margent").predict([["Rue", "de", "Paris"]])[0]


def test_a_model_that_is_not_calibrated_is_said_to_be(margent, folder, tmp_path):
    for option in ("--marginals", "--all-marginals", "--spans"):
        errors = margent("tag", folder / "model.margent", folder / "one.txt", option).errors
        assert errors.startswith("margent: warning: the probabilities of") and errors.count("\n") == 1
    assert margent("tag", folder / "model.margent", folder / "one.txt", "--k", 2).errors == ""
    assert margent("calibrate", folder / "model.margent", folder / "dev.txt", "-o", tmp_path / "m").status == 0
    assert margent("tag", tmp_path / "m", folder / "one.txt", "--marginals").errors == ""


def test_right_labels_are_kept(margent, folder):
    outcome = margent("tag", folder / "model.margent", folder / "test.txt")
    gold = read_columns(folder / "test.txt")
    tagged = read_columns(outcome.output.encode())
    assert tagged.n_columns == 3
    assert list(tagged.select([0, 1])) == list(gold)
    assert tagged.column(2) == library.load(folder / "model.margent").predict(gold.select(0))


def test_standard_input_several_files_and_output_file(margent, folder, tmp_path, monkeypatch):
    one = margent("tag", folder / "model.margent", folder / "one.txt").output
    assert margent("tag", folder / "model.margent", folder / "one.txt", folder / "one.txt").output == one + one
    outcome = margent("tag", folder / "model.margent", folder / "one.txt", "-o", tmp_path / "tagged.txt")
    assert outcome.output == ""
    assert (tmp_path / "tagged.txt").read_text(encoding="utf-8") == one
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((folder / "one.txt").read_bytes())))
    assert margent("tag", folder / "model.margent").output == one


def test_options_may_stand_anywhere(margent, folder):
    model, one = folder / "model.margent", folder / "one.txt"
    wanted = margent("tag", model, one, "--k", 2, "--marginals")
    assert wanted.status == 0
    for arguments in ((model, "--k", 2, one, "--marginals"), ("--marginals", "--k", 2, model, one)):
        assert margent("tag", *arguments) == wanted


def test_readings(margent, folder):
    outcome = margent("tag", folder / "model.margent", folder / "one.txt", "--k", 3)
    wanted = library.load(folder / "model.margent").predict_k_best([["Rue", "de", "Paris"]], 3)[0]
    found = blocks(outcome.output)
    assert [block[0] for block in found] == [
        [f"# reading {i} score={reading.score:.6g}"] for i, reading in enumerate(wanted, start=1)
    ]
    assert [[row[1] for row in block[1:]] for block in found] == [reading.labels for reading in wanted]


def test_marginals(margent, folder):
    tagger = library.load(folder / "model.margent")
    marginals = tagger.predict_marginals([["Rue", "de", "Paris"]])[0]
    (sentence,) = blocks(margent("tag", folder / "model.margent", folder / "one.txt", "--marginals").output)
    place = tagger.classes_.tolist().index
    for (_, label, probability), row in zip(sentence, marginals):
        assert float(probability) == pytest.approx(row[place(label)], abs=1e-6)
    (sentence,) = blocks(margent("tag", folder / "model.margent", folder / "one.txt", "--all-marginals").output)
    for cells, row in zip(sentence, marginals):
        names, values = zip(*(cell.rsplit(":", 1) for cell in cells[2:]))
        assert list(names) == tagger.classes_.tolist()
        assert [float(value) for value in values] == pytest.approx(row.tolist(), abs=1e-6)
    both = margent("tag", folder / "model.margent", folder / "one.txt", "--marginals", "--all-marginals", "--k", 2)
    assert len(blocks(both.output)[1][1]) == 3 + len(tagger.classes_)


def test_spans(margent, folder):
    outcome = margent("tag", folder / "model.margent", folder / "test.txt", "--spans")
    records = [json.loads(line) for line in outcome.output.splitlines()]
    X = read_columns(folder / "test.txt").select(0)
    assert [record["tokens"] for record in records] == list(X)
    for record, wanted in zip(records, library.load(folder / "model.margent").predict_spans(X)):
        assert [(s["start"], s["end"], s["label"]) for s in record["spans"]] == [span[:3] for span in wanted]
        assert all(0 <= s["confidence"] <= 1 for s in record["spans"])


def test_json_lines(margent, folder, tmp_path):
    text = "Rue de Paris"
    (tmp_path / "new.jsonl").write_text(json.dumps({"text": text}) + "\n")
    labels = library.load(folder / "model.margent").predict([text.split()])[0]
    record = json.loads(margent("tag", folder / "model.margent", tmp_path / "new.jsonl").output)
    assert record["text"] == text
    starts = [0, 4, 7, 13]  # of the words, in characters
    assert [tuple(span.values()) for span in record["spans"]] == [
        (starts[start], starts[end] - 1, label) for start, end, label in spans(labels)
    ]
    confident = json.loads(margent("tag", folder / "model.margent", tmp_path / "new.jsonl", "--spans").output)
    assert [{k: v for k, v in span.items() if k != "confidence"} for span in confident["spans"]] == record["spans"]
    readings = margent("tag", folder / "model.margent", tmp_path / "new.jsonl", "--k", 2, "--marginals").output
    assert [json.loads(line)["reading"] for line in readings.splitlines()] == [1, 2]
    assert len(json.loads(readings.splitlines()[0])["probabilities"]) == 3


def test_json_lines_with_labels_that_spell_no_spans(margent, tmp_path):
    (tmp_path / "train.jsonl").write_text('{"tokens": ["the", "cat"], "labels": ["D", "N"]}\n')
    assert margent("train", tmp_path / "train.jsonl", "-m", tmp_path / "m").status == 0
    record = json.loads(margent("tag", tmp_path / "m", tmp_path / "train.jsonl").output)
    assert record == {"tokens": ["the", "cat"], "labels": ["D", "N"]}


CONLLU = "# text = It rains\n" + "".join(
    "\t".join(row.split()) + "\n" for row in ("1 It it PRON _ _ 2 nsubj _ _", "2 rains rain VERB _ _ 0 root _ A=b")
)


def test_conllu_keeps_all_but_the_label(margent, tmp_path):
    (tmp_path / "train.conllu").write_text(CONLLU + "\n")
    (tmp_path / "new.conllu").write_text(CONLLU.replace("PRON", "_").replace("VERB", "_") + "\n")
    assert margent("train", tmp_path / "train.conllu", "-m", tmp_path / "m").status == 0
    assert margent("tag", tmp_path / "m", tmp_path / "new.conllu").output == CONLLU + "\n"
    output = margent("tag", tmp_path / "m", tmp_path / "new.conllu", "--marginals", "--k", 1).output
    assert output.startswith("# reading 1 score=")
    assert "\tA=b|Probability=" in output and "\tProbability=" in output
    record = json.loads(margent("tag", tmp_path / "m", tmp_path / "new.conllu", "--spans").output)
    assert record["tokens"] == ["It", "rains"]


def test_attribute_files(margent, fails, tmp_path):
    (tmp_path / "a.crfsuite").write_text("D\tw=the\nN\tw=cat\tlength:3\n\nD\tw=a\nN\tw=dog\n\n")
    (tmp_path / "a.svmhmm").write_text("1 qid:1 1:1\n2 qid:1 2:0.5\n1 qid:2 1:1\n")
    for name in ("a.crfsuite", "a.svmhmm"):
        assert margent("train", tmp_path / name, "-m", tmp_path / "m").status == 0
        output = margent("tag", tmp_path / "m", tmp_path / name).output
        assert all(gold == predicted for block in blocks(output) for gold, predicted in block)
        record = json.loads(margent("tag", tmp_path / "m", tmp_path / name, "--spans").output.splitlines()[0])
        assert list(record) == ["spans"]
    fails(1, "the model takes attributes", "tag", tmp_path / "m", "-")


def test_failures(fails, margent, folder, tmp_path):
    model = folder / "model.margent"
    (tmp_path / "three.txt").write_text("a b c\n\n")
    (tmp_path / "words.conllu").write_text(CONLLU + "\n")
    (tmp_path / "bad.jsonl").write_text("{\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "short.margent").write_bytes(model.read_bytes()[:1000])
    fails(1, "No such file", "tag", tmp_path / "nothing")
    fails(1, "does not begin as a Margent model", "tag", folder / "train.txt")
    fails(1, "truncated", "tag", tmp_path / "short.margent")
    fails(1, "not a regular file", "tag", tmp_path)
    fails(1, "No such file", "tag", model, tmp_path / "nothing")
    fails(1, "found 3 columns, expected the 1", "tag", model, tmp_path / "three.txt")
    fails(1, "line 1", "tag", model, tmp_path / "bad.jsonl")
    fails(1, "the model takes tokens", "tag", model, folder / "test.txt", "--format", "crfsuite")
    fails(1, "--columns names 2", "tag", model, tmp_path / "words.conllu", "--columns", "form,lemma,upos")
    fails(1, "no such folder", "tag", model, folder / "one.txt", "-o", tmp_path / "no" / "x")
    fails(2, "--spans cannot", "tag", model, folder / "one.txt", "--spans", "--k", 2)
    fails(2, "at least 1", "tag", model, "--k", 0)
    fails(2, "no meaning", "tag", model, "--format", "jsonl", "--columns", "0")
    assert margent("tag", model, tmp_path / "empty.txt") == (0, "", "")


def test_output_is_left_alone_when_tagging_fails(fails, folder, tmp_path):
    (tmp_path / "out.txt").write_text("precious")
    (tmp_path / "three.txt").write_text("a b c\n\n")
    fails(1, "3 columns", "tag", folder / "model.margent", tmp_path / "three.txt", "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "precious"


def test_models_of_vectors_are_refused(fails, tmp_path):
    import numpy as np

    library.Tagger().fit([np.eye(2)], [["a", "b"]]).save(tmp_path / "m")
    (tmp_path / "new.txt").write_text("a\n\n")
    fails(1, "vectors, which only Python can give it", "tag", tmp_path / "m", tmp_path / "new.txt")


@pytest.mark.parametrize(
    ("options", "failing", "left"),
    [([], (3,), 3), (["--k", "2"], (3,), 6), (["--marginals"], (2, 3), 2), (["--spans"], (2, 3), 2)],
)
def test_sentences_with_numbers_beyond_the_range_are_named_and_left_out(margent, tmp_path, options, failing, left):
    (tmp_path / "train.crfsuite").write_text("A\tw=a:1\nB\tw=b:2\n\nA\tw=a:1\n\n")
    assert margent("train", tmp_path / "train.crfsuite", "-m", tmp_path / "m").status == 0
    (tmp_path / "new.crfsuite").write_text("A\tw=a:1\n\nA\tw=a:1e20\n\nA\tw=a:1e38\n\nB\tw=b:1\n\n")
    out = tmp_path / "out"
    outcome = margent("tag", tmp_path / "m", tmp_path / "new.crfsuite", *options, "-o", out)
    said = [line for line in outcome.errors.splitlines() if "error" in line]
    assert outcome.status == 1
    assert [line.partition(": its numbers")[0] for line in said] == [
        f"margent: error: sentence {number}" for number in failing
    ]
    lines = [line for line in out.read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) == left
