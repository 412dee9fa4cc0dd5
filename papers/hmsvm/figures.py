"""Figs. 1 and 3 of the paper, drawn from our results, and plots of the learning curve and of the letters."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

from papers.experiment import new_figure
from papers.hmsvm.plan import CURVE, LETTERS, SECTION8, TITLES
from papers.hmsvm.report import deviation, error

GREY, BLUE, LIGHT = "#8c96a0", "#2b6ca3", "#a9c4de"
COLOURS = dict(zip(CURVE, ("#5b6770", "#4f9d69", "#c8553d", "#2b6ca3")))
MARKERS = dict(zip(CURVE, "sDo^"))


def check() -> None:
    """There is something to draw with."""
    new_figure(1)


def draw(results: dict[str, Any], folder: Path) -> None:
    _errors(results["section8"], folder / "errors.png")
    if results["curve"]:
        _curve(results["curve"], folder / "curve.png")
    _letters(results["letters"], folder / "letters.png")


def _errors(rows: list[dict[str, Any]], path: Path) -> None:
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, panels = new_figure(len(corpora))
    for axes, corpus in zip(panels, corpora):
        own = [row for row in rows if row["corpus"] == corpus]
        colours = [BLUE if SECTION8[row["method"]].kernel else GREY for row in own]
        _bars(axes, [100 * error(row["folds"]) for row in own], own, colours, 0.7, range(len(own)))
        axes.set_xticks(range(len(own)), [_short(SECTION8[row["method"]].title) for row in own], fontsize=8)
        axes.set_title(TITLES[corpus], loc="left", fontsize=10)
    panels[0].set_ylabel("wrong tokens, percent")
    figure.savefig(path)


def _bars(axes: Any, values: list[float], rows: list[dict[str, Any]], colours: Any, width: float, places: Any) -> Any:
    deviations = [100 * deviation(row["folds"]) for row in rows]
    look = {"linewidth": 0.8, "ecolor": "#333333"}
    bars = axes.bar(places, values, width, yerr=deviations, color=colours, capsize=2, error_kw=look)
    axes.bar_label(bars, [f"{value:.1f}" for value in values], padding=2, fontsize=8)
    return bars


def _short(title: str) -> str:
    return fill(title.partition(" (")[0].partition(",")[0], 10)


def _curve(rows: list[dict[str, Any]], path: Path) -> None:
    figure, (left, right) = new_figure(2)
    for method in dict.fromkeys(row["method"] for row in rows):
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: int(row["n"]))
        sizes = [row["n"] for row in own]
        look = {"color": COLOURS[method], "label": CURVE[method].title, "marker": MARKERS[method], "markersize": 4}
        left.plot(sizes, [100 * row["f1"] for row in own], **look)
        right.plot(sizes, [row["seconds"] for row in own], **look)
        right.plot(sizes, [row["predict_seconds"] for row in own], **{**look, "label": None, "linestyle": ":"})
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xticks(sorted({row["n"] for row in rows}), [f"{n:,}" for n in sorted({row["n"] for row in rows})])
        axes.set_xticks([], minor=True)
    left.set(xlabel="sentences", ylabel="F1 of chunks on test data")
    right.set(xlabel="sentences", ylabel="seconds", yscale="log")
    left.set_title("what more sentences give", loc="left", fontsize=10)
    right.set_title("what they cost; dotted: to label the test data", loc="left", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def _letters(rows: list[dict[str, Any]], path: Path) -> None:
    orders = sorted({row["order"] for row in rows})
    figure, panels = new_figure(len(orders))
    for axes, order in zip(panels, orders):
        methods = list(dict.fromkeys(row["method"] for row in rows))
        for large, colour, shift in ((False, LIGHT, -0.2), (True, BLUE, 0.2)):
            own = [row for row in rows if (row["large"], row["order"]) == (large, order)]
            if own:
                values = [100 * error(row["folds"]) for row in own]
                places = [methods.index(row["method"]) + shift for row in own]
                bars = _bars(axes, values, own, colour, 0.38, places)
                bars.set_label("learned from nine folds" if large else "learned from one fold")
        names = [LETTERS[method].title.replace(" kernel", "\nkernel").replace(", ", ",\n") for method in methods]
        axes.set_xticks(range(len(methods)), names, fontsize=8)
        axes.set_title(f"chain of order {order}", loc="left", fontsize=10)
    panels[0].set_ylabel("wrong letters, percent")
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(path)
