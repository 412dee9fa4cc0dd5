"""Dependency trees as pictures made of text: arcs above the words, or, of long sentences, beside them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from margent.annotation.dependency_tree import DependencyTree
from margent.errors import CorpusError

Arc = tuple[int, int]
"""The left and the right end of an arc, as word numbers."""

_ASCII = str.maketrans("─│╭╮╰╯┬┴┼├┤▼►", "-|..''+++++v>")
# By the sides on which a cell is joined to others: up, down, left, right.
_CELLS = {
    frozenset(sides): cell
    for cell, all_sides in {
        "│": ("ud", "u", "d"),
        "─": ("lr", "l", "r"),
        " ": ("",),
        "┼": ("udlr",),
        "╭": ("dr",),
        "╮": ("dl",),
        "╰": ("ur",),
        "╯": ("ul",),
        "┬": ("dlr",),
        "┴": ("ulr",),
        "├": ("udr",),
        "┤": ("udl",),
    }.items()
    for sides in all_sides
}


def tree_text(tree: DependencyTree, words: Sequence[str], *, width: int | None = 100, ascii_only: bool = False) -> str:
    """The tree as text of several lines, each with its end.

    Arcs go from a head to the arrow at its dependent, with the label on the way. width : what is wider than so many
    columns has a line for each word, and arcs beside them; None: always above. ascii_only : without line drawing.

    >>> tree = DependencyTree([2, 0, 2], ["nsubj", "root", "obj"])
    >>> print(tree_text(tree, ["She", "reads", "books"], ascii_only=True), end="")
           root
    .nsubj.|.obj-.
    v     |v|    v
    She   reads  books
    """
    if len(words) != len(tree):
        raise CorpusError(f"expected {len(tree)} words, as many as the tree has, got {len(words)}")
    if not len(tree):
        return "\n"
    shown = [clean_word(word) for word in words]
    text = _above(tree, shown)
    if width is not None and max(map(columns_of, text.splitlines())) > width:
        text = _beside(tree, shown)
    return text.translate(_ASCII) if ascii_only else text


def arc_levels(tree: DependencyTree) -> dict[Arc, int]:
    """How high each arc between two words is drawn, from 1: above all shorter ones that it overlaps with. O(n^2)."""
    arcs = sorted(
        ((min(w, h), max(w, h)) for w, h in enumerate(tree.heads, start=1) if h), key=lambda arc: (arc[1] - arc[0], arc)
    )
    levels: dict[Arc, int] = {}
    for left, right in arcs:
        below = [level for (a, b), level in levels.items() if a < right and left < b]
        levels[left, right] = 1 + max(below, default=0)
    return levels


def clean_word(word: str) -> str:
    """A word without characters that would break a line."""
    return "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in word) or " "


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def _legs(tree: DependencyTree) -> list[list[tuple[Arc, bool]]]:
    """Of each word the arcs that end at it, from left to right as their ends stand side by side without crossing, and
    whether it is an arrow; the one from the root, in the middle, is (0, word)."""
    legs: list[list[tuple[Arc, bool]]] = [[] for _ in range(len(tree) + 1)]
    for word, head in enumerate(tree.heads, start=1):
        arc = (min(word, head), max(word, head)) if head else (0, word)
        legs[word].append((arc, True))
        if head:
            legs[head].append((arc, False))
    for word, ends in enumerate(legs):

        def place(end: tuple[Arc, bool], word: int = word) -> tuple[int, int]:
            left, right = end[0]
            if left == 0:
                return 1, 0
            return (0, word - left) if right == word else (2, left - right)

        ends.sort(key=place)
    return legs


def _above(tree: DependencyTree, words: Sequence[str]) -> str:
    """Words in one line, arcs above it."""
    levels, legs = arc_levels(tree), _legs(tree)
    label = {(min(w, h), max(w, h)): name for w, (h, name) in enumerate(zip(tree.heads, tree.labels), start=1) if h}
    starts, column = [0], 0
    where: dict[tuple[Arc, int], int] = {}
    for number, word in enumerate(words, start=1):
        ends = legs[number]
        for i, ((left, right), _) in enumerate(ends):  # far enough from the other end for the label between them
            if right == number and left:
                column = max(column, where[(left, right), left] + columns_of(label[left, right]) + 1 - i)
        starts.append(column)
        where |= {(arc, number): column + i for i, (arc, _) in enumerate(ends)}
        column += max(columns_of(word), len(ends)) + 2
    height = max(levels.values(), default=0) + 1
    grid = _Grid(height + 1, column)
    for (left, right), level in levels.items():
        row = height - level
        a, b = where[(left, right), left], where[(left, right), right]
        grid.down(a, row, height)
        grid.down(b, row, height)
        grid.across(row, a, b)
        text = label[left, right]
        grid.mark(row, a + 1 + (b - a - 1 - columns_of(text)) // 2, text)
    for number, ends in enumerate(legs[1:], start=1):
        arc = next(arc for arc, is_arrow in ends if is_arrow)
        at = where[arc, number]
        grid.mark(height, at, "▼")
        if not arc[0]:
            grid.down(at, 1, height)
            grid.mark(0, at, tree.labels[number - 1])
    line = "".join(word + " " * (b - a - columns_of(word)) for word, a, b in zip(words, starts[1:], [*starts[2:], 0]))
    return "".join(f"{each.rstrip()}\n" for each in [*grid.lines(), line])


def _beside(tree: DependencyTree, words: Sequence[str]) -> str:
    """A line for each word, arcs to the left of it, and what it is of what behind it."""
    levels = arc_levels(tree)
    width = max(levels.values(), default=0) + 1
    grid = _Grid(len(words), width + 1)
    for (left, right), level in levels.items():
        column = width - level
        grid.down(column, left - 1, right - 1)
        for row in (left - 1, right - 1):
            grid.across(row, column, width)
    widest = max(map(columns_of, words))
    rows = []
    for drawn, word, head, name in zip(grid.lines(), words, tree.heads, tree.labels):
        arrow = "►" if head else " "
        said = f"{name} of {words[head - 1]}" if head else name
        rows.append(f"{drawn}{arrow} {word}{' ' * (widest - columns_of(word))}  {said}\n")
    return "".join(rows)


class _Grid:
    """Cells of a picture, by row and column; lines that meet are joined."""

    def __init__(self, height: int, width: int) -> None:
        self._sides: list[list[set[str]]] = [[set() for _ in range(width)] for _ in range(height)]
        self._marks: dict[tuple[int, int], str] = {}

    def down(self, x: int, first: int, last: int) -> None:
        """A line in column x from one row to another."""
        for y in range(first, last):
            self._sides[y][x].add("d")
            self._sides[y + 1][x].add("u")

    def across(self, y: int, first: int, last: int) -> None:
        """A line in row y from one column to another."""
        for x in range(first, last):
            self._sides[y][x].add("r")
            self._sides[y][x + 1].add("l")

    def mark(self, y: int, x: int, text: str) -> None:
        """Writes over what is there."""
        self._marks[y, x] = text

    def lines(self) -> list[str]:
        rows = []
        for y, sides in enumerate(self._sides):
            row = [_CELLS[frozenset(each)] for each in sides]
            for (at, x), text in sorted(self._marks.items()):
                if at == y:
                    taken = columns_of(text)
                    row += [" "] * (x + taken - len(row))
                    row[x : x + taken] = [text, *[""] * (taken - 1)] if taken else []
            rows.append("".join(row))
        return rows
