"""The classic split of CMUdict, from small files in its format and from the real ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from margent.datasets import load_cmudict
from margent.errors import DataNotFoundError


def test_development_words_are_taken_out_of_the_training_data(tmp_path: Path) -> None:
    folder = tmp_path / "cmudict-g2p"
    folder.mkdir()
    with pytest.raises(DataNotFoundError, match=r"classic\.train\.tsv"):
        load_cmudict(data_home=tmp_path)
    (folder / "classic.train.tsv").write_text("A\tAH\nA\tEY\nBE\tB IY\n")
    (folder / "classic.test.tsv").write_text("CAB\tK AE B\n")
    data = load_cmudict(data_home=tmp_path)
    assert data.dev is None and data.train.X == ["A", "A", "BE"]
    (folder / "classic.dev-words.txt").write_text("A\n")
    data = load_cmudict(data_home=tmp_path)
    assert data.dev is not None and data.test is not None
    assert (data.train.X, data.dev.X, data.dev.y) == (["BE"], ["A", "A"], [["AH"], ["EY"]])
    assert data.test.y == [["K", "AE", "B"]]


@pytest.mark.skipif("MARGENT_DATA" not in os.environ, reason="needs CMUdict under MARGENT_DATA")
def test_the_real_split_has_its_published_size() -> None:
    data = load_cmudict()
    assert data.dev is not None and data.test is not None
    assert len({*data.train.X, *data.dev.X}) == 106_837
    assert len(set(data.dev.X)) == 2670
    assert len(set(data.test.X)) == 12_000
    assert not set(data.test.X) & {*data.train.X, *data.dev.X}
