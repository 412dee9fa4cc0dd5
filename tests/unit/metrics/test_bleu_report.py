"""BLEU in detail."""

from __future__ import annotations

import pytest
from tests.oracle.translation import sentence_bleu

from margent.errors import CorpusError
from margent.metrics import bleu_scores


def test_rows_and_totals() -> None:
    right = [[["a", "b", "c", "d"]], [["a", "b", "c", "d", "e"], ["x"]], [["q", "r", "s", "t", "u"]]]
    found = [["a", "b", "c", "d"], ["a", "b", "c", "d"], ["q", "r", "s", "t", "v"]]
    sentences = [["1"] * 3, ["1"] * 7, ["1"] * 30]
    report = bleu_scores(right, found, sentences)
    assert report.total.exact == 1 and report.total.sentences == 3
    assert list(report.rows) == ["1-5 words", "6-10 words", "more words"]
    assert report.rows["1-5 words"].bleu == 1.0 and report.rows["1-5 words"].exact == 1
    assert report.precisions == pytest.approx((12 / 13, 9 / 10, 6 / 7, 3 / 4))
    assert report.length_ratio == pytest.approx(13 / 14) and report.brevity_penalty < 1
    assert report.bleu < 1 and "3" in str(report)
    one = bleu_scores(right[:1], [["a", "b", "c", "d"]])
    assert one.bleu == pytest.approx(sentence_bleu(["a", "b", "c", "d"], right[0])) and one.rows == {}


def test_refusals() -> None:
    for references, found, said in (([], [], "no translation"), ([[["a"]]], [], "as many"), ([[]], [["a"]], "none|no")):
        with pytest.raises(CorpusError, match=said):
            bleu_scores(references, found)
