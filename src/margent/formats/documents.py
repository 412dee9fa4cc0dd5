"""An annotated text: its characters, its tokens, and a label for each token."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from margent.annotation import schemes

Offsets: TypeAlias = "list[tuple[int, int]]"

_PIECE = re.compile(r"\w+|[^\w\s]")
_JOINERS = "\u200c\u200d"  # zero width: they bind letters of Persian and Indic words, and parts of one emoji


def word_offsets(text: str) -> Offsets:
    """Start and end of each word and each other visible character; blanks are left out.

    A word is a run of letters, digits and underscores with the combining marks that belong to them.

    >>> word_offsets("Ann's cat!")
    [(0, 3), (3, 4), (4, 5), (6, 9), (9, 10)]
    """
    offsets: Offsets = []
    binds = False  # whether the last piece ended with a mark, so that letters after it belong to it
    for match in _PIECE.finditer(text):
        start, end = match.span()
        mark = text[start] in _JOINERS or unicodedata.category(text[start]).startswith("M")
        if offsets and offsets[-1][1] == start and (mark or binds):
            offsets[-1] = (offsets[-1][0], end)
        else:
            offsets.append((start, end))
        binds = mark
    return offsets


def character_offsets(text: str) -> Offsets:
    """Start and end of each character that is not a blank: the tokens for scripts without spaces between words."""
    return [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]


@dataclass(frozen=True)
class Document:
    """A text, its tokens, and a label for each token.

    Attributes
    ----------
    text : str
    offsets : list of (start, end)
        Where in the text each token stands.
    labels : list of str, or None
        None where the text was not annotated.
    record : dict, or None
        The JSON object that it was read from.
    """

    text: str
    offsets: Offsets
    labels: list[str] | None = None
    record: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def tokens(self) -> list[str]:
        return [self.text[start:end] for start, end in self.offsets]

    @classmethod
    def from_tokens(cls, tokens: Sequence[str], labels: Sequence[str] | None = None) -> Document:
        """The tokens with a space between any two."""
        offsets, position = [], 0
        for token in tokens:
            offsets.append((position, position + len(token)))
            position += len(token) + 1
        return cls(" ".join(tokens), offsets, None if labels is None else list(labels))

    def with_labels(self, labels: Sequence[str]) -> Document:
        """The same text with other labels."""
        return replace(self, labels=list(labels))

    def spans(self, scheme: str | None = None) -> list[schemes.Span]:
        """The labelled spans, in characters of the text; `scheme` is how the labels are read, as in `schemes.spans`."""
        return [
            schemes.Span(self.offsets[start][0], self.offsets[end - 1][1], label)
            for start, end, label in schemes.spans(self.labels or [], scheme)
        ]
