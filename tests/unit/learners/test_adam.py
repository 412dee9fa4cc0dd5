"""Adam against the textbook, step by step."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest

import margent
from oracle.adam import adam


class Line:
    """Least squares, and a record of the batches that were asked for."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y
        self.values = np.zeros(X.shape[1])
        self.n_features = X.shape[1]
        self.asked: list[tuple[list[int], int]] = []

    def __len__(self) -> int:
        return len(self.y)

    def gradient(self, examples: Any, seed: int) -> tuple[float, Any]:
        self.asked.append((examples.tolist(), seed))
        return self._gradient(self.values, examples)

    def _gradient(self, w: Any, examples: Any) -> tuple[float, Any]:
        error = self.X[examples] @ w - self.y[examples]
        return float(error @ error), 2 * error @ self.X[examples] / len(examples)

    def weights(self, average: bool) -> Any:
        return self.values.copy()


def line() -> Line:
    random = np.random.default_rng(0)
    X = random.normal(size=(23, 3))
    return Line(X, X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=23))


@pytest.mark.parametrize("clip", [1e9, 0.7])
def test_steps_are_those_of_the_textbook(clip):
    oracle = line()
    learner = margent.Adam(epochs=3, learning_rate=0.1, batch=8, beta1=0.8, beta2=0.95, clip=clip)
    found = margent.train(learner, oracle, seed=4).weights
    batches = [examples for examples, _ in oracle.asked]
    assert [len(batch) for batch in batches] == [8, 8, 7] * 3
    assert sorted(chain.from_iterable(batches[:3])) == list(range(23))  # each example once in an epoch
    wanted = adam(
        lambda w, t: oracle._gradient(np.array(w), batches[t - 1])[1].tolist(), [0.0] * 3, 9, 0.1, 0.8, 0.95, clip
    )
    assert found == pytest.approx(wanted, rel=1e-9)


def test_the_history_and_early_stopping():
    oracle = line()
    learner = margent.Adam(epochs=30, learning_rate=0.1, patience=2)
    result = margent.train(learner, oracle, evaluate=lambda w: -abs(w[0] - 0.3), seed=1)
    assert len(result.history) < 30 and result.best_epoch == len(result.history) - 2
    assert result.history[0].loss > result.history[-1].loss and result.history[0].updates == 1
    again = margent.train(learner, line(), evaluate=lambda w: -abs(w[0] - 0.3), seed=1)
    assert (again.weights == result.weights).all()


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"learning_rate": 0}, {"batch": 0}, {"beta1": 1.0}, {"beta2": -0.1}, {"clip": 0}, {"patience": 0}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of Adam should be"):
        margent.Adam(**wrong)
