"""Segmenters that continue from what they know, with labels they did not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.unit.models.segmenter.sequences import speech

from margent import Durations, FrameFeatures, Perceptron, Segmenter
from margent.models.segmenter.weights import SegmentWeights

MEANS = {"a": (0.0, 0.0), "b": (9.0, 0.0), "new": (0.0, 9.0)}


def far_apart(rng, labels, n=8):
    """Frames of labels that are thirty standard deviations apart, each label twice in a sequence."""
    X, y = [], []
    for _ in range(n):
        frames, segments, end = [], [], 0
        for label in [str(each) for each in rng.permutation(labels)] * 2:
            begin, end = end, end + int(rng.integers(3, 6))
            frames.append(MEANS[label] + rng.normal(size=(end - begin, 2)) * 0.3)
            segments.append((begin, end, label))
        X.append(np.concatenate(frames))
        y.append(segments)
    return X, y


def test_new_labels_of_frames_are_learned_and_known_ones_kept():
    """The perceptron makes no mistake on data that a wide margin separates, whatever labels it knew before."""
    rng = np.random.default_rng(0)
    known, y_known = far_apart(rng, ["a", "b"])
    more, y_more = far_apart(rng, ["a", "b", "new"])
    segmenter = Segmenter(FrameFeatures(bins=1), Perceptron(epochs=5)).fit(known, y_known, progress=False)
    assert segmenter.score(known, y_known) == 1 and segmenter.score(more, y_more) < 1
    segmenter.partial_fit(more, y_more, progress=False)
    assert segmenter.classes_.tolist() == ["a", "b", "new"]
    assert segmenter.score(more, y_more) == 1
    assert segmenter.score(known, y_known) == 1


def test_new_labels_of_tokens_are_learned_and_known_ones_kept():
    words, spans = [["in", "New", "York"], ["to", "Kyiv"]] * 5, [[(1, 3, "city")], [(1, 2, "city")]] * 5
    segmenter = Segmenter(outside="O").fit(words, spans)
    found = segmenter.predict(words)
    segmenter.partial_fit([["Ann", "left"]] * 5, [[(0, 1, "person")]] * 5)
    assert segmenter.predict([["Ann", "left"]]) == [[(0, 1, "person")]] and segmenter.predict(words) == found


def test_known_weights_are_put_where_they_belong():
    """A model of more labels and features scores every segmentation of the known labels as before."""
    X, y = speech(6, 20)
    segmenter = Segmenter(FrameFeatures(bins=2), durations=Durations(max=30)).fit(X, y)
    old = segmenter.model_
    limits = type(old.weights.limits)((*old.labels, "z"), *(np.append(a, a[-1]).astype(np.int32) for a in
              (old.weights.limits.shortest, old.weights.limits.longest)))  # fmt: skip
    empty = SegmentWeights.zeros(limits, old.weights.durations, None, True, old.feature_map.n_content(limits)).overlaid(
        old.weights, old.feature_map.overlaid
    )
    grown = replace(old, weights=empty)
    n = len(old.labels)
    for x in X[:2]:
        mine, theirs = old.scores(x, 1.0), grown.scores(x, 1.0)
        np.testing.assert_allclose(theirs.segments[..., :n], mine.segments, atol=1e-4)
        np.testing.assert_allclose(theirs.transitions[:n, :n], mine.transitions, atol=1e-5)
