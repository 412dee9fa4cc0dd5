"""What a phrase-structure parser has learned besides its grammar: weights for features of spans, splits and rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.feature_map import Stored
from margent.features.span_templates import SpanTemplates
from margent.features.token_atoms import TokenAtoms
from margent.models.phrase_parser.charts import PhraseCharts
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SpanWeights:
    """Weights of F features, each a row over C columns (`TreebankGrammar.columns`), then one for each binary rule, each
    unary rule, each symbol above a sentence, for a piece, and for the score under the grammar.

    atoms : the numbers of words, tags and so on
    keys : the number of each feature
    values : (F C + R + U + S + 2,)
    """

    grammar: TreebankGrammar
    templates: SpanTemplates
    atoms: TokenAtoms
    keys: _core.PhraseKeys
    values: Doubles

    def places(self, charts: PhraseCharts, threads: int) -> _core.PhrasePlaces:
        """What is seen in charts."""
        atoms = self.atoms.encode(charts.tokens).atoms
        return _core.PhrasePlaces(
            charts.forests, self.native_templates, *self.columns, atoms, self.keys, threads=threads
        )

    @cached_property
    def columns(self) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
        return self.grammar.columns()

    @cached_property
    def native_templates(self) -> _core.SpanTemplates:
        return self.templates.native()

    @property
    def size(self) -> int:
        """How many weights there should be."""
        return len(self.keys) * self.columns[0] + self._tail

    @property
    def _tail(self) -> int:
        return len(self.grammar.binary) + len(self.grammar.unary) + len(self.grammar.symbols) + 2

    def with_values(self, values: Doubles) -> SpanWeights:
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def parts(self) -> dict[str, Doubles]:
        """Views: features (F, C), binary (R,), unary (U,), root (S,), piece and grammar (1,)."""
        width, grammar = self.columns[0], self.grammar
        n = len(self.keys) * width
        bounds = np.cumsum([n, len(grammar.binary), len(grammar.unary), len(grammar.symbols), 1]).tolist()
        rows, binary, unary, root, piece, own = np.split(self.values, bounds)
        return {
            "features": rows.reshape(-1, width), "binary": binary, "unary": unary, "root": root, "piece": piece,
            "grammar": own,
        }  # fmt: skip

    def overlaid(self, known: SpanWeights) -> SpanWeights:
        """These weights, with those that are known, of fewer features, rules and symbols, where they belong."""
        new = self.with_values(self.values.copy())
        parts, old = new.parts(), known.parts()
        first, before = _first_unary(self.columns), _first_unary(known.columns)
        n, width = len(known.keys), known.columns[0]
        parts["features"][:n, :before] = old["features"][:, :before]
        parts["features"][:n, first : first + width - before] = old["features"][:, before:]
        parts["binary"][: len(old["binary"])] = old["binary"]
        n_symbols, more = len(known.grammar.symbols), len(self.grammar.symbols)
        parts["unary"][:n_symbols] = old["unary"][:n_symbols]
        parts["unary"][more : more + len(old["unary"]) - n_symbols] = old["unary"][n_symbols:]
        parts["root"][:n_symbols] = old["root"]
        parts["piece"][:], parts["grammar"][:] = old["piece"], old["grammar"]
        return new

    def seen(self, tokens: list[tuple[str, str]], place: tuple[int, int, int]) -> Iterator[tuple[str, Doubles]]:
        """What is seen at one place (begin, end, split or -1) of a sentence, with its row of weights."""
        encoded = self.atoms.encode([tokens]).atoms
        values = np.array(
            [[self.atoms.name(a, int(number)) for a, number in enumerate(row)] for row in encoded], dtype=object
        )
        rows = self.parts()["features"]
        found = self.native_templates.keys(encoded, *place)
        ids = self.keys.find(np.array([key for _, key in found], dtype=np.uint64))
        for (template, _), number in zip(found, ids.tolist()):
            if number >= 0:
                yield self.templates.text(template, values, place), rows[number]

    # Files

    def stored(self, compact: bool) -> Stored:
        """Only weights that are not zero; `compact`: only features that have one, rounded to 16 bits."""
        header, arrays = self.atoms.stored()
        keys, values, width = self.keys.keys(), self.values, self.columns[0]
        if compact:
            keep = np.asarray(self.parts()["features"].any(axis=1))
            keys = keys[keep]
            values = np.concatenate(
                [values[: len(keep) * width].reshape(-1, width)[keep].ravel(), values[len(keep) * width :]]
            )
        at = np.flatnonzero(values)
        arrays |= {"keys": keys, "positions": at, "values": stored_numbers(values[at], compact)}
        return {**header, "templates": self.templates.lines, "half": compact}, arrays

    @classmethod
    def restored(cls, file: ModelFile, grammar: TreebankGrammar) -> SpanWeights:
        try:
            templates = SpanTemplates.of(file.texts("templates"))
        except CorpusError as error:
            raise file.error(str(error)) from None
        atoms = TokenAtoms.restored(file)
        if atoms.names != templates.atoms:
            raise file.error("its atoms should be those that its templates name")
        given = file.array("keys", np.uint64, (None,))
        keys = _core.PhraseKeys(given)
        if len(keys) != len(given):
            raise file.error("its features should be different from each other")
        empty = cls(grammar, templates, atoms, keys, np.zeros(0))
        at = file.array("positions", np.int64, (None,), minimum=0, maximum=empty.size - 1)
        if (np.diff(at) <= 0).any():
            raise file.error("the positions of its weights should rise")
        values = np.zeros(empty.size)
        values[at] = restored_numbers(file, "values", file.value("half", bool), at.shape)
        return empty.with_values(values)


def _first_unary(columns: tuple[int, Any, Any]) -> int:
    """The first column of unary rules: there may be none."""
    width, _, unary = columns
    used = unary[unary >= 0]
    return int(used.min()) if len(used) else width
