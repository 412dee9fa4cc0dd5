from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.oracle import segment_metrics as oracle

from margent.errors import CorpusError
from margent.metrics import (
    BoundaryScore,
    EditCounts,
    boundary_counts,
    classification_table,
    edit_counts,
    paired_bootstrap,
    rich_table,
    segment_metric,
    segment_scores,
)

Segments = list[tuple[int, int, str]]


@st.composite
def segmentations(draw: st.DrawFn, length: int) -> Segments:
    boundaries = sorted(draw(st.sets(st.integers(1, length - 1), max_size=8))) if length > 1 else []
    edges = [0, *boundaries, length] if length else [0]
    return [(a, b, draw(st.sampled_from("abcd"))) for a, b in pairwise(edges)]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Segments], list[Segments]]:
    lengths = draw(st.lists(st.integers(0, 25), max_size=4))
    return [draw(segmentations(n)) for n in lengths], [draw(segmentations(n)) for n in lengths]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_edit_counts_are_those_of_the_recursion(gold: list[str], predicted: list[str]) -> None:
    counts = edit_counts(gold, predicted)
    errors, hits, deletions, insertions = oracle.edits(tuple(gold), tuple(predicted))
    assert (counts.errors, -counts.hits) == (errors, hits)
    assert (counts.deletions, counts.insertions) == (deletions, insertions)
    assert counts.hits + counts.substitutions + counts.deletions == counts.gold == len(gold)
    assert counts.hits + counts.substitutions + counts.insertions == len(predicted)


def test_edit_rate() -> None:
    assert edit_counts("abcd", "abxd").rate == 0.25
    assert edit_counts("a", "abc").rate == 2.0
    assert edit_counts("", "").rate == 0.0
    assert edit_counts("", "a").rate == float("inf")
    assert edit_counts("ab", "b") + edit_counts("a", "a") == EditCounts(3, 2, 0, 1, 0)


@settings(deadline=None, max_examples=200)
@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)), st.integers(0, 4))
def test_as_many_borders_are_paired_as_possible(gold: set[int], predicted: set[int], tolerance: int) -> None:
    score = boundary_counts(sorted(gold), sorted(predicted), tolerance)
    assert score[1:] == (oracle.boundary_pairs(sorted(gold), sorted(predicted), tolerance), len(gold), len(predicted))


@settings(deadline=None)
@given(st.integers(1, 50), st.integers(0, 100), st.data())
def test_r_value_is_that_of_the_paper(gold: int, found: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, min(gold, found)))
    assert BoundaryScore("boundaries", correct, gold, found).r_value == pytest.approx(
        oracle.r_value(correct, gold, found)
    )


def test_r_value_of_known_cases() -> None:
    assert BoundaryScore("boundaries", 10, 10, 10).r_value == 1.0
    assert BoundaryScore("boundaries", 0, 0, 0).r_value == BoundaryScore("boundaries", 0, 0, 5).r_value == 0.0
    # Twice as many boundaries find everything; F1 likes it more than the R-value does.
    doubled = BoundaryScore("boundaries", 10, 10, 20)
    assert doubled.r_value == pytest.approx(1 - (1 + 2**-0.5) / 2)
    assert doubled.f1 > 4 * doubled.r_value


@settings(deadline=None, max_examples=100)
@given(pairs(), st.integers(0, 3))
def test_report_agrees_with_the_plain_twins(pair: tuple[list[Segments], list[Segments]], tolerance: int) -> None:
    gold, predicted = pair
    report = segment_scores(gold, predicted, tolerance=tolerance / 100)
    frames = [(oracle.frame_labels(g), oracle.frame_labels(p)) for g, p in zip(gold, predicted)]
    assert report.frames == sum(len(g) for g, _ in frames)
    assert report.correct_frames == sum(a == b for g, p in frames for a, b in zip(g, p))
    assert report.edits.errors == sum(
        oracle.edits(tuple(s[2] for s in g), tuple(s[2] for s in p))[0] for g, p in zip(gold, predicted)
    )
    assert report.boundaries.correct == sum(
        oracle.boundary_pairs([s[0] for s in g[1:]], [s[0] for s in p[1:]], tolerance) for g, p in zip(gold, predicted)
    )
    assert report.total.correct == sum(len(set(g) & set(p)) for g, p in zip(gold, predicted))
    assert sum(row.gold for row in report.rows) == report.total.gold == sum(map(len, gold))


@settings(deadline=None, max_examples=50)
@given(pairs())
def test_a_segmentation_agrees_with_itself(pair: tuple[list[Segments], list[Segments]]) -> None:
    report = segment_scores(pair[0], pair[0])
    assert report.phone_error_rate == 0.0
    assert report.correct_frames == report.frames
    assert report.total.correct == report.total.gold == report.total.found


GOLD = [[(0, 10, "pau"), (10, 20, "aa"), (20, 30, "q"), (30, 40, "s")]]
PREDICTED = [[(0, 13, "pau"), (13, 20, "aa"), (20, 30, "ao"), (30, 40, "s")]]


