"""The likelihood of an oracle's examples as a function of the weights: native, or of a Python oracle."""

from __future__ import annotations

import math
from operator import index
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from margent.learners.protocol import LikelihoodOracle


class Likelihood(Protocol):
    """The negative log-likelihood of all examples, with its parameters: those weights that may be other than 0."""

    def __len__(self) -> int:
        """How many examples there are."""

    @property
    def n_parameters(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def widens(self) -> bool:
        """Whether there may be more parameters after `grow`."""

    def parameters(self) -> NDArray[np.float64]:
        """(n_parameters,): as they are now."""

    def set_parameters(self, parameters: NDArray[np.float64]) -> None: ...

    def grow(self) -> bool:
        """Searches by the present parameters for what it sums over; whether it is another function now.

        There may then be more parameters.
        """

    def evaluate(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Sets the parameters; the value there and the gradient (n_parameters,)."""

    def value(self, examples: NDArray[np.int64] | None = None) -> float:
        """The value at the present parameters, of some examples or of all."""

    def descend(self, examples: NDArray[np.int64], eta: float, decay: float, first: float) -> float:
        """For each example in order: w -= eta_t * (its gradient + decay * w), eta_t = eta / (1 + decay * eta * t).

        t counts from `first`. Returns the sum of the values of the examples, each before its step. No step makes the
        weights shrink by more than a factor of 1e-3; with decay = 0 all steps are as long as the first.
        """


class PythonLikelihood:
    """The likelihood of an oracle written in Python, whose `log_loss` gives value and gradient of one example."""

    threads = 1
    widens = True

    def __init__(self, oracle: LikelihoodOracle) -> None:
        for name in ("n_features", "__len__"):
            if not hasattr(oracle, name):
                raise TypeError(f"a CRF needs an oracle with `{name}`, and {type(oracle).__name__} has none")
        self._oracle = oracle
        self._weights: NDArray[np.float64] = np.zeros(int(oracle.n_features))

    def __len__(self) -> int:
        return len(self._oracle)

    @property
    def n_parameters(self) -> int:
        return len(self._weights)

    def weights(self, average: bool = False) -> NDArray[np.float64]:
        return np.array(self._weights)

    def parameters(self) -> NDArray[np.float64]:
        return np.array(self._weights)

    def set_parameters(self, parameters: NDArray[np.float64]) -> None:
        self._weights = np.array(parameters, dtype=np.float64)

    def grow(self) -> bool:
        """Parameters for features that the oracle has met since, at first 0; whether there were any."""
        missing = int(self._oracle.n_features) - len(self._weights)
        self._weights = np.concatenate([self._weights, np.zeros(max(missing, 0))])
        return missing > 0

    def evaluate(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        self.set_parameters(parameters)
        total, gradient = 0.0, np.zeros_like(self._weights)
        for i in range(len(self)):
            loss, features = self._log_loss(i)
            total += loss
            for feature, count in features:
                gradient[feature] += count
        return total, gradient

    def value(self, examples: NDArray[np.int64] | None = None) -> float:
        return sum(self._log_loss(i)[0] for i in (range(len(self)) if examples is None else examples.tolist()))

    def descend(self, examples: NDArray[np.int64], eta: float, decay: float, first: float) -> float:
        total = 0.0
        for t, i in enumerate(examples.tolist()):
            self.grow()
            rate = eta / (1 + decay * eta * (first + t))
            loss, features = self._log_loss(i)
            total += loss
            self._weights *= max(1 - rate * decay, 1e-3)
            for feature, count in features:
                self._weights[feature] -= rate * count
        return total

    def _log_loss(self, example: int) -> tuple[float, list[tuple[int, float]]]:
        loss, features = self._oracle.log_loss(example, self._weights.copy())
        checked = [(index(feature), _finite(count, "a feature value")) for feature, count in features.items()]
        if not all(0 <= feature < len(self._weights) for feature, _ in checked):
            raise IndexError("the oracle answered with a feature index outside 0 .. n_features - 1")
        return _finite(loss, "a loss"), checked


def _finite(value: Any, what: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the oracle answered with {what} that is not finite")
    return number
