"""The experiment on pronunciations from end to end, on an invented dictionary."""

from __future__ import annotations

import json

import pytest
from papers.experiment import Options, with_generated
from papers.latent import g2p

from margent.datasets import Dataset, Part, make_pronunciations
from margent.formats import Columns

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


@pytest.mark.filterwarnings("ignore:.*gets no phonemes")  # `aligned` has silent letters before all
def test_a_whole_run(small, tmp_path):
    written = g2p.run(Options(quick=True, out=tmp_path))
    rows = json.loads((tmp_path / "g2p.json").read_text())["results"]
    assert len(rows) == len(g2p.plan(True)) + 2
    assert all(0 <= row["word_error"] <= 1 and row["words"] > 0 for row in rows)
    by_order = {row["order"]: row["minus_log_p"] for row in g2p._by_order(rows, "cmudict")}
    assert by_order[3] < by_order[2] < by_order[1]
    assert [row["beam"] for row in g2p._by_beam(rows)] == [1, 50, None]
    text = written.read_text()
    assert "| order 3 + `mira` |" in text and "![errors and likelihood](g2p.png)" in text
    assert "NETtalk, held-out words: the joint model by order" in text
    for claim in ("24.5 %", "5.9 %", "discriminative training", "15 minutes", "3000 words", "exact EM", "Bisani"):
        assert claim in text
    assert (tmp_path / "g2p.png").stat().st_size > 1000
    before = (tmp_path / "g2p-journal.jsonl").read_bytes()
    assert g2p.run(Options(quick=True, out=tmp_path)).read_text() == text  # nothing is measured again
    assert (tmp_path / "g2p-journal.jsonl").read_bytes() == before


def test_likelihoods_can_be_compared_between_beams(small):
    """They are of the same development pairs; single graphones need no beam, so that there it changes nothing."""
    task = {"corpus": "cmudict", "test": False, "limit": None, "order": 1, "one_in": 1, "learner": None, "options": {}}
    found = [g2p.measure({**task, "beam": beam}) for beam in (1, None)]
    _, development = g2p.parts("cmudict", False, None)
    assert found[0]["pairs"] == found[1]["pairs"] == len(development.X)
    assert found[0]["without_alignment"] == found[1]["without_alignment"]
    assert found[0]["minus_log_p"] == found[1]["minus_log_p"] > 0


def test_a_part_of_the_words_is_spread_evenly():
    words = [f"{letter}{i}" for letter in "abcd" for i in range(50)] + ["d49"]
    part = g2p._spread(Part(words, [[word] for word in words]), 8)
    assert [word[0] for word in part.X] == list("aabbccdd")
    assert [phonemes[0] for phonemes in part.y] == part.X
    assert len(g2p._spread(Part(words, words), 199).X) in (199, 200)


def test_the_system_for_the_test_words_is_chosen_on_development_words(small):
    row = {"corpus": "cmudict", "order": 3}
    rows = [{**row, "learner": name, "word_error": error} for name, error in ((None, 0.1), ("pa", 0.3), ("crf", 0.2))]
    assert [task["learner"] for task in g2p.test_plan(True, rows)] == ["crf", None]


def test_claims_that_did_not_hold_say_so():
    joint = {
        "corpus": "cmudict",
        "order": 8,
        "beam": 50,
        "one_in": 1,
        "test": True,
        "learner": None,
        "options": {},
        "words": 100,
    }
    joint |= {"word_error": 0.25, "phoneme_error": 0.05, "train_seconds": 901, "words_per_second": 3001}
    joint |= {"right": "0" * 25 + "1" * 75}
    top = {**joint, "learner": "mira", "word_error": 0.24, "right": "0" * 24 + "1" * 76}
    held = ["did not hold" not in line for line in g2p.verdicts([joint, top])]
    assert held == [False, True, False, False, True]  # one word in a hundred may be luck


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
