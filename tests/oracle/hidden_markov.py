"""The hidden Markov model with overlapping features by plain counting, one probability at a time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

START, END = "<start>", "<end>"


class PlainHiddenMarkov:
    """`sentences`: for each token a dict from feature to value; `labels`: None where not known."""

    def __init__(self, sentences, labels, weights, order, smoothing, transition_smoothing):
        self.order, self.smoothing, self.transition_smoothing = order, smoothing, transition_smoothing
        self.emitted = defaultdict(Counter)  # label: feature: count
        self.followed = defaultdict(Counter)  # history: label or END: count
        for tokens, ys, weight in zip(sentences, labels, weights):
            for token, y in zip(tokens, ys):
                for feature, value in token.items():
                    if y is not None:
                        self.emitted[y][feature] += weight * value
            if ys:
                for history, y in self.steps(ys):
                    for j in range(1, order + 1):
                        if y is not None and None not in history[-j:]:
                            self.followed[history[-j:]][y] += weight
        self.labels = sorted({y for ys in labels for y in ys if y is not None})
        self.features = {feature for tokens in sentences for token in tokens for feature in token}

    def steps(self, labels):
        """Each label with the `order` labels before it, and the end."""
        padded = [START] * self.order + list(labels) + [END]
        return [(tuple(padded[t : t + self.order]), padded[t + self.order]) for t in range(len(labels) + 1)]

    def transition(self, history, y):
        if not history:
            return 1 / (len(self.labels) + 1)
        mass = self.transition_smoothing * (len(self.labels) + 1)
        seen = self.followed[history]
        return (seen[y] + mass * self.transition(history[1:], y)) / (sum(seen.values()) + mass)

    def emission(self, feature, y):
        seen = self.emitted[y]
        return (seen[feature] + self.smoothing) / (sum(seen.values()) + self.smoothing * len(self.features))

    def log_probability(self, tokens, labels):
        total = sum(math.log(self.transition(history, y)) for history, y in self.steps(labels))
        for token, y in zip(tokens, labels):
            total += sum(v * math.log(self.emission(f, y)) for f, v in token.items() if f in self.features)
        return total
