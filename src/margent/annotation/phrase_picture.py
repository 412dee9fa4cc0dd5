"""Pictures of phrase-structure trees: as text for a terminal, and as SVG."""

from __future__ import annotations

import unicodedata
from html import escape

from margent.annotation.phrase_tree import PhraseTree

_X, _Y, _SIZE = 8.5, 44, 14


def phrase_text(tree: PhraseTree) -> str:
    """The tree as lines of text, a phrase or word on each, indented by their depth.

    >>> print(phrase_text(PhraseTree.from_brackets("(S (NP (PRP It)) (VP (VBZ works)))")), end="")
    S
    ├── NP
    │   └── PRP It
    └── VP
        └── VBZ works
    """
    lines: list[str] = []
    children = tree.children()
    roots = [0] if tree.phrases else [~i for i in range(len(tree))]
    stack: list[tuple[int, str, str]] = [(part, "", "") for part in reversed(roots)]
    while stack:
        part, before, below = stack.pop()
        if part < 0:
            lines.append(f"{before}{tree.tags[~part]} {tree.words[~part]}")
            continue
        lines.append(f"{before}{tree.phrases[part].label}")
        parts = children[part]
        for place, child in reversed(list(enumerate(parts))):
            last = place == len(parts) - 1
            stack.append((child, f"{below}{'└── ' if last else '├── '}", f"{below}{'    ' if last else '│   '}"))
    return "".join(f"{line}\n" for line in lines)


def phrase_svg(*trees: PhraseTree) -> str:
    """Trees as one picture, below each other: words in a row, each phrase above the middle of its parts. O(n)."""
    drawn = [_drawn(tree) for tree in trees]
    width, top, groups = max([each[0] for each in drawn], default=0.0), 0.0, list[str]()
    for _, height, lines, texts in drawn:
        groups.append(
            f'<g transform="translate(0 {top:.0f})">\n<g stroke="#888888">\n{lines}</g>\n'
            f'<g fill="currentColor">\n{texts}</g>\n</g>\n'
        )
        top += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{top:.0f}" font-family="sans-serif" '
        f'font-size="{_SIZE}" stroke-width="1">\n{"".join(groups)}</svg>\n'
    )


def _drawn(tree: PhraseTree) -> tuple[float, float, str, str]:
    """Width and height of one tree, its lines and its texts."""
    widths = [max(_width(word), _width(tag)) * _X + 24 for word, tag in zip(tree.words, tree.tags)]
    left = 0.0
    middles: list[float] = []
    for width in widths:
        middles.append(left + width / 2)
        left += width
    children = tree.children()
    heights, centres = [0] * len(tree.phrases), [0.0] * len(tree.phrases)
    for number in range(len(tree.phrases) - 1, -1, -1):
        parts = children[number]
        heights[number] = 1 + max([heights[part] for part in parts if part >= 0], default=0)
        ends = [middles[~part] if part < 0 else centres[part] for part in (parts[0], parts[-1])]
        centres[number] = sum(ends) / 2
    top = max(heights, default=0)
    bottom = 24 + (top + 1) * _Y
    lines: list[str] = []
    texts: list[str] = []

    def text(x: float, y: float, content: str, weight: str = "normal") -> None:
        texts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-weight="{weight}">{escape(content)}</text>\n'
        )

    def line(x: float, y: float, to_x: float, to_y: float) -> None:
        lines.append(f'<line x1="{x:.1f}" y1="{y + 5:.1f}" x2="{to_x:.1f}" y2="{to_y - _SIZE:.1f}"/>\n')

    for number, parts in enumerate(children):
        y = 24 + (top - heights[number]) * _Y
        text(centres[number], y, tree.phrases[number].label, "bold")
        for part in parts:
            to = (middles[~part], 24 + top * _Y) if part < 0 else (centres[part], 24 + (top - heights[part]) * _Y)
            line(centres[number], y, *to)
    for middle, word, tag in zip(middles, tree.words, tree.tags):
        text(middle, bottom - _Y, tag)
        text(middle, bottom - _Y + 20, word, "bold")
    return left, bottom, "".join(lines), "".join(texts)


def _width(text: str) -> int:
    """Columns in a terminal: wide letters, as of Chinese, count twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
