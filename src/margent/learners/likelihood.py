"""The likelihood of an oracle's examples as a function of the weights: native, or of a Python oracle."""

from __future__ import annotations

import math
from operator import index
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from margent import _core


class Likelihood(Protocol):
    """The negative log-likelihood of all examples, with its parameters: those weights that may be other than 0."""

    def __len__(self) -> int:
        """How many examples there are."""

    @property
    def n_parameters(self) -> int: ...
    @property
    def threads(self) -> int: ...

    def parameters(self) -> NDArray[np.float64]:
        """(n_parameters,): as they are now."""

    def set_parameters(self, parameters: NDArray[np.float64]) -> None: ...

    def grow(self) -> bool:
        """Searches by the present parameters for what it sums over; whether it is another function now.

        There may then be more parameters.
        """

    def evaluate(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Sets the parameters; the value there and the gradient (n_parameters,)."""

    def value(self, order: NDArray[np.int64] | None = None) -> float:
        """The value at the present parameters, of some examples or of all."""

    def descend(self, order: NDArray[np.int64], eta: float, decay: float, first: float) -> float:
        """For each example in order: w -= eta_t * (its gradient + decay * w), eta_t = eta / (1 + decay * eta * t).

        t counts from `first`. Returns the sum of the values of the examples, each before its step. No step makes the
        weights shrink by more than a factor of 1e-3; with decay = 0 all steps are as long as the first.
        """


def likelihood_of(
    oracle: Any,
    all_pairs: bool,
    all_transitions: bool,
    boundaries: bool,
    threads: int,
    beam: int | None = None,
    best_completion: bool = False,
) -> _core.Likelihood | CandidateLikelihood | PythonLikelihood:
    """The likelihood of a native oracle, or of a Python oracle that has `expect`; under a beam if one is given."""
    if isinstance(oracle, _core.ChainOracle):
        return _core.ChainLikelihood(
            oracle, all_pairs, all_transitions, boundaries, threads, beam or 0, best_completion
        )
    if isinstance(oracle, (_core.CosegmentOracle, _core.CandidateOracle, _core.TransitionOracle)) and (
        all_pairs or all_transitions or not boundaries
    ):
        raise TypeError("all_pairs, all_transitions and boundaries of CRF are about labels, and here are none")
    if isinstance(oracle, _core.CosegmentOracle):
        if beam is None:
            raise TypeError("a CRF that leads a search for pronunciations sums over a beam: search='beam'")
        return _core.CosegmentLikelihood(oracle, beam, best_completion, threads)
    if isinstance(oracle, _core.TransitionOracle) and not best_completion:
        return _core.TransitionLikelihood(oracle, beam or 0)
    if isinstance(oracle, _core.CandidateOracle) and beam is None:
        return CandidateLikelihood(oracle, best_completion, threads)
    if isinstance(oracle, _core.SegmentOracle) and beam is None:
        return _core.SegmentLikelihood(oracle, all_pairs, all_transitions, boundaries, threads, best_completion)
    if beam is not None:
        if isinstance(oracle, _core.Oracle):
            raise TypeError("CRF(search='beam') is not for segments and listed answers, whose sums are exact: 'exact'")
        if not hasattr(oracle, "with_beam"):
            raise TypeError(f"search='beam' needs an oracle with `with_beam`, and {type(oracle).__name__} has none")
        oracle = oracle.with_beam(beam)
    if best_completion:
        raise TypeError(f"{type(oracle).__name__} has sums over all right answers alone: CRF(completion='all')")
    for name in ("expect", "n_features", "__len__"):
        if not hasattr(oracle, name):
            raise TypeError(f"a CRF needs an oracle with `{name}`, and {type(oracle).__name__} has none")
    return PythonLikelihood(oracle)


class CandidateLikelihood:
    """The likelihood of the right ones of listed answers, together or of the best: the latent CRF (paper 003, 4.3)."""

    def __init__(self, oracle: _core.CandidateOracle, best_completion: bool, threads: int) -> None:
        self._oracle, self._best, self.threads = oracle, best_completion, threads

    def __len__(self) -> int:
        return len(self._oracle)

    @property
    def n_parameters(self) -> int:
        return self._oracle.n_features

    def parameters(self) -> NDArray[np.float64]:
        return self._oracle.weights(False)

    def set_parameters(self, parameters: NDArray[np.float64]) -> None:
        self._oracle.start_from(np.asarray(parameters, np.float64))

    def grow(self) -> bool:
        return False  # the lists stay as they are

    def evaluate(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        self.set_parameters(parameters)
        return self._oracle.likelihood(parameters, self._best, self.threads)

    def value(self, order: NDArray[np.int64] | None = None) -> float:
        if order is not None:
            raise ValueError("CRF(method='sgd') cannot learn from listed answers: choose lbfgs or owlqn")
        return self._oracle.likelihood(self.parameters(), self._best, self.threads)[0]

    def descend(self, order: NDArray[np.int64], eta: float, decay: float, first: float) -> float:
        raise ValueError("CRF(method='sgd') cannot learn from listed answers: choose lbfgs or owlqn")


class PythonLikelihood:
    """The likelihood of an oracle written in Python, whose `expect` gives value and gradient of one example."""

    threads = 1

    def __init__(self, oracle: Any) -> None:
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
            loss, features = self._expect(i)
            total += loss
            for feature, count in features:
                gradient[feature] += count
        return total, gradient

    def value(self, order: NDArray[np.int64] | None = None) -> float:
        return sum(self._expect(i)[0] for i in (range(len(self)) if order is None else order.tolist()))

    def descend(self, order: NDArray[np.int64], eta: float, decay: float, first: float) -> float:
        total = 0.0
        for t, i in enumerate(order.tolist()):
            self.grow()
            rate = eta / (1 + decay * eta * (first + t))
            loss, features = self._expect(i)
            total += loss
            self._weights *= max(1 - rate * decay, 1e-3)
            for feature, count in features:
                self._weights[feature] -= rate * count
        return total

    def _expect(self, example: int) -> tuple[float, list[tuple[int, float]]]:
        loss, features = self._oracle.expect(example, self._weights.copy())
        checked = [(index(feature), _finite(count, "a feature value")) for feature, count in features.items()]
        if not all(0 <= feature < len(self._weights) for feature, _ in checked):
            raise IndexError("the oracle answered with a feature index outside 0 .. n_features - 1")
        return _finite(loss, "a loss"), checked


def _finite(value: Any, what: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the oracle answered with {what} that is not finite")
    return number
