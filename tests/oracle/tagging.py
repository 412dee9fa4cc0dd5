"""What a trained chain says of a sentence, by listing all its labellings with their scores.

`weights` has label_weights(feature) (L,), edge_weights(feature) (L + 1, L), transitions and ends (lists of tables, one
for each number of labels looked back on), n_labels and order. `encoded` is one sentence: ids, values, ptr and edge_*.
"""

from __future__ import annotations

import itertools
import math


def labelling_score(weights, encoded, labels):
    """Every weight that a labelling uses, added up one by one."""
    n_labels, order = weights.n_labels, weights.order
    padded = [n_labels] * order + list(labels)
    total = 0.0
    for t, label in enumerate(labels):
        for k in range(encoded.ptr[t], encoded.ptr[t + 1]):
            value = 1.0 if encoded.values is None else float(encoded.values[k])
            total += value * float(weights.label_weights(encoded.ids[k])[label])
        if encoded.edge_ids is not None:
            for k in range(encoded.edge_ptr[t], encoded.edge_ptr[t + 1]):
                value = 1.0 if encoded.edge_values is None else float(encoded.edge_values[k])
                total += value * float(weights.edge_weights(encoded.edge_ids[k])[padded[t + order - 1], label])
        for j in range(1, order + 1):
            total += float(weights.transitions[j - 1][code(padded[t + order - j : t + order], n_labels), label])
    for j in range(1, order + 1):
        if labels:
            total += float(weights.ends[j - 1][code(padded[len(padded) - j : -1], n_labels), labels[-1]])
    return total


def code(labels, n_labels):
    number = 0
    for label in labels:
        number = number * (n_labels + 1) + label
    return number


def labellings(weights, encoded, admit=lambda labels: True):
    """[(score, labels)] of all labellings that `admit` lets pass, best first."""
    n_tokens = len(encoded.ptr) - 1
    listed = [
        (labelling_score(weights, encoded, labels), labels)
        for labels in itertools.product(range(weights.n_labels), repeat=n_tokens)
        if admit(labels)
    ]
    return sorted(listed, key=lambda pair: -pair[0])


def probability(listed, condition):
    """The share of exp(score) of the labellings that meet a condition."""
    top = max(score for score, _ in listed)
    total = math.fsum(math.exp(score - top) for score, _ in listed)
    return math.fsum(math.exp(score - top) for score, labels in listed if condition(labels)) / total
