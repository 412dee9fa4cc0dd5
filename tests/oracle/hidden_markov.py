"""The hidden Markov model with overlapping features by plain counting, one probability at a time; and its EM."""

from __future__ import annotations

import itertools
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

    def expectation(self, sentences, labels, weights):
        """Counts anew, each labelling that agrees with what is known by its probability; the log-likelihood before."""
        emitted, followed = defaultdict(Counter), defaultdict(Counter)
        log_likelihood = 0.0
        for tokens, known, weight in zip(sentences, labels, weights):
            if not tokens:
                continue
            choices = [self.labels if y is None else [y] for y in known]
            scores = {ys: self.log_probability(tokens, ys) for ys in itertools.product(*choices)}
            top = max(scores.values())
            total = top + math.log(sum(math.exp(score - top) for score in scores.values()))
            log_likelihood += weight * total
            for ys, score in scores.items():
                share = weight * math.exp(score - total)
                for token, y in zip(tokens, ys):
                    for feature, value in token.items():
                        emitted[y][feature] += share * value
                for history, y in self.steps(ys):
                    for j in range(1, self.order + 1):
                        followed[history[-j:]][y] += share
        self.emitted, self.followed = emitted, followed
        return log_likelihood
