"""The progress of a training."""

from __future__ import annotations

from typing import Any

from margent.terminal_bar import TerminalBar


class ProgressBar(TerminalBar):
    """Epochs and examples done."""

    def __init__(self, n_epochs: int, n_examples: int, *, shown: bool | None = None) -> None:
        super().__init__("training", n_epochs * n_examples, shown=shown)
        self._n_examples = n_examples
        self._before = 0

    def advance(self, examples_of_epoch: int) -> None:
        self.update(completed=self._before + examples_of_epoch)

    def epoch_done(self, epoch: Any) -> None:
        self._before += self._n_examples
        if epoch.accuracy is not None:
            text = f"accuracy {epoch.accuracy:.4f}"
        else:
            text = "" if epoch.objective is None else f"objective {epoch.objective:.6g}"
        if epoch.dev_score is not None:
            text += f", development {epoch.dev_score:.4f}"
        self.update(description=f"epoch {epoch.epoch}: {text}")
