from __future__ import annotations

import io
import json
import sys

import pytest

from margent.metrics import span_scores

GOLD = "a\tB-X\nb\tI-X\nc\tO\n\nd\tB-Y\n\n"
GUESS = "a\tB-X\nb\tI-X\nc\tB-Y\n\nd\tB-Y\n\n"
BOTH = "a\tB-X\tB-X\nb\tI-X\tI-X\nc\tO\tB-Y\n\nd\tB-Y\tB-Y\n\n"


@pytest.fixture
def files(tmp_path):
    for name, text in {"gold": GOLD, "guess": GUESS, "both": BOTH}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_layout_of_conlleval(margent, files):
    wanted = str(span_scores([["B-X", "I-X", "O"], ["B-Y"]], [["B-X", "I-X", "B-Y"], ["B-Y"]]))
    assert margent("evaluate", files / "gold", files / "guess").output == wanted
    assert margent("evaluate", files / "both").output == wanted
    assert "processed 4 tokens with 2 phrases; found: 3 phrases; correct: 2." in wanted


def test_standard_input(margent, files, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BOTH.encode())))
    assert "processed 4 tokens" in margent("evaluate").output


def test_json(margent, files):
    report = json.loads(margent("evaluate", files / "both", "--json", "--compare", files / "gold").output)
    assert report["kind"] == "spans"
    assert report["precision"] == pytest.approx(2 / 3)
    assert report["types"]["Y"] == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "gold": 1, "found": 2}
    assert report["compare"]["mcnemar"]["only_second"] == 1
    assert report["compare"]["bootstrap"]["second"] == 1.0


def test_tokens(margent, files):
    output = margent("evaluate", files / "both", "--tokens").output
    assert "accuracy 75.00 % of 4 tokens" in output
    assert "B-Y" in output.split("mistakes")[1]
    assert "mistakes" not in margent("evaluate", files / "gold", files / "gold", "--tokens").output


def test_plain_labels_are_scored_by_token(margent, files):
    (files / "pos").write_text("the D D\ncat N V\n\n")
    report = json.loads(margent("evaluate", files / "pos", "--json").output)
    assert report["kind"] == "tokens"
    assert report["accuracy"] == 0.5


def test_comparison(margent, files):
    output = margent("evaluate", files / "gold", files / "guess", "--compare", files / "gold").output
    assert "span F1 80.00 here, 100.00 there: +20.00" in output
    assert "0 right only here, 1 only there" in output


def test_confusion_plot(margent, files):
    pytest.importorskip("matplotlib")
    assert margent("evaluate", files / "both", "--confusion", files / "confusion.png").status == 0
    assert (files / "confusion.png").read_bytes().startswith(b"\x89PNG")


def test_a_model_instead_of_predictions(margent, fails, folder, tmp_path):
    margent("tag", folder / "model.margent", folder / "test.txt", "-o", tmp_path / "tagged.txt")
    wanted = margent("evaluate", tmp_path / "tagged.txt").output
    by_model = ("evaluate", folder / "model.margent", folder / "test.txt")
    assert margent(*by_model).output == wanted
    output = margent(*by_model, "--calibration").output
    assert output.startswith(wanted.rstrip("\n")) and "expected error" in output and "\nspans " in output
    report = json.loads(margent(*by_model, "--calibration", "--json").output)["calibration"]
    assert set(report) == {"tokens", "spans"} and 0 < report["spans"]["expected_error"] < 1
    assert sum(report["spans"]["counts"]) > 100 and len(report["tokens"]["accuracy"]) == 10
    fails(2, "a model and one file", *by_model, folder / "test.txt")
    fails(2, "give a model first", "evaluate", folder / "test.txt", "--calibration")
    fails(1, "no such folder", *by_model, "--reliability", tmp_path / "no" / "x.png")


def test_reliability_plot(margent, folder, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "reliability.svg"
    assert margent("evaluate", folder / "model.margent", folder / "test.txt", "--reliability", target).status == 0
    assert b"<svg" in target.read_bytes()[:1000]


def test_other_formats(margent, files):
    (files / "gold.jsonl").write_text('{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n')
    (files / "guess.jsonl").write_text('{"text": "Ann sings", "spans": []}\n')
    assert "found: 0 phrases" in margent("evaluate", files / "gold.jsonl", files / "guess.jsonl").output


def test_failures(fails, files):
    (files / "empty").write_text("")
    (files / "one").write_text("B-X\n")
    (files / "other").write_text(GOLD.replace("d", "e"))
    (files / "short").write_text("a\tB-X\nb\tI-X\nc\tO\n\n")
    fails(1, "No such file", "evaluate", files / "nothing")
    fails(1, "no tokens", "evaluate", files / "empty")
    fails(2, "only one column", "evaluate", files / "one")
    fails(1, "sentence 1, token 0 is 'e', but 'd'", "evaluate", files / "gold", files / "other")
    fails(1, "end after 1 sentences", "evaluate", files / "gold", files / "short")
    fails(2, "only once", "evaluate", "-", "-")
    fails(2, "give GOLD and PRED", "evaluate", files / "x.jsonl")
    fails(2, "'fancy'", "evaluate", files / "both", "--scheme", "fancy")
    fails(1, "no such folder", "evaluate", files / "both", "--confusion", files / "no" / "x.png")
    fails(1, "sentence 0", "evaluate", files / "both", "--scheme", "ioe1")


def test_a_terminal_is_not_waited_for(fails, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    fails(2, "which file?", "evaluate")


def test_pictures_are_checked_before_the_work(fails, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("margent.models.load", lambda path: pytest.fail("the model was loaded"))
    for option in ("--reliability", "--confusion"):
        command = ("evaluate", folder / "model.margent", folder / "test.txt", option)
        fails(2, "r.xyz: expected the name of an image file that ends in one of", *command, tmp_path / "r.xyz")
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "matplotlib.figure", None)
            fails(1, "pip install 'margent[plot]'", *command, tmp_path / "r.png")
