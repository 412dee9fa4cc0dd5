"""A picture of a signal with its segments, gold above predicted."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from margent.annotation.segments import Segmentation, check_segmentation
from margent.errors import CorpusError
from margent.metrics.drawing import BLUE, INK, PALE, RED, finished, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = 6
"""With more columns than this, a signal is drawn as an image."""

_WIDEST = 40.0
"""Inches; what does not fit is drawn closer."""


def plot_segments(
    signal: npt.ArrayLike,
    gold: Iterable[tuple[int, int, str]] | None = None,
    predicted: Iterable[tuple[int, int, str]] | None = None,
    path: str | PathLike[str] | None = None,
    *,
    frame: float | None = None,
    tolerance: float = 2,
    title: str = "Segments",
) -> Figure:
    """Draw a signal above its segments, the gold ones above the predicted ones.

    Predicted segments with another label than gold has over most of their time are red; so are predicted boundaries
    without a gold one nearby.

    Parameters
    ----------
    signal : (n,) or (n, D)
        A sound or series as a line; up to 6 columns as lines, more as an image, first column at the bottom. n is the
        number of frames or any other number of samples (of a sound, say), which are then spread over all frames.
    gold, predicted : segments (start, end, label) in frames, or None
        Both from 0 to the same end.
    path : path or None
        Where to write the picture; the ending of its name chooses the format.
    frame : float or None
        Seconds from one frame to the next; the axis is in seconds then, and else in frames.
    tolerance : float
        How many frames a predicted boundary may lie from a gold one.
    """
    values = np.asarray(signal, dtype=np.float64)
    if values.ndim not in (1, 2) or 0 in values.shape:
        raise CorpusError(f"the signal has the shape {values.shape}; expected (n,) or (n, D), not empty")
    if frame is not None and not frame > 0:
        raise ValueError(f"expected frame > 0 in seconds, got {frame}")
    strips = {
        name: check_segmentation(segments, where=f"the {name} segments")
        for name, segments in (("gold", gold), ("predicted", predicted))
        if segments is not None
    }
    ends = {name: segments[-1].end if segments else 0 for name, segments in strips.items()}
    if len(set(ends.values())) > 1:
        raise CorpusError(f"the gold segments end at frame {ends['gold']}, the predicted ones at {ends['predicted']}")
    length = next(iter(ends.values()), len(values)) or len(values)
    scale = frame or 1.0
    most = max((len(segments) for segments in strips.values()), default=0)
    width = min(_WIDEST, max(7.0, 0.28 * most + 1.5))
    heights = [2.2, *[0.45] * len(strips)]
    figure = new_figure(width, sum(heights) + 0.9)
    grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    _draw_signal(grid[0], values, scale * length)
    for axes, (name, segments) in zip(grid[1:], strips.items()):
        wrong = (
            _wrong(segments, strips["gold"]) if name == "predicted" and "gold" in strips else [False] * len(segments)
        )
        _draw_strip(axes, name, segments, wrong, scale, scale * length / width)
    for name, segments in strips.items():
        others = [s.start for s in strips["gold"]] if "gold" in strips else [s.start for s in segments]
        for segment in segments[1:]:
            near = min(abs(segment.start - other) for other in others) <= tolerance
            predicted_line = name == "predicted"
            grid[0].axvline(
                scale * segment.start,
                color=INK if not predicted_line else BLUE if near else RED,
                linestyle="--" if predicted_line else "-",
                linewidth=0.9 if predicted_line else 0.7,
                alpha=0.8,
            )
    for axes in grid[:-1]:
        axes.tick_params(axis="x", length=0)
    grid[-1].set_xlabel("seconds" if frame else "frames", color=INK)
    grid[0].set_xlim(0, scale * length)
    grid[0].set_title(title, loc="left", fontsize=11, color=INK)
    return finished(figure, path)


def _draw_signal(axes: Axes, values: npt.NDArray[np.float64], end: float) -> None:
    n = len(values)
    if values.ndim == 2 and values.shape[1] > _LINES:
        low, high = np.nanpercentile(values, [1, 99])
        axes.imshow(
            values.T, aspect="auto", origin="lower", extent=(0, end, 0, values.shape[1]), cmap="Greys",
            vmin=low, vmax=max(high, low + 1e-9), interpolation="nearest",
        )  # fmt: skip
    else:
        times = (np.arange(n) + 0.5) * end / n
        axes.plot(times, values, linewidth=0.7 if n > 2000 else 1.1)
        if values.ndim == 1:
            axes.lines[0].set_color("#5b6770")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)


def _draw_strip(
    axes: Axes, name: str, segments: Segmentation, wrong: list[bool], scale: float, per_inch: float
) -> None:
    shades: tuple[Any, ...] = ("#eef2f6", "#dde5ee")
    for index, (segment, bad) in enumerate(zip(segments, wrong)):
        start, end = scale * segment.start, scale * segment.end
        axes.axvspan(start, end, facecolor="#f6d9d2" if bad else shades[index % 2], edgecolor=PALE, linewidth=0.6)
        # A letter of 8 points is about 0.075 inches wide: a label that does not fit is left out.
        if (end - start) / per_inch >= 0.075 * len(segment.label):
            axes.text(
                (start + end) / 2, 0.5, segment.label, ha="center", va="center", fontsize=8, color=RED if bad else INK
            )
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5], [name])
    axes.tick_params(axis="y", length=0, labelsize=9, colors=INK)
    axes.tick_params(axis="x", labelsize=8, colors=INK)
    axes.spines[:].set_visible(False)


def _wrong(segments: Segmentation, gold: Segmentation) -> list[bool]:
    """For each segment whether gold has other labels over more than half of it. Cost: O(number of segments)."""
    result, first = [], 0
    for segment in segments:
        while gold[first].end <= segment.start:
            first += 1
        same, at = 0, first
        while at < len(gold) and gold[at].start < segment.end:
            overlap = min(gold[at].end, segment.end) - max(gold[at].start, segment.start)
            same += overlap if gold[at].label == segment.label else 0
            at += 1
        result.append(2 * same < segment.end - segment.start)
    return result
