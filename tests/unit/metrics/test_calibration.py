from __future__ import annotations

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.metrics import calibration_scores, span_confidences

predictions = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


@settings(deadline=None, max_examples=100)
@given(predictions, st.integers(1, 12))
def test_equal_width_against_a_plain_loop_and_scikit_learn(rows: list[tuple[float, bool]], bins: int) -> None:
    confidences, correct = [c for c, _ in rows], [r for _, r in rows]
    report = calibration_scores(confidences, correct, bins=bins)
    expected = maximum = 0.0
    for low, high in zip(np.linspace(0, 1, bins + 1)[:-1], np.linspace(0, 1, bins + 1)[1:]):
        inside = [(c, r) for c, r in rows if low < c <= high or (low == 0 and c == 0)]
        if inside:
            gap = abs(np.mean([c for c, _ in inside]) - np.mean([r for _, r in inside]))
            expected, maximum = expected + gap * len(inside) / len(rows), max(maximum, gap)
    assert report.expected_error == pytest.approx(expected)
    assert report.maximum_error == pytest.approx(maximum)
    assert report.brier == pytest.approx(
        sklearn.metrics.brier_score_loss(correct, confidences, labels=[False, True], pos_label=True)
    )
    assert report.counts.sum() == len(rows)
    losses = [-np.log(max(c if r else 1 - c, 2.0**-52)) for c, r in rows]
    assert report.log_loss == pytest.approx(np.mean(losses))
    if len(set(correct)) == 2 and not np.isin(confidences, report.edges).any():  # theirs puts an edge in the upper bin
        accuracy, confidence = sklearn.calibration.calibration_curve(correct, confidences, n_bins=bins)
        np.testing.assert_allclose(report.accuracy[report.counts > 0], accuracy)
        np.testing.assert_allclose(report.confidence[report.counts > 0], confidence)


@settings(deadline=None, max_examples=100)
@given(predictions, st.integers(1, 8))
def test_equal_mass_keeps_equal_confidences_together(rows: list[tuple[float, bool]], bins: int) -> None:
    report = calibration_scores(*zip(*rows), bins=bins, equal="mass")
    assert report.counts.sum() == len(rows) and len(report.counts) <= max(bins, 1)
    again = calibration_scores(*zip(*reversed(rows)), bins=bins, equal="mass")
    np.testing.assert_allclose(report.accuracy, again.accuracy)
    assert report.expected_error <= report.maximum_error + 1e-12


def test_equal_mass_bins_hold_the_same_number() -> None:
    report = calibration_scores(np.linspace(0.5, 1, 100), np.ones(100), bins=4, equal="mass")
    assert report.counts.tolist() == [25, 25, 25, 25]
    assert (report.edges[0], report.edges[-1]) == (0.5, 1.0)


def test_equal_mass_with_two_confidences() -> None:
    report = calibration_scores([0.1] * 50 + [0.9] * 50, [False] * 50 + [True] * 50, bins=10, equal="mass")
    assert report.counts.tolist() == [50, 50]
    assert report.expected_error == pytest.approx(0.1)


def test_perfect_and_hopeless() -> None:
    assert calibration_scores([1.0, 0.0], [True, False]).expected_error == 0
    hopeless = calibration_scores([1.0, 1.0], [False, False])
    assert (hopeless.expected_error, hopeless.maximum_error, hopeless.brier) == (1, 1, 1)


def test_nothing_and_zeros() -> None:
    for equal in ("width", "mass"):
        assert calibration_scores([], [], equal=equal).expected_error == 0
        assert calibration_scores([0.0, 0.0], [False, True], equal=equal).expected_error == 0.5


def test_span_confidences() -> None:
    gold = [["B-X", "I-X", "O"], ["B-Y"]]
    found = [[(0, 2, "X", 0.9), (2, 3, "X", 0.4)], [(0, 1, "X", 0.5)]]
    confidences, correct = span_confidences(gold, found)
    assert confidences.tolist() == [0.9, 0.4, 0.5]
    assert correct.tolist() == [True, False, False]
    with pytest.raises(CorpusError, match="2 gold sentences, but 1 with predicted spans"):
        span_confidences(gold, found[:1])


def test_wrong_input_is_named() -> None:
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(CorpusError, match=r"confidence 1 is .*, but a number between 0 and 1"):
            calibration_scores([0.5, wrong], [True, True])
    with pytest.raises(CorpusError, match=r"shape \(2,\) and correct of shape \(1,\)"):
        calibration_scores([0.5, 0.5], [True])
    with pytest.raises(CorpusError, match="other than booleans"):
        calibration_scores([0.5], [2])
    with pytest.raises(CorpusError, match="'width' or 'mass'"):
        calibration_scores([0.5], [1], equal="size")
    with pytest.raises(CorpusError, match="bins is 0"):
        calibration_scores([0.5], [1], bins=0)
