"""The conditional random field by listing every labelling.

An example is (features, labels, weight, allowed): for each token a dict from feature to value, a label or None, and a
set of allowed labels or None. Parameters are a dict from a key to a number, keys being ("feature", f, y),
("transition", labels before, y) for histories of each length up to the order, None standing for the start, and
("end", labels before, y) for the last label after histories shorter than the order.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter


def features_of(tokens, labels, order):
    """The count of each key in a labelling."""
    counts = Counter()
    padded = (None,) * order + tuple(labels)
    for t, label in enumerate(labels):
        for feature, value in tokens[t].items():
            counts["feature", feature, label] += value
        for length in range(1, order + 1):
            counts["transition", padded[t + order - length : t + order], label] += 1
    if labels:
        last = len(padded) - 1
        for length in range(order):
            counts["end", padded[last - length : last], labels[-1]] += 1
    return counts


def loss_and_gradient(example, parameters, n_labels, order, costs=None):
    """Minus the log-probability of the known labels, and its gradient as a dict; the log of costs lowers scores."""
    tokens, known, weight, allowed = example
    total, right = [], []
    for labels in itertools.product(range(n_labels), repeat=len(tokens)):
        if any(options is not None and label not in options for label, options in zip(labels, allowed)):
            continue
        counts = features_of(tokens, labels, order)
        score = sum(parameters.get(key, 0.0) * count for key, count in counts.items())
        if costs:
            score -= sum(math.log(costs[label]) for label in labels)
        total.append((score, counts))
        if all(gold in (None, label) for label, gold in zip(labels, known)):
            right.append((score, counts))
    if not right:
        return 0.0, {}
    gradient = Counter()
    sums = []
    for sign, listed in ((1, total), (-1, right)):
        top = max(score for score, _ in listed)
        z = sum(math.exp(score - top) for score, _ in listed)
        sums.append(top + math.log(z))
        for score, counts in listed:
            for key, count in counts.items():
                gradient[key] += sign * weight * math.exp(score - top) / z * count
    return weight * (sums[0] - sums[1]), dict(gradient)


def objective(examples, parameters, n_labels, order, costs=None):
    """The sum over examples, and its gradient."""
    value, gradient = 0.0, Counter()
    for example in examples:
        loss, part = loss_and_gradient(example, parameters, n_labels, order, costs)
        value += loss
        for key, x in part.items():
            gradient[key] += x
    return value, dict(gradient)
