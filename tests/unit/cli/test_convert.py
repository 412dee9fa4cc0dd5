from __future__ import annotations

import pytest

from margent.annotation import convert
from margent.formats import read_columns, read_conllu, read_crfsuite, read_jsonl


def test_columns_to_others_and_back(margent, folder, tmp_path):
    X, y = read_columns(folder / "test.txt").split()
    for name, read in (
        ("x.jsonl", read_jsonl),
        ("x.conllu", lambda path: read_conllu(path).split()),
        ("x.txt", lambda path: read_columns(path).split()),
    ):
        assert margent("convert", folder / "test.txt", tmp_path / name).status == 0
        new_X, new_y = read(tmp_path / name)
        if name != "x.jsonl":  # there the text is cut into words anew
            assert (list(new_X), list(new_y)) == (list(X), list(y))
        else:
            assert len(new_X) == len(X)


def test_scheme(margent, folder, tmp_path):
    assert margent("convert", folder / "test.txt", tmp_path / "x.txt", "--scheme", "iobes").status == 0
    gold, found = read_columns(folder / "test.txt").column(1), read_columns(tmp_path / "x.txt").column(1)
    assert found == [convert(labels, "iob2", "iobes") for labels in gold]


def test_templates_become_attributes(margent, tmp_path):
    (tmp_path / "in.txt").write_text("the D\ncat N\n\n")
    (tmp_path / "t").write_text("Uw=%x[0,0]\nUp=%x[-1,0]\nB\n")
    assert margent("convert", tmp_path / "in.txt", tmp_path / "x.crfsuite", "--template", tmp_path / "t").status == 0
    X, y = read_crfsuite(tmp_path / "x.crfsuite")
    assert [sorted(token) for token in X[0]] == [["Up=_B-1", "Uw=the"], ["Up=the", "Uw=cat"]]
    assert y == [["D", "N"]]


def test_standard_output_and_named_formats(margent, tmp_path):
    (tmp_path / "in").write_text('{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n')
    outcome = margent("convert", tmp_path / "in", "-", "--format", "jsonl", "--to", "columns", "--scheme", "bilou")
    assert outcome.output == "Ann\tU-PER\nsings\tO\n\n"


def test_plain_labels_as_json_lines(margent, tmp_path):
    (tmp_path / "in.txt").write_text("the D\ncat N\n\n")
    assert margent("convert", tmp_path / "in.txt", "-", "--to", "jsonl").output == (
        '{"tokens": ["the", "cat"], "labels": ["D", "N"]}\n'
    )


@pytest.mark.parametrize("target", ["x.txt", "x.jsonl", "x.conllu"])
def test_attributes_cannot_become_tokens(fails, tmp_path, target):
    (tmp_path / "a.crfsuite").write_text("D\tw=the\n\n")
    fails(2, "hold attributes", "convert", tmp_path / "a.crfsuite", tmp_path / target)


def test_failures(fails, tmp_path):
    (tmp_path / "a.crfsuite").write_text("D\tw=the\n\n")
    fails(1, "No such file", "convert", tmp_path / "nothing", tmp_path / "x")
    fails(1, "feature number", "convert", tmp_path / "a.crfsuite", tmp_path / "x.svmhmm")
    fails(2, "OUT", "convert", tmp_path / "a.crfsuite")
    assert not (tmp_path / "x.svmhmm").exists()
