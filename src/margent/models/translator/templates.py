"""What templates of a translator may name, and the templates that come with the library.

Features look at the use of a rule in a source sentence. `span.first` and `span.last` are the first and the last word
that the rule covers, `span.before` and `span.after` the words next to them; `source.first` and `source.last` are the
same as the first two, but see only that there is a nonterminal where the rule has one. These are words of the source
and have atoms of tokens (`margent.features.token_atoms`), such as `source.first.word` or `span.after.prefix1`, its
first character.

    target.first, target.second, target.last    a word of the target side, or that there is a nonterminal
    target.length, target.shape                 of the target side: symbols; nonterminals and words in between
    rule.id, rule.source, rule.kind             the rule itself, its source side, whether a word passes through
    span_length                                 how many words the rule covers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

import numpy as np

from margent import _core
from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates, PartVocabulary, Term

_TOKENS = ("span.first", "span.last", "span.before", "span.after", "source.first", "source.last")
_OWN = {"target": ("first", "second", "last", "length", "shape"), "rule": ("id", "source", "kind")}
# The order of native code: core/translation/rule_templates.hpp.
_KINDS = (*_TOKENS, *(f"{address}.{atom}" for address, atoms in _OWN.items() for atom in atoms), "span_length")
MOST_DIFFERENT = 64
"""So many different terms all templates have at most."""

VOCABULARY = PartVocabulary({**dict.fromkeys(_TOKENS, ()), **_OWN}, ("span_length",))
"""For `PartTemplates.parse`."""

PRICES: Mapping[str, int] = MappingProxyType(
    {
        "source.first.word": 2,
        "source.last.word": 2,
        "source.first.prefix1": 2,
        "source.last.suffix1": 2,
        "span.before.word": 3,
        "span.after.word": 3,
        "target.first": 2,
        "target.last": 2,
        "target.second": 3,
    }
)
"""What each atom costs; templates are the combinations within a budget (paper 003, Section 5.2.3).

Atoms without words, such as target.shape, are none of them: alone they are like dense features, which no step should
move far."""
BUDGET = 6


def budgeted(prices: Mapping[str, int] = PRICES, budget: int = BUDGET, most: int = 3) -> list[str]:
    """All templates of up to `most` atoms within a budget, at least one of the source and one of the target.

    >>> budgeted({"source.first.word": 2, "target.first": 2, "target.last": 3}, 4)
    ['source.first.word target.first']
    """
    found = []
    for size in range(2, most + 1):
        for atoms in combinations(prices, size):
            said = [atom.startswith("target.") for atom in atoms]
            if any(said) and not all(said) and sum(prices[atom] for atom in atoms) <= budget:
                found.append(" ".join(atoms))
    return found


def parsed_templates(given: str | Sequence[str] | None) -> PartTemplates:
    """Of text or lines; None: those of `budgeted`; nothing: none. CorpusError for what cannot be read."""
    lines = budgeted() if given is None else given.splitlines() if isinstance(given, str) else list(given)
    if not lines:
        return PartTemplates(())
    templates = PartTemplates.parse(lines, VOCABULARY)
    different = {term for terms in templates.templates for term in terms}
    for term in different:
        own = _OWN.get(term.address or "", ())
        if own and term.atom not in own:
            raise CorpusError(f"{str(term)!r} names no atom of {term.address!r}; expected one of {', '.join(own)}")
    if len(different) > MOST_DIFFERENT:
        raise CorpusError(f"expected at most {MOST_DIFFERENT} different atoms in templates, got {len(different)}")
    return templates


def compiled(templates: PartTemplates, atoms: Sequence[str]) -> _core.RuleTemplates:
    """For native code. atoms: the names of the columns of `EncodedTokens.atoms`."""
    rows = [_code(term, atoms) for terms in templates.templates for term in terms]
    return _core.RuleTemplates(
        np.array(rows, np.int32).reshape(-1, 2),
        np.cumsum([0, *(len(terms) for terms in templates.templates)], dtype=np.int64),
    )


def _code(term: Term, atoms: Sequence[str]) -> tuple[int, int]:
    if term.address in _TOKENS:
        return _KINDS.index(term.address), list(atoms).index(term.atom)
    return _KINDS.index(str(term)), 0
