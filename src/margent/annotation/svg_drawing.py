"""Dependency trees as pictures in SVG: words in a line, arcs above them, one tree below the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.text_drawing import arc_levels, clean_word, columns_of
from margent.errors import CorpusError

_LETTER, _STEP, _MARGIN, _GAP = 8.4, 22.0, 16.0, 26.0
_LINE = 20.0
_INK, _PALE, _BLUE = "#333333", "#777777", "#2b6ca3"


def tree_svg(
    trees: Iterable[DependencyTree], words: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
) -> str:
    """A picture of one or more trees, as the text of an SVG file.

    words : of each tree; tags : what is written below them, or None

    >>> tree = DependencyTree([2, 0], ["nsubj", "root"])
    >>> picture = tree_svg([tree], [["She", "reads"]], [["PRON", "VERB"]])
    >>> picture.startswith("<svg "), picture.count("<path"), "nsubj" in picture
    (True, 4, True)
    """
    parts: list[str] = []
    width = top = _MARGIN
    below = None if tags is None else iter(tags)
    for number, (tree, forms) in enumerate(zip(trees, words, strict=True)):
        under = None if below is None else next(below, None)
        for given, what in ((forms, "words"), (under, "tags")):
            if given is not None and len(given) != len(tree):
                raise CorpusError(
                    f"tree {number}: expected {len(tree)} {what}, as many as the tree has, got {len(given)}"
                )
        drawn, right, top = _tree(tree, [clean_word(word) for word in forms], under, top)
        parts += drawn
        width = max(width, right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {width:.0f} {top:.0f}" font-family="sans-serif">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{"".join(parts)}</svg>\n'
    )


def _tree(
    tree: DependencyTree, words: Sequence[str], tags: Sequence[str] | None, top: float
) -> tuple[list[str], float, float]:
    """The elements of one tree, its right edge, and where the next one begins."""
    levels = arc_levels(tree)
    height = max(levels.values(), default=0) + 1
    base = top + height * _STEP + _LINE
    centres = _centres(tree, words, tags)
    parts = []
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels), start=1):
        x = centres[word]
        if not head:
            y = base - _LINE - height * _STEP + 10
            parts.append(_line(f"M{x:.1f},{y + 4:.1f} V{base - _LINE:.1f}"))
            parts.append(_text(x, y, label, 11, _BLUE))
        else:
            level = levels[min(word, head), max(word, head)]
            side = 1 if head < word else -1
            y = base - _LINE - level * _STEP + 4
            start, end = centres[head] + 4 * side, x - 4 * side
            bow = min(8.0, abs(end - start) / 2)
            parts.append(
                _line(
                    f"M{start:.1f},{base - _LINE:.1f} V{y + bow:.1f} q0,{-bow:.1f} {side * bow:.1f},{-bow:.1f} "
                    f"H{end - side * bow:.1f} q{side * bow:.1f},0 {side * bow:.1f},{bow:.1f} V{base - _LINE:.1f}"
                )
            )
            parts.append(_text((start + end) / 2, y - 3, label, 11, _BLUE))
            x = end
        parts.append(f'<path d="M{x:.1f},{base - _LINE + 5:.1f} l-3.5,-7 h7 z" fill="{_INK}"/>\n')
        parts.append(_text(centres[word], base, words[word - 1], 14, _INK))
        if tags is not None:
            parts.append(_text(centres[word], base + 15, tags[word - 1], 10, _PALE))
    right = centres[-1] + _width(words[-1], 14) / 2 + _MARGIN if len(words) else 2 * _MARGIN
    return parts, right, base + _LINE + _MARGIN


def _centres(tree: DependencyTree, words: Sequence[str], tags: Sequence[str] | None) -> list[float]:
    """Where the middle of each word is, far enough apart for words, tags and the labels of arcs between them."""
    centres = [0.0]
    edge = _MARGIN
    for number, word in enumerate(words, start=1):
        half = max(_width(word, 14), 0.0 if tags is None else _width(tags[number - 1], 10)) / 2
        centre = edge + half
        for other, head in enumerate(tree.heads, start=1):
            if head and number == max(other, head):
                centre = max(centre, centres[min(other, head)] + _width(tree.labels[other - 1], 11) + 22)
        centres.append(centre)
        edge = centre + half + _GAP / 2
    return centres


def _width(text: str, size: float) -> float:
    return columns_of(text) * _LETTER * size / 14


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{_INK}" stroke-width="1.2"/>\n'


def _text(x: float, y: float, text: str, size: int, colour: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="middle">{escape(text)}</text>\n'
    )
