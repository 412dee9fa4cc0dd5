"""What templates of a transition-based parser may name, and the templates that come with the library.

s0, s1, s2 and s3 are the words on top of the stack, n0 to n3 those at the front of the buffer. Of s0, s1, s2 and n0 the
outermost dependents have addresses, too: `left` is the leftmost, `left2` the one next to it, `left.left` the leftmost
of the leftmost; `right`, `right2` and `right.right` likewise; `head` is the head where it is known already (arc-eager),
`head2` the head of that. Besides atoms of tokens an address has

    label                           of the arc to its head
    left_valency, right_valency     how many dependents it has got so far at a side
    left_labels, right_labels       the set of their labels

and two atoms have no address: `distance` is that of s0 and n0, `stack_distance` that of s1 and s0, in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import numpy as np

from margent import _core
from margent.features.part_templates import PartTemplates, PartVocabulary, Term

PRESETS = ("rich", "zhang-nivre", "small")
"""Templates that can be named instead of written."""

_STACK, _BUFFER = ("s0", "s1", "s2", "s3"), ("n0", "n1", "n2", "n3")
_STEPS = {"left": 0, "left2": 1, "right": 2, "right2": 3, "head": 4}
_PATHS = ("left", "left2", "right", "right2", "left.left", "right.right")
_HEADS = ("head", "head2")
_NODE_ATOMS = ("label", "left_valency", "right_valency", "left_labels", "right_labels")
_BARE = ("distance", "stack_distance")
_KINDS = {name: number for number, name in enumerate(("", *_NODE_ATOMS, *_BARE))}  # 0: an atom of a token


def _addresses() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = dict.fromkeys((*_STACK, *_BUFFER), _NODE_ATOMS)
    for base in ("s0", "s1", "s2", "n0"):
        found |= dict.fromkeys((f"{base}.{path}" for path in _PATHS), _NODE_ATOMS)
    for base in ("s0", "s1"):
        found |= dict.fromkeys((f"{base}.{path}" for path in _HEADS), _NODE_ATOMS)
    return found


VOCABULARY = PartVocabulary(_addresses(), _BARE)
"""For `PartTemplates.parse`."""


def preset(name: str) -> str:
    """The text of the file of templates of this name."""
    file = resources.files("margent.models.parser.transitions") / "presets" / f"{name}.txt"
    return file.read_text(encoding="utf-8")


def preset_lines(name: str, system: str) -> list[str]:
    """The lines of a preset as they are for a system: those of Zhang and Nivre look at the words that arcs join."""
    if name != "zhang-nivre" or system == "arc-eager":
        return preset(name).splitlines()
    stack = preset("zhang-nivre-stack").splitlines()
    if system != "arc-hybrid":
        return stack
    both = (line for line in (*preset(name).splitlines(), *stack) if line and not line.startswith("#"))
    return list(dict.fromkeys(both))


def parsed_templates(given: str | Sequence[str] | None, system: str) -> PartTemplates:
    """Of lines, or of the preset of this name; None: "rich"."""
    if given is None or isinstance(given, str):
        name = given or "rich"
        if name not in PRESETS:
            raise ValueError(f"there are no templates named {name!r} for transitions; expected {', '.join(PRESETS)}")
        return PartTemplates.parse(preset_lines(name, system), VOCABULARY, source=f"{name}.txt")
    return PartTemplates.parse(given, VOCABULARY)


def compiled(templates: PartTemplates, atoms: Sequence[str]) -> _core.ParserTemplates:
    """For native code. atoms: the names of the columns of `EncodedTokens.atoms`."""
    addresses: dict[str, int] = {}
    codes: list[tuple[int, int]] = []

    def number(address: str) -> int:
        if address not in addresses:
            parent, _, step = address.replace("head2", "head.head").rpartition(".")
            code = (number(parent), _STEPS[step]) if parent else (-1, (*_STACK, *_BUFFER).index(address))
            addresses[address] = len(codes)
            codes.append(code)
        return addresses[address]

    terms: dict[Term, int] = {}
    rows: list[tuple[int, int, int]] = []
    ptr, of_templates = [0], []
    for template in templates.templates:
        for term in template:
            if term not in terms:
                terms[term] = len(rows)
                address = -1 if term.address is None else number(term.address)
                kind = _KINDS.get(term.atom, 0)
                rows.append((address, kind, 0 if kind else list(atoms).index(term.atom)))
            of_templates.append(terms[term])
        ptr.append(len(of_templates))
    return _core.ParserTemplates(
        np.array(codes, np.int32).reshape(-1, 2),
        np.array(rows, np.int32).reshape(-1, 3),
        np.array(ptr, np.int32),
        np.array(of_templates, np.int32),
    )


def term_order(templates: PartTemplates) -> list[Term]:
    """All different terms, in the order in which compiled templates number them."""
    return list(dict.fromkeys(term for template in templates.templates for term in template))
