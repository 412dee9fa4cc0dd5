"""Scores of meanings: precision over what is understood, recall over all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.meaning import parse_meaning
from margent.metrics import meaning_metric, meaning_scores, paired_bootstrap

MEANINGS = [
    parse_meaning(text)
    for text in (
        "(lambda $0 e (and (a $0) (b $0 c)))",
        "(count $0 (a $0))",
        "(size c)",
        "c",
        "(f (g (h (i (j (k c))))))",
    )
]
SAME = parse_meaning("(lambda $5 e (and (b $5 c) (and (a $5) (b $5 c))))")
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=8)


@given(PAIRS)
def test_ratios_are_those_of_plain_counts(pairs):
    gold, found = zip(*((MEANINGS[a], [*MEANINGS, None][b]) for a, b in pairs))
    report = meaning_scores(gold, found, [["w"] * (2 * i) for i in range(len(pairs))])
    right = sum(a == b for a, b in zip(gold, found))
    understood = sum(b is not None for b in found)
    assert report.total[1:] == (right, len(pairs), understood)
    assert report.f1 == pytest.approx(2 * right / (understood + len(pairs)))
    assert report.coverage == understood / len(pairs)
    for kind in ("word", "name"):
        rows = [row for row in report.rows if kind in row.label]
        assert sum(row.gold for row in rows) == len(pairs) and sum(row.correct for row in rows) == right
    for name in ("f1", "precision", "recall"):
        metric = meaning_metric(name)
        assert metric.value(metric.statistics(gold, found).sum(axis=0, keepdims=True))[0] == pytest.approx(
            getattr(report, name)
        )


def test_meanings_are_compared_by_their_normal_form():
    report = meaning_scores(MEANINGS[:1], [SAME])
    assert report.f1 == 1 and [row.label for row in report.rows] == ["3 names"]


def test_rows_are_classes_of_words_and_names():
    report = meaning_scores(MEANINGS, [None] * 5, [["a"] * n for n in (1, 5, 6, 20, 21)])
    words = {"1-5 words": 2, "6-8 words": 1, "13-20 words": 1, "more words": 1}
    names = {"1 name": 1, "2 names": 2, "3 names": 1, "more names": 1}
    assert {row.label: row.gold for row in report.rows} == {**words, **names}
    assert "0.00 % of 5 questions are understood" in str(report)


def test_a_better_parser_is_told_from_luck():
    gold = MEANINGS * 8
    half = [meaning if i % 2 else None for i, meaning in enumerate(gold)]
    found = paired_bootstrap(gold, half, gold, meaning_metric())
    assert found.first == pytest.approx(2 / 3) and found.second == 1 and found.p_value < 0.01
    assert paired_bootstrap(gold, half, half, meaning_metric("recall")).difference == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MEANINGS, MEANINGS[:2]), "the predicted meanings end after 2"),
        ((MEANINGS[:2], MEANINGS), "the gold meanings end after 2"),
        ((MEANINGS[:1], ["c"]), "meaning 0, predicted: expected an expression, got str"),
        (([None], [None]), "meaning 0, gold: expected an expression, got NoneType"),
        ((MEANINGS[:2], MEANINGS[:2], [["a"]]), "expected as many questions as meanings, got 1"),
    ],
)
def test_what_cannot_be_compared_is_told(arguments, message):
    with pytest.raises(CorpusError, match=message):
        meaning_scores(*arguments)


def test_unknown_metrics_are_told():
    with pytest.raises(CorpusError, match="unknown metric 'las'; the metrics of meanings are f1, precision, recall"):
        meaning_metric("las")
