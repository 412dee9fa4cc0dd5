"""The experiments of the paper on spectral regularisation: learning curves, a regularisation path, and what they cost.

    margent reproduce spectral [--quick] [--out DIR] [--jobs N] [--data DIR]

1. The learning curve (Fig. 1): parameters of each method are chosen on development data at each size, with the first
   draw of words; then each draw is learned from, and the test data are looked at.
2. The same for words with a sign at either end, at one size, and for words with typos.
3. The regularisation path (Fig. 2), on development data.
4. Objective against time for each solver; error of recovered operators against noise; time and memory of one training.

Each training is one line of journal.jsonl; a run that was stopped goes on where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from papers.experiment import Journal, Options, Result, Task, publish, run_tasks
from papers.spectral import figures, report
from papers.spectral.plan import FULL, METHODS, QUICK, Plan
from papers.spectral.training import run_training
from papers.spectral.words import TYPOS, corpus_fingerprint

HERE = Path(__file__).parent
SOLVERS: dict[str, dict[str, Any]] = {
    "FOBOS": {"solver": "fobos", "step": 300.0},
    "FOBOS, longer steps": {"solver": "fobos", "step": 1000.0},
    "momentum": {"solver": "momentum", "step": 300.0},
    "momentum, the whole matrix decomposed": {"solver": "momentum", "step": 300.0, "svd": "full"},
    "momentum, singular values in part": {"solver": "momentum", "step": 300.0, "svd": "partial"},
    "FOBOS, up to k-grams": {"solver": "fobos", "step": 30.0, "loss": "up-to-k"},
    "momentum, up to k-grams": {"solver": "momentum", "step": 30.0, "loss": "up-to-k"},
}
PATH_STEPS = {"nuclear": 300.0, "frobenius": 300.0}


def run(options: Options, plan: Plan | None = None) -> Path:
    """Writes what `publish` says; a plan other than the full one leaves README.md as it is."""
    plan = plan or (QUICK if options.quick else FULL)
    page = HERE / "README.md" if plan == FULL else None
    return publish(Experiment, plan, options, report=report, figures=figures, full=page)


class Experiment:
    """The plan, and the results as far as they are known."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.jobs = plan, options.jobs
        self.data = {name: corpus_fingerprint(name) for name in (plan.corpus, TYPOS[plan.corpus])}
        self.folder = options.folder(HERE)
        self.journal = Journal(self.folder / "journal.jsonl")

    def results(self) -> dict[str, Any]:
        plan, typos = self.plan, TYPOS[self.plan.corpus]
        path, solvers, noise, full = self._path(), self._solvers(), self._noise(), self._full()
        # What looks at test data comes last.
        return {
            "plan": vars(plan),
            "path": path,
            "solvers": solvers,
            "noise": noise,
            "full": full,
            "curve": self._curve("the curve", plan.methods, plan.corpus, plan.sizes, marks=False),
            "marked": self._curve("marked words", plan.marked_methods, plan.corpus, plan.marked_sizes, marks=True),
            "typos": self._curve("typos", plan.typo_methods, typos, plan.typo_sizes, marks=True),
            "commits": sorted(self.journal.commits),
        }

    def _run(self, tasks: list[Task], title: str, jobs: int | None = None) -> list[Result]:
        return run_tasks(run_training, tasks, self.journal, jobs=jobs or self.jobs, title=title)

    def _task(self, part: str, name: str, n: int, **other: Any) -> Task:
        common = {"part": part, "corpus": name, "data": self.data[name], "parts": list(self.plan.parts)}
        return {**common, "n": n, "seed": 0, "marks": False, "iterations": self.plan.iterations, **other}

    def _curve(
        self, title: str, methods: tuple[str, ...], name: str, sizes: tuple[int, ...], *, marks: bool
    ) -> list[dict[str, Any]]:
        """A row for each method and size: its parameters and what each draw gives."""
        rows = [(method, n) for n in sizes for method in methods if n <= (METHODS[method].most or n)]

        def task(row: tuple[str, int], parameters: dict[str, Any], seed: int, test: bool) -> Task:
            method = METHODS[row[0]]
            iterations = round(self.plan.iterations * method.iterations) if method.kind == "spectral" else None
            given = {"method": row[0], "parameters": parameters, "test": test, "iterations": iterations}
            return self._task("words", name, row[1], marks=marks, seed=seed, **given)

        chosen = self._chosen(rows, task, title)
        # With all words, a method that does not depend on their order has nothing to draw.
        draws = {row: 1 if row[1] >= self.plan.parts[0] else self.plan.seeds for row in rows}
        tasks = [task(row, chosen[row], seed, True) for row in rows for seed in range(draws[row])]
        found = iter(self._run(tasks, title))
        return [
            {
                "method": row[0],
                "n": row[1],
                "parameters": chosen[row],
                "draws": [next(found) for _ in range(draws[row])],
            }
            for row in rows
        ]

    def _chosen(self, rows: list[tuple[str, int]], task: Any, title: str) -> dict[tuple[str, int], dict[str, Any]]:
        """The parameters of each row: one after the other, the value with most letters of the development data right.

        With the first draw. Of equal values the first is taken; what is chosen later has its first value until then.
        """
        grids = {row: {p: v[: self.plan.n_values] for p, v in METHODS[row[0]].grid.items()} for row in rows}
        chosen = {row: {**METHODS[row[0]].fixed, **{p: v[0] for p, v in grids[row].items()}} for row in rows}
        for step in range(max(len(grid) for grid in grids.values())):
            asked = [
                (row, p, value) for row, grid in grids.items() for p in list(grid)[step : step + 1] for value in grid[p]
            ]
            tasks = [task(row, chosen[row] | {p: value}, 0, False) for row, p, value in asked]
            best: dict[tuple[str, int], int] = {}
            for (row, p, value), result in zip(asked, self._run(tasks, f"choosing for {title} ({step + 1})")):
                right = int(result["dev"]["right"])
                if right > best.get(row, -1):
                    best[row], chosen[row][p] = right, value
        return chosen

    def _path(self) -> dict[str, Any]:
        plan = self.plan
        tasks = [
            self._task(
                "path",
                plan.corpus,
                plan.path_size,
                regulariser=name,
                taus=list(taus),
                step=PATH_STEPS[name],
                iterations=plan.path_iterations,
            )
            for name, taus in plan.path_taus.items()
        ]
        return dict(zip(plan.path_taus, (result["points"] for result in self._run(tasks, "regularisation path"))))

    def _solvers(self) -> dict[str, Any]:
        """One at a time, as seconds count."""
        plan = self.plan
        tasks = [
            self._task(
                "solver",
                plan.corpus,
                plan.solver_size,
                parameters={"tau": plan.solver_tau, **given},
                iterations=plan.solver_iterations,
            )
            for given in SOLVERS.values()
        ]
        return dict(zip(SOLVERS, self._run(tasks, "solvers", jobs=1)))

    def _noise(self) -> list[dict[str, Any]]:
        plan = self.plan
        settings = [(length, noise) for length in (3, 5) for noise in plan.noise]
        tasks = [
            {"part": "round trip", "noise": noise, "length": length, "trials": plan.noise_trials}
            for length, noise in settings
        ]
        results = self._run(tasks, "round trips", jobs=1)
        return [{"length": length, "noise": noise, **r} for (length, noise), r in zip(settings, results)]

    def _full(self) -> Result:
        task = self._task("full", self.plan.corpus, self.plan.full_size, parameters={"tau": 5.0})
        (result,) = self._run([task], "one full training", jobs=1)
        return result
