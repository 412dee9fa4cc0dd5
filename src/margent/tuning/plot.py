"""Pictures of a search: who climbed how far, and what each parameter did to the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any

from margent.errors import CorpusError
from margent.metrics.drawing import INK, PALE, RED, finished, new_figure, quieten
from margent.tuning.values import cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from margent.tuning.result import Trial

_ACROSS = 3  # panels in a row
_FEW = 8  # values that each get a tick of their own
_SHADES = ("#2b6ca3", "#6fa3cc", "#a9c9e2", "#cfe0ee")  # of the rungs, the last rung first


def plot_tuning(trials: Sequence[Trial], parameters: Sequence[str], path: str | PathLike[str] | None = None) -> Figure:
    """The first panel has a line for each trial, its score on each rung; then a panel for each searched parameter.

    In these, each trial has a dot for each rung that it reached, darker the more sentences it learned from, for scores
    on different rungs cannot be compared. The best trial is red; bars are its standard errors.
    """
    scored = [trial for trial in trials if trial.score is not None]
    if not scored:
        raise CorpusError("no trial of the search has a score, so there is nothing to draw")
    panels = [None, *(name for name in parameters if len({trial.parameters.get(name) for trial in scored}) > 1)]
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(3.9 * across, 3.3 * down)
    grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for axes, name in zip(grid, panels):
        if name is None:
            _by_rung(axes, scored)
        else:
            _by_parameter(axes, scored, name)
        axes.margins(x=0.08, y=0.08)
        quieten(axes)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[::across]:
        axes.set_ylabel("score (%)", color=INK)
    figure.suptitle("The search for parameters", x=0.01, ha="left", fontsize=11, color=INK)
    return finished(figure, path)


def _by_rung(axes: Axes, trials: Sequence[Trial]) -> None:
    sizes = sorted({rung.sentences for trial in trials for rung in trial.rungs})
    for trial in reversed(trials):  # the best on top
        climbed = [rung.sentences for rung in trial.rungs]
        axes.plot(climbed, [100 * rung.score for rung in trial.rungs], color=PALE, linewidth=1, zorder=1)
    _dots(axes, trials, sizes, {trial.number: None for trial in trials})
    if len(sizes) > 1:
        axes.set_xscale("log")
    axes.minorticks_off()
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xlabel("training sentences", color=INK)


def _by_parameter(axes: Axes, trials: Sequence[Trial], name: str) -> None:
    sizes = sorted({rung.sentences for trial in trials for rung in trial.rungs})
    shown = [trial for trial in trials if name in trial.parameters]
    values: list[Any] = [trial.parameters[name] for trial in shown]
    different = sorted(set(values), key=_place)
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        names = [cell(value) for value in different]
        axes.set_xticks(range(len(names)), names, rotation=30 if max(map(len, names)) > 8 else 0)
        values = [different.index(value) for value in values]
    else:
        if different[0] > 0 and different[-1] >= 20 * different[0]:
            axes.set_xscale("log")
        if len(different) <= _FEW:
            axes.minorticks_off()
            axes.set_xticks(different, [f"{value:g}" for value in different])
    _dots(axes, trials, sizes, {trial.number: value for trial, value in zip(shown, values)})
    axes.set_xlabel(name, color=INK)


def _place(value: Any) -> tuple[Any, ...]:
    """For sorting: nothing first, then numbers of all kinds by value, then the others by kind."""
    if value is None:
        return (0,)
    if isinstance(value, Real) and not isinstance(value, bool):
        return (1, value)
    return (2, str(type(value)), value)


def _dots(axes: Axes, trials: Sequence[Trial], sizes: Sequence[int], places: Mapping[int, Any]) -> None:
    """A dot for each rung of each trial, at its place on the horizontal axis; None: at the number of sentences."""
    for trial in reversed(trials):
        if trial.number not in places:
            continue
        for rung in trial.rungs:
            best = trial is trials[0]
            shade = _SHADES[min(len(sizes) - 1 - sizes.index(rung.sentences), len(_SHADES) - 1)]
            x = rung.sentences if places[trial.number] is None else places[trial.number]
            error = 100 * rung.standard_error if best and rung.standard_error is not None else None
            axes.errorbar(
                x, 100 * rung.score, yerr=error, color=RED if best else shade, marker="o", markersize=5, capsize=2
            )
