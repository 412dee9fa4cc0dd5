from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest

from margent.annotation import check_segmentation
from margent.datasets import make_series


def test_series_follow_their_model() -> None:
    X, y, model = make_series(300, 4, 2, seed=3)
    index = {label: i for i, label in enumerate(model.labels)}
    thirds: dict[str, list[np.ndarray]] = {label: [] for label in model.labels}
    residuals: dict[str, list[np.ndarray]] = {label: [] for label in model.labels}
    follows = np.zeros((4, 4))
    for series, segments in zip(X, y):
        check_segmentation(segments, len(series))
        assert series.dtype == np.float32
        for left, right in pairwise(segments):
            follows[index[left.label], index[right.label]] += 1
        for start, end, label in segments:
            i = index[label]
            assert model.least[i] <= end - start <= model.most[i]
            place = (np.arange(end - start) + 0.5) / (end - start) - 0.5
            residuals[label].append(series[start:end] - model.level[i] - np.outer(place, model.slope[i]))
            third = (end - start) // 3
            thirds[label].append(series[end - third : end].mean(axis=0) - series[start : start + third].mean(axis=0))
    for label, i in index.items():
        rest = np.concatenate(residuals[label])
        assert rest.mean() == pytest.approx(0, abs=0.05)
        assert rest.std() == pytest.approx(model.noise[i], rel=0.05)
        # From the first to the last third a value moves by two thirds of the slope.
        np.testing.assert_allclose(np.mean(thirds[label], axis=0), 2 / 3 * model.slope[i], atol=0.35)
    np.testing.assert_allclose(follows / follows.sum(axis=1, keepdims=True), model.transition, atol=0.08)
    assert (np.diag(follows) == 0).all()


def test_labels_of_a_pair_differ_in_their_slopes_alone() -> None:
    *_, model = make_series(0, 5, 3)
    np.testing.assert_array_equal(model.level[0], model.level[1])
    np.testing.assert_array_equal(model.slope[2], -model.slope[3])
    assert model.level.shape == (5, 3)


def test_same_seed_same_series() -> None:
    X, y, _ = make_series(5, seed=7)
    again, labels, _ = make_series(5, seed=7)
    assert y == labels and all((a == b).all() for a, b in zip(X, again))
    assert make_series(5, seed=8)[1] != y
    # The same bits on every machine.
    assert hashlib.sha256(b"".join(x.tobytes() for x in X)).hexdigest()[:16] == "8165303c0e35e125"


def test_the_number_of_segments_and_the_noise_can_be_chosen() -> None:
    _, y, model = make_series(10, segments=3, noise=0.0)
    assert {len(segments) for segments in y} == {3}
    assert (model.noise == 0).all()
    assert {len(segments) for segments in make_series(200, segments=(1, 4))[1]} == {1, 2, 3, 4}
    for arguments in ({"n_labels": 1}, {"n_channels": 0}, {"segments": 0}, {"segments": (4, 2)}, {"noise": -1}):
        with pytest.raises(ValueError, match="expected n >= 0, n_labels >= 2"):
            make_series(1, **arguments)
