"""Why a label won in a chain: the features and transitions that made the difference, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.contribution import Contribution
from margent.models.tagger.chain.sparse_rows import SparseRows
from margent.models.tagger.weights import Comparison

if TYPE_CHECKING:
    from margent.models.tagger.chain.weights import ChainWeights

Ids = NDArray[np.int32]


def chain_margin_breakdown(
    weights: ChainWeights, feature_map: FeatureMap, compared: Comparison
) -> tuple[float, list[Contribution]]:
    """By how much one labelling of a sentence outscores another, and the parts of it that concern a token."""
    names, encoded, position, winner, rival, top = compared
    parts: list[Contribution] = []
    total = 0.0
    for t in range(len(winner)):
        features, changes = _token_changes(weights, feature_map, encoded, t, int(winner[t]), int(rival[t]))
        transitions = _transition_parts(weights, feature_map, names, encoded, t, winner, rival)
        total += float(changes.sum()) + sum(part.weight for part in transitions)
        if t == position:
            parts += _largest_parts(feature_map, features, changes, top)
        if position <= t <= position + weights.order:  # the transitions that look at this label
            parts += transitions
    end = _path_end(weights, winner) - _path_end(weights, rival)
    if len(winner) - position <= weights.order:
        parts.append(Contribution(f"{names[winner[-1]]} -> (end) rather than {names[rival[-1]]} -> (end)", end))
    return total + end, parts


def _token_changes(
    weights: ChainWeights, feature_map: FeatureMap, encoded: Encoded, t: int, won: int, lost: int
) -> tuple[Ids, NDArray[np.float64]]:
    """The features of token t, and how much each adds to the margin of one label over the other."""
    if won == lost:
        return np.empty(0, dtype=np.int32), np.empty(0)
    features, values = feature_map.contributions(encoded, t)
    if isinstance(weights.unigrams, SparseRows):
        rows = np.array([weights.label_weights(i) for i in features.tolist()]).reshape(len(features), weights.n_labels)
    else:
        rows = weights.unigrams[features]
    return features, values.astype(np.float64) * (rows[:, won].astype(np.float64) - rows[:, lost])


def _largest_parts(
    feature_map: FeatureMap, features: Ids, changes: NDArray[np.float64], top: int
) -> list[Contribution]:
    """The `top` largest changes by name, and those as large as the last of them; a kernel has thousands of others."""
    sizes = np.abs(changes)
    least = np.partition(sizes, len(sizes) - top)[len(sizes) - top] if 0 < top < len(sizes) else 0.0
    chosen = np.flatnonzero(sizes >= least) if top else ()
    return [Contribution(feature_map.name(int(features[i])), float(changes[i])) for i in chosen]


def _transition_parts(
    weights: ChainWeights, feature_map: FeatureMap, names: list[str], encoded: Encoded, t: int, winner: Ids, rival: Ids
) -> list[Contribution]:
    """The transition into token t, of all orders together, and its edge features."""
    order = weights.order
    if (winner[max(0, t - order) : t + 1] == rival[max(0, t - order) : t + 1]).all():
        return []
    change = _transition(weights, winner, t) - _transition(weights, rival, t)
    parts = [Contribution(f"{_arrow(names, winner, t)} rather than {_arrow(names, rival, t)}", change)]
    if encoded.edge_ids is None or encoded.edge_ptr is None:
        return parts
    previous = (int(winner[t - 1]), int(rival[t - 1])) if t else (weights.n_labels, weights.n_labels)
    for k in range(int(encoded.edge_ptr[t]), int(encoded.edge_ptr[t + 1])):
        matrix = weights.edge_weights(int(encoded.edge_ids[k]))
        value = 1.0 if encoded.edge_values is None else float(encoded.edge_values[k])
        change = value * (float(matrix[previous[0], winner[t]]) - float(matrix[previous[1], rival[t]]))
        parts.append(Contribution(feature_map.name(int(encoded.edge_ids[k]), edge=True), change))
    return parts


def _transition(weights: ChainWeights, labels: Ids, t: int) -> float:
    """The transition weight into token t, the orders added up."""
    base, history, size, total = weights.n_labels + 1, 0, 1, 0.0
    for level in range(weights.order):
        before = t - 1 - level
        history += (int(labels[before]) if before >= 0 else weights.n_labels) * size
        size *= base
        total += float(weights.transitions[level][history, labels[t]])
    return total


def _path_end(weights: ChainWeights, labels: Ids) -> float:
    base, context, size, total = weights.n_labels + 1, 0, 1, 0.0
    for level in range(weights.order):
        total += float(weights.ends[level][context, labels[-1]])
        before = len(labels) - 2 - level
        context += (int(labels[before]) if before >= 0 else weights.n_labels) * size
        size *= base
    return total


def _arrow(names: list[str], labels: Ids, t: int) -> str:
    return f"{names[labels[t - 1]] if t else '(start)'} -> {names[labels[t]]}"


def chain_top_features(weights: ChainWeights, feature_map: FeatureMap, label: int, n: int) -> list[tuple[str, float]]:
    """The n features with the largest and the n with the smallest weights for a label, from high to low."""
    if isinstance(weights.unigrams, SparseRows):
        rows = weights.unigrams
        here = rows.columns == label
        features = np.repeat(np.arange(weights.n_features), np.diff(rows.ptr))[here]
        values = rows.weights[here]
    else:
        features, values = np.arange(weights.n_features), weights.unigrams[:, label]
    order = np.argsort(-values, kind="stable")
    order = order[values[order] != 0]
    chosen = order if len(order) <= 2 * n else np.concatenate([order[:n], order[-n:]])
    return [(feature_map.name(int(features[i])), float(values[i])) for i in chosen]
