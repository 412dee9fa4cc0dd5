"""The experiments of the paper on hidden Markov SVMs: section 8 with its figures, a learning curve, and letters.

    margent reproduce hmsvm [--quick] [--out DIR] [--jobs N] [--data DIR]

1. Section 8: choose the parameters of each method on some hundred sentences, measure its error on others by
   cross-validation (Figs. 1 and 3), and look at the support sequences of one sentence (Fig. 2).
2. The learning curve: kernels against linear learners on more and more sentences, one training at a time.
3. Handwritten letters: learn from one fold of ten, and from nine.

Each training is one line of journal.jsonl; a run that was stopped goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from papers.experiment import Journal, Options, Result, Task, publish, run_tasks
from papers.hmsvm import figures, report
from papers.hmsvm.plan import CURVE, FULL, LETTERS, QUICK, SECTION8, Method, Plan
from papers.hmsvm.training import corpus_fingerprint, fingerprint, run_training

HERE = Path(__file__).parent
Row = tuple[str, str]
"""Of a corpus, a method."""


def run(options: Options, plan: Plan | None = None) -> Path:
    """Writes what `publish` says; a plan other than the full one leaves README.md as it is."""
    plan = plan or (QUICK if options.quick else FULL)
    page = HERE / "README.md" if plan == FULL else None
    return publish(Experiment, plan, options, report=report, figures=figures, full=page)


class Experiment:
    """The plan, and the results as far as they are known."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.jobs = plan, options.jobs
        names = (*plan.corpora, *([plan.curve_corpus] if plan.sizes else []), plan.letters)
        self.data = {name: corpus_fingerprint(name) for name in names}
        self.folder = options.folder(HERE)
        self.journal = Journal(self.folder / "journal.jsonl")

    def results(self) -> dict[str, Any]:
        section8 = self._section8()
        return {
            "plan": vars(self.plan),
            "section8": section8,
            "example": self._example(section8),
            "curve": self._curve(),
            "letters": self._letters(),
            "commits": sorted(self.journal.commits),
        }

    def _run(self, tasks: list[Task], title: str, jobs: int | None = None) -> list[Result]:
        return run_tasks(run_training, tasks, self.journal, jobs=jobs or self.jobs, title=title)

    def _task(self, part: str, name: str, method: Method, parameters: dict[str, Any], **other: Any) -> Task:
        return {
            "part": part,
            "corpus": name,
            "data": self.data[name],
            "features": fingerprint(),
            "learner": method.learner,
            "kernel": method.kernel,
            "window": method.window,
            "parameters": parameters,
            "choice": False,
            "threads": 1,
            "keep_right": False,
            "keep_example": False,
            **other,
        }

    def _chosen(
        self,
        rows: dict[Row, Method],
        tries: Callable[[Row, dict[str, Any]], list[Task]],
        score: Callable[[Result], float],
        title: str,
    ) -> dict[Row, dict[str, Any]]:
        """The parameters of each row: one after the other, the value with the best mean score of its tries.

        Of equal values the first is taken. What is chosen later has its first value until then.
        """
        grids = {
            row: {name: v[: self.plan.n_values] for name, v in method.grid.items()} for row, method in rows.items()
        }
        chosen = {
            row: {**method.fixed, **{name: values[0] for name, values in grids[row].items()}}
            for row, method in rows.items()
        }
        for step in range(max((len(grid) for grid in grids.values()), default=0)):
            asked = []
            for row, grid in grids.items():
                for name in list(grid)[step : step + 1]:
                    asked += [(row, name, value, tries(row, chosen[row] | {name: value})) for value in grid[name]]
            tasks = [task for *_, own in asked for task in own]
            found = iter(self._run(tasks, f"choosing parameters {title} ({step + 1})"))
            best: dict[Row, float] = {}
            for row, name, value, own in asked:
                mean = fmean(score(next(found)) for _ in own)
                if row not in best or mean > best[row]:
                    best[row], chosen[row][name] = mean, value
        return chosen

    def _section8(self) -> list[dict[str, Any]]:
        """A row for each corpus and method: its parameters, its folds, and p of McNemar's test against each other."""
        plan = self.plan
        rows = {(name, method): SECTION8[method] for name in plan.corpora for method in plan.methods}

        def tasks(row: Row, parameters: dict[str, Any], folds: int, **other: Any) -> list[Task]:
            sizes = {"n": plan.n_sentences, "folds": plan.folds}
            return [
                self._task("section 8", row[0], rows[row], parameters, fold=fold, **sizes, **other)
                for fold in range(folds)
            ]

        chosen = self._chosen(
            rows, lambda row, p: tasks(row, p, plan.choice_folds, choice=True), _accuracy, "for section 8"
        )
        final = [task for row in rows for task in tasks(row, chosen[row], plan.folds, keep_right=True)]
        found = iter(self._run(final, "section 8"))
        folds = {row: [next(found) for _ in range(plan.folds)] for row in rows}
        return [
            {
                "corpus": name,
                "method": method,
                "parameters": chosen[name, method],
                "folds": [{key: value for key, value in fold.items() if key != "right"} for fold in own],
                "p": {m: report.p_value(own, folds[name, m]) for m in plan.methods if m != method},
            }
            for (name, method), own in folds.items()
        ]

    def _example(self, section8: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Support sequences of a sentence of the first corpus, by the HM-SVM of its first fold."""
        row = next((row for row in section8 if row["method"] == "svm"), None)
        if row is None:
            return None
        sizes = {"n": self.plan.n_sentences, "folds": self.plan.folds, "fold": 0}
        task = self._task("section 8", row["corpus"], SECTION8["svm"], row["parameters"], keep_example=True, **sizes)
        (result,) = self._run([task], "support sequences")
        found: dict[str, Any] = result["example"]
        return found

    def _curve(self) -> list[dict[str, Any]]:
        """A row for each method and size. One process at a time, with one thread, so that times mean something."""
        plan, name = self.plan, self.plan.curve_corpus
        if not plan.sizes:
            return []
        rows = {(name, method): CURVE[method] for method in plan.curve_methods}

        def task(row: Row, parameters: dict[str, Any], n: int, **other: Any) -> Task:
            sizes = {"n": n, "after": max(plan.sizes), "n_test": plan.n_test}
            return self._task("curve", name, rows[row], parameters, **sizes, **other)

        chosen = self._chosen(
            rows,
            lambda row, p: [task(row, p, plan.choice_size, choice=True)],
            lambda r: float(r["f1"]),
            "for the curve",
        )
        settings = [(row, n) for n in plan.sizes for row in rows]
        tasks = [task(row, chosen[row], n) for row, n in settings]
        results = self._run(tasks, "learning curve", jobs=1)
        return [
            {"method": row[1], "n": n, "parameters": chosen[row], **result}
            for (row, n), result in zip(settings, results)
        ]

    def _letters(self) -> list[dict[str, Any]]:
        """A row for each method and order of the chain, small (learned from one fold) and large (from nine)."""
        plan, name = self.plan, self.plan.letters
        rows = {(name, method): LETTERS[method] for method in plan.letter_methods}

        def task(row: Row, parameters: dict[str, Any], order: int, fold: int, **other: Any) -> Task:
            given = parameters | {"order": order}
            return self._task("letters", name, rows[row], given, fold=fold, n_words=plan.n_words, **other)

        def tries(row: Row, parameters: dict[str, Any]) -> list[Task]:
            return [task(row, parameters, plan.orders[0], 0, choice=True, large=False)]

        chosen = self._chosen(rows, tries, _accuracy, "for letters")
        # Fold 0 chose the parameters: it is learned from, and never a test.
        folds = {(order, False): range(plan.small_folds) for order in plan.orders}
        folds |= {(order, True): range(1, 1 + n) for order, n in zip(plan.orders, plan.large_folds)}
        settings = [(row, *size) for size in folds for row in rows]
        tasks = [
            task(row, chosen[row], order, f, large=large) for row, order, large in settings for f in folds[order, large]
        ]
        found = iter(self._run(tasks, "letters"))
        out = []
        for row, order, large in settings:
            own = [next(found) for _ in folds[order, large]]
            out.append({"method": row[1], "order": order, "large": large, "parameters": chosen[row], "folds": own})
        return out


def _accuracy(result: Result) -> float:
    return 1 - float(result["wrong"]) / max(result["tokens"], 1)
