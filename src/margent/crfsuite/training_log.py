"""What happened in training, as python-crfsuite's parser of logs tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TrainingLog:
    """The iterations of a training.

    Attributes
    ----------
    iterations : list of dicts
        `num` from 1 on, `loss` (of the training data; for a CRF the objective), `time` in seconds, and where there are
        development data `dev_score`; all that Margent knows of an iteration is there under its own name too.
    """

    def __init__(self, history: Sequence[dict[str, Any]]) -> None:
        self.iterations = [
            {**epoch, "num": i, "loss": loss_of(epoch), "time": epoch.get("seconds", 0.0)}
            for i, epoch in enumerate(history, 1)
        ]

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        return self.iterations[-1] if self.iterations else None

    def __len__(self) -> int:
        return len(self.iterations)


def loss_of(epoch: dict[str, Any]) -> float | None:
    """What an iteration has lowered: the objective where there is one, otherwise the loss."""
    objective = epoch.get("objective")
    loss: float | None = epoch.get("loss") if objective is None else objective
    return loss


def log_lines(epoch: dict[str, Any], number: int) -> list[str]:
    """An iteration as lines of a log, in the original's words."""
    lines = [f"***** Iteration #{number} *****\n"]
    loss = loss_of(epoch)
    if loss is not None:
        lines.append(f"Loss: {loss:.6f}\n")
    if epoch.get("dev_score") is not None:
        lines.append(f"Score of the holdout data: {epoch['dev_score']:.6f}\n")
    return [*lines, f"Seconds required for this iteration: {epoch.get('seconds', 0.0):.3f}\n", "\n"]
