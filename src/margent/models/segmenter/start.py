"""Where the weights of a segmenter begin: at zero or, for frames, by maximum likelihood."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from margent.features.frame_map import EncodedFrames, FrameMap
from margent.features.segment_map import EncodedSegments, Gold, SegmentLimits, SegmentMap
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.models.segmenter.choice import meant_start
from margent.models.segmenter.gold_segments import GoldSegments, forced_labels
from margent.models.segmenter.weights import SegmentWeights

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter

REALIGNMENTS = 10
"""How often labels without times are put where they fit best, and counted there, before training begins."""

Rows = NDArray[np.int32]


def starting_weights(
    segmenter: Segmenter,
    feature_map: SegmentMap,
    encoded: EncodedSegments,
    limits: SegmentLimits,
    follows: NDArray[np.bool_] | None,
    gold: GoldSegments,
    counted: NDArray[np.float32] | None,
) -> SegmentWeights:
    """Zero, or the generative model of the right segments that have times.

    If none has, their labels are spread evenly over each sequence (the flat start of speech recognition), counted, put
    where they fit best by forced search, counted again, until nothing moves or ten times. `MaximumLikelihood` as the
    learner does the same with the sequences that have no times, beginning with those that have. Other learners go on
    from there, and find the times of labels as they go.
    """
    nothing = SegmentWeights(
        limits,
        feature_map.duration_features(limits.most),
        follows,
        bool(segmenter.transitions),
        np.zeros(0, np.float32),
    )
    weights = nothing.with_weights(np.zeros(feature_map.n_content(limits) + nothing._tail, dtype=np.float32))
    likelihood = meant_start(segmenter, feature_map)
    if likelihood is None:
        return weights
    if not isinstance(feature_map, FrameMap) or not isinstance(encoded, EncodedFrames):
        raise ValueError("MaximumLikelihood is for frames, which are numbers; tokens start from zero: start=None")
    frames, chosen = feature_map, likelihood
    counts = np.ones(len(encoded)) if counted is None else counted.astype(np.float64)

    def counting(rows: Gold) -> SegmentWeights:
        """The generative model of those that have times; the others count nothing."""
        parts = frames.start(
            encoded,
            limits,
            [np.zeros((0, 3), dtype=np.int32) if each is None else each for each in rows],
            np.where([each is not None for each in rows], counts, 0.0),
            shrinkage=float(chosen.shrinkage),
            smoothing=float(chosen.smoothing),
            rounds=int(chosen.rounds),
            seed=int(segmenter.seed),
        )
        return weights.filled(parts)

    known = gold.arrays(limits.labels)
    timed = any(rows is not None and len(rows) for rows in known)
    begun = counting(known if timed else _spread(gold, known, limits))
    if all(rows is not None for rows in known) or (
        timed and not isinstance(segmenter._learner(feature_map), MaximumLikelihood)
    ):
        return begun
    labels = [[] if rows is not None else sequence for rows, sequence in zip(known, gold.sequences)]
    forced = forced_labels(labels, len(known), limits.labels)
    model, data, before = begun.native(), encoded.data(limits), None
    for _ in range(REALIGNMENTS):
        _, (ptr, found) = model.best(data, begun.weights, segmenter._threads(), *forced)
        if before is not None and np.array_equal(found, before):
            break
        before = found
        begun = counting([found[a:z] if rows is None else rows for rows, (a, z) in zip(known, pairwise(ptr.tolist()))])
    return begun


def _spread(gold: GoldSegments, known: Gold, limits: SegmentLimits) -> list[Rows | None]:
    """Labels without times, each as long as the others of its sequence."""
    ids = {label: i for i, label in enumerate(limits.labels)}
    found: list[Rows | None] = []
    for sequence, rows, length in zip(gold.sequences, known, gold.lengths):
        if rows is None:
            borders = np.arange(len(sequence) + 1) * length // len(sequence)
            labels = [ids[str(each)] for each in sequence]
            rows = np.stack([borders[:-1], borders[1:], labels], axis=1).astype(np.int32)
        found.append(rows)
    return found
