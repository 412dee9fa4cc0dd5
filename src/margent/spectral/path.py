"""The regularisation path of the spectral learner: what each tau gives, from the largest to the smallest."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from margent.errors import CorpusError, TrainingWarning
from margent.learners.training import Training, train
from margent.models.inputs import sentences_and_labels
from margent.spectral.k_gram_oracle import KGramOracle
from margent.spectral.k_gram_table import KGramTable
from margent.spectral.learner import Spectral

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Trainings that do not leave their start are tried so often, each time with so much of the step.
_TRIES, _SHORTER = 5, 0.25

_HEAD = ("tau", "symbols %", "sequences %", "rank", "numbers", "objective", "iterations", "seconds")


class PathPoint(NamedTuple):
    """What one tau gives.

    accuracy : the share of the symbols of the development data that are right
    sequence_accuracy : the share of its sequences that are right from end to end
    rank : of the matrix of scores; None where the regulariser does not keep it low
    size : how many numbers the scores can be stored in: two factors of that rank, or all entries if these are fewer
    """

    tau: float
    accuracy: float
    sequence_accuracy: float
    rank: int | None
    size: int
    objective: float
    iterations: int
    seconds: float


@dataclass(frozen=True)
class SpectralPath:
    """The points of a path, the largest tau first; printed, it is a table.

    `best`: the point with the highest accuracy, the largest tau of equals; `table`: its scores; `learner`: the learner
    with its tau. `interrupted`: Ctrl-C ended the path before its last tau.
    """

    points: tuple[PathPoint, ...]
    best: PathPoint
    table: KGramTable
    learner: Spectral
    interrupted: bool = False

    def __str__(self) -> str:
        rows = [_HEAD, *map(_cells, self.points)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        rule = "-" * len(lines[0])
        return "\n".join([lines[0], rule, *lines[1:]]) + "\n"

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Accuracy and, where it is known, rank against tau; written to `path` if given. Needs matplotlib."""
        from margent.metrics.drawing import BLUE, INK, RED, finished, new_figure, quieten

        ranked = any(point.rank is not None for point in self.points)
        figure = new_figure(9.2 if ranked else 4.6, 3.6)
        panels = figure.subplots(1, 1 + ranked, squeeze=False)[0]
        taus = [point.tau for point in self.points]
        panels[0].plot(taus, [100 * point.accuracy for point in self.points], "o-", color=BLUE, markersize=4)
        panels[0].plot(self.best.tau, 100 * self.best.accuracy, "o", color=RED, markersize=8, markerfacecolor="none")
        panels[0].set_ylabel("symbols right (%)", color=INK)
        if ranked:
            panels[1].plot(taus, [point.rank for point in self.points], "o-", color=BLUE, markersize=4)
            panels[1].set_ylabel("rank", color=INK)
        for axes in panels:
            axes.set_xscale("log" if min(taus) > 0 else "symlog")
            axes.set_xlabel("tau", color=INK)
            quieten(axes)
        figure.suptitle("Regularisation path", x=0.01, ha="left", fontsize=11, color=INK)
        return finished(figure, path)


def spectral_path(
    X: Sequence[Sequence[Hashable]],
    y: Sequence[Sequence[Hashable]],
    X_dev: Sequence[Sequence[Hashable]],
    y_dev: Sequence[Sequence[Hashable]],
    *,
    taus: Iterable[float],
    learner: Spectral | None = None,
    threads: int = 1,
    progress: bool | None = None,
) -> SpectralPath:
    """Trains the spectral learner with each tau, and looks at development data (paper 000, figure 2).

    The largest tau comes first, and each training begins with the scores of the one before, which are close to its
    own: a tenth of the iterations that it would take from the start are often enough. Where steps are too long so close
    to the optimum, and no iteration gets below the start, it is tried again with a quarter of the step, up to four
    times.

    Parameters
    ----------
    X, y : input and output sequences to learn from
    X_dev, y_dev : those to look at
    taus : the values to try, in any order
    learner : all other parameters; its own tau does not matter. None: `Spectral()`. With `recover=True` it is the table
        of the recovered operators, as many as its rank, that is looked at, and given. With `patience` the development
        data also end each training, and choose its iterate
    threads : for the searches; does not change the results
    progress : show a progress bar; None: only on a terminal

    Ctrl-C ends the path and keeps the points that are done, if there are any.

    Example
    -------
    >>> X, y = ["ab", "ba", "aa", "bb"] * 3, ["AB", "Ba", "AA", "BB"] * 3
    >>> path = spectral_path(X, y, X, y, taus=[0.1, 1000], learner=Spectral(order=2))
    >>> [point.tau for point in path.points], path.points[0].rank, path.best.tau
    ([1000.0, 0.1], 0, 0.1)
    """
    values = _checked_taus(taus)
    learner = Spectral() if learner is None else learner
    if not isinstance(learner, Spectral):
        raise TypeError(f"learner is {learner!r}; expected a Spectral")
    X_dev, y_dev = sentences_and_labels(X_dev, y_dev, ("X_dev", "y_dev"))
    _check_development(X_dev, y_dev)
    oracle = KGramOracle(*sentences_and_labels(X, y))
    points: list[PathPoint] = []
    best: tuple[PathPoint, KGramTable] | None = None
    interrupted = False
    for tau in values:
        result = _trained(replace(learner, tau=tau), oracle, (X_dev, y_dev), threads, progress)
        interrupted = result.interrupted
        if interrupted:
            break
        table = KGramTable(oracle.bi_symbols, result.weights)
        if learner.recover:
            table = table.recovered(states=table.rank() or 1)
        points.append(_point(tau, table, result, X_dev, y_dev, threads))
        if best is None or points[-1].accuracy > best[0].accuracy:
            best = points[-1], table
        oracle.start_from(result.weights)
    if best is None:
        raise KeyboardInterrupt
    return SpectralPath(tuple(points), *best, replace(learner, tau=best[0].tau), interrupted)


