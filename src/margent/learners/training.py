"""The training loop: order, epochs, averaging, early stopping, history, progress, interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.base import BatchLearner, RuleLearner
from margent.learners.capabilities import check_fits, declared
from margent.learners.duality import WithGap, with_gap
from margent.learners.progress import ProgressBar
from margent.learners.protocol import NativeOracle
from margent.learners.slices import timed_slices
from margent.parameters import LARGEST


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch.

    `accuracy`: of the searches made while learning, before each update; None for a learner that does not search.
    Learners with a margin search for the largest score + loss: an answer that is right, but not by its margin, counts
    as wrong.
    `updates`: moves of the weights; for a CRF, how often all examples (sgd: each of them) were looked at.
    `objective`: what the learner lowers (CRF) or raises (SDM: the dual), where there is such a thing.
    `primal` and `gap`, where the learner was given a gap: the primal objective of the last weights, and how far the
    dual is below, as a part of it.
    `rank`: of the matrix of weights, where the learner keeps it low (Spectral).
    `dev_lifted`: for how many examples of the development data the restrictions of the model left no answer, and were
    lifted; None: for none.
    """

    epoch: int
    loss: float
    accuracy: float | None
    updates: int
    seconds: float
    dev_score: float | None = None
    objective: float | None = None
    primal: float | None = None
    gap: float | None = None
    rank: int | None = None
    dev_lifted: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Callback = Callable[[Epoch], "bool | None"]
"""Called after each epoch; returning True ends the training."""


@dataclass
class Training:
    """The result: weights as the oracle gives them, the history, and how the training ended.

    `support`: (example, dual variable, labels) of each wrong answer that the weights are made of, where the learner
    keeps them.
    """

    weights: Any
    support: list[tuple[int, float, NDArray[np.int32]]] = field(default_factory=list)
    history: list[Epoch] = field(default_factory=list)
    best_epoch: int | None = None
    interrupted: bool = False


def train(
    learner: RuleLearner | BatchLearner,
    oracle: Sized,
    *,
    seed: int = 0,
    threads: int = 1,
    evaluate: Callable[[Any], float] | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
) -> Training:
    """Runs a learner over an oracle.

    Parameters
    ----------
    learner : the learner, for example `Perceptron(epochs=5)`
    oracle : native, or a Python class (see margent.learners.protocol), that can do what the learner `needs`
    seed : of the order of the examples
    threads : for learners that see all examples before they move (`CRF`); does not change the results
    evaluate : from weights to a score on development data, higher is better; called after each epoch. The weights of
        the best epoch are kept, and `learner.patience` epochs without gain end the training.
    callbacks : called with each `Epoch`
    progress : show a progress bar; None: only on a terminal

    Ctrl-C ends the training and keeps the best weights so far. Weights beyond 1e25, or no numbers, are an error: the
    training diverged.
    """
    check_fits(learner, *declared(oracle))
    check_patience(learner, evaluate is not None)
    called = _callables(callbacks)
    random = np.random.default_rng(seed)
    result = Training(weights=None)
    best_score = -np.inf
    run = _Passes(learner, oracle) if isinstance(learner, RuleLearner) else _Steps(learner, oracle, threads)
    with ProgressBar(learner.epochs, len(run), shown=progress) as bar:
        try:
            for epoch in run.epochs(random, bar):
                if evaluate is not None:
                    weights = run.current_weights()
                    epoch = replace(epoch, dev_score=float(evaluate(weights)))
                    assert epoch.dev_score is not None
                    if epoch.dev_score > best_score:
                        best_score, result.best_epoch, result.weights = epoch.dev_score, epoch.epoch, weights
                        result.support = run.support()
                result.history.append(epoch)
                bar.epoch_done(epoch)
                stop = [callback(epoch) for callback in called]
                if any(stop) or (evaluate is None and epoch.updates == 0 and run.settled):
                    break
                if learner.patience is not None and epoch.epoch - (result.best_epoch or 0) >= learner.patience:
                    break
        except KeyboardInterrupt:
            result.interrupted = True
    try:
        return _complete(result, run, learner)
    except KeyboardInterrupt:  # now that all is learned
        result.interrupted = True
        return _complete(result, run, learner)


def _complete(result: Training, run: _Passes | _Steps, learner: RuleLearner | BatchLearner) -> Training:
    """With its weights, where no epoch was best on development data."""
    if result.weights is None:
        result.support = run.support()
        result.weights = run.weights()
    if not _all_bounded(result.weights):
        raise ValueError(
            f"training diverged: a weight is larger than {LARGEST:g} or not a number; scale the features, or choose a "
            f"smaller step, C or cost than those of {learner!r}"
        )
    return result


