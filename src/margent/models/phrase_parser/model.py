"""What a phrase-structure parser has learned, as one value: its reading and writing, and its search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.phrase_parser.charts import PhraseCharts
from margent.models.phrase_parser.data import PhraseData
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.phrase_parser.lexicon import Lexicon
from margent.models.phrase_parser.weights import SpanWeights
from margent.storage import ModelFile

LARGEST_PRUNING = 1e6
MOST_WORDS = 5_000
"""Of a sentence, however small the grammar is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PhraseParserModel(FittedModel):
    """`pruning`: how much less than the best under the grammar a tree may score there to be looked at. `weights`: None:
    the grammar alone decides."""

    kind: ClassVar[str] = "phrase-parser"

    grammar: TreebankGrammar
    lexicon: Lexicon
    pruning: float
    weights: SpanWeights | None = None

    @property
    def longest(self) -> int:
        """No sentence may have more words: its chart of n words and S symbols takes 16 n^2 S bytes, here 2 GiB."""
        return min(MOST_WORDS, math.isqrt((1 << 31) // (16 * len(self.grammar.symbols))))

    @property
    def reason(self) -> str:
        return f"as a grammar of {len(self.grammar.symbols):,} symbols takes"

    def charts(self, data: PhraseData, threads: int) -> PhraseCharts:
        return PhraseCharts.of(self.grammar, self.lexicon, data, self.pruning, threads)

    def scores(self, charts: PhraseCharts, threads: int) -> NDArray[np.float64]:
        """Of the edges of charts."""
        if self.weights is None:
            return charts.forests.scores
        return self.weights.places(charts, threads).scores(self.weights.values, threads)

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        grammar_header, grammar_arrays = self.grammar.stored()
        lexicon_header, lexicon_arrays = self.lexicon.stored()
        header = {
            **grammar_header,
            **lexicon_header,
            **self.stored_training(),
            "pruning": float(self.pruning),
            "has_weights": self.weights is not None,
        }
        arrays = {**grammar_arrays, **lexicon_arrays}
        if self.weights is not None:
            weight_header, weight_arrays = self.weights.stored(compact)
            header, arrays = {**header, **weight_header}, {**arrays, **weight_arrays}
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> PhraseParserModel:
        if function is not None:
            raise ValueError("a phrase-structure parser has no function; leave out `function`")
        grammar = TreebankGrammar.restored(file)
        if not grammar.tags:
            raise file.error("its grammar has no tag")
        return cls(
            **restored_training(file),
            grammar=grammar,
            lexicon=Lexicon.restored(file, grammar.tags),
            pruning=file.value("pruning", float, minimum=0, maximum=LARGEST_PRUNING),
            weights=SpanWeights.restored(file, grammar) if file.value("has_weights", bool) else None,
        )