def _trained(
    learner: Spectral, oracle: KGramOracle, development: tuple[Any, Any], threads: int, progress: bool | None
) -> Training:
    """A training; where it does not leave its start, which was another training, again with ever shorter steps."""

    def evaluate(weights: Any) -> float:
        return _accuracies(KGramTable(oracle.bi_symbols, weights), *development, threads)[0]

    watched = None if learner.patience is None else evaluate
    start = oracle.start
    for _ in range(_TRIES if start is not None else 1):
        with warnings.catch_warnings():
            if start is not None:
                warnings.simplefilter("ignore", TrainingWarning)
            result = train(learner, oracle, threads=threads, evaluate=watched, progress=progress)
        if result.interrupted or start is None or any(np.any(result.weights[n] != start[n]) for n in start):
            break
        step = learner.found_step(learner.objective(oracle, threads)) if learner.step is None else learner.step
        learner = replace(learner, step=step * _SHORTER)
    return result


def _accuracies(table: KGramTable, X: Sequence[Any], y: Sequence[Any], threads: int) -> tuple[float, float]:
    """Of symbols and of sequences."""
    right = [[a == b for a, b in zip(found, gold)] for found, gold in zip(table.predict(X, threads=threads), y)]
    return sum(map(sum, right)) / sum(map(len, right)), sum(map(all, right)) / len(right)


def _point(
    tau: float, table: KGramTable, result: Training, X: Sequence[Any], y: Sequence[Any], threads: int
) -> PathPoint:
    last = result.history[-1]
    # That in the history is of the lowest objective, which need not be the iterate that development data chose.
    rank = table.rank() if last.rank is not None and result.best_epoch is not None else last.rank
    return PathPoint(
        tau,
        *_accuracies(table, X, y, threads),
        rank,
        table.size(rank),
        last.objective or 0.0,
        last.epoch,
        sum(epoch.seconds for epoch in result.history),
    )


def _cells(point: PathPoint) -> tuple[str, ...]:
    return (
        f"{point.tau:g}",
        f"{100 * point.accuracy:.2f}",
        f"{100 * point.sequence_accuracy:.2f}",
        "" if point.rank is None else str(point.rank),
        f"{point.size:,}",
        f"{point.objective:.1f}",
        str(point.iterations),
        f"{point.seconds:.1f}",
    )


def _checked_taus(taus: Iterable[float]) -> list[float]:
    """The largest first; each is checked by the learner."""
    if not isinstance(taus, Iterable) or isinstance(taus, (str, bytes)):
        raise TypeError(f"taus is {taus!r}; expected a list of numbers to try")
    values = sorted({float(Spectral(tau=tau).tau) for tau in taus}, reverse=True)
    if not values:
        raise ValueError("taus is empty; expected at least one value to try")
    return values


def _check_development(X: Sequence[Any], y: Sequence[Any]) -> None:
    if len(X) != len(y):
        raise CorpusError(f"found outputs for {len(y)} sequences of X_dev, expected them for {len(X)}")
    for s, (inputs, outputs) in enumerate(zip(X, y)):
        if len(inputs) != len(outputs):
            raise CorpusError(
                f"sequence {s} of X_dev has {len(inputs)} input symbols, but {len(outputs)} output symbols"
            )
    if not any(map(len, X)):
        raise CorpusError("X_dev has no symbol to look at")
