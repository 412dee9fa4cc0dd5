"""Fig. 2 and Fig. 3 of the paper, drawn from our results."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from papers.experiment import new_figure
from papers.kbest.plan import METHODS, TITLES

COLOURS = dict(zip(METHODS, ("#5b6770", "#2b6ca3", "#4f9d69", "#c8553d", "#8a5fa8", "#b8860b")))
GREYS = ("#c9d6e2", "#8fb0cf", "#4c84b5", "#1d4f7c")


def check() -> None:
    """There is something to draw with."""
    new_figure(1)


def draw(results: dict[str, Any], folder: Path) -> None:
    _times(results["times"], TITLES[results["table"][0]["corpus"]], folder / "figure2.png")
    if results["larank"]:
        _larank(results["larank"], folder / "figure3.png")


def _times(rows: list[dict[str, Any]], title: str, path: Path) -> None:
    figure, (left, right) = new_figure(2)
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        look = {"color": COLOURS[method], "label": METHODS[method], "marker": "o", "markersize": 3}
        left.plot([row["k"] for row in own], [fmean(row["seconds"]) for row in own], **look)
        for row in own:
            if row["k"] not in (1, 5):
                continue
            look["linestyle"], look["label"] = ("--", None) if row["k"] == 1 else ("-", METHODS[method])
            right.plot(list(accumulate(row["seconds"])), [100 * score for score in row["scores"]], **look)
    left.set(xlabel="k", ylabel="seconds per epoch (mean)", yscale="log")
    left.set_xticks(sorted({row["k"] for row in rows}))
    right.set(xlabel="seconds of training", ylabel="token F on held-out sentences", xscale="log")
    left.set_title(f"{title}: time per epoch", loc="left", fontsize=10)
    right.set_title("F through time; dashed: k = 1, solid: k = 5", loc="left", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def _larank(rows: list[dict[str, Any]], path: Path) -> None:
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, panels = new_figure(len(corpora), width=4.6)
    for axes, name in zip(panels, corpora):
        own = [row for row in rows if row["corpus"] == name]
        ks, ns = (sorted({row[key] for row in own}) for key in ("k", "n_reprocess"))
        low, high = 100.0, 0.0
        for i, k in enumerate(ks):
            values = [
                [100 * f for f in row["token_f"]] for n in ns for row in own if (row["k"], row["n_reprocess"]) == (k, n)
            ]
            means, errors = [fmean(v) for v in values], [stdev(v) if len(v) > 1 else 0.0 for v in values]
            places = [n + (i - (len(ks) - 1) / 2) * 0.8 / len(ks) for n in range(len(ns))]
            axes.bar(
                places, means, 0.8 / len(ks), yerr=errors, color=GREYS[i % len(GREYS)], capsize=2, label=f"k = {k}",
                error_kw={"linewidth": 0.8, "ecolor": "#333333"},
            )  # fmt: skip
            low, high = min(low, *(m - e for m, e in zip(means, errors))), max(high, *map(sum, zip(means, errors)))
        axes.set_ylim(low - 0.3 * (high - low) - 0.01, high + 0.1 * (high - low) + 0.01)
        axes.set_xticks(range(len(ns)), [str(n) for n in ns])
        axes.set(xlabel="$n_R$")
        axes.set_title(TITLES[name], loc="left", fontsize=10)
    panels[0].set_ylabel("token F on test data")
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(path)
