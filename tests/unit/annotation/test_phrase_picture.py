from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from tests.unit.phrase_trees import trees

from margent.annotation import PhraseTree, phrase_svg, phrase_text


@given(trees())
def test_every_phrase_and_word_is_in_the_pictures(tree):
    lines = phrase_text(tree).splitlines()
    assert len(lines) == len(tree.phrases) + len(tree)
    assert [line.split()[-1] for line in lines if line.endswith(tree.words)] != []
    picture = ElementTree.fromstring(phrase_svg(tree))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert sorted(texts) == sorted([*(span.label for span in tree.phrases), *tree.tags, *tree.words])
    parts = sum(map(len, tree.children()))
    assert sum(element.tag.endswith("line") for element in picture.iter()) == parts


def test_what_svg_must_escape():
    tree = PhraseTree(["<&>", "中文"], ["N", "N"], [(0, 2, "S")])
    assert "&lt;&amp;&gt;" in phrase_svg(tree)
    assert phrase_text(PhraseTree(["rain"], ["NN"])) == "NN rain\n"
