"""What a semantic parser learned, as one value: its reading and writing, and the search by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from margent import _core
from margent.errors import CorpusError, MeaningError
from margent.features.token_atoms import TokenAtoms
from margent.meaning import Domain, Expression, meaning_key
from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.semantic_parser.grammar import MeaningGrammar
from margent.models.semantic_parser.stored_grammar import restored_grammar, stored_grammar
from margent.models.semantic_parser.templates import parsed_templates
from margent.models.semantic_parser.weights import Derivation, EncodedQuestions, MeaningWeights
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

TYPES = ("full", "simple")
"""Whether types are those of the domain, or the topmost ones above them."""

LARGEST_PRIOR = 1e6
MOST_EXPRESSIONS = 100
"""So many expressions may wait on the stack, see core/meaning/question_system.hpp."""


class Found(NamedTuple):
    """A meaning that a search found, the text that it is compared by, and its best derivation."""

    score: float
    meaning: Expression
    key: str
    derivation: Derivation


@dataclass(frozen=True, eq=False, kw_only=True)
class SemanticParserModel(FittedModel):
    """domain : as it was given, or made of the meanings
    made : whether it was made of the meanings
    types : one of `TYPES`
    coverage : the share of the training questions that have a derivation of their meaning
    """

    kind: ClassVar[str] = "semantic-parser"

    domain: Domain
    made: bool
    types: str
    grammar: MeaningGrammar
    weights: MeaningWeights
    coverage: float

    # Search

    def encoded(self, questions: Sequence[Sequence[str]]) -> EncodedQuestions:
        return EncodedQuestions.of(questions, self.grammar, self.weights.atoms)

    def best(
        self, encoded: EncodedQuestions, beam: int, threads: int, types: _core.TypeTables | None = None
    ) -> list[Expression | None]:
        """The best meaning of each question; None: it cannot be understood."""
        return best_meanings(self.weights, encoded, beam, threads, types)

    def found(
        self, encoded: EncodedQuestions, beam: int, threads: int, types: _core.TypeTables | None = None
    ) -> list[list[Found]]:
        """Of each question all different meanings that the beam found, best first."""
        answers = []
        for number, derivations in enumerate(self.weights.understood(encoded, beam, beam, threads, types)):
            readings: dict[str, Found] = {}
            for derivation in derivations if derivations and _is_said(encoded, number, derivations[0]) else ():
                meaning = meaning_of(encoded, derivation)
                if meaning is not None:
                    key = meaning_key(meaning)
                    readings.setdefault(key, Found(derivation.score, meaning, key, derivation))
            answers.append(list(readings.values()))
        return answers

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        atom_header, atom_arrays = self.weights.atoms.stored()
        grammar_header, grammar_arrays = stored_grammar(self.grammar)
        rows = self.weights.table.arrays()
        keys, weights = rows["keys"][np.diff(rows["row_ptr"]) > 0], rows["weights"]
        if compact:
            numbers = stored_numbers(weights, True)
            keys, weights = keys[numbers != 0], weights[numbers != 0]
        order = np.argsort(keys, kind="stable")
        header = {
            **atom_header,
            **grammar_header,
            **self.stored_training(),
            "domain": self.domain.to_json(),
            "made": self.made,
            "types": self.types,
            "templates": self.weights.templates.lines,
            "prior": float(self.weights.prior),
            "most_expressions": int(self.weights.most_expressions),
            "coverage": float(self.coverage),
            "half": compact,
        }
        return header, {
            **atom_arrays,
            **grammar_arrays,
            "rows.keys": keys[order],
            "rows.weights": stored_numbers(weights[order], compact),
        }

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> SemanticParserModel:
        if function is not None:
            raise ValueError("a semantic parser has no function; leave out `function`")
        types = file.value("types", str, choices=TYPES)
        try:
            domain = Domain.from_json(file.value("domain", dict))
            used = used_domain(domain, types)
            templates = parsed_templates(file.texts("templates"))
        except CorpusError as error:
            raise file.error(f"its domain or templates are wrong: {error}") from None
        atoms = TokenAtoms.restored(file)
        if atoms.names != templates.token_atoms:
            raise file.error(f"its atoms should be those of its templates, {', '.join(templates.token_atoms)}")
        keys = file.array("rows.keys", np.uint64, (None,), minimum=1)
        values = restored_numbers(file, "rows.weights", file.value("half", bool), keys.shape)
        try:
            table = _core.FeatureRows(1, **weight_rows(keys, values))
        except ValueError as error:
            raise file.error(f"its weights are not those of a semantic parser: {error}") from None
        grammar = restored_grammar(file, used)
        weights = MeaningWeights(
            templates,
            atoms,
            table,
            file.value("prior", float, minimum=0, maximum=LARGEST_PRIOR),
            file.value("most_expressions", int, minimum=1, maximum=MOST_EXPRESSIONS),
        )
        return cls(
            **restored_training(file),
            domain=domain,
            made=file.value("made", bool),
            types=types,
            grammar=grammar,
            weights=weights,
            coverage=file.value("coverage", float, minimum=0, maximum=1),
        )


def weight_rows(keys: Any, weights: Any) -> dict[str, Any]:
    """What `FeatureRows` takes: each row has one weight."""
    ptr = np.arange(len(keys) + 1, dtype=np.int64)
    return {"keys": keys, "row_ptr": ptr, "columns": np.zeros(len(keys), np.int32), "weights": weights}


def used_domain(domain: Domain, types: str) -> Domain:
    return domain.simplified() if types == "simple" else domain


def meaning_of(encoded: EncodedQuestions, derivation: Derivation) -> Expression | None:
    """The meaning that a derivation makes; None where it has no normal form."""
    try:
        return encoded.meaning(derivation)
    except MeaningError:
        return None


def best_meanings(
    weights: MeaningWeights,
    encoded: EncodedQuestions,
    beam: int,
    threads: int,
    types: _core.TypeTables | None = None,
) -> list[Expression | None]:
    """The best meaning of each question; None: the search found none, or one that none of the words says."""
    found = weights.understood(encoded, beam, 1, threads, types)
    return [
        meaning_of(encoded, derivations[0]) if derivations and _is_said(encoded, number, derivations[0]) else None
        for number, derivations in enumerate(found)
    ]


def _is_said(encoded: EncodedQuestions, question: int, derivation: Derivation) -> bool:
    """Whether some of it is said by words of the question, not all by the mark of its end."""
    end = encoded.choices.ptr[int(encoded.sequence_ptr[question + 1]) - 1]
    return bool(((derivation.choices >= 0) & (derivation.choices < end)).any())
