"""The search as an Optuna study: who is tried next, how far each gets, and what of it is on disk.

All that is known of a search is in the study, so that it goes on after a stop and several processes can work on it at
once. They agree on two things: trials are handed out under a lock, in the order of their numbers; and a trial of a
process that is gone is taken over where it stood, with the rungs that it had climbed.

The study is kept in Optuna's journal file: each change is one line appended under a lock, which several processes of a
machine may do without waiting for a database.
"""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from margent.errors import MargentError
from margent.extras import optional
from margent.models.estimator import Estimator
from margent.tuning.problem import Stopped, TuningProblem
from margent.tuning.space import Candidate, SearchSpace

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

JOURNAL = "study.log"
SAMPLERS = ("tpe", "random", "grid")
_NAME = "margent"
_DEFAULT_TRIALS = 27
_PATIENCE = 10  # draws for each candidate wanted before a space counts as exhausted


class StorageError(MargentError, ValueError):
    """A storage holds another search, or something else. The message says which, and what differs."""


def import_optuna() -> Any:
    """Optuna, or the error that names the extra."""
    return optional("optuna", "tuning needs", "tune")


@contextmanager
def quiet() -> Iterator[None]:
    """In the block, Optuna logs warnings only, and does not say which of its parts are young."""
    optuna = import_optuna()
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


@dataclass(frozen=True)
class Plan:
    """What a search does, the same in each of its processes.

    sizes : how much each rung learns from, the last rung last: entries, or shares 1 / size of all epochs
    candidates : the parameters of each trial, where they are known before: grid and random search
    trials : how many candidates are tried
    path : of the journal; None: the study is in memory
    threads : of each training; None: as the model says
    """

    model: Estimator
    problem: TuningProblem
    space: SearchSpace
    resource: str
    sizes: tuple[int, ...]
    factor: int
    candidates: tuple[dict[str, Any], ...] | None
    trials: int
    seed: int
    path: str | None
    threads: int | None

    @property
    def steps(self) -> list[int]:
        """The rungs as Optuna counts them: each about `factor` times the one before."""
        return [int(self.factor**i) for i in range(len(self.sizes))] if self.resource == "epochs" else [*self.sizes]


def planned(space: SearchSpace, sampler: str, trials: int | None, seed: int) -> tuple[Any, int]:
    """The candidates, where these can be known before the search, and their number.

    Lists only, and as many trials as they have combinations: all of these, whatever the sampler. A grid with fewer
    trials is a random part of it. Random candidates are different ones; there are fewer where the space holds no more.
    """
    optuna = import_optuna()
    if sampler == "grid" and not space.is_grid:
        raise ValueError("a grid needs lists of values, and there is a range in the space: choose tpe or random")
    grid = space.grid() if space.is_grid else []
    if grid and (trials is None or trials >= len(grid)):
        return tuple(grid), len(grid)
    wanted = _DEFAULT_TRIALS if trials is None else trials
    if sampler == "grid":
        chosen = np.sort(np.random.default_rng([seed, 1]).permutation(len(grid))[:wanted])
        return tuple(grid[i] for i in chosen), wanted
    if sampler == "tpe":
        return None, wanted
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    found: dict[str, dict[str, Any]] = {}
    for _ in range(_PATIENCE * wanted):
        trial = study.ask()
        found.setdefault(repr(space.suggest(trial).parameters), trial.params)
        if len(found) == wanted:
            break
    return tuple(found.values()), len(found)


