"""The structural SVM where several answers are right: the concave-convex procedure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from margent import _core
from margent.capability import Capabilities, Capability
from margent.learners.base import BatchLearner, Step
from margent.learners.slices import timed_slices
from margent.parameters import check_number, check_whole

# Examples in one native call: short enough for Ctrl-C. Always as many, so that the sum is the same to the bit.
_SLICE = 1000


@dataclass(frozen=True)
class LatentSVM(BatchLearner):
    """The structural SVM with hidden labels, by the concave-convex procedure (Yu and Joachims 2009).

    With H(gold_n) all hidden labellings that are right, it lowers

        1/2 |w|^2  +  C sum_n [ max over all y of (w . F(y) + loss(y))  -  max over h in H(gold_n) of w . F(h) ],

    which is not convex, as what is subtracted depends on w. In each round the best right answer of every example is
    found and kept fixed; what is left is the convex problem of `StructuredSVM`, and is solved by Frank-Wolfe from
    scratch, to a relative duality gap of `gap` or for `passes` over the data. The objective never rises from round to
    round (`objective` in the history): a round that does not lower it is taken back, and is the last. So is one in
    which no right answer has changed. Where the procedure ends depends on where it began: on the seed.

    When to use it: with `Tagger(hidden=)`, or where labels are missing, for an objective that falls and nothing to tune
    but C. The other margin learners find the right side anew at every step instead, which is faster. With one right
    answer for each example it is `StructuredSVM` with average=False, in a single round.

    A round costs as many searches for each example as passes, twice, since the gap takes one too. Memory as
    `StructuredSVM`. Label costs make the loss; the weight of an example multiplies its C. Of given weights
    (`partial_fit`) only the right answers that they prefer are used, and they stay where no round does better.
    """

    C: float = field(default=1.0, metadata={"help": "aggressiveness C: the largest step for one example"})
    epochs: int = field(
        default=10, metadata={"help": "maximum number of rounds of finding right answers and solving the problem"}
    )
    passes: int = field(default=20, metadata={"help": "maximum number of passes over the training data in each round"})
    gap: float = field(default=0.1, metadata={"help": "relative duality gap at which a round ends"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after this many epochs without improvement on the development data"}
    )

    def __post_init__(self) -> None:
        check_number(self, "C", minimum=0, above=True)
        check_number(self, "gap", minimum=0)
        for name in ("epochs", "passes"):
            check_whole(self, name, minimum=1)
        check_whole(self, "patience", minimum=1, optional=True)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.RIVALS, Capability.COMPLETION})

    def objective(self, oracle: Any, threads: int) -> LatentProblem:
        return LatentProblem(oracle, float(self.C))

    def steps(
        self, objective: LatentProblem, random: np.random.Generator, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        before, least = objective.weights(), objective.value(None)
        for number in range(self.epochs):
            if not objective.fix() and number:
                return
            try:
                rule, updates = self._solved(objective, least, random, advance)
            except KeyboardInterrupt:
                if number:
                    objective.start_from(before)
                raise
            finally:
                objective.free()
            value = objective.value(rule)
            if value >= least:
                objective.start_from(before)
                if number == 0:
                    yield Step(objective.loss(), least, updates)
                return
            before, least = objective.weights(), value
            yield Step(objective.loss(), value, updates)

    def _solved(
        self, problem: LatentProblem, least: float, random: np.random.Generator, advance: Callable[[int], None]
    ) -> tuple[_core.FrankWolfeRule, int]:
        """Solves the problem with the right answers as they are fixed; the weights end up in the oracle.

        `least`: the value at the weights before, of which it must not be short.
        """
        problem.start_from(None)
        rule, updates = _core.FrankWolfeRule(float(self.C)), 0
        for _ in range(self.passes):
            examples, done, dual = random.permutation(len(problem)).astype(np.int64), 0, 0.0
            for part in timed_slices(examples):
                outcome = _core.run(problem.oracle, rule, part)
                dual, updates, done = outcome.objective or 0.0, updates + outcome.updates, done + len(part)
                advance(done)
            primal = problem.value(rule)
            if primal <= least and primal - dual <= self.gap * primal:
                break
        return rule, updates


class LatentProblem:
    """The objective of the latent SVM, for the weights and the right answers that an oracle has."""

    def __init__(self, oracle: Any, C: float) -> None:
        self.oracle, self._C = oracle, C

    def __len__(self) -> int:
        return len(self.oracle)

    def fix(self) -> int:
        """Keeps the right answers that are best now; in how many examples others than those kept last."""
        return int(self.oracle.fix_gold())

    def free(self) -> None:
        self.oracle.free_gold()

    def value(self, rule: _core.Rule | None) -> float:
        """The objective; `rule`: that all weights are due to, None: weights that were given."""
        penalty = self.oracle.squared_norm() / 2 if rule is None else rule.penalty(self.oracle)
        assert penalty is not None
        return penalty + self._C * self.loss()

    def loss(self) -> float:
        """By how much margins are missed, all examples together."""
        rule, every = _core.FrankWolfeRule(self._C), np.arange(len(self))
        parts = (every[start : start + _SLICE] for start in range(0, len(every), _SLICE))
        return sum(rule.losses(self.oracle, part) for part in parts)

    def weights(self) -> Any:
        return self.oracle.weights(False)

    def start_from(self, weights: Any) -> None:
        """Sets all weights; None: to zero."""
        self.oracle.start_from(_zeros(self.weights()))
        if weights is not None:
            self.oracle.start_from(weights)


def _zeros(weights: Any) -> Any:
    """The same arrays, nested as they are, with zeros for numbers that are weights."""
    if isinstance(weights, dict):
        return {key: _zeros(value) for key, value in weights.items()}
    if isinstance(weights, (list, tuple)):
        return type(weights)(map(_zeros, weights))
    is_weights = isinstance(weights, np.ndarray) and weights.dtype.kind == "f"
    return np.zeros_like(weights) if is_weights else weights
