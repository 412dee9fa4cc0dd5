"""Templates of parts: which atoms are seen together, in a text that users can change.

A part is what a score is a sum of: an action in a state of a parser, an arc, a pair of arcs. Each line is a template,
the terms of which are separated by blanks:

    s0.word s0.upos n0.upos       the word and the tag of the token on top of the stack, and the tag of the next token
    s0.left.label                 the label of the leftmost dependent of the token on top
    h.upos m.upos direction       tags of a head and its dependent, and on which side that is

A term is an atom of an address, `address.atom`, or one that has no address. Which addresses there are, the structure
says; the atoms of tokens are those of `margent.features.token_atoms`. Lines that are empty or begin with # are skipped,
and what follows " #" in a line is a comment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from margent.errors import CorpusError
from margent.features.token_atoms import ATOM_NAMES, is_token_atom

MOST_TERMS = 8
"""No template joins more atoms."""


@dataclass(frozen=True)
class Term:
    """One atom: of the token or node at an address, or, without one, of the part as a whole."""

    address: str | None
    atom: str

    def __str__(self) -> str:
        return self.atom if self.address is None else f"{self.address}.{self.atom}"


@dataclass(frozen=True)
class PartVocabulary:
    """What templates of one structure may name.

    addresses : by address, the atoms that its node has besides those of tokens: {"s0": ("label",), "n0": ()}
    bare : atoms without an address: ("direction", "distance")
    """

    addresses: Mapping[str, Collection[str]]
    bare: Collection[str] = ()


@dataclass(frozen=True)
class PartTemplates:
    """Parsed templates, in the order of their lines: each a tuple of terms.

    >>> vocabulary = PartVocabulary({"h": (), "m": ()}, ("direction",))
    >>> templates = PartTemplates.parse("h.upos m.word  # a pair\\ndirection m.upos", vocabulary)
    >>> [str(term) for term in templates.templates[0]], templates.token_atoms
    (['h.upos', 'm.word'], ('upos', 'word'))
    """

    templates: tuple[tuple[Term, ...], ...]

    def __len__(self) -> int:
        return len(self.templates)

    @classmethod
    def parse(
        cls, text: str | Iterable[str], vocabulary: PartVocabulary, *, source: str = "templates"
    ) -> PartTemplates:
        """From text or its lines; `source`: what error messages call it. CorpusError for what cannot be read."""
        lines = text.splitlines() if isinstance(text, str) else list(text)
        found: dict[frozenset[Term], int] = {}
        templates = []
        for number, line in enumerate(lines, start=1):
            where = f"{source}, line {number}"
            if not isinstance(line, str):
                raise TypeError(f"{where}: templates should be lines of text, got {line!r}")
            words = _without_comment(line).split()
            if not words:
                continue
            terms = tuple(_term(word, vocabulary, where) for word in words)
            if len(terms) > MOST_TERMS:
                raise CorpusError(f"{where}: expected at most {MOST_TERMS} atoms in a template, got {len(terms)}")
            if len(set(terms)) < len(terms):
                raise CorpusError(f"{where}: expected different atoms in a template, got {' '.join(words)!r}")
            first = found.setdefault(frozenset(terms), number)
            if first != number:
                raise CorpusError(f"{where}: {' '.join(words)!r} is the template of line {first} again")
            templates.append(terms)
        if not templates:
            raise CorpusError(f"{source}: expected at least one template, such as {_example(vocabulary)!r}, got none")
        return cls(tuple(templates))

    @property
    def lines(self) -> list[str]:
        """The templates as text again, without comments."""
        return [" ".join(map(str, terms)) for terms in self.templates]

    @property
    def token_atoms(self) -> tuple[str, ...]:
        """The atoms of tokens that are needed, in the order in which they are first named: for `TokenAtoms`."""
        return tuple(
            dict.fromkeys(
                term.atom
                for terms in self.templates
                for term in terms
                if term.address is not None and is_token_atom(term.atom)
            )
        )


def _without_comment(line: str) -> str:
    stripped = line.strip()
    return "" if stripped.startswith("#") else stripped.split(" #")[0]


def _term(word: str, vocabulary: PartVocabulary, where: str) -> Term:
    """`s0.left.label` is the atom `label` of the address `s0.left`: the longest address that it begins with."""
    if word in vocabulary.bare:
        return Term(None, word)
    address = max((name for name in vocabulary.addresses if word.startswith(f"{name}.")), key=len, default=None)
    if address is None:
        bare = f", or {', '.join(vocabulary.bare)}" if vocabulary.bare else ""
        raise CorpusError(
            f"{where}: {word!r} begins with no known address; expected an atom of {', '.join(vocabulary.addresses)}, "
            f"such as {_example(vocabulary)!r}{bare}"
        )
    atom = word[len(address) + 1 :]
    own = vocabulary.addresses[address]
    if atom not in own and not is_token_atom(atom):
        raise CorpusError(
            f"{where}: {word!r} names no atom of {address!r}; expected one of {', '.join((*own, *ATOM_NAMES))}"
        )
    return Term(address, atom)


def _example(vocabulary: PartVocabulary) -> str:
    return f"{next(iter(vocabulary.addresses))}.word"
