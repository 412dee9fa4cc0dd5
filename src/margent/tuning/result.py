"""What a search found: its trials from best to worst, as tables, files, plots, and a model to train."""

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
from margent.models.estimator import Estimator
from margent.printable import printable
from margent.tuning.space import Candidate, SearchSpace
from margent.tuning.study import Search
from margent.tuning.values import Range, cell

if TYPE_CHECKING:
    import optuna
    from matplotlib.figure import Figure
    from rich.table import Table


class RungScore(NamedTuple):
    """How a trial did on a rung: mean over the folds, its standard error (None with a single score)."""

    amount: int
    score: float
    standard_error: float | None


@dataclass(frozen=True)
class Trial:
    """A candidate and how it did.

    number : in the study, from 0
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
    def amount(self) -> int:
        """How many sentences (or epochs) it learned from on that rung."""
        return self.rungs[-1].amount if self.rungs else 0


@dataclass(frozen=True)
class TuningResult:
    """The outcome of `tune`.

    trials : best first: who learned from more, then by score; those that failed are last
    parameters : the names of what was searched
    resource : what successive halving counts: "sentences" (entries of the data) or "epochs"
    interrupted : whether Ctrl-C ended the search; the rest is then of what was done before
    study : Optuna's study, for all that Optuna can do with it
    """

    trials: list[Trial]
    parameters: list[str]
    resource: str
    interrupted: bool
    study: optuna.Study = field(repr=False)
    _model: Estimator = field(repr=False)
    _space: SearchSpace = field(repr=False)
    _candidates: Mapping[int, Candidate] = field(repr=False)

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
        """The best values of the parameters that were searched."""
        return dict(self.best.parameters)

    @property
    def best_score(self) -> float:
        """The score of the best trial, as `score` of the model gives it; the mean over the folds."""
        return self.best.rungs[-1].score

    def best_model(self) -> Any:
        """A new model with the best parameters, to be trained: `result.best_model().fit(X, y)`."""
        return self._candidates[self.best.number].model(self._model)

    def edges(self) -> list[str]:
        """A sentence for each of the best parameters that lies at an edge of its range, where a better one may be."""
        if not self.trials or self.trials[0].score is None:
            return []
        chosen, found = self.best.parameters, []
        for branch in self._space.branches:
            if chosen.get("learner") != (None if branch.learner is None else branch.learner.name):
                continue
            for name, values in branch.values.items():
                end = values.edge(chosen[name]) if isinstance(values, Range) and name in chosen else None
                if isinstance(values, Range) and end is not None:
                    ends = f"{values.low} to {values.high}"
                    found.append(
                        f"the best {name}, {chosen[name]}, lies at the {end} edge of its range {ends}: widen it"
                    )
        return found

    def importances(self) -> dict[str, float]:
        """How much of the variation in scores each parameter explains, largest first; they add up to 1.

        By Optuna's functional analysis of variance (Hutter, Hoos and Leyton-Brown 2014), over the trials that learned
        from everything; empty where these are fewer than two, or all score the same.
        """
        from margent.tuning.plot import parameter_importances

        return parameter_importances(self.study)

    def rows(self) -> list[dict[str, Any]]:
        """The trials as a list of dicts, one column each: for pandas, or whatever reads tables."""
        return [
            {
                "rank": rank,
                "trial": trial.number,
                **{name: trial.parameters.get(name) for name in self.parameters},
                self.resource: trial.amount,
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
        for name in ("trial", *self.parameters, self.resource, "score", "seconds"):
            table.add_column(escape(name), justify="right", style="bold" if name == "score" else "")
        for trial in self.trials[:top]:
            if trial.score is None:
                continue
            cells = [cell(trial.parameters[name]) if name in trial.parameters else "" for name in self.parameters]
            error = "" if trial.standard_error is None else f" ± {100 * trial.standard_error:.2f}"
            score = f"{100 * trial.score:.2f}{error}"
            table.add_row(
                str(trial.number),
                *(escape(printable(text)) for text in cells),
                f"{trial.amount:,}",
                score,
                f"{trial.seconds:.1f}",
            )
        return table

    def plot(self, path: str | os.PathLike[str] | None = None, kind: str = "history") -> Figure:
        """Draws the search, and writes it to `path` if given. Needs matplotlib.

        kind : "history" (scores as trials came), "importances" (of parameters), "slices" (scores against each
            parameter) or "rungs" (scores by how much was learned from)
        """
        from margent.tuning.plot import plot_study

        return plot_study(self.study, kind, path)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes `results.json` and `results.csv` to a folder; each appears only when it is complete."""
        rows = self.rows()
        rungs = {trial.number: [rung._asdict() for rung in trial.rungs] for trial in self.trials}
        best = None if not self.trials or self.trials[0].score is None else self.best_parameters
        summary = {
            "best_parameters": best,
            "best_score": self.trials[0].score if best is not None else None,
            "interrupted": self.interrupted,
            "resource": self.resource,
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


def make_result(search: Search, interrupted: bool) -> TuningResult:
    """The result of the trials that are done."""
    plan = search.plan
    candidates, found = {}, []
    for done in search.finished():
        candidates[done.number] = plan.space.suggest(done)
        rungs = done.user_attrs.get("rungs", [])
        found.append(
            Trial(
                done.number,
                candidates[done.number].parameters,
                tuple(RungScore(rung["amount"], *_mean_and_error(rung["scores"])) for rung in rungs),
                sum(rung["seconds"] for rung in rungs),
                done.user_attrs.get("error"),
            )
        )
    found.sort(key=lambda trial: (trial.score is None, -len(trial.rungs), -(trial.score or 0), trial.number))
    return TuningResult(
        found, plan.space.parameters, plan.resource, interrupted, search.study, plan.model, plan.space, candidates
    )


def _mean_and_error(scores: Sequence[float]) -> tuple[float, float | None]:
    """The mean over folds and its standard error; no error from a single score."""
    mean = sum(scores) / len(scores)
    if len(scores) < 2:
        return mean, None
    variance = sum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    return mean, float((variance / len(scores)) ** 0.5)
