"""What a search found: its trials from best to worst, as tables, files, plots, and a tagger to train."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from margent.errors import MargentError
from margent.formats.source import open_target
from margent.models import Tagger
from margent.tuning.halving import Rung, mean_and_error
from margent.tuning.problem import Outcome, Problem, Task
from margent.tuning.space import Candidate
from margent.tuning.values import cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


class RungScore(NamedTuple):
    """How a trial did on a rung: mean over the folds, its standard error (None with a single score)."""

    sentences: int
    score: float
    standard_error: float | None


@dataclass(frozen=True)
class Trial:
    """A candidate and how it did.

    number : of the candidate, from 0
    parameters : what was searched, by name; plain values
    rungs : its scores, from the first rung to the last that it reached
    seconds : spent on it, summed over rungs and folds
    error : why it failed, or None
    """

    number: int
    parameters: dict[str, Any]
    rungs: tuple[RungScore, ...]
    seconds: float
    error: str | None = None

    @property
    def score(self) -> float | None:
        """On the highest rung that it reached."""
        return self.rungs[-1].score if self.rungs and self.error is None else None

    @property
    def standard_error(self) -> float | None:
        return self.rungs[-1].standard_error if self.score is not None else None

    @property
    def sentences(self) -> int:
        """How many sentences it learned from on that rung."""
        return self.rungs[-1].sentences if self.rungs else 0


@dataclass(frozen=True)
class TuningResult:
    """The outcome of `tune`.

    trials : best first: who got further up the ladder, then by score; those that failed are last
    parameters : the names of what was searched
    interrupted : whether Ctrl-C ended the search; the rest is then of what was done before
    """

    trials: list[Trial]
    parameters: list[str]
    interrupted: bool
    _tagger: Tagger = field(repr=False)
    _candidates: Sequence[Candidate] = field(repr=False)

    @property
    def best(self) -> Trial:
        """The best trial. Where none has a score, the error says why."""
        if self.trials and self.trials[0].score is not None:
            return self.trials[0]
        reasons = [trial.error for trial in self.trials if trial.error is not None]
        if reasons:
            if len(reasons) == 1:
                raise MargentError(f"the only trial failed: {reasons[0]}")
            raise MargentError(f"all of the {len(reasons)} trials failed, the first with: {reasons[0]}")
        raise MargentError("the search was interrupted before any trial was done")

    @property
    def best_parameters(self) -> dict[str, Any]:
        """What was searched, as it was best."""
        return dict(self.best.parameters)

    @property
    def best_score(self) -> float:
        """Span F1 or accuracy of the best trial, as `Tagger.score` gives it; the mean over the folds."""
        return self.best.rungs[-1].score

    def best_tagger(self) -> Tagger:
        """A new tagger with the best parameters, to be trained: `result.best_tagger().fit(X, y)`."""
        return self._candidates[self.best.number].tagger(self._tagger)

    def rows(self) -> list[dict[str, Any]]:
        """The trials as a list of dicts, one column each: for pandas, or whatever reads tables."""
        return [
            {
                "rank": rank,
                "trial": trial.number,
                **{name: trial.parameters.get(name) for name in self.parameters},
                "sentences": trial.sentences,
                "score": trial.score,
                "standard_error": trial.standard_error,
                "seconds": round(trial.seconds, 3),
                "error": trial.error,
            }
            for rank, trial in enumerate(self.trials, start=1)
        ]

    def table(self, top: int = 10) -> str:
        """The `top` best trials as a table to print; scores and their standard errors in per cent."""
        from io import StringIO

        from rich.console import Console

        console = Console(file=StringIO(), width=200, color_system=None)
        console.print(self.rich_table(top))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"

    def rich_table(self, top: int = 10) -> Table:
        """The same table for `rich`, for a terminal."""
        from rich import box
        from rich.markup import escape
        from rich.table import Table

        failed = sum(trial.error is not None for trial in self.trials)
        note = f"{len(self.trials)} trial{'s' * (len(self.trials) != 1)}" + (
            f", {failed} of them failed" if failed else ""
        )
        table = Table(caption=note, box=box.SIMPLE_HEAD, caption_justify="left")
        for name in ("trial", *self.parameters, "sentences", "score", "seconds"):
            table.add_column(escape(name), justify="right", style="bold" if name == "score" else "")
        for trial in self.trials[:top]:
            if trial.score is None:
                continue
            cells = [cell(trial.parameters.get(name)) for name in self.parameters]
            error = "" if trial.standard_error is None else f" ± {100 * trial.standard_error:.2f}"
            score = f"{100 * trial.score:.2f}{error}"
            table.add_row(str(trial.number), *map(escape, cells), f"{trial.sentences:,}", score, f"{trial.seconds:.1f}")
        return table

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draws the scores by rung, and against each parameter; written to `path` if given. Needs matplotlib."""
        from margent.tuning.plot import plot_tuning

        return plot_tuning(self.trials, self.parameters, path)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes `results.json` and `results.csv` to a folder; each appears only when it is complete."""
        rows = self.rows()
        rungs = {trial.number: [rung._asdict() for rung in trial.rungs] for trial in self.trials}
        best = None if not self.trials or self.trials[0].score is None else self.best_parameters
        summary = {
            "best_parameters": best,
            "best_score": self.trials[0].score if best is not None else None,
            "interrupted": self.interrupted,
            "trials": [{**row, "rungs": rungs[row["trial"]]} for row in rows],
        }
        with open_target(Path(folder) / "results.json") as write:
            write(json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        with open_target(Path(folder) / "results.csv") as write:
            lines = csv.writer(_Lines(write))
            lines.writerow(rows[0])
            lines.writerows(row.values() for row in rows)


class _Lines:
    """What the csv module takes for a file."""

    def __init__(self, write: Any) -> None:
        self.write = write


def make_result(
    problem: Problem,
    parameters: list[str],
    ladder: Sequence[Rung],
    outcomes: Mapping[Task, Outcome],
    interrupted: bool,
) -> TuningResult:
    """The result of the evaluations done; trials of which none is done are left out."""
    found = []
    for number, candidate in enumerate(problem.candidates):
        trial = _trial(number, candidate, problem.n_folds, ladder, outcomes)
        if trial.rungs or trial.error is not None:
            found.append(trial)
    found.sort(key=lambda trial: (trial.score is None, -len(trial.rungs), -(trial.score or 0), trial.number))
    return TuningResult(found, parameters, interrupted, problem.tagger, problem.candidates)


def _trial(
    number: int, candidate: Candidate, n_folds: int, ladder: Sequence[Rung], outcomes: Mapping[Task, Outcome]
) -> Trial:
    rungs = []
    seconds, failure = 0.0, None
    for rung in ladder:
        done = [outcomes.get(Task(number, rung.sentences, fold)) for fold in range(n_folds)]
        seconds += sum(outcome.seconds for outcome in done if outcome is not None)
        failure = failure or next((outcome.error for outcome in done if outcome is not None and outcome.error), None)
        scores = [outcome.score for outcome in done if outcome is not None and outcome.score is not None]
        if len(scores) == n_folds:
            rungs.append(RungScore(rung.sentences, *mean_and_error(scores)))
    return Trial(number, candidate.parameters, tuple(rungs), seconds, failure)
