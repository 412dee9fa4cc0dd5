"""Why a semantic parser prefers a meaning: the steps of its derivation, and what was seen of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from margent import _core
from margent.features.part_templates import Term
from margent.meaning import Application, Expression, normal_form
from margent.models.semantic_parser.answers import MeaningExplanation, MeaningStep
from margent.models.semantic_parser.fragments import names_of
from margent.models.semantic_parser.grammar import ACTIONS, MeaningGrammar, constant_number, union
from margent.models.semantic_parser.model import Found, SemanticParserModel
from margent.models.semantic_parser.weights import EncodedQuestions


class _Entry(NamedTuple):
    meaning: Expression
    type: int


def explained(
    model: SemanticParserModel, words: Sequence[str], beam: int, types: _core.TypeTables | None = None
) -> MeaningExplanation:
    """Of one question."""
    encoded = model.encoded([list(words)])
    readings = model.found(encoded, beam, 1, types)[0]
    ptr = encoded.choices.ptr
    unknown = tuple(word for i, word in enumerate(words) if ptr[i] == ptr[i + 1] and not _within(encoded, i))
    if not readings:
        return MeaningExplanation(tuple(words), None, "", 0.0, None, None, (), unknown)
    best = readings[0]
    other = readings[1] if len(readings) > 1 else None
    steps, type_ = _Derivation(model, encoded, words, best).steps(types)
    return MeaningExplanation(
        tuple(words),
        best.meaning,
        type_,
        best.score,
        None if other is None else other.meaning,
        None if other is None else best.score - other.score,
        steps,
        unknown,
    )


def _within(encoded: EncodedQuestions, word: int) -> bool:
    """Whether a phrase that began before a word may be about it."""
    choices = encoded.choices
    return any(
        start + choices.lengths[choice] > word
        for start in range(word)
        for choice in range(choices.ptr[start], choices.ptr[start + 1])
    )


@dataclass
class _Derivation:
    model: SemanticParserModel
    encoded: EncodedQuestions
    words: Sequence[str]
    found: Found
    stack: list[_Entry] = field(default_factory=list)

    @property
    def grammar(self) -> MeaningGrammar:
        return self.encoded.grammar

    def steps(self, types: _core.TypeTables | None) -> tuple[tuple[MeaningStep, ...], str]:
        weights, derivation = self.model.weights, self.found.derivation
        seen = _core.explain_meaning(
            self.encoded.native(weights.prior),
            self.grammar.native_types if types is None else types,
            weights.native_templates,
            weights.table,
            weights.most_expressions,
            derivation.actions,
            derivation.choices,
        )
        by_step: dict[int, list[tuple[int, float, list[int]]]] = {}
        for step, template, weight, values in seen:
            by_step.setdefault(step, []).append((template, weight, values))
        steps, position = [], 0
        for number, (action, choice) in enumerate(zip(derivation.actions.tolist(), derivation.choices.tolist())):
            name = ACTIONS[action]
            features = [
                (self._shown(template, values), weight)
                for template, weight, values in by_step.get(number, [])
                if weight
            ]
            length = 0
            if name == "skip":
                length = 1
                prior = weights.prior * log(self.encoded.choices.skips[position])
                if prior:
                    features.append(("how seldom the word says anything", prior))
            elif name == "shift":
                length = self.encoded.choices.lengths[choice]
                prior = weights.prior * log(self.encoded.choices.strengths[choice])
                if prior:
                    features.append(("strength of the word with the piece", prior))
            self._do(name, choice)
            read = tuple(self.words[position : position + length]) or (("(end)",) if length else ())
            position += length
            top = self.stack[-1] if self.stack else None
            steps.append(
                MeaningStep(
                    name,
                    read,
                    None if top is None else normal_form(top.meaning),
                    "" if top is None else str(self.grammar.types[top.type]),
                    sum(weight for _, weight in features),
                    tuple(sorted(features, key=lambda feature: -feature[1])),
                )
            )
        return tuple(steps), str(self.grammar.types[self.stack[-1].type])

    def _do(self, name: str, choice: int) -> None:
        stack, grammar = self.stack, self.grammar
        if name == "shift":
            piece = self.encoded.choices.said[choice]
            stack.append(_Entry(self.encoded.said(choice), self.encoded.choices.types[piece]))
        elif name in ("forward", "backward"):
            top = stack.pop()
            function, argument = (stack[-1], top) if name == "forward" else (top, stack[-1])
            made = Application(function.meaning, (argument.meaning,))
            stack[-1] = _Entry(made, int(grammar.apply[function.type, argument.type]))
        elif name in ("both", "either"):
            top = stack.pop()
            made_union = union("and" if name == "both" else "or", stack[-1].meaning, top.meaning)
            stack[-1] = _Entry(made_union, int(grammar.combine[stack[-1].type, top.type]))

    # What terms see, as native code numbers it (core/meaning/question_templates.cpp)

    def _shown(self, template: int, values: Sequence[int]) -> str:
        """A template with what it saw. Native code has the terms of the state first, then those of the action."""
        weights = self.model.weights
        terms = weights.templates.templates[template]
        ordered = sorted(terms, key=lambda term: term.address == "action")
        return " ".join(f"{term}={self._value(term, value)}" for term, value in zip(ordered, values))

    def _value(self, term: Term, value: int) -> str:
        if term.address == "action":
            return self._of_action(term.atom, value)
        if term.atom == "depth" and term.address is None:
            return str(value - 1)
        if value <= 1:
            return "(none)"
        if term.address is None and term.atom.startswith("ahead"):
            number, is_constant = divmod(value - 2, 2)
            if is_constant:
                return str(self.grammar.types[number])
            return str(self.grammar.lexicon.pieces[number - 1].expression)
        if term.address is None:
            return str(value - 2)
        own = ("type", "name", "name2", "names", "size", "made")
        if term.address is not None and term.address in ("s0", "s1", "s2") and term.atom in own:
            place = int(term.address[1])
            if term.atom == "type":
                return str(self.grammar.types[value - 2])
            if term.atom in ("name", "name2"):
                return self._name(value - 2)
            if term.atom == "names":
                return "{" + ",".join(sorted(names_of(self.stack[-1 - place].meaning))) + "}"
            return str(value - 2) if term.atom == "size" else ACTIONS[value - 2]
        atoms = self.model.weights.atoms
        return atoms.name(atoms.names.index(term.atom), value - 1)

    def _of_action(self, atom: str, value: int) -> str:
        if atom == "kind":
            return ACTIONS[value - 1]
        if atom == "type":
            return str(self.grammar.types[value - 1])
        if atom == "piece":
            return str(self.grammar.lexicon.pieces[value - 1].expression)
        if atom == "shape":
            return list(self.grammar.shapes)[value - 1]
        if atom == "constant":
            constants = (constant for _, constant in self.encoded.choices.filled if constant is not None)
            return next(constant for constant in constants if constant_number(constant) == value)
        return self._name(value) if atom in ("name", "name2") else str(value)

    def _name(self, number: int) -> str:
        return list(self.grammar.names)[number - 1] if number else "(none)"
