"""What all pictures have in common: matplotlib without global state, colours, and axes without ornament."""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING

from margent.extras import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PALE, BLUE, RED = "#333333", "#d9d9d9", "#2b6ca3", "#c8553d"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches that no window or display knows of."""
    module = optional("matplotlib.figure", "plots need", "plot")
    figure: Figure = module.Figure(figsize=(width, height), dpi=150, layout="constrained")
    return figure


def check_format(path: str | PathLike[str]) -> None:
    """There is something to draw with, and the ending of the name is one it knows: before the work, not after it."""
    known = new_figure(1, 1).canvas.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in known:
        endings = ", ".join(f".{name}" for name in known)
        raise ValueError(f"{os.fspath(path)}: expected the name of an image file that ends in one of {endings}")


def finished(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """The figure, written to `path` if one is given; the ending of its name chooses the format."""
    if path is not None:
        figure.savefig(path)
    return figure


def quieten(axes: Axes) -> None:
    """Take away what carries no information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=9)
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
