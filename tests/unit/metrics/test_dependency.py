"""Attachment scores against the plain evaluation of the shared task, tables of errors, and significance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import conll18

from margent import CorpusError
from margent.annotation import DependencyTree
from margent.metrics import dependency_metric, dependency_scores, paired_bootstrap
from margent.metrics.dependency import ATTACHMENT_METRICS, is_punctuation

LABELS = st.sampled_from(["nsubj", "nsubj:pass", "root", "case", "punct", "obl", "aux:pass", "det", "nmod:poss"])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[DependencyTree], list[DependencyTree]]:
    """Random trees of one to five words, twice: words hang on the root or on words already joined."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    sides = []
    for _ in range(2):
        trees = []
        for n in lengths:
            order = draw(st.permutations(range(1, n + 1)))
            heads = [0] * n
            for i, word in enumerate(order):
                heads[word - 1] = draw(st.sampled_from([0, *order[:i]]))
            trees.append(DependencyTree(heads, draw(st.lists(LABELS, min_size=n, max_size=n))))
        sides.append(trees)
    return sides[0], sides[1]


def rows(trees: list[DependencyTree], keep: list[list[bool]] | None = None) -> list[list[tuple[int, str]]]:
    return [
        [row for i, row in enumerate(zip(tree.heads, tree.labels)) if keep is None or keep[s][i]]
        for s, tree in enumerate(trees)
    ]


@given(pairs())
def test_universal_scores_are_those_of_the_shared_task(sides: tuple[list, list]) -> None:
    gold, found = sides
    report = dependency_scores(gold, found)
    expected = conll18.evaluate(rows(gold), rows(found))
    universal = report.universal
    assert [universal.uas, universal.las, universal.clas] == pytest.approx([*expected.values()])
    keep = [[label != "punct" for label in tree.labels] for tree in gold]
    expected = conll18.evaluate(rows(gold, keep), rows(found, keep))
    universal = report.universal_without_punctuation
    assert [universal.uas, universal.las, universal.clas] == pytest.approx([*expected.values()])


@given(pairs())
def test_tables_of_errors_add_up(sides: tuple[list, list]) -> None:
    report = dependency_scores(*sides)
    assert sum(row.correct for row in report.labels) == report.counts.both
    assert sum(row.correct for row in report.distances) == report.counts.heads
    assert sum(row.gold for row in report.labels) == sum(row.found for row in report.labels) == report.counts.words
    assert sum(counts.both for _, counts in report.lengths) == report.counts.both
    right = sum(a == b for gold, found in zip(*sides) for a, b in zip(gold.labels, found.labels))
    assert report.label_accuracy == pytest.approx(right / report.counts.words)
    for name in ATTACHMENT_METRICS:
        assert paired_bootstrap(*sides, sides[0], dependency_metric(name), samples=5).first == pytest.approx(
            getattr(report, name)
        )


def test_punctuation_is_told_by_the_words_where_they_are_given() -> None:
    gold = [DependencyTree([2, 0, 2, 2], ["nsubj", "root", "punct", "punct"])]
    found = [DependencyTree([2, 0, 2, 3], ["nsubj", "root", "punct", "punct"])]
    assert dependency_scores(gold, found).without_punctuation.words == 2
    report = dependency_scores(gold, found, [["It", "rains", ":-)", "%"]])
    assert (report.without_punctuation.words, report.without_punctuation.heads) == (2, 2)
    assert report.counts.uas == 0.75
    report = dependency_scores(gold, found, [["It", "rains", "(", "$"]])
    assert (report.without_punctuation.words, report.without_punctuation.heads) == (3, 2)
    assert is_punctuation("«") and is_punctuation("...") and not is_punctuation("+") and not is_punctuation("")


def test_the_report_reads_as_tables() -> None:
    gold = [DependencyTree([2, 0, 2], ["nsubj", "root", "obl:tmod"])]
    rows = [
        line.split()
        for line in str(dependency_scores(gold, [DependencyTree([2, 0, 1], ["obj", "root", "obl"])])).splitlines()
    ]
    assert ["all", "words", "66.67", "33.33", "33.33", "33.33", "3"] in rows
    assert ["universal", "labels", "66.67", "33.33", "66.67", "33.33", "3"] in rows
    assert ["0", "of", "1", "trees", "are", "right", "as", "a", "whole"] in rows
    assert ["root", "100.00", "100.00", "100.00", "1", "1"] in rows
    assert ["1-10", "66.67", "33.33", "33.33", "33.33", "3"] in rows


@pytest.mark.parametrize(
    ("gold", "found", "words", "message"),
    [
        ([[0]], [], None, "the predicted trees end after 0 sentences"),
        ([[0]], [[2, 0]], None, "sentence 0 has 1 gold words, but 2 predicted ones"),
        ([[0]], [[0]], [["a", "b"]], "sentence 0 has 2 words, expected those of its tree, 1"),
        ([[0]], [[0]], [], "sentence 0 has no words"),
    ],
)
def test_what_does_not_fit_together_is_refused(gold: list, found: list, words: list | None, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        dependency_scores([DependencyTree(h) for h in gold], [DependencyTree(h) for h in found], words)


def test_other_answers_and_metrics_are_refused() -> None:
    with pytest.raises(CorpusError, match="sentence 0, predicted: expected a DependencyTree, got list"):
        dependency_scores([DependencyTree([0])], [[0]])  # type: ignore[list-item]
    with pytest.raises(CorpusError, match="unknown metric 'mlas'; the metrics of dependency trees are las, uas"):
        dependency_metric("mlas")
