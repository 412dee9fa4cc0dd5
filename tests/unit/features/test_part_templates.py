"""The text of templates of parts: what is read, and each way in which it can be wrong."""

from __future__ import annotations

import pytest

from margent import CorpusError
from margent.features.part_templates import PartTemplates, PartVocabulary, Term

VOCABULARY = PartVocabulary({"s0": ("label", "valency"), "s0.left": ("label",), "n0": ()}, ("distance", "direction"))


def test_terms_comments_and_blank_lines() -> None:
    text = "# the top\ns0.word s0.upos\n\n  s0.left.label n0.feat.Case distance # a comment\ns0.left.upos\n"
    templates = PartTemplates.parse(text, VOCABULARY)
    assert templates.templates[1] == (Term("s0.left", "label"), Term("n0", "feat.Case"), Term(None, "distance"))
    assert templates.lines == ["s0.word s0.upos", "s0.left.label n0.feat.Case distance", "s0.left.upos"]
    assert templates.token_atoms == ("word", "upos", "feat.Case")
    assert PartTemplates.parse(templates.lines, VOCABULARY) == templates and len(templates) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n# nothing", "mine: expected at least one template, such as 's0.word', got none"),
        ("s0.word\ns0.wrod", "mine, line 2: 's0.wrod' names no atom of 's0'; expected one of label, valency, word"),
        ("s0.word\nn0.label", "mine, line 2: 'n0.label' names no atom of 'n0'"),
        ("b0.word", "mine, line 1: 'b0.word' begins with no known address; expected an atom of s0, s0.left, n0"),
        ("word", "mine, line 1: 'word' begins with no known address"),
        ("s0.word s0.word", "mine, line 1: expected different atoms"),
        ("s0.word n0.word\n\nn0.word s0.word", "mine, line 3: 'n0.word s0.word' is the template of line 1 again"),
        (" ".join(f"s0.prefix{i} s0.suffix{i}" for i in range(1, 6)), "mine, line 1: expected at most 8 atoms"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        PartTemplates.parse(text, VOCABULARY, source="mine")


def test_lines_must_be_text() -> None:
    with pytest.raises(TypeError, match="mine, line 1: templates should be lines of text, got 7"):
        PartTemplates.parse([7], VOCABULARY, source="mine")  # type: ignore[list-item]
