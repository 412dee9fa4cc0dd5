"""BLEU from statistics against sacrebleu, and the scores of alignments."""

from __future__ import annotations

import importlib.util
import logging
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.annotation import WordAlignment
from margent.errors import CorpusError, MissingExtraError
from margent.metrics import References, alignment_scores, corpus_bleu, smoothed_bleu, translation_scores

WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=9)
CORPUS = st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=3), WORDS), min_size=1, max_size=6)
needs_sacrebleu = pytest.mark.skipif(not importlib.util.find_spec("sacrebleu"), reason="sacrebleu is not installed")


def statistics(corpus):
    return np.array([References(right).statistics(found) for right, found in corpus])


def streams(corpus):
    most = max(len(right) for right, _ in corpus)
    return [[" ".join(right[k]) if k < len(right) else None for right, _ in corpus] for k in range(most)]


@needs_sacrebleu
@settings(deadline=None)
@given(CORPUS)
def test_bleu_is_that_of_sacrebleu(corpus):
    from sacrebleu.metrics import BLEU

    theirs = BLEU(tokenize="none", smooth_method="none", force=True)
    wanted = theirs.corpus_score([" ".join(found) for _, found in corpus], streams(corpus)).score
    own = statistics(corpus)
    assert 100 * float(corpus_bleu(own.sum(axis=0))) == pytest.approx(wanted, abs=1e-9)
    smoothed = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False, force=True)
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    for (right, found), row in zip(corpus, own):
        wanted = smoothed.sentence_score(" ".join(found), [" ".join(one) for one in right]).score
        assert 100 * float(smoothed_bleu(row)) == pytest.approx(wanted, abs=1e-9)


@needs_sacrebleu
def test_the_report_has_the_signatures_of_sacrebleu():
    corpus = [([["a", "b", "c", "d"], ["e"]], ["a", "b", "c", "d"]), ([["x", "y"]], ["x"])]
    report = translation_scores([right for right, _ in corpus], [found for _, found in corpus])
    assert report.bleu == pytest.approx(100 * float(corpus_bleu(statistics(corpus).sum(axis=0))))
    assert "tok:none" in report.bleu_signature and "chrF" in str(report) and report.sentences == 2
    assert report.brevity_penalty == pytest.approx(math.exp(1 - 6 / 5)) and report.words == 5
    with pytest.raises(CorpusError, match="sentence 0 has no right translation"):
        translation_scores([[]], [["a"]])
    with pytest.raises(CorpusError, match="1 translations were given for 2 sentences"):
        translation_scores([[["a"]], [["b"]]], [["a"]])
    with pytest.raises(CorpusError, match="no translation was given"):
        translation_scores([], [])


@pytest.mark.skipif(bool(importlib.util.find_spec("sacrebleu")), reason="sacrebleu is installed")
def test_without_sacrebleu_its_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"margent\[translate\]"):
        translation_scores([[["a"]]], [["a"]])


def test_bleu_of_a_known_case():
    # 3 of 4 words, 1 of 3 pairs; the reference nearest in length has 4 words.
    row = References([["a", "b", "x", "c"], ["a"]]).statistics(["a", "b", "c", "d"])
    assert row.tolist() == [4, 4, 3, 1, 0, 0, 4, 3, 2, 1]
    assert float(corpus_bleu(row)) == 0
    assert float(smoothed_bleu(row)) == pytest.approx((3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25)
    assert float(corpus_bleu(np.array([4, 5, 4, 3, 2, 1, 4, 3, 2, 1.0]))) == pytest.approx(math.exp(1 - 5 / 4))
    assert float(corpus_bleu(np.zeros(10))) == float(smoothed_bleu(np.zeros(10))) == 0
    assert References([["a"], ["a", "b", "c"]]).length(2) == 1
    with pytest.raises(ValueError, match="without references"):
        References([])


def test_alignment_error_rate():
    gold = [WordAlignment.parse("0-0 1-1 2?2 3?3"), WordAlignment.parse("0-1")]
    report = alignment_scores(gold, [WordAlignment.parse("0-0 2-2 3-0"), WordAlignment()])
    assert report == (3, 3, 1, 2)
    assert report.error_rate == pytest.approx(1 - 3 / 6)
    assert report.precision == pytest.approx(2 / 3) and report.recall == pytest.approx(1 / 3)
    assert alignment_scores(gold, gold).error_rate == 0
    assert alignment_scores([], []).error_rate == 0 and "AER 0.500" in str(report)
    with pytest.raises(ValueError):
        alignment_scores(gold, [])
