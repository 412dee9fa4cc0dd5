"""Learning from forests by listing all derivations: the gold side, rivals, and the likelihood with its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracle import enumeration


@dataclass
class PlainForest:
    """Edges with their heads, tails and features {number: value}; the root is the last node."""

    heads: list[int]
    tails: list[list[int]]
    features: list[dict[int, float]]
    forbidden: set[int]

    @property
    def root(self):
        return max(self.heads)

    def listed(self, weights, only=None):
        """[(score, edges)] of all derivations, or of those whose edges are all in `only`."""
        scores = [sum(weights[f] * x for f, x in seen.items()) for seen in self.features]
        scores = [-np.inf if e in self.forbidden else score for e, score in enumerate(scores)]
        found = enumeration.derivations(self.heads, self.tails, scores, self.root)
        return found if only is None else [(score, edges) for score, edges in found if set(edges) <= set(only)]

    def features_of(self, edges):
        total = {}
        for edge in edges:
            for feature, value in self.features[edge].items():
                total[feature] = total.get(feature, 0.0) + value
        return total

    def expected_features(self, listed, n_features):
        total = np.zeros(n_features)
        for p, (_, edges) in zip(enumeration.probabilities(listed), listed):
            for feature, value in self.features_of(edges).items():
                total[feature] += p * value
        return total


@dataclass
class PlainExample:
    """Right are the derivations of `right` whose edges are all in `only` (None: all of them)."""

    forest: PlainForest
    right: PlainForest
    only: set[int] | None
    costs: list[float]
    weight: float

    def gold(self, weights):
        """(score, edges) of the best right derivation."""
        return enumeration.best(self.right.listed(weights, self.only))

    def rivals(self, weights, k, cost):
        """[(score, loss, errors, edges)] of the k derivations with the largest score + cost * loss."""
        ranked = []
        for score, edges in self.forest.listed(weights):
            loss = sum(self.costs[e] for e in edges)
            ranked.append((score, loss, sum(self.costs[e] > 0 for e in edges), edges))
        return sorted(ranked, key=lambda rival: -(rival[0] + cost * rival[1]))[:k]

    def log_loss(self, weights, best_alone=False):
        """Minus the log-probability of the right derivations, or of the best of them, and its gradient."""
        everything, right = self.forest.listed(weights), self.right.listed(weights, self.only)
        if best_alone:
            right = [enumeration.best(right)]
        value = enumeration.log_partition(everything) - enumeration.log_partition(right)
        n = len(weights)
        gradient = self.forest.expected_features(everything, n) - self.right.expected_features(right, n)
        return self.weight * value, self.weight * gradient
