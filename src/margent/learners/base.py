"""The bases of all learners: what they declare, and how the training loop runs them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from margent import _core
from margent.capability import Capabilities, Capability
from margent.parameters import check_flag, check_whole


class Learner(ABC):
    """What every learner declares; one derives from `RuleLearner` or `BatchLearner`."""

    keeps_support: ClassVar[bool] = False
    """Whether it keeps the wrong answers that the weights are made of (`Training.support`)."""

    @property
    @abstractmethod
    def needs(self) -> Capabilities:
        """What an oracle must be able to do; may depend on the parameters."""

    @property
    def probabilistic(self) -> bool:
        """Whether its scores are log-probabilities; those of all others need a temperature first."""
        return False

    @property
    def patience(self) -> int | None:
        """Stop after this many epochs without improvement on the development data; None: never."""
        return None


@dataclass(frozen=True, kw_only=True)
class RuleLearner(Learner):
    """A learner that goes from example to example: a native rule, and how the loop runs. Parameters are given by name.

    To derive from it: a frozen dataclass with the parameters of the rule, and `rule()`.
    """

    epochs: int = field(default=10, metadata={"help": "passes over the training data"})
    average: bool = field(default=True, metadata={"help": "use the average of the weights over all steps"})
    shuffle: bool = field(default=True, metadata={"help": "shuffle the examples in each epoch"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after this many epochs without improvement on the development data"}
    )

    def __post_init__(self) -> None:
        check_whole(self, "epochs", minimum=1)
        check_flag(self, "average")
        check_flag(self, "shuffle")
        check_whole(self, "patience", minimum=1, optional=True)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.RIVALS})

    @property
    def gap(self) -> float | None:
        """The relative duality gap to stop at, for a learner of min 1/2 |w|^2 + C sum_n xi_n that has a dual."""
        return None

    @abstractmethod
    def rule(self) -> _core.Rule:
        """What one example does to the weights."""


class Step(NamedTuple):
    """What a batch learner says after a step: the loss of all examples, the objective it lowers, how much it did.

    `rank`: of the weights, where they are a matrix and the learner keeps it low.
    """

    loss: float
    objective: float
    updates: int
    rank: int | None = None


class BatchLearner(Learner):
    """A learner that sees all examples before it moves: it makes its own steps on an objective of the oracle."""

    @property
    @abstractmethod
    def epochs(self) -> int:
        """The most steps."""

    @abstractmethod
    def objective(self, oracle: Any, threads: int) -> Any:
        """A function of the weights, over all examples of the oracle."""

    @abstractmethod
    def steps(self, objective: Any, random: np.random.Generator, advance: Callable[[int], None]) -> Iterator[Step]:
        """Moves the weights, a step at a time, until nothing is gained; `advance` is called with how many examples are
        done.

        An exception within a step leaves weights that are worth keeping.
        """
