"""Fig. 2 of the paper, drawn from our results: the error on development data pass by pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from papers.experiment import new_figure

COLOURS = ("#8c96a0", "#4f9d69", "#c8553d", "#2b6ca3")


def check() -> None:
    """There is something to draw with."""
    new_figure(1)


def draw(results: dict[str, Any], folder: Path) -> None:
    figure, panels = new_figure(2)
    for axes, (model, start, title) in zip(
        panels, (("lm-smm", "ml-smm", "large-margin SMM"), ("perceptron", "ml-smm", "SMM, perceptron"))
    ):
        rows = {(row["model"], row["mixtures"]): row for row in results["models"]}
        for (name, mixtures), row in rows.items():
            if name == model:
                label = f"{mixtures} mixture{'s' * (mixtures > 1)}"
                values = [100 * error for error in (rows[start, mixtures]["dev"], *row["passes"])]
                look = {"color": COLOURS[list(results["plan"]["mixtures"]).index(mixtures) % 4], "marker": "o"}
                axes.plot(range(len(values)), values, markersize=3, label=label, **look)
        axes.set(xlabel="passes; 0: maximum likelihood", ylabel="phone error on development data, percent")
        axes.set_title(title, loc="left", fontsize=10)
    top = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(0, top)
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(folder / "figure2.png")