def check_patience(learner: RuleLearner | BatchLearner, watched: bool) -> None:
    if learner.patience is not None and not watched:
        raise ValueError(f"patience={learner.patience} needs development data to watch, and none was given")


def _all_bounded(weights: Any) -> bool:
    """Whether all numbers in arrays, at any depth of dicts, lists and tuples, are as a model file may hold them."""
    if isinstance(weights, dict):
        return all(map(_all_bounded, weights.values()))
    if isinstance(weights, (list, tuple)):
        return all(map(_all_bounded, weights))
    if not isinstance(weights, np.ndarray) or weights.dtype.kind != "f" or not weights.size:
        return True
    return bool(weights.max() <= LARGEST and weights.min() >= -LARGEST)  # neither is so where one is not a number


def _callables(callbacks: Iterable[Callback]) -> list[Callback]:
    listed = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    if callable(callbacks) or not all(map(callable, listed)):
        raise TypeError(f"callbacks should be a list of functions, got {callbacks!r}")
    return listed


class _Passes:
    """A rule that moves the weights example by example."""

    def __init__(self, learner: RuleLearner, oracle: Any) -> None:
        self._learner = learner
        self._oracle: Any = oracle if isinstance(oracle, NativeOracle) else _python_oracle(oracle)
        self._rule: _core.Rule = learner.rule()
        self.settled = not learner.average  # an epoch without updates is the last: averages still change

    def __len__(self) -> int:
        return len(self._oracle)

    def weights(self) -> Any:
        return self._oracle.weights(self._learner.average)

    current_weights = weights

    def support(self) -> list[tuple[int, float, NDArray[np.int32]]]:
        return self._rule.support()

    def epochs(self, random: np.random.Generator, bar: ProgressBar) -> Iterator[Epoch]:
        rule, n, gap = self._rule, len(self), self._learner.gap
        for number in range(1, self._learner.epochs + 1):
            examples = random.permutation(n) if self._learner.shuffle else np.arange(n)
            epoch = _run_epoch(self._oracle, rule, examples.astype(np.int64), number, bar)
            if gap is not None:
                epoch = with_gap(epoch, cast(WithGap, self._learner), rule, self._oracle)
            yield epoch
            if gap and epoch.gap is not None and 0 <= epoch.gap <= gap:
                return


class _Steps:
    """A learner that sees all examples before it moves."""

    settled = True

    def __init__(self, learner: BatchLearner, oracle: Any, threads: int) -> None:
        self._learner = learner
        self._objective = learner.objective(oracle, threads)
        self._oracle: Any = oracle if isinstance(oracle, NativeOracle) else self._objective

    def __len__(self) -> int:
        return len(self._objective)

    def weights(self) -> Any:
        return self._oracle.weights(False)

    def current_weights(self) -> Any:
        """Those of the last step, where the objective keeps others: of the step with the lowest value so far."""
        current = getattr(self._oracle, "current_weights", None)
        return self.weights() if current is None else current()

    def support(self) -> list[tuple[int, float, NDArray[np.int32]]]:
        return []

    def epochs(self, random: np.random.Generator, bar: ProgressBar) -> Iterator[Epoch]:
        steps = self._learner.steps(self._objective, random, bar.advance)
        started = time.perf_counter()
        for number, step in enumerate(islice(steps, self._learner.epochs), 1):
            seconds = time.perf_counter() - started
            yield Epoch(number, step.loss, None, step.updates, seconds, objective=step.objective, rank=step.rank)
            started = time.perf_counter()


def _run_epoch(oracle: Any, rule: _core.Rule, examples: Any, number: int, bar: ProgressBar) -> Epoch:
    started = time.perf_counter()
    loss, errors, n_positions, updates, objective = 0.0, 0, 0, 0, None
    done = 0
    for part in timed_slices(examples, getattr(oracle, "batch", 1)):
        outcome = _core.run(oracle, rule, part)
        done += len(part)
        loss += outcome.loss
        errors += outcome.errors
        n_positions += outcome.n_positions
        updates += outcome.updates
        objective = outcome.objective
        bar.advance(done)
    accuracy = 1.0 if n_positions == 0 else 1 - errors / n_positions
    return Epoch(number, loss, accuracy, updates, time.perf_counter() - started, objective=objective)


def _python_oracle(oracle: Any) -> _core.PythonOracle:
    for name in ("n_features", "__len__"):
        if not hasattr(oracle, name):
            raise TypeError(f"an oracle needs `{name}`, and {type(oracle).__name__} has none")
    return _core.PythonOracle(oracle, int(oracle.n_features))
