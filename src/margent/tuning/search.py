"""The search for parameters: what is given is checked, then trials run, here or in processes, until all are done."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from margent import __version__
from margent.errors import SearchWarning
from margent.models.estimator import Estimator
from margent.parameters import check_count
from margent.processes import Processes
from margent.processors import processor_count
from margent.terminal_bar import TerminalBar
from margent.tuning.fingerprint import fingerprint
from margent.tuning.problem import Stopped, make_problem
from margent.tuning.result import TuningResult, make_result
from margent.tuning.space import SearchSpace, unfitted
from margent.tuning.study import JOURNAL, SAMPLERS, Plan, Search, planned, quiet
from margent.tuning.values import described

RESOURCES = ("sentences", "epochs")


def tune(
    model: Estimator,
    X: Any,
    y: Any = None,
    space: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    *,
    X_dev: Any = None,
    y_dev: Any = None,
    folds: int = 5,
    trials: int | None = None,
    sampler: str = "tpe",
    halving: int = 3,
    resource: str = "sentences",
    min_sentences: int = 100,
    jobs: int | None = None,
    storage: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> TuningResult:
    """Searches for the parameters with which a model does best on data it has not seen. Needs the extra `tune`.

    Parameters
    ----------
    model : Tagger, Segmenter, Transcriber
        What is not searched stays as it is here. It is not changed.
    X, y : inputs and outputs, as its `fit` takes them
    space : dict, list of dicts or None
        From the name of a parameter to what it may be: a list of values, a `Range`, a dict of values by name, or one
        value. Parameters of the learner (`C`, `k`, `epochs`, ...), of the model (`features`, `order`, `constrain`, ...)
        and of its other parts (`features__gamma`, or `gamma` where only one part has it) may be mixed; `learner` is a
        list of learners. A list of dicts: any of these spaces. None: the default space of the model's learner, see
        `default_space`.
    X_dev, y_dev : development data
        To score candidates on. Without them, scores are averages over `folds` of cross-validation, by sentence,
        sequence or word.
    folds : int
        Into how many parts the data are split for cross-validation.
    trials : int or None
        How many candidates are tried. None: all where the space holds lists only, otherwise 27.
    sampler : "tpe", "random" or "grid"
        Who chooses candidates: Optuna's tree-structured Parzen estimator, which looks at the scores so far (Bergstra
        et al. 2011, "Algorithms for hyper-parameter optimization"), chance, or all combinations of lists. Where
        `trials` allows for all combinations of lists, these are tried in any case.
    halving : int
        The factor of successive halving: a candidate learns from all the data only if it is among the best 1 / factor
        of those so far that learned from a part (Li et al. 2020, "A system for massively parallel hyperparameter
        tuning"; Optuna's SuccessiveHalvingPruner). 1: every candidate is tried on all the data, as with fewer than
        2 x factor of them.
    resource : "sentences" or "epochs"
        Whether the part is of the data, or of the learner's epochs; these cannot be searched as well then.
    min_sentences : int
        No candidate is judged by fewer training sentences, sequences or words than that.
    jobs : int or None
        Processes to use; None: as many as there are processors. With one, the same seed gives the same result; with
        more, a grid or random search tries the same candidates. A script must call this under
        `if __name__ == "__main__":` unless `jobs` is 1, for every process imports the script.
    storage : path or None
        A folder where to keep what is found out: the study, and tables. A search that was stopped continues from there,
        and several calls on one machine may work on it at once.
    seed : int
        Of the split, and of the candidates.
    progress : show a progress bar; None: only on a terminal

    Returns
    -------
    TuningResult
        `best_parameters`, `best_model()`, `table()`, `plot(path)`, `trials`, `study`. A candidate that fails is among
        the trials with its message. After Ctrl-C, the result is of what was done by then, and `interrupted`; where no
        trial was done yet, KeyboardInterrupt is raised. A `SearchWarning` says which of the best parameters lie at an
        edge of their range.

    Cost: trials x folds trainings on all the data without halving; with it, a third of that with 27 trials, and less
    with more of them. Each process holds the data once.

    Examples
    --------
    >>> from margent import PassiveAggressive, Tagger, make_addresses, tune
    >>> X, y = make_addresses(60, seed=0)
    >>> result = tune(Tagger(learner=PassiveAggressive(epochs=2)), X, y, {"C": [1e-6, 1]}, folds=2, jobs=1)
    >>> result.best_parameters
    {'C': 1}
    >>> tagger = result.best_model().fit(X, y)
    """
    if not isinstance(model, Estimator):
        raise TypeError(f"tune needs a model such as Tagger() to begin with, got {model!r}")
    for name, value, least in (("folds", folds, 2), ("halving", halving, 1), ("min_sentences", min_sentences, 1)):
        check_count(name, value, least)
    check_count("seed", seed, 0)
    check_count("trials", trials, 1, optional=True)
    check_count("jobs", jobs, 1, optional=True)
    for name, word, words in (("sampler", sampler, SAMPLERS), ("resource", resource, RESOURCES)):
        if word not in words:
            raise ValueError(f"{name} should be one of {', '.join(words)}, got {word!r}")
    with quiet():
        searched = SearchSpace(model, space)
        if resource == "epochs":
            _check_epochs(model, searched)
        problem = make_problem(model, X, y, X_dev, y_dev, int(folds), int(seed))
        candidates, n = planned(searched, sampler, trials, int(seed))
        sizes = _sizes(model, resource, problem.n_entries, n, int(halving), int(min_sentences))
        settings = {
            "version": __version__,
            "data": fingerprint(problem.X, problem.y, problem.X_test, problem.y_test),
            "model": _settings(model),
            "space": searched.described(),
            "sampler": sampler,
            "trials": n,
            "folds": problem.n_folds,
            "halving": [int(halving), resource, int(min_sentences)],
            "seed": int(seed),
        }
        n_jobs = min(jobs or processor_count(), n)
        with TemporaryDirectory() as temporary:
            folder = Path(storage) if storage is not None else Path(temporary) if n_jobs > 1 else None
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            plan = Plan(
                unfitted(model),
                problem,
                searched,
                resource,
                sizes,
                int(halving),
                candidates,
                n,
                int(seed),
                None if folder is None else str(folder / JOURNAL),
                1 if n_jobs > 1 else None,
            )
            search = Search(plan)
            search.claim(settings)
            interrupted = not _run(search, n_jobs, progress)
            result = make_result(search, interrupted)
    if interrupted and not result.trials:
        raise KeyboardInterrupt
    if storage is not None:
        result.save(storage)
    if not interrupted:
        for note in result.edges():
            warnings.warn(note, SearchWarning, stacklevel=2)
    return result


def _sizes(model: Estimator, resource: str, entries: int, n: int, factor: int, least: int) -> tuple[int, ...]:
    """How much each rung learns from, from the first to the last, which has everything.

    Of entries, rung i of R has entries / factor^(R - i), at least `least`; for epochs it is the divisor factor^(R - i).
    There are no more rungs than leave 2 x factor candidates for the last but one.

    >>> _sizes(None, "sentences", 9000, 27, 3, 100)
    (1000, 3000, 9000)
    """
    divisors = [1]
    total, least = (model.get_params()["learner__epochs"], 1) if resource == "epochs" else (entries, least)
    while factor > 1 and n // divisors[-1] >= 2 * factor and total // (divisors[-1] * factor) >= least:
        divisors.append(divisors[-1] * factor)
    return tuple(divisor if resource == "epochs" else entries // divisor for divisor in reversed(divisors))


def _check_epochs(model: Estimator, space: SearchSpace) -> None:
    if any(path == "learner__epochs" for branch in space.branches for path in branch.paths.values()):
        raise ValueError("epochs are both searched and the resource of successive halving: choose resource='sentences'")
    bases = [branch.learner for branch in space.branches]
    for base in bases:
        one = model if base is None else unfitted(model).set_params(learner=base.value)
        if not one.get_params().get("learner__epochs"):
            raise ValueError(f"resource='epochs' needs a learner with epochs, and {one} has none")


def _settings(model: Estimator) -> dict[str, str]:
    """What of the model bears on the result."""
    parameters = model.get_params(deep=True)
    return {name: described(value) for name, value in parameters.items() if name not in ("threads", "layout")}


# Running


class _Bar(TerminalBar):
    """How many trials are done, and the best score of those that learned from everything."""

    def __init__(self, search: Search, shown: bool | None) -> None:
        super().__init__("tuning", search.plan.trials, shown=shown)
        self._search = search

    def show(self) -> None:
        if self._bar is not None:
            done = self._search.finished()
            scores = [trial.value for trial in done if trial.value is not None]
            best = f", best score {100 * max(scores):.2f}" if scores else ""
            self.update(completed=len(done), description=f"{len(done)} of {self._search.plan.trials} trials{best}")


def _run(search: Search, jobs: int, progress: bool | None) -> bool:
    """Runs trials until all are done; False where Ctrl-C ended it."""
    try:
        with _Bar(search, progress) as bar:
            bar.show()
            for _ in _numbers(search, jobs):
                bar.show()
    except KeyboardInterrupt:
        return False
    return True


def _numbers(search: Search, jobs: int) -> Iterator[int]:
    """The numbers of the trials as they end."""
    if jobs == 1:
        try:
            while (number := search.run_one()) is not None:
                yield number
        except Stopped:  # the training has caught Ctrl-C
            raise KeyboardInterrupt from None
        return
    _check_can_be_sent(search.plan)
    stop = get_context("spawn").Event()
    last: list[int] = []
    with Processes(jobs, _begin, (search.plan, stop)) as processes:
        try:
            for _, number in processes.results(_run_one, count(), lambda: bool(last)):
                if number is None:
                    last.append(1)
                else:
                    yield number
        except KeyboardInterrupt:
            stop.set()  # what is running ends after its epoch
            processes.__exit__(None, None, None)  # and is waited for
            raise


def _check_can_be_sent(plan: Plan) -> None:
    """Functions inside of functions cannot be sent to another process; found out before the data are sent."""
    try:
        ForkingPickler.dumps((plan.model, plan.space))
    except Exception as error:
        raise ValueError(
            f"the model or the space cannot be sent to other processes ({error}): "
            "define functions at the top level of a module, or use jobs=1"
        ) from None


# In a worker process

_search: Search
_stop: Event


def _begin(plan: Plan, stop: Event) -> None:
    global _search, _stop
    with quiet():
        _search, _stop = Search(plan), stop


def _run_one(task: int) -> int | None:
    with quiet():
        try:
            return _search.run_one(_stop.is_set)
        except Stopped:
            return None
