"""Pronunciation dictionaries in two columns and as CMUdict has them; the invented one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from margent.datasets import make_pronunciations
from margent.errors import CorpusError
from margent.formats import read_pronunciations, write_pronunciations

CMUDICT = b""";;; # CMUdict
'BOUT  B AW1 T
A  AH0
A(1)  EY1
d'artagnan D AH0 R T AE1 NG Y AH0 N # foreign french
"""


def test_cmudict_is_read_as_it_is() -> None:
    words, spoken = read_pronunciations(CMUDICT)
    assert words == ["'BOUT", "A", "A", "d'artagnan"]
    assert spoken[:3] == [["B", "AW1", "T"], ["AH0"], ["EY1"]]
    assert spoken[3][-1] == "N"
    assert read_pronunciations(gzip.compress(CMUDICT), stress=False)[1][:3] == [["B", "AW", "T"], ["AH"], ["EY"]]


def test_two_columns_go_out_and_come_back(tmp_path: Path) -> None:
    words, spoken = ["New York", "a"], [["N", "UW"], ["AH"]]
    write_pronunciations(tmp_path / "d.txt", words, spoken)
    assert read_pronunciations(tmp_path / "d.txt") == (words, spoken)


def test_a_line_without_phonemes_is_an_error() -> None:
    with pytest.raises(CorpusError, match="line 2: expected a word and its phonemes, got 'b'"):
        read_pronunciations(b"a AH\nb\n")


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="entry 0"):
        write_pronunciations(tmp_path / "d.txt", ["a"], [["AH B"]])


def test_the_invented_dictionary_has_its_rules() -> None:
    words, spoken = make_pronunciations(500, seed=3, noise=0)
    assert len(set(words)) == 500
    assert make_pronunciations(500, seed=3, noise=0) == (words, spoken)
    for word, phonemes in zip(words, spoken):
        if "ph" in word:
            assert "F" in phonemes
        if word.endswith("x"):
            assert phonemes[-2:] == ["K", "S"]
        if word.endswith("ate"):
            assert phonemes[-2:] == ["EY", "T"]


def test_a_third_column_is_no_phoneme() -> None:
    with pytest.raises(
        CorpusError, match=r"line 2: .*expected a word, a tab and its phonemes between blanks, got 3 columns"
    ):
        read_pronunciations(b"cat\tK AE T\ncab\tK AE B\t0.5\n")
    assert read_pronunciations(b"cat\tK AE T\t\n") == (["cat"], [["K", "AE", "T"]])
