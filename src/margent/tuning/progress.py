"""The progress of a search."""

from __future__ import annotations

from collections.abc import Sequence

from margent.terminal_bar import TerminalBar
from margent.tuning.halving import Rung


class SearchProgress(TerminalBar):
    """How much of the search is done, measured in training sentences."""

    def __init__(self, ladder: Sequence[Rung], n_folds: int, *, shown: bool | None = None) -> None:
        total = sum(rung.candidates * rung.sentences for rung in ladder) * n_folds
        super().__init__("tuning", total, shown=shown)
        self._ladder = list(ladder)
        self._n_folds = n_folds
        self._best = -1.0

    def begin(self, rung: Rung, done: int) -> None:
        """A rung begins, of which so many evaluations are known already."""
        self._best = -1.0
        below = self._ladder[: self._ladder.index(rung)]
        completed = sum(step.candidates * step.sentences for step in below) * self._n_folds
        self._update(completed=completed + done * rung.sentences, description=self._text(rung))

    def advance(self, rung: Rung, score: float | None) -> None:
        """One more evaluation of the rung is done."""
        self._best = max(self._best, -1.0 if score is None else score)
        self._update(advance=rung.sentences, description=self._text(rung))

    def _text(self, rung: Rung) -> str:
        trials = f"{rung.candidates} trial{'s' * (rung.candidates != 1)}"
        where = f"rung {self._ladder.index(rung) + 1} of {len(self._ladder)}: {trials}"
        best = f", best score {100 * self._best:.2f}" if self._best >= 0 else ""
        return f"{where} on {rung.sentences:,} sentences{best}"
