"""The experiments of the paper on large-margin semi-Markov models: Tables 1 to 3 and Fig. 2, on speech that is free.

    margent reproduce semi-markov [--quick] [--timit DIR] [--out DIR] [--jobs N] [--data DIR]

1. Choose bins, longest durations and steps on development data, with one mixture.
2. Train all models of the tables with what was chosen, and try each once on the test data.
3. The same comparison on generated time series, and segmenters against taggers on named entities.
4. What training costs: one process with nothing beside it.

Each training is one line of journal.jsonl; a run that was stopped goes on where it was. With --timit the first two are
run on TIMIT, as the paper did, and the results go to results-timit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from margent.processes import Processes
from papers.experiment import Journal, Options, Result, Task, data_fingerprint, publish, run_tasks
from papers.semi_markov import figures, report
from papers.semi_markov.plan import AVERAGED, FULL, MODELS, QUICK, TABLE1, TABLE2, TOKEN_MODELS, Plan
from papers.semi_markov.training import corpus, run_training

HERE = Path(__file__).parent


def run(options: Options, plan: Plan | None = None) -> Path:
    """Writes what `publish` says; a plan other than the full one leaves README.md as it is."""
    plan = plan or (QUICK if options.quick else FULL)
    if options.timit is not None:
        plan = replace(plan, corpus="timit", series=(), tokens=())
        options = replace(
            options, out=options.out or HERE / ("results-quick-timit" if options.quick else "results-timit")
        )
    page = HERE / "README.md" if plan == FULL else None
    return publish(Experiment, plan, options, report=report, figures=figures, full=page)


class Experiment:
    """The plan, and the results as far as they are known."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.jobs = plan, options.jobs
        self.data = {name: data_fingerprint(corpus(name)) for name in (plan.corpus, *plan.tokens) if name != "series"}
        self.folder = options.folder(HERE)
        self.journal = Journal(self.folder / "journal.jsonl")

    def results(self) -> dict[str, Any]:
        chosen = self._chosen(self.plan.corpus)
        return {
            "plan": vars(self.plan),
            "chosen": chosen,
            "cost": self._cost(chosen["lm-smm"]),
            "models": self._tables(chosen),
            "series": self._series(),
            "tokens": self._tokens(),
            "commits": sorted(self.journal.commits),
        }

    def _run(self, tasks: Sequence[Task], title: str) -> list[Result]:
        """The results in the order of the tasks; long ones are begun first, so that no process is left with one."""
        order = sorted(range(len(tasks)), key=lambda i: -_work(tasks[i]))
        found = run_tasks(run_training, [tasks[i] for i in order], self.journal, jobs=self.jobs, title=title)
        return [result for _, result in sorted(zip(order, found), key=lambda pair: pair[0])]

    def _task(self, name: str, model: str, parameters: dict[str, Any], mixtures: int, passes: int, test: bool) -> Task:
        plan = self.plan
        series = name == "series"
        learns = MODELS[model].learner != "likelihood"
        return {
            "part": "frames",
            "corpus": name,
            "data": self.data.get(name),
            "sizes": list(plan.series) if series else [],
            "n_train": None if series else plan.n_train,
            "n_test": None if series else plan.n_test,
            "model": model,
            "mixtures": mixtures,
            "passes": passes if learns else 0,
            "threads": 1,
            "test": test,
            **parameters,
            "steps": parameters["steps"] if learns else None,
        }

    def _best(
        self, asked: dict[str, list[tuple[Any, Task]]], title: str, score: Callable[[Result], float]
    ) -> dict[str, Any]:
        """Of the values tried for each row, the one with the highest score; of equal ones the first."""
        tasks = [task for tried in asked.values() for _, task in tried]
        found = iter(self._run(tasks, title))
        best = {}
        for row, tried in asked.items():
            scores = [score(next(found)) for _ in tried]
            best[row] = tried[scores.index(max(scores))][0]
        return best

    def _chosen(self, name: str, models: Sequence[str] = tuple(MODELS)) -> dict[str, dict[str, Any]]:
        """Parameters of each model: bins and longest durations those of the large-margin SMM, steps its own."""
        plan = self.plan
        shape: dict[str, Any] = {"bins": plan.bins[0], "longest": plan.longest[0]}
        steps = plan.series_steps if name == "series" else plan.steps

        def tasks(model: str, parameter: str, values: Sequence[Any], now: dict[str, Any]) -> list[tuple[Any, Task]]:
            return [(v, self._task(name, model, now | {parameter: v}, 1, plan.choice_passes, False)) for v in values]

        for parameter in ("bins", "longest"):
            asked = {"lm-smm": tasks("lm-smm", parameter, getattr(plan, parameter), shape | {"steps": steps[0]})}
            shape |= {parameter: self._best(asked, f"choosing {parameter}", _dev)["lm-smm"]}
        asked = {
            model: tasks(model, "steps", plan.averaged_steps if MODELS[model].averaged else steps, shape)
            for model in models
            if MODELS[model].learner != "likelihood"
        }
        found = self._best(asked, "choosing steps", _dev)
        return {model: shape | {"steps": found.get(model)} for model in models}

    def _models(
        self, name: str, chosen: dict[str, Any], mixtures: dict[int, int], settings: Sequence[tuple[str, int]]
    ) -> list[dict[str, Any]]:
        """A row for each model and number of mixtures in `settings`, tried on the test data."""
        tasks = [self._task(name, model, chosen[model], m, mixtures[m], True) for model, m in settings]
        found = self._run(tasks, f"models of {name}")
        return [
            {"model": model, "mixtures": m, "parameters": chosen[model], **result}
            for (model, m), result in zip(settings, found)
        ]

    def _tables(self, chosen: dict[str, Any]) -> list[dict[str, Any]]:
        """Tables 1 and 3 with all mixtures, Table 2 and averages with one."""
        mixtures = self.plan.mixtures
        settings = [(model, m) for m in mixtures for model in (*TABLE1, "perceptron")]
        settings += [(f"{kind}-smm{seen}", 1) for seen in TABLE2 for kind in ("ml", "lm")]
        settings += [(model, 1) for model in AVERAGED]
        return self._models(self.plan.corpus, chosen, mixtures, settings)

    def _series(self) -> list[dict[str, Any]]:
        """Table 1 with one mixture."""
        if not self.plan.series:
            return []
        settings = [(model, 1) for model in TABLE1]
        return self._models("series", self._chosen("series", TABLE1), self.plan.mixtures, settings)

    def _tokens(self) -> list[dict[str, Any]]:
        """A row for each corpus and model of tokens, its C chosen."""
        plan = self.plan

        def task(name: str, model: str, C: float, test: bool) -> Task:
            return {
                "part": "tokens",
                "corpus": name,
                "data": self.data[name],
                "n_sentences": plan.n_sentences,
                "model": model,
                "C": C,
                "epochs": plan.token_epochs,
                "threads": 1,
                "test": test,
            }

        rows = [(name, model) for name in plan.tokens for model in TOKEN_MODELS]
        asked = {"/".join(row): [(C, task(*row, C, False)) for C in plan.token_C] for row in rows}
        chosen = self._best(asked, "choosing C for entities", lambda result: float(result["dev"]))
        found = self._run([task(*row, chosen["/".join(row)], True) for row in rows], "entities")
        return [
            {"corpus": name, "model": model, "C": chosen[f"{name}/{model}"], **result}
            for (name, model), result in zip(rows, found)
        ]

    def _cost(self, parameters: dict[str, Any]) -> Result:
        """Two passes of the large-margin SMM in a new process, so that its memory is its own."""
        task = self._task(self.plan.corpus, "lm-smm", parameters, 1, 2, False) | {"threads": None}
        if self.journal.result(task) is None:
            with Processes(1) as processes:
                for done, result in processes.results(run_training, [task]):
                    self.journal.add(done, result)
        (result,) = self._run([task], "cost")
        return result


def _work(task: Task) -> int:
    """How long a training takes, very roughly."""
    if task["part"] == "tokens":
        return task["epochs"] * (1 if task["model"] == "tagger" else 2)
    return task["mixtures"] * (1 + task["passes"])


def _dev(result: Result) -> float:
    return -float(result["dev"])
