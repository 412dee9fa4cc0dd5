"""Derivations as pictures: as text, and as SVG with the source above and the translation below."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from margent.models.translator.answers import DerivationNode

_WIDTH, _ROW, _MARGIN = 9, 44, 20  # of a character, of a level, around the picture


def drawn(root: DerivationNode) -> str:
    """A tree of rules, indented, with the words that each covers.

    >>> leaf = DerivationNode("X -> Haus , house", 1, 2, ("house",), (), (1,))
    >>> print(drawn(DerivationNode("X -> das [X,1] , the [X,1]", 0, 2, ("the", leaf), (leaf,), (0,))))
    [0:2]  X -> das [X,1] , the [X,1]  = the house
      [1:2]  X -> Haus , house  = house
    """
    lines = []
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        lines.append(f"{'  ' * depth}[{node.begin}:{node.end}]  {node.rule}  = {' '.join(node.words)}")
        stack.extend((part, depth + 1) for part in reversed(node.parts))
    return "\n".join(lines)


def derivation_svg(root: DerivationNode, words: Sequence[str]) -> str:
    """The tree of the source above, that of the translation below it, each rule between its words on both sides.

    words : of the source sentence
    """
    sources = _Side([str(word) for word in words])
    targets = _Side(root.words)
    depth = _level(root)
    height = 2 * _MARGIN + _ROW * (2 * depth + 3)
    middle = _MARGIN + _ROW * (depth + 1)
    width = 2 * _MARGIN + max(sources.width, targets.width)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="14" text-anchor="middle">',
        f"<title>{escape(' '.join(words))} = {escape(' '.join(root.words))}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, word in enumerate(sources.words):
        parts.append(f'<text x="{sources.at(place)}" y="{middle}">{escape(word)}</text>')
    for place, word in enumerate(targets.words):
        parts.append(f'<text x="{targets.at(place)}" y="{middle + _ROW}">{escape(word)}</text>')
    _draw(root, 0, sources, targets, middle, parts)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Side:
    """Where words stand."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.centres, x = [], float(_MARGIN)
        for word in words:
            span = _WIDTH * (len(word) + 2 + sum(ord(letter) > 0x2E80 for letter in word))
            self.centres.append(x + span / 2)
            x += span
        self.width = round(x)

    def at(self, place: int) -> float:
        return round(self.centres[place], 1)


def _level(node: DerivationNode) -> int:
    """How far from the words it stands."""
    return 1 + max(map(_level, node.parts), default=0)


def _draw(
    node: DerivationNode, first: int, sources: _Side, targets: _Side, middle: float, out: list[str]
) -> tuple[float, float]:
    """Draws a node, whose translation begins with target word `first`, and what is under it; where it stands on both
    sides."""
    level = _level(node)
    above, below = middle - 18 - _ROW * (level - 0.6), middle + _ROW + 10 + _ROW * (level - 0.6)
    ups, downs = [sources.at(place) for place in node.places], []
    hung: list[tuple[tuple[float, float], DerivationNode]] = []
    at = first
    for symbol in node.target:
        if isinstance(symbol, str):
            downs.append(targets.at(at))
            at += 1
        else:
            hung.append((_draw(symbol, at, sources, targets, middle, out), symbol))
            at += len(symbol.words)
    x_above = _mean([*ups, *(place for (place, _), _ in hung)])
    x_below = _mean([*downs, *(place for (_, place), _ in hung)])
    lines = [(x_above, above, x, middle - 14.0) for x in ups]
    lines += [(x_below, below, x, middle + _ROW + 6.0) for x in downs]
    for (x, other), part in hung:
        down = _ROW * (level - _level(part))
        lines += [(x_above, above, x, above + down - 12), (x_below, below, other, below - down + 4)]
    for x, y, to_x, to_y in lines:
        out.append(f'<line x1="{x}" y1="{y:.1f}" x2="{to_x}" y2="{to_y:.1f}" stroke="#999"/>')
    name = node.rule.partition(" ")[0]
    for x, y in ((x_above, above), (x_below, below)):
        out.append(f'<circle cx="{x}" cy="{y:.1f}" r="11" fill="white"><title>{escape(node.rule)}</title></circle>')
        out.append(f'<text x="{x}" y="{y + 5:.1f}">{escape(name)}</text>')
    return x_above, x_below


def _mean(places: Sequence[float]) -> float:
    return round(sum(places) / max(len(places), 1), 1)
