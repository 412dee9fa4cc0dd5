"""Readable names of the features of a tree's parts."""

from __future__ import annotations

from collections.abc import Sequence

from margent.features.encoded import IntArray
from margent.features.part_templates import Term
from margent.features.token_atoms import TokenAtoms
from margent.models.parser.graph.templates import NODES, OTHER_LABELS, place_of


def feature_name(
    terms: Sequence[Term],
    part: tuple[int, int, int, int, int],
    value: int,
    atoms: TokenAtoms,
    words: IntArray,
    labels: Sequence[str],
) -> str:
    """`h.upos=VERB m.upos=NOUN direction=right`: a template with what it finds in one sentence.

    part : head, modifier, the sibling (0: none) or the grandparent, the label, and that of the other arc (-1: none)
    value : of the atom between
    words : (n, A) the atoms of the sentence
    """
    head, modifier, third, label, other_label = part
    kinds = {NODES[place[0]] for term in terms if term.address and (place := place_of(term.address))}
    nodes = {"h": head, "m": modifier, "s": third, "g": third}
    column = {name: i for i, name in enumerate(atoms.names)}

    def seen(term: Term) -> str:
        if term.address is None:
            if term.atom == "label":
                return labels[label]
            outward = "right" if head < modifier else "left"
            if term.atom == "direction":
                return f"{'right' if third < head else 'left'},{outward}" if "g" in kinds else outward
            near = third if "s" in kinds and third else head
            return str(abs(near - modifier))
        place = place_of(term.address)
        if place is None:
            return atoms.name(column[term.atom], value)
        node = NODES[place[0]]
        if node == "s" and third == 0:
            return "(none)"
        if term in OTHER_LABELS:
            return labels[other_label]
        at = nodes[node] + place[1]
        if at <= 0 or at > len(words):
            return "(root)" if at == 0 else "(outside)"
        return atoms.name(column[term.atom], int(words[at - 1, column[term.atom]]))

    return " ".join(f"{term}={seen(term)}" for term in terms)
