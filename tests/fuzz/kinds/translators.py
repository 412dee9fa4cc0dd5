"""Small translators, with and without sparse features, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import CubePruning, PassiveAggressive, Perceptron, RuleExtraction, Translator
from margent.datasets import make_translations

X, Y, _ = make_translations(12, seed=4, longest=8)
SMALL = RuleExtraction(max_span=4, max_source_symbols=3)
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[Translator, Any, Any]] = {
    "words": (
        Translator(
            ["target.first source.first.word", "span.before.suffix1 target.shape", "rule.id", "span_length rule.kind"],
            ONE,
            extraction=SMALL,
            order=2,
            search=CubePruning(5, span_limit=4),
            left_out=False,
            threads=1,
        ),
        X,
        Y,
    ),
    "dense": (
        Translator(
            [],
            PassiveAggressive(epochs=1),
            extraction=SMALL,
            order=3,
            search=CubePruning(5, update="local", k_best=5),
            split_unknown=False,
            threads=2,
        ),
        X,
        Y,
    ),
}
