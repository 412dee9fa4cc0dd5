"""What is known of segments already: kept, given, or refused where it cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.models.segmenter.sequences import ENTITIES, SENTENCES, speech

from margent import (
    CRF,
    Durations,
    FrameFeatures,
    MaximumLikelihood,
    SegmentConstraints,
    Segmenter,
)
from margent.annotation import Span
from margent.errors import ConstraintError


def test_what_is_known_already_is_kept():
    train, (X, y) = speech(20, 20), speech(21, 4)
    segmenter = Segmenter(FrameFeatures(bins=1), MaximumLikelihood(), durations=Durations(max=30)).fit(*train)
    cuts = [SegmentConstraints(boundaries=[s.end for s in segments]) for segments in y]
    assert [[s.end for s in found] for found in segmenter.predict(X, constraints=cuts)] == [
        [s.end for s in segments] for segments in y
    ]
    odd = Span(2, 4, "c")
    known = [SegmentConstraints(segments=[odd], allowed={5: "a", 6: ["a", "b"]}), None, None, None]
    found = segmenter.predict(X, constraints=known)
    assert odd in found[0]
    labels = [s.label for s in found[0] for _ in range(s.end - s.start)]
    assert labels[5] == "a" and labels[6] in ("a", "b")
    assert found[1:] == segmenter.predict(X[1:])
    # With nothing known, the scores that are searched are those of the model itself.
    free = [None] * len(X)
    assert segmenter.predict(X, constraints=free) == segmenter.predict(X)
    for ours, others in zip(segmenter.predict_k_best(X, 3, constraints=free), segmenter.predict_k_best(X, 3)):
        assert [r.segments for r in ours] == [r.segments for r in others]
        np.testing.assert_allclose([r.score for r in ours], [r.score for r in others], rtol=1e-9)
    order = [[s.label for s in segments] for segments in y]
    assert segmenter.predict(X, constraints=[SegmentConstraints(labels=row) for row in order]) == segmenter.predict(
        X, labels=order
    )
    assert segmenter.predict_k_best(X, 2, labels=order)[0][0].segments == segmenter.predict(X, labels=order)[0]


@pytest.mark.filterwarnings("ignore::margent.errors.CalibrationWarning")
@pytest.mark.parametrize("kind", ["frames", "tokens"])
def test_probabilities_given_what_is_known(kind):
    if kind == "frames":
        X, y = speech(22, 6)
        segmenter = Segmenter(FrameFeatures(bins=2, covariance="diagonal"), CRF(epochs=5)).fit(X, y, progress=False)
    else:
        X, y = SENTENCES, ENTITIES
        segmenter = Segmenter(learner=CRF(l2=0.3), outside="O").fit(X, y, progress=False)
    for ours, others in zip(
        segmenter.predict_marginals(X, constraints=[None] * len(X)), segmenter.predict_marginals(X)
    ):
        np.testing.assert_allclose(ours.labels, others.labels, atol=1e-9)
        np.testing.assert_allclose(ours.boundaries, others.boundaries, atol=1e-9)
        assert [s[:3] for s in ours.segments] == [s[:3] for s in others.segments]
        np.testing.assert_allclose([s.confidence for s in ours.segments], [s.confidence for s in others.segments])
    first = y[0][0]
    known = SegmentConstraints(segments=[first])
    (given,) = segmenter.predict_marginals(X[:1], constraints=[known])
    assert given.segments[0][:3] == tuple(first)
    assert given.segments[0].confidence == pytest.approx(1)
    column = segmenter.classes_.tolist().index(first[2])
    np.testing.assert_allclose(given.labels[first[0] : first[1], column], 1)
    order = [s[2] for s in y[0]] if kind == "frames" else ["PER", "O", "O", "LOC", "O"]
    (aligned,) = segmenter.predict_marginals(X[:1], labels=[order])
    assert aligned.labels.shape == (len(X[0]), len(segmenter.classes_))
    np.testing.assert_allclose(aligned.labels.sum(axis=1), 1)
    assert aligned.boundaries.sum() == pytest.approx(len(order) + 1)


def test_what_cannot_be_is_said():
    X, y = speech(23, 4)
    segmenter = Segmenter(FrameFeatures(bins=1), MaximumLikelihood()).fit(X, y)

    def refused(message, constraint, **options):
        with pytest.raises(ConstraintError, match=message):
            segmenter.predict(X[:2], constraints=[None, constraint], **options)

    refused("sequence 1: there is no label 'z'", SegmentConstraints(segments=[(0, 2, "z")]))
    refused("sequence 1: there is no label 'z'", SegmentConstraints(labels=["z"]))
    refused("sequence 1: .*from 0 to 9999", SegmentConstraints(segments=[(0, 9999, "a")]))
    refused("sequence 1: .*boundary 9999", SegmentConstraints(boundaries=[9999]))
    refused("sequence 1: .*frame 9999", SegmentConstraints(allowed={9999: "a"}))
    refused("sequence 1: durations, or what is known", SegmentConstraints(boundaries=[]))
    refused("sequence 1: .* is not as expected", SegmentConstraints(segments=[(0, 2)]))
    refused("expected SegmentConstraints or None", {0: "a"})
    with pytest.raises(ConstraintError, match="constraints for 1 sequences, expected them for 2"):
        segmenter.predict(X[:2], constraints=[None])
    with pytest.raises(ConstraintError, match="expected a list with the constraints"):
        segmenter.predict(X[:2], constraints=SegmentConstraints())
    with pytest.raises(ConstraintError, match="both given"):
        segmenter.predict(X[:1], labels=[["a"]], constraints=[None])