class Search:
    """The study of a plan, as one process sees it."""

    def __init__(self, plan: Plan) -> None:
        optuna = import_optuna()
        self.plan = plan
        storage: Any = optuna.storages.InMemoryStorage()
        self._lock: Any = None
        if plan.path is not None:
            journal = optuna.storages.journal
            storage = optuna.storages.JournalStorage(
                journal.JournalFileBackend(plan.path, lock_obj=journal.JournalFileOpenLock(plan.path))
            )
            self._lock = journal.JournalFileOpenLock(f"{plan.path}.turn")
        halves = len(plan.sizes) > 1
        pruner = optuna.pruners.NopPruner()
        if halves:
            pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=plan.steps[0], reduction_factor=plan.factor)
        with self._turn():
            self.study: Study = optuna.create_study(
                storage=storage,
                study_name=_NAME,
                sampler=_sampler(plan.seed, plan.trials),
                pruner=pruner,
                direction="maximize",
                load_if_exists=True,
            )

    def claim(self, settings: dict[str, Any]) -> None:
        """Marks a new study as that of these settings; raises `StorageError` where it is that of others."""
        with self._turn():
            theirs = self.study.user_attrs.get("settings")
            if theirs is None and not self.study.get_trials(deepcopy=False):
                self.study.set_user_attr("settings", settings)
            elif theirs != settings:
                differing = [name for name in settings if not theirs or theirs.get(name) != settings[name]]
                raise StorageError(
                    f"{Path(str(self.plan.path)).parent} holds another search, with other {' and '.join(differing)}: "
                    "choose another storage, or remove this one"
                )

    def finished(self) -> list[FrozenTrial]:
        """The trials that are done, whatever came of them, by number; repetitions of earlier ones are left out."""
        done = [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.is_finished()]
        return [trial for trial in done if "repeats" not in trial.user_attrs]

    def run_one(self, stop: Callable[[], bool] = lambda: False) -> int | None:
        """Runs the next trial to its end, and gives its number; None where there is none.

        Raises `Stopped` or KeyboardInterrupt where `stop` or Ctrl-C ended it: it is then free to be taken up again.
        """
        with self._turn():
            trial = self._next()
        if trial is None:
            return None
        try:
            self._run(trial, stop)
        except (KeyboardInterrupt, Stopped):
            trial.set_user_attr("process", None)
            raise
        return int(trial.number)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One process at a time."""
        if self._lock is None:
            yield
            return
        self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    def _next(self) -> Trial | None:
        optuna = import_optuna()
        trials = self.study.get_trials(deepcopy=False)
        left = [trial for trial in trials if not trial.state.is_finished() and _abandoned(trial)]
        if left and left[0].state == optuna.trial.TrialState.RUNNING:
            trial: Trial = optuna.Trial(self.study, left[0]._trial_id)
        else:
            repeated = sum("repeats" in trial.user_attrs for trial in trials)
            if not left:
                if len(trials) - repeated >= self.plan.trials or len(trials) >= _PATIENCE * self.plan.trials:
                    return None
                if self.plan.candidates is not None:
                    self.study.enqueue_trial(self.plan.candidates[len(trials)])
            trial = self.study.ask()
        trial.set_user_attr("process", [platform.node(), os.getpid()])
        return trial

    def _run(self, trial: Trial, stop: Callable[[], bool]) -> None:
        optuna = import_optuna()
        state = optuna.trial.TrialState
        candidate = self.plan.space.suggest(trial)
        earlier = self._repeated(trial.number, candidate)
        if earlier is not None:
            trial.set_user_attr("repeats", earlier)
            self.study.tell(trial, state=state.FAIL)
            return
        rungs: list[dict[str, Any]] = list(trial.user_attrs.get("rungs", []))
        reported = self.study.get_trials(deepcopy=False)[trial.number].intermediate_values
        for i, step in enumerate(self.plan.steps):
            if i == len(rungs):
                started = time.perf_counter()
                try:
                    amount, scores = self._scores(candidate, self.plan.sizes[i], stop)
                except (KeyboardInterrupt, Stopped):
                    raise
                except Exception as error:
                    trial.set_user_attr("error", " ".join(str(error).split()) or type(error).__name__)
                    self.study.tell(trial, state=state.FAIL)
                    return
                rungs = [*rungs, {"amount": amount, "scores": scores, "seconds": time.perf_counter() - started}]
                trial.set_user_attr("rungs", rungs)
            if step not in reported:
                trial.report(float(np.mean(rungs[i]["scores"])), step)
                if i + 1 < len(self.plan.steps) and trial.should_prune():
                    self.study.tell(trial, state=state.PRUNED)
                    return
        self.study.tell(trial, float(np.mean(rungs[-1]["scores"])))

    def _repeated(self, number: int, candidate: Candidate) -> int | None:
        """The earlier trial that has the same parameters, which a model of the scores may suggest again."""
        if self.plan.candidates is not None:
            return None
        for trial in self.study.get_trials(deepcopy=False)[:number]:
            if trial.state.is_finished() and self.plan.space.suggest(trial).parameters == candidate.parameters:
                return int(trial.number)
        return None

    def _scores(self, candidate: Candidate, size: int, stop: Callable[[], bool]) -> tuple[int, list[float]]:
        """How much was learned from on this rung, and the score of each fold."""
        model, problem = candidate.model(self.plan.model), self.plan.problem
        if self.plan.threads is not None and "threads" in model.get_params(deep=False):
            model.set_params(threads=self.plan.threads)
        amount, entries = size, size
        if self.plan.resource == "epochs":
            amount, entries = max(1, model.get_params()["learner__epochs"] // size), problem.n_entries
            model.set_params(learner__epochs=amount)
        parameters = model.get_params(deep=False)
        kind = type(model)
        return amount, [problem.score(kind(**parameters), entries, fold, stop) for fold in range(problem.n_folds)]


def _abandoned(trial: FrozenTrial) -> bool:
    """Whether nobody works on an unfinished trial any more."""
    owner = trial.user_attrs.get("process")
    if owner is None:
        return True
    if owner[0] != platform.node():
        return False
    if owner[1] == os.getpid():
        return True
    if os.name != "posix":
        return False
    try:
        os.kill(owner[1], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _sampler(seed: int, trials: int) -> Any:
    """Optuna's TPE, whose random numbers depend on the seed and the number of the trial alone.

    So a search that was stopped goes on as if it had not been, and no two processes draw the same.
    """
    optuna = import_optuna()

    class SeededByTrial(optuna.samplers.BaseSampler):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self._number: int | None = None

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
            return {}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            if trial.number != self._number:
                own = int(np.random.SeedSequence([seed, trial.number]).generate_state(1)[0])
                self._number = trial.number
                self._sampler = optuna.samplers.RandomSampler(seed=own)
                # After a repetition chance has its turn: TPE would suggest the same again.
                if not (trial.number and "repeats" in study.get_trials(deepcopy=False)[trial.number - 1].user_attrs):
                    startup = max(3, min(10, trials // 3))
                    self._sampler = optuna.samplers.TPESampler(n_startup_trials=startup, constant_liar=True, seed=own)
            return self._sampler.sample_independent(study, trial, param_name, param_distribution)

    return SeededByTrial()
