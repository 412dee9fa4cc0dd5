"""Tables of rows that are measured one at a time, and the pages that show them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.micro import parser as micro
from benchmarks.page import with_generated
from benchmarks.rows import DOCS, add_row, rows_of
from benchmarks.versus import udpipe

from margent.errors import CorpusError


def row(treebank: str, side: str, las: float, part: str = "test") -> dict[str, object]:
    names = ("uas", "las", "clas", "train_seconds", "tokens_per_second", "train_megabytes", "parse_megabytes")
    described = {"treebank": treebank, "tags": "gold", "side": side, "part": part, "model_megabytes": 3.4}
    return described | dict.fromkeys(names, las)


def test_a_row_replaces_its_like_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "results" / "rows.json"
    assert rows_of(path) == []
    for name, value in (("a", 1), ("b", 2), ("a", 3)):
        add_row(path, {"name": name, "value": value}, ("name",))
    assert rows_of(path) == [{"name": "a", "value": 3}, {"name": "b", "value": 2}]
    assert list(json.loads(path.read_text())) == ["rows"] and [each.name for each in path.parent.iterdir()] == [
        path.name
    ]


def test_the_page_of_parsers_has_a_place_for_both_tables() -> None:
    page = (DOCS / "parser.md").read_text("utf-8")
    rows = [row("chinese-gsd", "eisner", 0.81234), row("english-ewt", "eisner", 0.5, "dev")]
    rows += [row("chinese-gsd", "udpipe", 0.75)]
    table = udpipe.table(rows)
    assert table.index("UDPipe 1") < table.index("eisner") and "81.23" in table and "english" not in table
    measured = {"search": "mst", "dev_las": 0.88, "epoch_seconds": 3.2, "words_per_second": 12345.6}
    speed = micro.table([measured | {"speedup_of_two_threads": 1.9, "peak_mib": 1500.0}])
    assert "| mst | 88.00 | 3.2 | 12,346 | 1.90 times | 1,500 |" in speed
    written = with_generated(page, {"udpipe": table, "speed": speed})
    assert table in written and speed in written
    with pytest.raises(CorpusError, match="expected one part"):
        with_generated(page, {"elsewhere": ""})
