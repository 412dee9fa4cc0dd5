"""Word and phoneme error with several right pronunciations."""

from __future__ import annotations

import pytest

from margent.errors import CorpusError
from margent.metrics import transcription_scores


def test_any_reference_is_right_and_the_nearest_counts() -> None:
    references = [[["AH"], ["EY"]], [["K", "AE", "T"], ["K", "AA", "T", "S"]], [["D"]]]
    report = transcription_scores(references, [["EY"], ["K", "AA", "T"], []])
    assert (report.words, report.wrong_words) == (3, 2)
    # "K AA T" is one edit from both: the longer reference is counted, so that it does not depend on their order.
    assert (report.edits, report.phonemes) == (2, 6)
    assert report.word_error == pytest.approx(2 / 3)
    assert str(report) == "word error 66.67 % (2 of 3), phoneme error 33.33 % (2 of 6)"


def test_nothing_to_compare_is_no_error() -> None:
    assert transcription_scores([], []).word_error == 0
    assert transcription_scores([], []).phoneme_error == 0


def test_a_word_without_a_reference_is_named() -> None:
    with pytest.raises(CorpusError, match="word 1 has no right pronunciation"):
        transcription_scores([[["AH"]], []], [["AH"], ["B"]])
