"""The chains of the tests as an oracle in Python: answers by enumeration, weights of 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from margent import _core
from margent.answer import Answer, Rival
from oracle import perceptron as plain
from unit.learners.test_perceptron import N_EDGES, N_FEATURES, N_LABELS, Problem, Weights


class Enumerated:
    """The problem in double precision, equal answers in the order of the twin, so that nothing is left to rounding."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        symbols = [*range(N_LABELS), None]
        histories: list[tuple[Any, ...]] = [()]
        names: list[Any] = [("token", i, y) for i in range(N_FEATURES) for y in range(N_LABELS)]
        names += [("edge", i, p, y) for i in range(N_EDGES) for p in symbols for y in range(N_LABELS)]
        for _ in range(problem.order):
            names += [("end", history, y) for history in histories for y in range(N_LABELS)]
            histories = [(symbol, *history) for history in histories for symbol in symbols]
            names += [("step", history, y) for history in histories for y in range(N_LABELS)]
        self.names = names
        self.index = {name: i for i, name in enumerate(names)}
        self.n_features = len(names)
        self.native = _core.PythonOracle(self, self.n_features)
        self.native.start_from(np.array([problem.start.get(name, 0.0) for name in names]))

    def __len__(self) -> int:
        return len(self.problem.examples)

    def named(self, weights: Any) -> Weights:
        return dict(zip(self.names, weights.tolist()))

    def weights(self, average: bool) -> Weights:
        return self.named(self.native.weights(average))

    def features(self, example: plain.Example, labels: Any) -> dict[int, float]:
        vector = plain.features(example, labels, self.problem.order, self.problem.transitions)
        return {self.index[name]: value for name, value in vector.items()}

    def answer(self, number: int, weights: Any, k: int, cost: float) -> Answer:
        p, example, w = self.problem, self.problem.examples[number], self.named(weights)
        if all(label is None for label in example.labels):
            return Answer({}, [], n_positions=0, weight=example.weight)
        gold = plain.gold_side(example, w, N_LABELS, p.order, p.transitions)
        ranked = plain.rivals(example, w, N_LABELS, p.order, p.costs, cost, p.transitions)[:k]
        rivals = [
            Rival(self.features(example, y), plain.loss(example, y, p.costs), plain.errors(example, y)) for y in ranked
        ]
        return Answer(
            self.features(example, gold), rivals, int(np.sum([y is not None for y in example.labels])), example.weight
        )
