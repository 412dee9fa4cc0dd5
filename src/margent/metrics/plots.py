"""Pictures of results, drawn with matplotlib: confusion matrix, reliability curve, learning curve.

Each function returns the `Figure`, and writes it to `path` if one is given; the ending of its name chooses the format
(`.png`, `.svg`, `.pdf`). Nothing here touches pyplot or other global state, so it works without a display and in
threads. matplotlib comes with `pip install 'margent[plot]'`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from margent.errors import CorpusError
from margent.metrics.calibration import Calibration
from margent.metrics.drawing import BLUE, INK, PALE, RED, finished, new_figure, quieten
from margent.metrics.token import ConfusionMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, RED, "#4f9d69", "#8a5fa8", "#b8860b", "#5b6770")


def _short(count: int) -> str:
    """At most four characters: 9999, 12k, 3M."""
    return str(count) if count < 10_000 else f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def plot_confusion(
    matrix: ConfusionMatrix,
    path: str | PathLike[str] | None = None,
    *,
    labels: int = 30,
    title: str = "Confusion matrix",
) -> Figure:
    """Gold labels as rows, predicted ones as columns. The numbers are tokens, the colour is the share of the row.

    What is right is blue, mistakes are red on a scale of their own, so that they are seen where they are few.

    A picture of hundreds of labels says nothing, so only the `labels` ones with the most mistakes are drawn when there
    are more; the title says so.
    """
    counts, names = matrix.counts, matrix.labels
    if not names:
        raise CorpusError("the confusion matrix has no labels, so there is nothing to draw")
    if labels < 1:
        raise CorpusError(f"labels is {labels}, but at least 1 was expected")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    if len(names) > labels:
        mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
        kept = np.sort(np.argsort(-mistakes, kind="stable")[:labels])
        title = f"{title} (the {labels} of {len(names)} labels with the most mistakes)"
        counts, share, names = counts[np.ix_(kept, kept)], share[np.ix_(kept, kept)], tuple(names[i] for i in kept)
    number = len(names)
    longest = max(len(str(name)) for name in names)
    side = max(2.6, 0.42 * number) + 0.08 * longest
    figure = new_figure(side + 1.75, side + 0.45)
    axes = figure.subplots()
    right = np.eye(number, dtype=bool)
    worst = min(1.0, 1.25 * float(share[~right].max(initial=0))) or 1.0
    for heading, colours, hidden, top in (
        ("share mistaken", "Reds", right, worst),
        ("share right", "Blues", ~right, 1.0),
    ):
        image = axes.imshow(np.ma.masked_array(share, hidden), cmap=colours, vmin=0, vmax=top)
        bar = figure.colorbar(
            image, ax=axes, shrink=0.7, aspect=max(20, 2 * number), pad=0.03, format=lambda x, _: f"{100 * x:.3g} %"
        )
        bar.set_label(heading, fontsize=9, color=INK, labelpad=1)
        bar.ax.tick_params(labelsize=8, colors=INK, length=2)
        bar.outline.set_visible(False)
        for i, j in zip(*np.nonzero(counts * ~hidden)):
            colour = "white" if share[i, j] > 0.55 * top else INK
            axes.text(j, i, _short(int(counts[i, j])), ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(number), names, rotation=90 if longest > 2 else 0)
    axes.set_yticks(range(number), names)
    axes.set_xticks(np.arange(number + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(number + 1) - 0.5, minor=True)
    axes.tick_params(which="both", length=0, labelsize=9, colors=INK)
    axes.spines[:].set_visible(False)
    axes.grid(which="minor", color=PALE, linewidth=0.6)
    axes.set_xlabel("predicted label", color=INK)
    axes.set_ylabel("gold label", color=INK)
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    return finished(figure, path)


def plot_reliability(
    calibration: Calibration | Mapping[str, Calibration],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "Reliability",
) -> Figure:
    """How often predictions of each confidence were right (bars), next to what was promised (the diagonal).

    A bar below the diagonal is overconfident, one above it too modest; the red part is the gap. Below: how many
    predictions each bin holds, without which the bars cannot be judged. Several, by name, are drawn side by side.
    """
    panels = {title: calibration} if isinstance(calibration, Calibration) else dict(calibration)
    if not panels:
        raise CorpusError("no reliability curve was given, so there is nothing to draw")
    figure = new_figure(5.2 if len(panels) == 1 else 4.2 * len(panels), 6.0)
    grid = figure.subplots(2, len(panels), sharex=True, squeeze=False, height_ratios=[3, 1])
    for (name, curve), above, below in zip(panels.items(), *grid):
        _draw_reliability(curve, above, below, name)
    if not isinstance(calibration, Calibration):
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK)
    return finished(figure, path)


def _draw_reliability(calibration: Calibration, above: Axes, below: Axes, title: str) -> None:
    filled = calibration.counts > 0
    left, width = calibration.edges[:-1][filled], np.diff(calibration.edges)[filled]
    hits, promised = calibration.accuracy[filled], calibration.confidence[filled]
    edge: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.8, "align": "edge"}
    above.bar(left, hits, width, color=BLUE, label="right", **edge)
    above.bar(
        left, promised - hits, width, bottom=hits, facecolor=(*_rgb(RED), 0.25), label="gap", align="edge",
        edgecolor=RED, linewidth=0.8, hatch="////",
    )  # fmt: skip
    above.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=1, label="perfect")
    above.set(xlim=(0, 1), ylim=(0, 1.02))
    above.set_ylabel("share that is right", color=INK)
    above.set_title(title, loc="left", fontsize=11, color=INK)
    above.legend(frameon=False, loc="upper left", fontsize=9, labelcolor=INK)
    summary = (
        f"expected error {100 * calibration.expected_error:.1f} %\n"
        f"maximum error {100 * calibration.maximum_error:.1f} %\n"
        f"Brier score {calibration.brier:.3f}"
    )
    above.text(
        0.98, 0.03, summary, transform=above.transAxes, ha="right", va="bottom", fontsize=9, color=INK,
        bbox={"facecolor": "white", "edgecolor": PALE, "boxstyle": "round,pad=0.4"},
    )  # fmt: skip
    below.bar(left, calibration.counts[filled], width, color=PALE, **edge)
    below.set_ylabel("predictions", color=INK)
    below.set_xlabel("confidence", color=INK)
    for axes in (above, below):
        quieten(axes)


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def plot_learning_curve(
    history: Iterable[Mapping[str, Any]], path: str | PathLike[str] | None = None, *, title: str = "Learning curve"
) -> Figure:
    """What a fit recorded for each epoch: the losses in one panel, the scores (between 0 and 1) in another.

    `history` is a list of rows with names and numbers, such as `{"epoch": 1, "loss": 0.31, "accuracy": 0.94}`. Names
    with "loss" or "objective" in them are losses; other numbers that stay between 0 and 1 are scores. A value may be
    missing or None in some rows. Of each score, the best epoch is marked.
    """
    rows = list(history)
    epochs = [row.get("epoch", index + 1) for index, row in enumerate(rows)]
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in ("epoch", "seconds")]
    curves = {name: np.array([_number(row.get(name)) for row in rows]) for name in names}
    curves = {name: values for name, values in curves.items() if not np.isnan(values).all()}
    losses = [name for name in curves if "loss" in name or "objective" in name]
    scores = [
        name for name in curves if name not in losses and np.nanmin(curves[name]) >= 0 and np.nanmax(curves[name]) <= 1
    ]
    panels = [(heading, group) for heading, group in (("loss", losses), ("score (%)", scores)) if group]
    if not panels:
        raise CorpusError(
            f"the history of {len(rows)} epochs has neither a loss nor a score, so there is nothing to draw"
        )
    figure = new_figure(4.6 * len(panels), 3.6)
    for axes, (heading, group) in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels):
        scale = 1 if group is losses else 100
        for colour, name in zip(_cycle(len(group)), group):
            values = scale * curves[name]
            axes.plot(
                epochs, values, color=colour, linewidth=1.8, marker="o", markersize=3, label=name.replace("_", " ")
            )
            if group is scores:
                best = int(np.nanargmax(values))
                axes.plot(epochs[best], values[best], "o", markersize=8, markerfacecolor="none", color=colour)
                axes.annotate(
                    f"{values[best]:.2f}", (epochs[best], values[best]), xytext=(0, 7), textcoords="offset points",
                    ha="center", fontsize=8, color=colour,
                )  # fmt: skip
        axes.set_xlabel("epoch", color=INK)
        axes.set_ylabel(heading, color=INK)
        axes.margins(y=0.12)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        if group != [heading]:
            axes.legend(frameon=False, fontsize=9, labelcolor=INK)
        quieten(axes)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK)
    return finished(figure, path)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float | np.number) and not isinstance(value, bool) else float("nan")


def _cycle(number: int) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(number)]