def test_folding_renames_and_drops() -> None:
    report = segment_scores(GOLD, PREDICTED, label_map={"ao": "aa", "q": None})
    assert report.edits == EditCounts(3, 3, 0, 0, 1)
    assert (report.frames, report.correct_frames) == (30, 27)  # the ten frames of q do not count
    assert {row.label for row in report.rows} == {"aa", "pau", "s"}
    assert report.total == ("all segments", 1, 3, 4)
    assert report.boundaries[1:] == (2, 3, 3)


def test_the_tolerance_is_inclusive_and_in_seconds() -> None:
    off = [[(0, 12, "pau"), (12, 20, "aa"), (20, 30, "q"), (30, 40, "s")]]
    assert segment_scores(GOLD, off, frame=0.01, tolerance=0.02).boundaries.correct == 3
    assert segment_scores(GOLD, off, frame=0.01, tolerance=0.019).boundaries.correct == 2
    assert segment_scores(GOLD, off, frame=0.005, tolerance=0.01).boundaries.correct == 3


def test_table() -> None:
    report = segment_scores(GOLD, PREDICTED)
    assert str(report) == classification_table(report) == (
        "label                    precision  recall      F1  gold  found\n"
        "---------------------------------------------------------------\n"
        "aa                            0.00    0.00    0.00     1      1\n"
        "ao                            0.00    0.00    0.00     0      1\n"
        "pau                           0.00    0.00    0.00     1      1\n"
        "q                             0.00    0.00    0.00     1      0\n"
        "s                           100.00  100.00  100.00     1      1\n"
        "---------------------------------------------------------------\n"
        "all segments                 25.00   25.00   25.00     4      4\n"
        "macro average                20.00   20.00   20.00     4      4\n"
        "weighted average             25.00   25.00   25.00     4      4\n"
        "boundaries within 20 ms      66.67   66.67   66.67     3      3\n"
        "---------------------------------------------------------------\n"
        "phone error rate 25.00 % of 4 segments: 1 substituted, 0 deleted, 0 inserted\n"
        "R-value of the boundaries 71.55, over-segmentation 0.00 %\n"
        "accuracy 67.50 % of 40 frames in 1 utterances\n"
    )  # fmt: skip
    text = io.StringIO()
    Console(file=text, width=100).print(rich_table(report))
    assert "boundaries within 20 ms" in text.getvalue() and "phone error rate 25.00 %" in text.getvalue()


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([[(0, 5, "a")]], [], "the predicted segments end after 0 utterances"),
        ([], [[(0, 5, "a")]], "the gold segments end after 0 utterances"),
        ([[(0, 5, "a")]], [[(0, 4, "a")]], "utterance 0 has 5 gold frames, but 4 predicted ones"),
        ([[(0, 5, "a"), (6, 7, "b")]], [[(0, 7, "a")]], "utterance 0, gold: segment 1 is .* to begin at 5"),
        ([[(0, 5, "a")]], [[(0, 0, "a"), (0, 5, "a")]], "utterance 0, predicted: segment 0"),
        ([["ab"]], [[(0, 5, "a")]], r"gold: segment 0 is 'ab'; expected \(start, end, label\)"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(gold: list, predicted: list, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        segment_scores(gold, predicted)


def test_lengths_must_make_sense() -> None:
    with pytest.raises(ValueError, match="expected frame > 0 and tolerance >= 0"):
        segment_scores(GOLD, PREDICTED, frame=0)
    with pytest.raises(ValueError, match="expected frame > 0 and tolerance >= 0"):
        segment_scores(GOLD, PREDICTED, tolerance=-0.1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phone_error_rate", lambda report: report.phone_error_rate),
        ("frame_accuracy", lambda report: report.frame_accuracy),
        ("boundary_f1", lambda report: report.boundaries.f1),
        ("segment_f1", lambda report: report.f1),
    ],
)
def test_the_bootstrap_sees_the_same_scores(name: str, value) -> None:
    gold, predicted = GOLD * 3, PREDICTED + GOLD + PREDICTED
    fold = {"q": None, "ao": "aa"}
    result = paired_bootstrap(gold, predicted, gold, segment_metric(name, label_map=fold), samples=200)
    assert result.first == pytest.approx(value(segment_scores(gold, predicted, label_map=fold)))
    assert result.second == value(segment_scores(gold, gold, label_map=fold))
    assert result.low <= result.difference <= result.high


def test_a_metric_that_does_not_exist() -> None:
    with pytest.raises(CorpusError, match="unknown metric 'f1'; the metrics of segments are phone_error_rate, frame_"):
        segment_metric("f1")
    with pytest.raises(CorpusError, match="the predicted segments end after 0 utterances"):
        paired_bootstrap(GOLD, GOLD, [], segment_metric("segment_f1"))
