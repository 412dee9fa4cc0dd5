"""What templates of a parser of questions may name, and the templates that come with the library.

s0, s1 and s2 are the expressions on top of the stack; q0 to q3 the next words of the question, p1 to p3 those before
them, the latest first. `s0.first` and `s0.last` are the words at the edges of an expression, `s0.before` is the one
before it. Words have atoms of tokens (`margent.features.token_atoms`). An expression has

    type            its type
    name, name2     the names of its function, or of the first of its members
    names           all names in it
    size, made      how many pieces it was made of; by which action last

`action` is what is done: its `kind` (skip, shift, forward, backward, both, either, finish) and `type`, that of what it
makes; for a shift also the `piece`, its `shape` (the piece without the names), `name` and `name2`, the `constant` in
its slot, `evidence` (why the piece is a choice) and `length` in words. `depth` is the number of expressions on the
stack; `choice0` and `choice1` say how strong the best reason is for q0 and q1 to say anything. `ahead0`, `ahead1` and
`ahead2` are what the next words say most likely, without those that likely say nothing: a piece, or the type of a
constant, by what is known of words before weights are learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np

from margent import _core
from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates, PartVocabulary, Term

_EXPRESSIONS = ("s0", "s1", "s2")
_EXPRESSION_ATOMS = ("type", "name", "name2", "names", "size", "made")
_ACTION_ATOMS = ("kind", "piece", "shape", "name", "name2", "constant", "type", "evidence", "length")
_BARE = ("depth", "choice0", "choice1", "ahead0", "ahead1", "ahead2")
# The order of native code: core/meaning/question_templates.hpp.
_KINDS = (*(f"s.{atom}" for atom in _EXPRESSION_ATOMS), "token", *(f"action.{atom}" for atom in _ACTION_ATOMS), *_BARE)
_WORDS = (
    *(f"{expression}.{edge}" for expression in _EXPRESSIONS for edge in ("first", "last")),
    *(f"{expression}.before" for expression in _EXPRESSIONS),
    *("q0", "q1", "q2", "q3", "p1", "p2", "p3"),
)

VOCABULARY = PartVocabulary(
    dict.fromkeys(_WORDS, ()) | dict.fromkeys(_EXPRESSIONS, _EXPRESSION_ATOMS) | {"action": _ACTION_ATOMS}, _BARE
)
"""For `PartTemplates.parse`."""

PRICES: Mapping[str, int] = MappingProxyType(
    {
        "s0.type": 1,
        "s1.type": 1,
        "s2.type": 2,
        "s0.name": 1,
        "s1.name": 1,
        "s2.name": 2,
        "q0.lower": 1,
        "q1.lower": 1,
        "q2.lower": 2,
        "p1.lower": 1,
        "p2.lower": 2,
        "p3.lower": 2,
        "s0.first.lower": 2,
        "s0.last.lower": 2,
        "s0.before.lower": 2,
        "s1.first.lower": 2,
        "s1.last.lower": 2,
        "s0.names": 2,
        "s1.names": 2,
        "s0.made": 2,
        "depth": 2,
        "choice0": 1,
        "choice1": 2,
        "ahead0": 1,
        "ahead1": 1,
        "ahead2": 2,
    }
)
"""What each atom of a state costs; templates are the combinations within a budget (paper 003, Section 5.1.3)."""

BUDGETS: Mapping[str, int] = MappingProxyType(
    {
        "action.kind": 2,
        "action.kind action.type": 1,
        "action.piece": 2,
        "action.name": 1,
        "action.shape": 1,
        "action.constant": 1,
        "action.evidence": 1,
        "action.length": 1,
    }
)
"""With what atoms of an action these are combined, within which budget."""


def budgeted(prices: Mapping[str, int] = PRICES, budgets: Mapping[str, int] = BUDGETS, most: int = 2) -> list[str]:
    """All templates of up to `most` atoms of a state within the budget of the atoms of an action.

    >>> budgeted({"s0.type": 1, "q0.lower": 1}, {"action.kind": 1})
    ['action.kind', 's0.type action.kind', 'q0.lower action.kind']
    """
    found = []
    for action, budget in budgets.items():
        for size in range(most + 1):
            for atoms in combinations(prices, size):
                if sum(prices[atom] for atom in atoms) <= budget:
                    found.append(" ".join((*atoms, action)))
    return found


def parsed_templates(given: str | Sequence[str] | None) -> PartTemplates:
    """Of text or lines; None: those of `budgeted`. CorpusError for what cannot be read."""
    templates = PartTemplates.parse(budgeted() if given is None else given, VOCABULARY)
    for terms in templates.templates:
        for term in terms:
            own = VOCABULARY.addresses.get(term.address or "", ())
            if own and term.atom not in own:
                raise CorpusError(f"{str(term)!r} names a word; expected an atom of an expression, {', '.join(own)}")
        if not any(term.address == "action" for term in terms):
            text = " ".join(map(str, terms))
            raise CorpusError(f"the template {text!r} sees no action; expected an atom such as action.kind in it")
    return templates


def compiled(templates: PartTemplates, atoms: Sequence[str]) -> _core.QuestionTemplates:
    """For native code. atoms: the names of the columns of `EncodedTokens.atoms`."""
    order = term_order(templates)
    rows = [_code(term, atoms) for term in order]
    places = {term: place for place, term in enumerate(order)}
    return _core.QuestionTemplates(
        np.array(rows, np.int32).reshape(-1, 3),
        np.cumsum([0, *(len(terms) for terms in templates.templates)], dtype=np.int32),
        np.array([places[term] for terms in templates.templates for term in terms], np.int32),
    )


def _code(term: Term, atoms: Sequence[str]) -> tuple[int, int, int]:
    if term.address is None:
        return _KINDS.index(term.atom), 0, 0
    if term.address == "action":
        return _KINDS.index(f"action.{term.atom}"), 0, 0
    if term.address in _EXPRESSIONS:
        return _KINDS.index(f"s.{term.atom}"), _EXPRESSIONS.index(term.address), 0
    return _KINDS.index("token"), _WORDS.index(term.address), list(atoms).index(term.atom)


def term_order(templates: PartTemplates) -> list[Term]:
    """All different terms, in the order in which compiled templates number them."""
    return list(dict.fromkeys(term for template in templates.templates for term in template))
