"""Pictures of alignments and of relations: what is in them, and what is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from margent.annotation import BinaryTree, alignment_svg, composition_svg
from margent.errors import CorpusError

PREMISE = BinaryTree.from_brackets("( ( a <b> ) c )")
HYPOTHESIS = BinaryTree.from_brackets("( d 日本 )")
WORDS = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.2, 0.2, 0.6]])
NODES = np.eye(3, 6)


def elements(picture: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(picture).iter(f"{{http://www.w3.org/2000/svg}}{name}"))


def test_an_alignment_is_a_matrix_of_words():
    picture = alignment_svg(PREMISE, HYPOTHESIS, WORDS)
    assert len(elements(picture, "rect")) == 2 * 4
    assert {text.text for text in elements(picture, "text")} == {"a", "<b>", "c", "(nothing)", "d", "日本"}
    darkest = min(elements(picture, "rect"), key=lambda rect: int(rect.get("fill", "")[4:].split(",")[0]))
    assert darkest[0].text == "d -- a: 0.700"
    whole = np.column_stack([np.zeros((3, 5)), np.ones(3)])  # all nodes: words are taken
    assert len(elements(alignment_svg(PREMISE, HYPOTHESIS, whole), "rect")) == 2 * 4
    with pytest.raises(CorpusError, match="at least 2 rows and 4 columns"):
        alignment_svg(PREMISE, HYPOTHESIS, WORDS[:, :3])


def test_relations_are_stripes_with_a_frame():
    relations = np.array([[0.1, 0.9], [0.8, 0.2], [0.7, 0.3]])
    picture = composition_svg(PREMISE, HYPOTHESIS, NODES, relations, ["contradiction", "mine"])
    frames = [rect for rect in elements(picture, "rect") if rect.get("stroke-width") == "2"]
    assert [frame.get("stroke") for frame in frames] == ["#c7812c", "#c23b3b", "#c23b3b"]
    assert len(elements(picture, "path")) == 3 and len(elements(picture, "line")) == 4 + 2
    words = composition_svg(PREMISE, HYPOTHESIS, WORDS, relations, ["contradiction", "mine"])
    assert len(elements(words, "path")) == 1  # the other word is aligned to nothing, the phrase not at all
    with pytest.raises(CorpusError, match=r"relations of shape \(3, 2\)"):
        composition_svg(PREMISE, HYPOTHESIS, NODES, relations[:2], ["a", "b"])
