"""What a model is given to learn from, and how the training is watched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from margent.errors import CorpusError
from margent.learners.training import Callback

ADVICE = "partial_fit continues as training began; to change it, start anew with fit"


@dataclass(frozen=True)
class TrainingData:
    """The arguments of `fit`, as they were given."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    X_dev: Any = None
    y_dev: Any = None
    dev_metric: Any = None
    callbacks: Iterable[Callback] = ()
    progress: bool | None = None

    def check_development(self) -> None:
        """CorpusError where something is said of development data, and there are none."""
        if self.X_dev is None and (self.y_dev is not None or self.dev_metric is not None):
            raise CorpusError(f"{'dev_metric' if self.y_dev is None else 'y_dev'} was given without X_dev")


def check_unchanged(model: str, name: str, now: Any, then: Any) -> None:
    """ValueError where a parameter has changed so that `partial_fit` cannot continue."""
    if now != then:
        raise ValueError(f"{name} is {now!r} now, but this {model} was fitted with {name} {then!r}: {ADVICE}")
