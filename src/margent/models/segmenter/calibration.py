"""The temperature of a segmenter: `margent.models.temperature` on the segments that it finds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.models.inputs import as_sentences, sentence_weights
from margent.models.segmenter.gold_segments import GoldSegments, is_timed
from margent.models.temperature import fitted_temperature

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


def fitted_segment_temperature(segmenter: Segmenter, X: Any, y: Any, sample_weight: Any = None) -> float | None:
    """Where the confidences of the segments that are found have the smallest log loss; None if none can be judged.

    Only sequences whose segments have times can be judged by. Costs one search for the two best segmentations and
    about ten passes for the probabilities.
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

    def log_confidences(scale: float) -> NDArray[np.float64]:
        found = model.marginals(data, stored, scale, segmenter._threads(), ptr, rows)[2]
        return np.log(np.maximum(found[judged], 1e-300))

    leads = np.array([t[0][0] - t[1][0] for t in two if len(t) == 2])
    return fitted_temperature(log_confidences, np.array(right)[judged], np.array(share)[judged], leads)
