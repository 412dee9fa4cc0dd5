"""The experiment on pronunciations from end to end, on an invented dictionary."""

from __future__ import annotations

import json

import pytest
from papers.experiment import Options, with_generated
from papers.latent import g2p

from margent.corpus import Columns, Dataset, Part, make_pronunciations

WORDS, SPOKEN = make_pronunciations(160, seed=0, noise=0)


def part(start: int, end: int) -> Part:
    return Part(WORDS[start:end], SPOKEN[start:end])


def dictionary() -> Dataset:
    return Dataset("cmudict", part(0, 100), part(100, 130), part(130, 160), description="", terms="")


def aligned() -> Dataset:
    X = [list(word) for word in WORDS]
    y = [["-"] * (len(word) - 1) + [phonemes[0]] for word, phonemes in zip(WORDS, SPOKEN)]
    train = Part(Columns.from_sentences(X, 1), Columns.from_sentences(y, 1))
    return Dataset("nettalk", train, None, None, description="", terms="")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(g2p, "LOADERS", {"cmudict": dictionary, "nettalk": aligned})
    g2p.parts.cache_clear()
    yield
    g2p.parts.cache_clear()


def test_a_whole_run(small, tmp_path):
    written = g2p.run(Options(quick=True, out=tmp_path))
    rows = json.loads((tmp_path / "g2p.json").read_text())["results"]
    assert len(rows) == len(g2p.plan(True))
    assert all(0 <= row["word_error"] <= 1 and row["words"] > 0 for row in rows)
    by_order = {row["order"]: row["objective"] for row in rows if (row["kind"], row["corpus"]) == ("order", "cmudict")}
    assert by_order[3] < by_order[2] < by_order[1]
    text = written.read_text()
    assert "| cmudict | order 3 + `mira` |" in text
    assert (tmp_path / "g2p.png").stat().st_size > 1000
    before = (tmp_path / "g2p-journal.jsonl").read_bytes()
    assert g2p.run(Options(quick=True, out=tmp_path)).read_text() == text  # nothing is measured again
    assert (tmp_path / "g2p-journal.jsonl").read_bytes() == before


def test_test_words_are_never_learned_from(small):
    train, other = g2p.parts("cmudict", True, None)
    assert set(other.X) == set(WORDS[130:160])
    assert set(train.X) == set(WORDS[:130])
    train, other = g2p.parts("nettalk", False, None)
    assert not set(train.X) & set(other.X)
    assert all("-" not in phonemes for phonemes in train.y + other.y)


def test_the_page_has_its_place_for_the_tables():
    page = (g2p.HERE / "g2p.md").read_text("utf-8")
    assert "Some tables" in with_generated(page, {"g2p": "Some tables"})
