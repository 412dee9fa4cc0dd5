"""How far Margent goes: what its results are bound to. The run itself needs the real data."""

from __future__ import annotations

import pytest
from papers.kbest import best

from margent.datasets import Dataset, Part
from margent.errors import CorpusError


def data(label: str) -> Dataset:
    part = Part([["a"]], [[label]])
    return Dataset("conll2000", part, None, part, description="", terms="")


def test_results_are_bound_to_data_and_features(monkeypatch, tmp_path):
    monkeypatch.setitem(best.LOADERS, "conll2000", lambda: data("O"))
    first = best.fingerprints("conll2000")
    assert best.fingerprints("conll2000") == first
    monkeypatch.setitem(best.LOADERS, "conll2000", lambda: data("B-NP"))
    other = best.fingerprints("conll2000")
    assert other["data"] != first["data"] and other["features"] == first["features"]
    monkeypatch.setattr(best, "PARTS", best.PARTS + 1)
    assert best.fingerprints("conll2000")["features"] != first["features"]
    monkeypatch.undo()
    for path in best.HERE.glob("*.*"):
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setitem(best.LOADERS, "conll2000", lambda: data("O"))
    monkeypatch.setattr(best, "HERE", tmp_path)
    assert best.fingerprints("conll2000") == first
    for name in ("best-entities.txt", "entities.py", "topics.py"):
        with (tmp_path / name).open("a") as file:
            file.write("# changed\n")
        assert best.fingerprints("conll2000")["features"] != first["features"]
        (tmp_path / name).write_bytes((best.Path(best.__file__).parent / name).read_bytes())


def test_a_missing_part_is_named():
    with pytest.raises(CorpusError, match="a part of the data set that it does not have"):
        best._lists(None, None)


def test_a_span_counts_if_most_have_found_exactly_it():
    votes = [
        [["B-A", "I-A", "B-B"], ["B-A"]],
        [["B-A", "O", "B-B"], ["B-B"]],
        [["B-A", "I-A", "O"], ["O"]],
    ]
    assert best.majority(votes) == [["B-A", "I-A", "B-B"], ["O"]]
    assert best.majority(votes[:2]) == [["O", "O", "B-B"], ["O"]]


def test_neighbouring_spans_of_one_kind_stay_apart():
    assert best.majority([[["B-A", "B-A", "I-A"]]]) == [["B-A", "B-A", "I-A"]]


def test_the_committees_leave_out_templates_that_there_are():
    for corpus, files in {"conll2000": ("chunking",), "conll2002-esp": ("entities", "second-stage")}.items():
        lines = [line for name in files for line in best._templates(f"best-{name}.txt")]
        for member in (*best.COMMITTEES[corpus], *best.COMPARED[corpus]):
            for name in member.without:
                assert any(line.startswith(name) for line in lines), name


def test_the_report_has_test_figures_of_the_vote_alone():
    def scores(chunk_f: float) -> dict[str, float]:
        return {"token_f": 0.9, "chunk_f": chunk_f}

    n = len(best.COMMITTEES["conll2002-esp"])
    development = {"vote": scores(0.8), "member": [scores(0.61)] * n, "compared": [scores(0.5)]}
    rows = [{"test": False, **development}, {"test": True, "vote": scores(0.98)}]
    text = best.report([{"corpus": "conll2002-esp", **row} for row in rows])
    test, development_table = text.split("On development data")
    assert "98.00" in test and "61.00" not in test
    assert development_table.count("61.00") == n and "80.00" in development_table and "50.00" in development_table
