"""How far Margent goes: what its results are bound to. The run itself needs the real data."""

from __future__ import annotations

import pytest
from papers.kbest import best

from margent.corpus import Dataset, Part
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
    for name in ("best-entities.txt", "entities.py"):
        with (tmp_path / name).open("a") as file:
            file.write("# changed\n")
        assert best.fingerprints("conll2000")["features"] != first["features"]
        (tmp_path / name).write_bytes((best.Path(best.__file__).parent / name).read_bytes())


def test_a_missing_part_is_named():
    with pytest.raises(CorpusError, match="a part of the data set that it does not have"):
        best._lists(None, None)
