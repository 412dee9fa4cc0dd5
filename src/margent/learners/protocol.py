"""What a learner may see, and what an oracle must answer.

Learning is one loop over an oracle. For example i and the weights as they stand, the oracle answers with the gold side
and its rivals: wrong answers, best first, each with its feature vector and its loss. A learner turns that into a step.
Neither knows the other. Learners of the likelihood (`CRF`) ask for sums over all answers instead of the best ones:
`log_loss`, which an oracle may have.

What an oracle can do is its declaration (`margent.capability`), what a learner needs is the learner's
(`Learner.needs`), and `check_fits` compares them before any training. An oracle of the library names its `structure`.
An oracle of your own may have `capabilities`, a set of `Capability`, on its class; if it has none, its methods are its
declaration: with `answer` it has rivals, which are whole answers; with `log_loss` a likelihood of each example.

An oracle for a structure of your own is a Python class with `n_features`, `__len__` and `answer`, as sketched here;
docs/design.md has a complete one that runs:

    class Classes:                                  # the smallest structure: one label for each example
        def __init__(self, X, y, n_classes): ...
        n_features = property(lambda self: self.n_classes * self.X.shape[1])
        def __len__(self): return len(self.X)
        def features(self, i, label):
            d = self.X.shape[1]
            return {label * d + j: x for j, x in enumerate(self.X[i])}
        def answer(self, i, weights, k, cost):
            scores = [sum(weights[f] * x for f, x in self.features(i, c).items()) for c in range(self.n_classes)]
            best = max(range(self.n_classes), key=scores.__getitem__)
            return Answer(self.features(i, self.y[i]), [Rival(self.features(i, best), loss=float(best != self.y[i]),
                                                              errors=int(best != self.y[i]))])

    result = margent.train(margent.Perceptron(), Classes(X, y, 3))
    result.weights
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.answer import Answer, FeatureVector


@runtime_checkable
class Oracle(Protocol):
    """A structure with its data, written in Python."""

    @property
    def n_features(self) -> int:
        """The size of the weight vector. May have grown after an answer: new weights begin with 0."""

    def __len__(self) -> int:
        """How many examples there are."""

    def answer(self, example: int, weights: NDArray[np.float64], k: int, cost: float) -> Answer:
        """Gold and up to `k` rivals of an example: the answers with the largest score + cost * loss."""


class LikelihoodOracle(Protocol):
    """An oracle, written in Python, that can sum over all answers: what a `CRF` needs."""

    @property
    def n_features(self) -> int: ...
    def __len__(self) -> int: ...

    def log_loss(self, example: int, weights: NDArray[np.float64]) -> tuple[float, FeatureVector]:
        """Minus the log-probability of the gold side, and its gradient: expected features minus those of gold.

        Both times the weight of the example, if it has one.
        """


class AlignmentOracle(Protocol):
    """Pairs of words and pronunciations to be aligned by graphones: what `EM` needs."""

    pairs: _core.SpellingPairs
    development: _core.SpellingPairs | None
    graphones: _core.Graphones
    n_held_out: int
    n_impossible: int

    def __len__(self) -> int: ...


@runtime_checkable
class NativeOracle(Protocol):
    """An oracle in native code, which holds its weights."""

    def __len__(self) -> int: ...
    def ask(self, example: int, k: int, cost: float) -> Any: ...
    def tick(self, weight: float = 1.0) -> None: ...
    def weights(self, average: bool) -> Any: ...
    def likelihood(
        self,
        *,
        all_pairs: bool = False,
        all_transitions: bool = False,
        boundaries: bool = True,
        beam: int = 0,
        best_completion: bool = False,
        threads: int = 1,
    ) -> _core.Likelihood:
        """Minus the log-likelihood of its examples, as a function of its weights; beam 0: sums over all answers."""
