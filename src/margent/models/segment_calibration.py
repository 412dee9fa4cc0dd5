"""The temperature of a segmenter: as `margent.models.calibration` does it for the spans of a tagger."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from margent.models.calibration import LARGEST, SMALLEST, SURE, lowest_point
from margent.models.gold_segments import GoldSegments, is_timed
from margent.models.inputs import as_sentences, sentence_weights

if TYPE_CHECKING:
    from margent.models.segmenter import Segmenter


def fitted_segment_temperature(segmenter: Segmenter, X: Any, y: Any, sample_weight: Any = None) -> float | None:
    """Where the confidences of the segments that are found have the smallest log loss; None if none can be judged.

    Only sequences whose segments have times can be judged by. What is added to keep the temperature from 0, and that it
    grows with the scores, is as for a tagger. Costs one search for the two best segmentations and about ten passes for
    the probabilities.
    """
    X = as_sentences(X)
    gold = GoldSegments.of(y, [len(x) for x in X], segmenter.outside).sequences
    weights = sentence_weights(sample_weight, len(X))
    counted = np.ones(len(X)) if weights is None else weights.astype(np.float64)
    chosen = [i for i, right in enumerate(gold) if is_timed(right) and len(right) and counted[i] > 0]
    model, stored, names = segmenter._native, segmenter.weights_.weights, segmenter.weights_.limits.labels
    data = segmenter._data(segmenter._encode([X[i] for i in chosen]))
    two = model.k_best(data, stored, 2, segmenter._threads())
    chosen, two = [*map(list, zip(*[(i, t) for i, t in zip(chosen, two) if t]))] or ([], [])
    data = segmenter._data(segmenter._encode([X[i] for i in chosen]))
    ptr, rows = model.best(data, stored, segmenter._threads())[1]
    right, share = [], []
    for i, (first, last) in zip(chosen, pairwise(ptr.tolist())):
        there = set(gold[i])
        right += [(b, e, names[j]) in there for b, e, j in rows[first:last].tolist()]
        share += [0.0 if names[j] == segmenter.outside else counted[i] for j in rows[first:last, 2].tolist()]
    judged = np.array(share) > 0
    if not judged.any():
        return None
    hit = np.array(right)[judged]
    parts = np.array(share)[judged] / np.sum(share)
    hits, misses = parts * (len(hit) * hit + 1), parts * (len(hit) * ~hit + 1)

    @cache
    def loss(log_temperature: float) -> float:
        found = model.marginals(data, stored, 2.0**-log_temperature, segmenter._threads(), ptr, rows)[2][judged]
        return -float(hits @ np.log(np.maximum(found, 1e-300)) + misses @ np.log1p(-np.minimum(found, SURE)))

    leads = np.array([t[0][0] - t[1][0] for t in two if len(t) == 2])
    lead = float(np.clip(np.median(leads[leads > 0]), SMALLEST, LARGEST)) if (leads > 0).any() else 1.0
    best = lowest_point(loss, math.log2(lead))
    return min(max(2.0**best, SMALLEST), LARGEST) if loss(best) < loss(0.0) else 1.0
