"""The experiments of the k-best paper: Table 1, Fig. 2 and Fig. 3, and McNemar's test for k best against one.

    margent reproduce kbest [--quick] [--out DIR] [--jobs N] [--data DIR]

1. Choose C for each corpus, algorithm and k, and with it the number of epochs, never looking at the test data.
2. Train on all training data with what was chosen, and label the test data once: Table 1.
3. Time each algorithm, one process at a time: Fig. 2.
4. LaRank in one pass, again and again with other seeds: Fig. 3.

Each training is one line of journal.jsonl; a run that was stopped goes on where it was.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

from margent.errors import DataNotFoundError
from papers.experiment import Journal, Options, Result, Task, publish, run_tasks
from papers.kbest import figures, report
from papers.kbest.plan import FULL, QUICK, Plan
from papers.kbest.training import CROSS_VALIDATED, corpus, corpus_fingerprint, fingerprint, run_training

HERE = Path(__file__).parent


def run(options: Options, plan: Plan | None = None) -> Path:
    """Writes what `publish` says; a plan other than the full one leaves README.md as it is."""
    plan = plan or (QUICK if options.quick else FULL)
    page = HERE / "README.md" if plan == FULL else None
    return publish(Experiment, plan, options, report=report, figures=figures, full=page)


class Experiment:
    """The plan, and the results as far as they are known."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.jobs = plan, options.jobs
        self.corpora = _present(plan.corpora)
        self.data = {name: corpus_fingerprint(name) for name in self.corpora}
        self.folder = options.folder(HERE)
        self.journal = Journal(self.folder / "journal.jsonl")
        self.rows = [(name, method, k) for name in self.corpora for method in plan.known_methods for k in plan.ks]

    def results(self) -> dict[str, Any]:
        chosen = self._chosen()
        return {
            "plan": vars(self.plan),
            "table": self._table(chosen),
            "times": self._times(chosen),
            "larank": self._larank() if "larank" in self.plan.known_methods else [],
            "commits": sorted(self.journal.commits),
        }

    def _run(self, tasks: list[Task], title: str, jobs: int | None = None) -> list[Result]:
        return run_tasks(run_training, tasks, self.journal, jobs=jobs or self.jobs, title=title)

    def _task(self, name: str, method: str, k: int, C: float | None, epochs: int, **other: Any) -> Task:
        return {
            "corpus": name,
            "data": self.data[name],
            "features": fingerprint(name),
            "method": method,
            "k": k,
            "C": C,
            "epochs": epochs,
            "n_reprocess": self.plan.table_reprocess if method == "larank" else None,
            "fold": None,
            "folds": self.plan.folds,
            "n_train": self.plan.n_train,
            "n_test": self.plan.n_test,
            "seed": 0,
            "keep_right": False,
            **other,
        }

    def _chosen(self) -> dict[tuple[str, str, int], tuple[float | None, int]]:
        """C and the number of epochs of each row, by cross-validation or on the development set.

        Differs: the paper does not say how it walks its grid. Here C comes first, judged early in the training, and
        then the number of epochs, with that C.
        """
        early = {row: min(self.plan.C_epochs, max(self.plan.epochs(*row[:2]))) for row in self.rows}
        tries = [
            self._task(*row, C, early[row], fold=fold)
            for row in self.rows
            for C in self.plan.C_grid(row[1])
            for fold in self._folds(row[0])
        ]
        scores: dict[tuple[str, str, int], dict[float | None, list[float]]] = {row: {} for row in self.rows}
        for task, result in zip(tries, self._run(tries, "choosing C")):
            row = task["corpus"], task["method"], task["k"]
            scores[row].setdefault(task["C"], []).append(max(result["scores"]))
        best = {row: max(of_C, key=lambda C: fmean(of_C[C])) for row, of_C in scores.items()}
        tries = [
            self._task(*row, best[row], max(self.plan.epochs(*row[:2])), fold=fold)
            for row in self.rows
            if len(self.plan.epochs(*row[:2])) > 1  # LaRank has one epoch, and nothing to choose
            for fold in self._folds(row[0])
        ]
        curves: dict[tuple[str, str, int], list[list[float]]] = {}
        for task, result in zip(tries, self._run(tries, "choosing the number of epochs")):
            curves.setdefault((task["corpus"], task["method"], task["k"]), []).append(result["scores"])

        def epochs(row: tuple[str, str, int]) -> int:
            grid = self.plan.epochs(*row[:2])
            return grid[0] if row not in curves else max(grid, key=lambda n: fmean(s[n - 1] for s in curves[row]))

        return {row: (best[row], epochs(row)) for row in self.rows}

    def _folds(self, name: str) -> range:
        """A development set is the one fold there is."""
        return range(self.plan.folds if name in CROSS_VALIDATED else 1)

    def _table(self, chosen: dict[tuple[str, str, int], tuple[float | None, int]]) -> list[dict[str, Any]]:
        tasks = [self._task(*row, *chosen[row], keep_right=True) for row in self.rows]
        results = dict(zip(self.rows, self._run(tasks, "Table 1")))
        return [
            {
                "corpus": name,
                "method": method,
                "k": k,
                "C": chosen[name, method, k][0],
                "epochs": chosen[name, method, k][1],
                "token_f": result["token_f"],
                "chunk_f": result["chunk_f"],
                "p": None if k == 1 else report.p_value(results[name, method, 1]["right"], result["right"]),
            }
            for (name, method, k), result in results.items()
        ]

    def _times(self, chosen: dict[tuple[str, str, int], tuple[float | None, int]]) -> list[dict[str, Any]]:
        """On the first corpus alone; one process at a time, so that none waits for another's memory."""
        rows = [row for row in self.rows if row[0] == self.corpora[0]]
        epochs = {row: 1 if row[1] == "larank" else self.plan.timed_epochs for row in rows}
        tasks = [self._task(*row, chosen[row][0], epochs[row], fold=0, timed=True) for row in rows]
        results = self._run(tasks, "Fig. 2", jobs=1)
        return [{"method": row[1], "k": row[2], **result} for row, result in zip(rows, results)]

    def _larank(self) -> list[dict[str, Any]]:
        """Differs: on a part of the training data, and C is chosen from one repetition for each k and n_R.

        With n_R, one example costs 1 + n_R searches and 10 n_R optimisations; 960 passes over everything take hours.
        """
        n_train = min(self.plan.reprocess_train, self.plan.n_train or self.plan.reprocess_train)
        settings = [(name, k, n) for name in self.corpora for n in self.plan.reprocess for k in self.plan.ks]
        tries = [
            self._task(name, "larank", k, C, 1, n_reprocess=n, fold=0, n_train=n_train)
            for name, k, n in settings
            for C in self.plan.Cs
        ]
        best: dict[tuple[str, int, int], tuple[float, float]] = {}
        for task, result in zip(tries, self._run(tries, "choosing C for Fig. 3")):
            setting = task["corpus"], task["k"], task["n_reprocess"]
            if setting not in best or result["scores"][0] > best[setting][0]:
                best[setting] = result["scores"][0], task["C"]
        tasks = [
            self._task(name, "larank", k, best[name, k, n][1], 1, n_reprocess=n, n_train=n_train, seed=seed)
            for name, k, n in settings
            for seed in range(self.plan.repetitions)
        ]
        results = iter(self._run(tasks, "Fig. 3"))
        return [
            {
                "corpus": name,
                "k": k,
                "n_reprocess": n,
                "C": best[name, k, n][1],
                "token_f": [next(results)["token_f"] for _ in range(self.plan.repetitions)],
            }
            for name, k, n in settings
        ]


def _present(names: tuple[str, ...]) -> list[str]:
    """The corpora of the plan, all of which must be there, and MUC-7 where the user has it."""
    for name in names:
        corpus(name)
    if "wnut17" not in names:
        return list(names)
    try:
        corpus("muc7")
    except DataNotFoundError:
        return list(names)
    return [*names[: names.index("wnut17")], "muc7", *names[names.index("wnut17") :]]
