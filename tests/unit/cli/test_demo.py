from __future__ import annotations

import sys

import margent as library


def test_demo(margent, tmp_path):
    outcome = margent("demo", "--out", tmp_path / "demo")
    assert outcome.status == 0
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= {
        "addresses.margent", "train.txt", "dev.txt", "test.txt", "new.txt", "learning-curve.png",
    }  # fmt: skip
    assert "\x1b" not in outcome.output  # no colour where it is not a terminal
    for part in ("all spans", "four best readings", "Why is", "What to type next", "[CITY "):
        assert part in outcome.output
    assert library.load(tmp_path / "demo" / "addresses.margent").history_


def test_without_matplotlib(margent, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = margent("demo", "--out", tmp_path)
    assert outcome.status == 0
    assert "pip install 'margent[plot]'" in outcome.output
    assert not (tmp_path / "learning-curve.png").exists()


def test_folder_that_cannot_be(fails, tmp_path):
    (tmp_path / "file").write_text("")
    fails(1, "exists", "demo", "--out", tmp_path / "file")
    fails(2, "at least 0", "demo", "--seed", -1)


def test_lines_of_the_picture_of_segments_end_together():
    from margent.cli.demo_segmenter import _picture

    rows = {"right": [(0, 150, "a"), (150, 250, "pau")], "found": [(0, 130, "a"), (130, 140, "bcd"), (140, 250, "pau")]}
    right, found = _picture(rows, 250)
    assert len(right) == len(found) == 6 + 84 + 1 and right.endswith("|") and found.endswith("|")
    assert right[6:].index("|p") == 50 and found[6:].index("|bc|p") == 43
    assert [line.count("|") for line in (right, found)] == [3, 4]
