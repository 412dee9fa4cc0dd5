"""Templates of the parts of a dependency tree: from their text to what native code reads.

Addresses are h, the head of an arc, m, its modifier, s, the next modifier of h between the two, if there is one, and g,
the head of h; h-1 and the like are neighbours. `between` are the words from h to m: a feature for each different value.
Bare atoms are `direction`, on which sides of each other the words are, `distance` in classes, and `label`, that of the
arc from h to m; `s.label` and `h.label` are the labels of the arcs into s and into h.

A template with s is of siblings, one with g or h.label of grandparents, all others of an arc alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources

from margent import _core
from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates, PartVocabulary, Term
from margent.storage import ModelFile

PRESETS = ("arcs",)
"""Templates that come with the library."""

FARTHEST = 3
"""Neighbours of a word that have an address."""

NODES = ("h", "m", "s", "g")
ARC, SIBLING, GRANDPARENT = range(3)
"""Kinds of parts, as core/arcs/part_templates.hpp numbers them."""

_PLACES = {
    f"{node}{offset:+d}" if offset else node: (number, offset)
    for number, node in enumerate(NODES)
    for offset in range(-FARTHEST, FARTHEST + 1)
}
H_LABEL = Term("h", "label")
OTHER_LABELS = (Term("s", "label"), H_LABEL)
VOCABULARY = PartVocabulary(
    {**dict.fromkeys(_PLACES, ()), "between": (), "s": ("label",), "h": ("label",)}, ("direction", "distance", "label")
)

NativeTemplate = tuple[int, list[tuple[int, int, int]], bool, bool, bool, bool, int]


@cache
def preset(name: str) -> PartTemplates:
    """The templates of the file `name`.txt beside this module."""
    text = (resources.files("margent.models.parser.graph") / f"{name}.txt").read_text(encoding="utf-8")
    return PartTemplates.parse(text, VOCABULARY, source=f"{name}.txt")


def part_kind(terms: Sequence[Term]) -> int:
    """Of which part a template is; CorpusError for one that no part has."""
    nodes = {"g" if term == H_LABEL else NODES[_PLACES[term.address][0]] for term in terms if term.address in _PLACES}
    between = [term for term in terms if term.address == "between"]
    text = " ".join(map(str, terms))
    if {"s", "g"} <= nodes:
        raise CorpusError(f"the template {text!r} has s and g; expected one of them, as no part has both")
    second = nodes & {"s", "g"}
    if second and between:
        raise CorpusError(f"the template {text!r} has {min(second)}; expected no `between` with it")
    if len(between) > 1:
        raise CorpusError(f"the template {text!r} looks between the words twice; expected one atom of `between`")
    return SIBLING if "s" in second else GRANDPARENT if second else ARC


def of_order(templates: PartTemplates, order: int) -> PartTemplates:
    """With order 1 the templates of single arcs alone."""
    return PartTemplates(tuple(terms for terms in templates.templates if part_kind(terms) == ARC or order > 1))


def native_templates(templates: PartTemplates, atoms: Sequence[str]) -> _core.PartTemplates:
    """For words that have these atoms as their columns."""
    column = {name: i for i, name in enumerate(atoms)}
    given: list[NativeTemplate] = []
    for terms in templates.templates:
        bare = {term.atom for term in terms if term.address is None}
        seen = [term for term in terms if term not in OTHER_LABELS]
        places = [(*_PLACES[term.address], column[term.atom]) for term in seen if term.address in _PLACES]
        between = [column[term.atom] for term in seen if term.address == "between"]
        flags = ("direction" in bare, "distance" in bare, "label" in bare, len(seen) < len(terms))
        given.append((part_kind(terms), places, *flags, (*between, -1)[0]))
    return _core.PartTemplates(given, len(atoms))


def place_of(address: str) -> tuple[int, int] | None:
    """(number of the node, offset) of an address; None for `between`."""
    return _PLACES.get(address)


def restored_templates(file: ModelFile, key: str, atoms: Collection[str]) -> PartTemplates:
    """The templates in the header of a model file, which should ask for these atoms alone."""
    try:
        templates = PartTemplates.parse(file.texts(key), VOCABULARY, source=f"its {key}")
        for terms in templates.templates:
            part_kind(terms)
    except CorpusError as error:
        raise file.error(str(error)) from None
    if not set(templates.token_atoms) <= set(atoms):
        raise file.error(f"its {key} should ask for the atoms that it has")
    return templates
