"""Figs. 1 and 2 of the paper, drawn from our results, and plots of solvers, of typos and of recovered operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from papers.experiment import new_figure
from papers.spectral.plan import METHODS
from papers.spectral.report import accuracies

_PALETTE = (
    "#2b6ca3",
    "#69a3d0",
    "#c8553d",
    "#5b6770",
    "#a0a8b0",
    "#b9a44c",
    "#d48fb5",
    "#4f9d69",
    "#8a5aa8",
    "#c9a6dd",
)
COLOURS = dict(zip(METHODS, _PALETTE, strict=True))
MARKERS = dict(zip(METHODS, "o^sDdvXP*h", strict=True))


def check() -> None:
    """There is something to draw with."""
    new_figure(1)


def draw(results: dict[str, Any], folder: Path) -> None:
    _curves("letters to sounds", results["curve"], folder / "curve.png")
    _curves("words with typos", results["typos"], folder / "typos.png")
    _path(results["path"], folder / "path.png")
    _solvers(results["solvers"], folder / "solvers.png")
    _noise(results["noise"], folder / "noise.png")


def _curves(title: str, rows: list[dict[str, Any]], path: Path) -> None:
    figure, (axes,) = new_figure(1, width=9.0, height=4.6)
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        values = [100 * np.array(accuracies(row)) for row in own]
        axes.errorbar(
            [row["n"] for row in own],
            [v.mean() for v in values],
            yerr=[v.std(ddof=1) if len(v) > 1 else 0 for v in values],
            color=COLOURS[method],
            marker=MARKERS[method],
            markersize=4,
            capsize=2,
            linewidth=1.2,
            label=METHODS[method].title,
        )
    sizes = sorted({row["n"] for row in rows})
    axes.set(xscale="log", xlabel="words to learn from", ylabel="right letters of the test data, percent")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    figure.savefig(path)


def _path(paths: dict[str, Any], path: Path) -> None:
    figure, (left, right) = new_figure(2)
    for (name, points), colour in zip(paths.items(), (COLOURS["spectral"], COLOURS["l2"])):
        taus = np.array([point["tau"] for point in points])
        title = "spectral" if name == "nuclear" else "L2"
        share = taus / taus.max()
        left.plot(share, [100 * point["accuracy"] for point in points], "o-", color=colour, markersize=4, label=title)
        if name == "nuclear":
            right.plot(taus, [point["rank"] for point in points], "o-", color=colour, markersize=4)
    left.set(xscale="log", xlabel="tau, as a share of the largest", ylabel="right letters of the development data, %")
    right.set(xscale="log", xlabel="tau", ylabel="rank of the spectral scores")
    left.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def _solvers(solvers: dict[str, Any], path: Path) -> None:
    figure, panels = new_figure(2)
    for axes, up_to_k in zip(panels, (False, True)):
        own = {name: found for name, found in solvers.items() if ("up to k" in name) == up_to_k}
        for (name, found), colour in zip(own.items(), ("#8c96a0", "#c8553d", "#2b6ca3", "#b9a44c", "#4f9d69")):
            axes.plot(found["seconds"], found["objectives"], color=colour, linewidth=1.4, label=name)
        axes.set(xlabel="seconds", ylabel="lowest objective so far", yscale="log")
        axes.legend(frameon=False, fontsize=8)
    # The trainings with the same scores only go to the same optimum.
    panels[0].set_title("k-grams", loc="left", fontsize=10)
    panels[1].set_title("up to k-grams", loc="left", fontsize=10)
    figure.savefig(path)


def _noise(rows: list[dict[str, Any]], path: Path) -> None:
    figure, (axes,) = new_figure(1)
    for length, colour in zip(dict.fromkeys(row["length"] for row in rows), ("#2b6ca3", "#c8553d")):
        own = [row for row in rows if row["length"] == length]
        axes.plot(
            [row["noise"] for row in own],
            [float(np.median(row["errors"])) for row in own],
            "o-",
            color=colour,
            markersize=4,
            label=f"sequences of {length}",
        )
    axes.set(xscale="log", yscale="log", xlabel="noise on the Hankel matrix", ylabel="error of the recovered scores")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
