"""Pictures of how the words of two sentences are aligned, and how relations compose over a tree, as SVG."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from margent.annotation.binary_tree import BinaryTree
from margent.errors import CorpusError

_SIZE, _X, _CELL, _LEVEL = 13, 7.6, 24, 40
_COLOURS = {"entailment": "#2b6ca3", "neutral": "#3d8b4f", "contradiction": "#c23b3b"}
_OTHERS = ("#8a5fb0", "#c7812c", "#4a4a4a", "#1c8f8f", "#a34a78")


def alignment_svg(premise: BinaryTree, hypothesis: BinaryTree, alignment: NDArray[np.float64]) -> str:
    """The words of the hypothesis against those of the premise and "nothing", darker where more probable.

    alignment : (q or more, p or more + 1) of words first, the last column of nothing; other nodes are left out

    >>> tree = BinaryTree(["rain"], [])
    >>> alignment_svg(tree, tree, np.array([[0.9, 0.1]])).count("<rect")
    2
    """
    p, q = len(premise), len(hypothesis)
    if alignment.ndim != 2 or alignment.shape[0] < q or alignment.shape[1] <= p:
        raise CorpusError(f"expected an alignment of at least {q} rows and {p + 1} columns, got {alignment.shape}")
    cells = np.column_stack([alignment[:q, :p], alignment[:q, -1]])
    names = [*premise.words, "(nothing)"]
    left = 16 + _X * max(map(_width, hypothesis.words))
    top = 16 + _X * max(map(_width, names))
    parts: list[str] = []
    for j, name in enumerate(names):
        x = left + (j + 0.65) * _CELL
        parts.append(f'<text x="{x:.1f}" y="{top - 6:.1f}" transform="rotate(-90 {x:.1f} {top - 6:.1f})">'
                     f"{escape(name)}</text>\n")  # fmt: skip
    for i, word in enumerate(hypothesis.words):
        y = top + (i + 0.65) * _CELL
        parts.append(f'<text x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(word)}</text>\n')
        for j, share in enumerate(cells[i].tolist()):
            shade = 255 - round(225 * min(max(share, 0.0), 1.0))
            parts.append(
                f'<rect x="{left + j * _CELL:.1f}" y="{top + i * _CELL:.1f}" width="{_CELL}" height="{_CELL}" '
                f'fill="rgb({shade},{shade},255)" stroke="#cccccc"><title>{escape(word)} -- {escape(names[j])}: '
                f"{share:.3f}</title></rect>\n"
            )
    return _picture(left + len(names) * _CELL + 16, top + q * _CELL + 16, parts)


def composition_svg(
    premise: BinaryTree,
    hypothesis: BinaryTree,
    alignment: NDArray[np.float64],
    relations: NDArray[np.float64],
    labels: Sequence[str],
) -> str:
    """Both trees; each node of the hypothesis with stripes as long as its relations are probable, a frame in the
    colour of the most probable one, and a dashed line to what it is most probably aligned to.

    alignment : (rows, columns + 1) of nodes, words first; the last column is of nothing
    relations : (nodes of the hypothesis, labels)
    """
    if relations.shape != (hypothesis.n_nodes, len(labels)):
        raise CorpusError(f"expected relations of shape {(hypothesis.n_nodes, len(labels))}, got {relations.shape}")
    colours = [_COLOURS.get(label, _OTHERS[i % len(_OTHERS)]) for i, label in enumerate(labels)]
    levels = max(max(premise.heights), max(hypothesis.heights))
    base = 40.0 + levels * _LEVEL
    first, right = _places(premise, 16.0, base)
    second, width = _places(hypothesis, right + 60.0, base)
    parts = [*_branches(premise, first), *_branches(hypothesis, second)]
    for node, (x, y) in enumerate(second[: len(alignment)]):
        target = int(alignment[node].argmax())
        if target == alignment.shape[1] - 1:
            continue
        to_x, to_y = first[target]
        low = max(y, to_y) + 30 + 14 * (node % 5)
        parts.append(
            f'<path d="M{x:.1f},{y:.1f} Q{(x + to_x) / 2:.1f},{low + 40:.1f} {to_x:.1f},{to_y:.1f}" fill="none" '
            f'stroke="{colours[int(relations[node].argmax())]}" stroke-dasharray="4 3" stroke-opacity="0.6"/>\n'
        )
    for node, (x, y) in enumerate(second):
        parts += _stripes(x, y, relations[node].tolist(), colours)
    for tree, places in ((premise, first), (hypothesis, second)):
        for word, (x, y) in zip(tree.words, places):
            parts.append(f'<text x="{x:.1f}" y="{y + 24:.1f}" text-anchor="middle">{escape(word)}</text>\n')
    x, bottom = 16.0, base + 140
    for label, colour in zip(labels, colours):
        parts.append(f'<rect x="{x:.1f}" y="{bottom - 24:.1f}" width="12" height="12" fill="{colour}"/>\n')
        parts.append(f'<text x="{x + 18:.1f}" y="{bottom - 13:.1f}">{escape(label)}</text>\n')
        x += 36 + _X * _width(label)
    return _picture(max(width, x) + 16, bottom, parts)


def _stripes(x: float, y: float, shares: Sequence[float], colours: Sequence[str]) -> list[str]:
    best = max(range(len(shares)), key=shares.__getitem__)
    parts = [f'<rect x="{x - 15:.1f}" y="{y - 8:.1f}" width="30" height="16" fill="white" '
             f'stroke="{colours[best]}" stroke-width="2"/>\n']  # fmt: skip
    height = 14.0 / len(shares)
    for i, (share, colour) in enumerate(zip(shares, colours)):
        parts.append(
            f'<rect x="{x - 14:.1f}" y="{y - 7 + i * height:.2f}" width="{28 * min(max(share, 0.0), 1.0):.1f}" '
            f'height="{height:.2f}" fill="{colour}"/>\n'
        )
    return parts


def _places(tree: BinaryTree, left: float, base: float) -> tuple[list[tuple[float, float]], float]:
    """Where each node is, and where the tree ends."""
    places = []
    for word in tree.words:
        width = max(_X * _width(word) + 14, 40)
        places.append((left + width / 2, base))
        left += width
    heights = tree.heights
    for node, (a, b) in enumerate(tree.parts, start=len(tree)):
        places.append(((places[a][0] + places[b][0]) / 2, base - heights[node] * _LEVEL))
    return places, left


def _branches(tree: BinaryTree, places: Sequence[tuple[float, float]]) -> list[str]:
    return [
        f'<line x1="{places[node][0]:.1f}" y1="{places[node][1]:.1f}" x2="{places[part][0]:.1f}" '
        f'y2="{places[part][1]:.1f}" stroke="#999999"/>\n'
        for node, both in enumerate(tree.parts, start=len(tree))
        for part in both
    ]


def _picture(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{_SIZE}">\n'
        f"{''.join(parts)}</svg>\n"
    )


def _width(text: str) -> int:
    """Columns in a terminal: wide letters, as of Chinese, count twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
