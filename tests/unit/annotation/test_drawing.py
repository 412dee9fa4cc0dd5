"""Pictures of trees: what is drawn can be read back, in text and in SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent import CorpusError
from margent.annotation import DependencyTree, tree_svg, tree_text
from margent.annotation.text_drawing import arc_levels, columns_of

UP, DOWN, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)
JOINED = {
    "─": {LEFT, RIGHT},
    "│": {UP, DOWN},
    "╭": {DOWN, RIGHT},
    "╮": {DOWN, LEFT},
    "┼": {UP, DOWN, LEFT, RIGHT},
    "▼": {UP},
}


@st.composite
def trees(draw: st.DrawFn) -> DependencyTree:
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = draw(st.sampled_from(order[:i]))
    return DependencyTree(heads, draw(st.lists(st.sampled_from(["a", "nsubj", "obl:tmod"]), min_size=n, max_size=n)))


def word_at(starts: list[int], column: int) -> int:
    """The word, counted from 1, below which a column is."""
    return max(number for number, start in enumerate(starts, start=1) if start <= column)


@given(trees().filter(DependencyTree.is_projective))  # where arcs cross, a label may lie over another arc
def test_arcs_above_lead_from_each_word_to_its_head(tree: DependencyTree) -> None:
    words = [f"w{i}" for i in range(len(tree))]
    *rows, line = tree_text(tree, words, width=None).splitlines()
    starts = [line.index(word) for word in words]
    width = max(map(len, rows))
    rows = [row.ljust(width) for row in rows]
    found, labels = [0] * len(tree), [""] * len(tree)
    for arrow in [x for x, cell in enumerate(rows[-1]) if cell == "▼"]:
        word = word_at(starts, arrow)
        y = len(rows) - 1
        while y > 0 and rows[y][arrow] not in "╭╮" and not rows[y][arrow].isalpha():
            y -= 1
        if rows[y][arrow].isalpha():  # the label of the root
            labels[word - 1] = rows[y][arrow:].split(" ")[0]
            continue
        step = 1 if rows[y][arrow] == "╭" else -1
        end = arrow + step
        while rows[y][end] not in "╭╮":
            end += step
        found[word - 1] = word_at(starts, end)
        labels[word - 1] = "".join(c for c in rows[y][min(arrow, end) : max(arrow, end)] if c not in JOINED)
    assert found == list(tree.heads)
    assert all(label == name for label, name in zip(labels, tree.labels))


@given(trees())
def test_arcs_that_overlap_are_at_different_heights(tree: DependencyTree) -> None:
    levels = arc_levels(tree)
    for (a, b), level in levels.items():
        for (c, d), other in levels.items():
            assert (a, b) == (c, d) or level != other or b <= c or d <= a


def test_long_sentences_have_a_line_for_each_word() -> None:
    tree = DependencyTree([2, 0, 4, 2], ["nsubj", "root", "det", "obj"])
    assert tree_text(tree, ["She", "reads", "a", "book"], width=12).splitlines() == [
        "  ╭─► She    nsubj of reads",
        " ╭┴─  reads  root",
        " │╭─► a      det of book",
        " ╰┴─► book   obj of reads",
    ]


def test_words_of_any_kind() -> None:
    text = tree_text(DependencyTree([0, 1, 1], ["root", "a", "b"]), ["漢字", "e\u0301", "a\nb"])
    arrows, line = text.splitlines()[-2:]
    assert line.split() == ["漢字", "e\u0301", "a", "b"]
    assert [columns_of(line[: line.index(word)]) for word in ("漢字", "e", "a b")] == [
        0,
        arrows.index("▼", 1),
        arrows.rindex("▼"),
    ]
    assert tree_text(DependencyTree([]), []) == "\n"
    assert tree_text(DependencyTree([0], ["root"]), ["x"], ascii_only=True).isascii()
    with pytest.raises(CorpusError, match="expected 1 words, as many as the tree has, got 2"):
        tree_text(DependencyTree([0]), ["a", "b"])


@given(trees())
def test_svg_has_all_words_labels_and_arcs(tree: DependencyTree) -> None:
    words = [f"<w{i}&" for i in range(len(tree))]
    picture = ElementTree.fromstring(tree_svg([tree, tree], [words, words], [["T"] * len(tree)] * 2))
    name = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in picture.iter(f"{name}text")]
    assert sorted(map(str, texts)) == sorted([*words, *tree.labels, *["T"] * len(tree)] * 2)
    assert len([*picture.iter(f"{name}path")]) == 2 * 2 * len(tree)  # a line and an arrow for each word
    width = float(picture.attrib["width"])
    assert all(0 <= float(element.attrib["x"]) <= width for element in picture.iter(f"{name}text"))


def test_svg_refuses_what_does_not_fit() -> None:
    with pytest.raises(CorpusError, match="tree 0: expected 1 tags, as many as the tree has, got 0"):
        tree_svg([DependencyTree([0])], [["a"]], [[]])
