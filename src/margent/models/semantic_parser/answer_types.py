"""Which types a question may mean something of: all that a database can answer, or those that were asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from margent import _core
from margent.errors import MeaningError
from margent.meaning import BaseType, FunctionType, Type, TypeHierarchy, TypeVariable, parse_type
from margent.models.semantic_parser.grammar import MeaningGrammar

_TRUTH = BaseType("t")


def asked_types(grammar: MeaningGrammar, answer_type: Any) -> _core.TypeTables | None:
    """The types of a grammar with only those answers that are of a type, such as ``"state"`` or ``"i"``: single ones
    and sets of them. None: what the grammar says itself."""
    if answer_type is None:
        return None
    wanted = parse_type(answer_type) if isinstance(answer_type, str) else answer_type
    if not isinstance(wanted, (BaseType, FunctionType)):
        raise TypeError(f"answer_type should be a type, its text or None, got {answer_type!r}")
    hierarchy = grammar.domain.hierarchy
    try:
        hierarchy.check(wanted)
    except MeaningError as error:
        raise MeaningError(f"answer_type: {error}") from None
    answers = [grammar.is_answer(type_) and is_answer(type_, wanted, hierarchy) for type_ in grammar.types]
    return _core.TypeTables(grammar.apply, grammar.combine, np.array(answers, dtype=np.uint8))


def is_answer(type_: Type, wanted: Type, hierarchy: TypeHierarchy) -> bool:
    """Whether a meaning of a type answers with something of the wanted one, or with a set of such things.

    >>> from margent.meaning import parse_type
    >>> kinds = TypeHierarchy({"state": "place", "place": ""})
    >>> [is_answer(parse_type(text), parse_type("place"), kinds) for text in ("state", "state -> t", "state -> place")]
    [True, True, False]
    """
    if isinstance(wanted, FunctionType):
        return _parts_fit(type_, wanted, hierarchy)
    if isinstance(type_, FunctionType) and type_.result == _TRUTH:
        type_ = type_.argument
    return _parts_fit(type_, wanted, hierarchy)


def _parts_fit(type_: Type, wanted: Type, hierarchy: TypeHierarchy) -> bool:
    if isinstance(type_, FunctionType) and isinstance(wanted, FunctionType):
        return _parts_fit(type_.argument, wanted.argument, hierarchy) and _parts_fit(
            type_.result, wanted.result, hierarchy
        )
    if isinstance(type_, TypeVariable):
        return type_.bound is not None and hierarchy.is_subtype(type_.bound, wanted)
    return type_ == wanted or hierarchy.is_subtype(type_, wanted)
