"""Adam: steps along gradients of small batches, each weight with a rate of its own (Kingma and Ba 2015)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from margent.capability import Capabilities, Capability
from margent.learners.base import BatchLearner, Step
from margent.parameters import check_number, check_whole


@dataclass(frozen=True, kw_only=True)
class Adam(BatchLearner):
    """Minimises the mean loss of the examples by Algorithm 1 of Kingma and Ba (2015). For each batch, with gradient g:

        m <- beta1 m + (1 - beta1) g,    v <- beta2 v + (1 - beta2) g^2,
        w <- w - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + 1e-8).

    The oracle has `values`, the weights in one array that is changed in place, and `gradient(examples, seed)`, the loss
    summed over a batch and the gradient of its mean; `seed` is for what it draws. Arrays may be numpy's or torch's.
    A gradient longer than `clip` is shortened to it. The history counts passes over all examples.
    """

    epochs: int = field(default=20, metadata={"help": "passes over the training data"})
    learning_rate: float = field(default=0.001, metadata={"help": "the size of steps"})
    batch: int = field(default=32, metadata={"help": "examples per step"})
    beta1: float = field(default=0.9, metadata={"help": "how slowly the mean of gradients forgets"})
    beta2: float = field(default=0.999, metadata={"help": "how slowly the mean of their squares forgets"})
    clip: float = field(default=5.0, metadata={"help": "the largest length of a gradient"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after this many epochs without improvement on the development data"}
    )

    def __post_init__(self) -> None:
        check_whole(self, "epochs", minimum=1)
        check_number(self, "learning_rate", minimum=0, above=True)
        check_whole(self, "batch", minimum=1)
        for name in ("beta1", "beta2"):
            check_number(self, name, minimum=0, maximum=1 - 1e-9)
        check_number(self, "clip", minimum=0, above=True)
        check_whole(self, "patience", minimum=1, optional=True)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.GRADIENTS})

    @property
    def probabilistic(self) -> bool:
        """The loss is minus the log-probability of the right answer."""
        return True

    def objective(self, oracle: Any, threads: int) -> Any:
        return oracle

    def steps(self, objective: Any, random: np.random.Generator, advance: Callable[[int], None]) -> Iterator[Step]:
        w = objective.values
        m, v, t = 0.0 * w, 0.0 * w, 0
        while True:
            order = random.permutation(len(objective)).astype(np.int64)
            total, done = 0.0, 0
            for start in range(0, len(order), self.batch):
                examples = order[start : start + self.batch]
                loss, g = objective.gradient(examples, int(random.integers(1 << 62)))
                length = float((g * g).sum()) ** 0.5
                if length > self.clip:
                    g = g * (self.clip / length)
                t += 1
                m *= self.beta1
                m += (1 - self.beta1) * g
                v *= self.beta2
                v += (1 - self.beta2) * (g * g)
                rate = self.learning_rate * (1 - self.beta2**t) ** 0.5 / (1 - self.beta1**t)
                w -= rate * (m / (v**0.5 + 1e-8 * (1 - self.beta2**t) ** 0.5))
                total += float(loss)
                done += len(examples)
                advance(done)
            yield Step(total, total / max(len(order), 1), -(-len(order) // self.batch))
