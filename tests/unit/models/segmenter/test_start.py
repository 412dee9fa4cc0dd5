"""Training that begins without a single time: labels alone are enough."""

from __future__ import annotations

import numpy as np
import pytest

from margent import Durations, FrameFeatures, MaximumLikelihood, Segmenter, StructuredSVM
from margent.datasets import make_series

X, Y, _ = make_series(60, noise=0.5, seed=3)
LABELS = [[s.label for s in segments] for segments in Y]
LONGEST = max(s.end - s.start for segments in Y for s in segments)
SVM = StructuredSVM(C=0.001, method="subgradient", epochs=5)


def near(found, right, most=2):
    """The share of boundaries that are at most so far from the right ones."""
    return np.mean([abs(a.end - b.end) <= most for f, r in zip(found, right) for a, b in zip(f, r)])


@pytest.mark.parametrize("learner", [SVM, MaximumLikelihood()], ids=["margin", "likelihood"])
def test_a_flat_start_finds_boundaries_that_nobody_gave(learner):
    features = FrameFeatures(bins=2)
    model = Segmenter(features, learner, durations=Durations(max=2 * LONGEST)).fit(X[:40], LABELS[:40], progress=False)
    told = Segmenter(features, learner).fit(X[:40], Y[:40], progress=False)
    assert model.score(X[40:], Y[40:]) > 0.8 * told.score(X[40:], Y[40:])
    flat = [[s._replace(end=len(x) * (j + 1) // len(y)) for j, s in enumerate(y)] for x, y in zip(X[40:], Y[40:])]
    aligned = model.predict(X[40:], LABELS[40:])
    assert near(aligned, Y[40:]) > 0.8 > 0.6 > near(flat, Y[40:])


def test_times_of_some_are_where_maximum_likelihood_begins():
    series, segments, _ = make_series(60, noise=5, seed=4)
    labels = [[s.label for s in row] for row in segments]
    few, some = (Segmenter(learner=MaximumLikelihood(), durations=Durations(max=60)) for _ in range(2))
    few.fit(series[:5], segments[:5])
    some.fit(series[:40], [*segments[:5], *labels[5:40]])
    assert some.score(series[40:], segments[40:]) > few.score(series[40:], segments[40:]) + 0.02
