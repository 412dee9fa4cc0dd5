"""Templates of phrases: what is seen of a span of tokens and of the split between its two parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.part_templates import PartTemplates, PartVocabulary, Term

_ADDRESSES = {
    "first": (0, 0),
    "second": (0, 1),
    "last": (1, -1),
    "second_last": (1, -2),
    "before": (0, -1),
    "before2": (0, -2),
    "after": (1, 0),
    "after2": (1, 1),
    "left": (2, -1),
    "right": (2, 0),
}
"""By name what an address counts from (0: the begin of the span, 1: its end, 2: the split), and how far."""

_SEQUENCE, _LENGTHS = 3, {"length": 4, "left_length": 5, "right_length": 6}
_SEQUENCES = {"tags": "upos", "shapes": "short_shape"}
"""Bare atoms: the tokens of the span by one of their atoms; of more than six, the first three and the last three."""

SPAN_VOCABULARY = PartVocabulary(dict.fromkeys(_ADDRESSES, ()), (*_LENGTHS, *_SEQUENCES))


@dataclass(frozen=True)
class SpanTemplates:
    """Parsed templates, and the atoms of tokens that they need.

    >>> templates = SpanTemplates.of(["first.word last.upos", "tags", "left_length right_length"])
    >>> templates.atoms, len(templates)
    (('word', 'upos'), 3)
    """

    parsed: PartTemplates

    @classmethod
    def of(cls, lines: Iterable[str] | None) -> SpanTemplates:
        """Of lines of text; None: those that ship with Margent."""
        if lines is None:
            file = resources.files("margent.features") / "presets" / "phrases.txt"
            return cls(PartTemplates.parse(file.read_text(encoding="utf-8"), SPAN_VOCABULARY, source="phrases.txt"))
        return cls(PartTemplates.parse(list(lines), SPAN_VOCABULARY))

    def __len__(self) -> int:
        return len(self.parsed)

    @property
    def lines(self) -> list[str]:
        return self.parsed.lines

    @property
    def atoms(self) -> tuple[str, ...]:
        """The atoms of tokens that the templates look at, at least one."""
        bare = [_SEQUENCES[term.atom] for terms in self.parsed.templates for term in terms if term.atom in _SEQUENCES]
        return tuple(dict.fromkeys([*self.parsed.token_atoms, *bare])) or ("word",)

    def native(self) -> _core.SpanTemplates:
        rows, ptr = list[tuple[int, int, int]](), [0]
        for terms in self.parsed.templates:
            rows += map(self._row, terms)
            ptr.append(len(rows))
        return _core.SpanTemplates(np.array(rows, dtype=np.int32).reshape(-1, 3), np.array(ptr, dtype=np.int64))

    def _row(self, term: Term) -> tuple[int, int, int]:
        if term.address is not None:
            return (*_ADDRESSES[term.address], self.atoms.index(term.atom))
        if term.atom in _LENGTHS:
            return _LENGTHS[term.atom], 0, 0
        return _SEQUENCE, 0, self.atoms.index(_SEQUENCES[term.atom])

    def text(self, number: int, values: NDArray[np.object_], place: tuple[int, int, int]) -> str:
        """What a template sees at a place, to be read: `values` (n, atoms) are the atoms of the tokens as text."""
        return " ".join(self._seen(term, values, *place) for term in self.parsed.templates[number])

    def _seen(self, term: Term, values: NDArray[np.object_], begin: int, end: int, split: int) -> str:
        if term.address is not None:
            origin, offset = _ADDRESSES[term.address]
            at = (begin, end, split)[origin] + offset
            inside = 0 <= at < len(values) and (origin == 2 or (begin <= at < end) == ((offset >= 0) == (origin == 0)))
            return f"{term}={values[at, self.atoms.index(term.atom)] if inside else '-'}"
        if term.atom in _LENGTHS:
            lengths = {"length": end - begin, "left_length": split - begin, "right_length": end - split}
            return f"{term}={lengths[term.atom]}"
        tokens = values[begin:end, self.atoms.index(_SEQUENCES[term.atom])].tolist()
        return f"{term}={','.join(tokens if len(tokens) <= 6 else [*tokens[:3], '...', *tokens[-3:]])}"
