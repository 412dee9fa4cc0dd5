"""The search itself: candidates climb a ladder of rungs, the best of each go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from margent import __version__
from margent.models import Tagger
from margent.parameters import check_count
from margent.processors import processor_count
from margent.tuning.fingerprint import fingerprint
from margent.tuning.halving import Rung, best_of, mean_and_error, rungs
from margent.tuning.journal import Journal
from margent.tuning.problem import Problem, Task, make_problem
from margent.tuning.progress import SearchProgress
from margent.tuning.result import TuningResult, make_result
from margent.tuning.space import SearchSpace
from margent.tuning.values import described
from margent.tuning.workers import Workers

JOURNAL = "journal.jsonl"


def tune(
    tagger: Tagger,
    X: Any,
    y: Any = None,
    space: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    *,
    X_dev: Any = None,
    y_dev: Any = None,
    folds: int = 5,
    trials: int | None = None,
    halving: int = 3,
    min_sentences: int = 100,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> TuningResult:
    """Searches for the parameters with which a tagger does best on data it has not seen.

    Parameters
    ----------
    tagger : Tagger
        What is not searched stays as it is here. It is not changed.
    X, y : sentences and labels, as `Tagger.fit` takes them
    space : dict, list of dicts or None
        From the name of a parameter to what it may be: a list of values, a `Range`, a dict of values by name, or one
        value. Parameters of the learner (`C`, `k`, `epochs`, ...) and of the tagger (`features`, `order`, `constrain`,
        `label_costs`, `tag_dictionary`, `min_count`) may be mixed; `learner` is a list of learners. A list of dicts:
        any of these spaces. None: the default space of the tagger's learner, see `default_space`.
    X_dev, y_dev : development data
        To score candidates on. Without them, scores are averages over `folds` of cross-validation by sentence.
    folds : int
        Into how many parts the data are cut for cross-validation.
    trials : int or None
        How many candidates are tried. None: all where the space holds lists only, otherwise 27.
    halving : int
        The factor of successive halving: each rung has so many times fewer candidates on so many times more sentences.
        1: every candidate is tried on all the data.
    min_sentences : int
        No candidate is judged by fewer training sentences than that.
    jobs : int or None
        Processes to use; None: as many as there are processors. Does not change the results. A script must call this
        under `if __name__ == "__main__":` unless `jobs` is 1, for every process imports the script.
    folder : path or None
        Where to keep what is found out: journal, tables, plot. A search that was stopped goes on from there.
    seed : int
        Of the split, of the candidates drawn. Same seed, same result.
    progress : show a progress bar; None: only on a terminal

    Returns
    -------
    TuningResult
        `best_parameters`, `best_tagger()`, `table()`, `plot(path)`, `trials`. A candidate that fails is among the
        trials with its message. After Ctrl-C, the result is of what was done by then, and `interrupted`; where no
        trial was done yet, KeyboardInterrupt is raised.

    Cost: trials x folds trainings on all the data without halving; with it, a third of that with 27 trials, and less
    with more of them. Each process holds the data once.

    Examples
    --------
    >>> from margent import PassiveAggressive, Tagger, make_addresses, tune
    >>> X, y = make_addresses(60, seed=0)
    >>> result = tune(Tagger(learner=PassiveAggressive(epochs=2)), X, y, {"C": [1e-6, 1]}, folds=2, jobs=1)
    >>> result.best_parameters
    {'C': 1}
    >>> tagger = result.best_tagger().fit(X, y)
    """
    if not isinstance(tagger, Tagger):
        raise TypeError(f"tune needs a Tagger to begin with, got {tagger!r}")
    for name, value, least in (("folds", folds, 2), ("halving", halving, 1), ("min_sentences", min_sentences, 1)):
        check_count(name, value, least)
    check_count("seed", seed, 0)
    check_count("trials", trials, 1, optional=True)
    check_count("jobs", jobs, 1, optional=True)
    searched = SearchSpace(tagger, space)
    candidates = searched.candidates(trials, int(seed))
    problem = make_problem(tagger, candidates, X, y, X_dev, y_dev, int(folds), int(seed))
    ladder = rungs(len(candidates), problem.n_sentences, int(halving), int(min_sentences))
    settings = {
        "version": __version__,
        "data": fingerprint(problem.X, problem.y, problem.X_test, problem.y_test),
        "tagger": _tagger_settings(problem.tagger),
        "space": searched.described(),
        "trials": len(candidates),
        "folds": problem.n_folds,
        "halving": halving,
        "min_sentences": min_sentences,
        "seed": seed,
    }
    path = None
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        path = Path(folder) / JOURNAL
    journal = Journal(path, settings)
    interrupted = not _climb(problem, ladder, journal, jobs or processor_count(), progress)
    result = make_result(problem, searched.parameters, ladder, journal.outcomes, interrupted)
    if interrupted and not result.trials:
        raise KeyboardInterrupt
    if folder is not None:
        result.save(folder)
    return result


def _climb(problem: Problem, ladder: list[Rung], journal: Journal, jobs: int, progress: bool | None) -> bool:
    """Runs what the journal does not have yet, rung by rung; False where Ctrl-C ended it."""
    remaining = list(range(len(problem.candidates)))
    jobs = min(jobs, len(remaining) * problem.n_folds)
    try:
        with SearchProgress(ladder, problem.n_folds, shown=progress) as bar, Workers(problem, jobs) as workers:
            for rung in ladder:
                remaining = remaining[: rung.candidates]
                tasks = [Task(trial, rung.sentences, fold) for trial in remaining for fold in range(problem.n_folds)]
                missing = [task for task in tasks if task not in journal.outcomes]
                bar.begin(rung, done=len(tasks) - len(missing))
                for task, outcome in workers.outcomes(missing):
                    journal.add(task, outcome)
                    bar.advance(rung, outcome.score)
                remaining = best_of(
                    {trial: _mean(trial, rung, problem, journal) for trial in remaining}, len(remaining)
                )
    except KeyboardInterrupt:
        return False
    return True


def _mean(trial: int, rung: Rung, problem: Problem, journal: Journal) -> float | None:
    """The score of a trial on a rung, or None if it failed on a fold."""
    scores = [journal.outcomes[Task(trial, rung.sentences, fold)].score for fold in range(problem.n_folds)]
    found = [score for score in scores if score is not None]
    return mean_and_error(found)[0] if len(found) == len(scores) else None


def _tagger_settings(tagger: Tagger) -> dict[str, str]:
    """What of the tagger bears on the result."""
    parameters = {**tagger.get_params(deep=False), "learner": tagger.resolved("learner")}
    return {name: described(value) for name, value in parameters.items() if name != "threads"}
