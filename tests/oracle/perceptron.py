"""The averaged structured perceptron of the textbook (Collins 2002), on label chains of any order, by enumeration.

Weights are a dict from feature to number. The features of a labelling y of tokens x:

    ("token", i, y_t)                 value of feature i at token t
    ("edge", i, y_{t-1}, y_t)         value of edge feature i at token t
    ("step", (y_{t-j} .. y_{t-1}), y_t)   1, for each j = 1 .. order; labels before the first token are None
    ("end", (y_{n-j} .. y_{n-2}), y_{n-1})   1, for each j = 1 .. order
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Example:
    tokens: list[dict[int, float]]
    edges: list[dict[int, float]]
    labels: list[int | None]
    weight: float = 1.0
    allowed: list[set[int]] = field(default_factory=list)


def features(example, labels, order, transitions=True):
    vector = defaultdict(float)
    padded = [None] * order + list(labels)
    for t, label in enumerate(labels):
        before = padded[: t + order]
        for i, value in example.tokens[t].items():
            vector["token", i, label] += value
        for i, value in example.edges[t].items():
            vector["edge", i, before[-1], label] += value
        if transitions:
            for j in range(1, order + 1):
                vector["step", tuple(before[-j:]), label] += 1
    if transitions:
        for j in range(1, order + 1):
            vector["end", tuple(padded[len(padded) - j : -1]), labels[-1]] += 1
    return vector


def dot(weights, vector):
    return sum(weights.get(key, 0.0) * value for key, value in vector.items())


def labellings(example, n_labels):
    choices = [sorted(example.allowed[t]) if example.allowed else range(n_labels) for t in range(len(example.labels))]
    return itertools.product(*choices)


def loss(example, labels, costs):
    """`costs[gold]` is the cost of a mistake at this label, or a list with that of each other label."""
    wrong = [(gold, label) for gold, label in zip(example.labels, labels) if gold is not None and gold != label]
    return sum(costs[gold][label] if isinstance(costs[gold], list) else costs[gold] for gold, label in wrong)


def errors(example, labels):
    return sum(gold is not None and gold != label for gold, label in zip(example.labels, labels))


def gold_side(example, weights, n_labels, order, transitions=True):
    """The best completion of the labels that are known."""
    return max(
        (y for y in labellings(example, n_labels) if errors(example, y) == 0),
        key=lambda y: dot(weights, features(example, y, order, transitions)),
    )


def rivals(example, weights, n_labels, order, costs, margin, transitions=True):
    """All labellings, the one with the largest score + margin * loss first; of equal ones, the first in their order.

    Equal is what does not differ by 1e-9: learners make rivals equal on purpose, and rounding must not choose for them.
    """
    return sorted(
        labellings(example, n_labels),
        key=lambda y: -round(value(example, y, weights, order, costs, margin, transitions), 9),
    )


def value(example, labels, weights, order, costs, margin, transitions=True):
    return dot(weights, features(example, labels, order, transitions)) + margin * loss(example, labels, costs)


def train(examples, sequence, start, n_labels, order, costs, margin=0.0, transitions=True):
    """Returns (weights, average of the weights before the first and after each step, number of mistakes)."""
    weights, total, mistakes = defaultdict(float, start), defaultdict(float, start), 0
    for number in sequence:
        example = examples[number]
        if any(label is not None for label in example.labels):
            gold = gold_side(example, weights, n_labels, order, transitions)
            rival = rivals(example, weights, n_labels, order, costs, margin, transitions)[0]
            wrong = errors(example, rival)
            if wrong:
                mistakes += 1
                step = example.weight * loss(example, rival, costs) / wrong
                for key, value in features(example, gold, order, transitions).items():
                    weights[key] += step * value
                for key, value in features(example, rival, order, transitions).items():
                    weights[key] -= step * value
        for key, value in weights.items():
            total[key] += value
    return weights, {key: value / (len(sequence) + 1) for key, value in total.items()}, mistakes
