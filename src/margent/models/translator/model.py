"""What a translator learned, as one value: its reading and writing, and the search by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from margent import _core
from margent.errors import CorpusError
from margent.features.token_atoms import TokenAtoms
from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.models.translator.language_model import LanguageModel
from margent.models.translator.options import CubePruning
from margent.models.translator.rule_table import RuleTable
from margent.models.translator.sentences import EncodedSentences, target_model
from margent.models.translator.templates import parsed_templates
from margent.models.translator.weights import TranslationWeights, best_translations, weight_rows
from margent.storage import ModelFile


@dataclass(frozen=True, eq=False, kw_only=True)
class TranslatorModel(FittedModel):
    """table : the rules; language : the model of target sentences; weights : of features
    splits : whether words that no rule has are read in pieces
    coverage : the share of the training sentences whose translation has a derivation, by rules that are not from them
        alone if these were left out
    """

    kind: ClassVar[str] = "translator"

    table: RuleTable
    language: LanguageModel
    weights: TranslationWeights
    splits: bool
    coverage: float

    @cached_property
    def native_language(self) -> _core.TargetModel:
        return target_model(self.language, self.table)

    def encoded(self, sentences: Sequence[Sequence[str]], search: CubePruning) -> EncodedSentences:
        weights = self.weights
        return EncodedSentences.of(
            *(sentences, self.table, [self.native_language], weights.atoms, weights.native_templates, search),
            splits=self.splits,
        )

    def best(self, sentences: Sequence[Sequence[str]], search: CubePruning, threads: int) -> list[list[str]]:
        """The best translation of each sentence."""
        return best_translations(self.weights, self.encoded(sentences, search), search, threads)

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        atom_header, atom_arrays = self.weights.atoms.stored()
        rows = self.weights.table.arrays()
        keys, weights = rows["keys"][np.diff(rows["row_ptr"]) > 0], rows["weights"]
        if compact:
            numbers = stored_numbers(weights, True)
            keys, weights = keys[numbers != 0], weights[numbers != 0]
        order = np.argsort(keys, kind="stable")
        header = {
            **atom_header,
            **self.stored_training(),
            "templates": self.weights.templates.lines,
            "splits": bool(self.splits),
            "coverage": float(self.coverage),
            "half": compact,
        }
        return header, {
            **atom_arrays,
            **self.table.stored(),
            **self.language.stored(),
            "rows.keys": keys[order],
            "rows.weights": stored_numbers(weights[order], compact),
        }

    @classmethod
    def restored(cls, file: ModelFile, function: object = None) -> TranslatorModel:
        if function is not None:
            raise ValueError("a translator has no function; leave out `function`")
        try:
            templates = parsed_templates(file.texts("templates"))
        except CorpusError as error:
            raise file.error(f"its templates are wrong: {error}") from None
        atoms = TokenAtoms.restored(file)
        if atoms.names != templates.token_atoms:
            raise file.error(f"its atoms should be those of its templates, {', '.join(templates.token_atoms)}")
        keys = file.array("rows.keys", np.uint64, (None,), minimum=1)
        values = restored_numbers(file, "rows.weights", file.value("half", bool), keys.shape)
        try:
            table = _core.FeatureRows(1, **weight_rows(keys, values))
        except ValueError as error:
            raise file.error(f"its weights are not those of a translator: {error}") from None
        model = cls(
            **restored_training(file),
            table=RuleTable.restored(file),
            language=LanguageModel.restored(file),
            weights=TranslationWeights(templates, atoms, table),
            splits=file.value("splits", bool),
            coverage=file.value("coverage", float, minimum=0, maximum=1),
        )
        try:
            model.encoded([], CubePruning())
        except ValueError as error:
            raise file.error(f"its rules and its language model cannot be searched: {error}") from None
        return model
