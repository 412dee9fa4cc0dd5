"""Small semantic parsers, with a domain and with meanings alone, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import CRF, Beam, LexiconOptions, Perceptron, SemanticParser
from margent.datasets import make_questions

X, Y, DOMAIN, _ = make_questions(8, seed=4)
FEW = ["action.kind", "s0.type q0.lower action.kind", "q0.lower action.piece", "s1.names s0.made action.shape depth"]
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[SemanticParser, Any, Any]] = {
    "a domain": (SemanticParser(DOMAIN, FEW, ONE, search=Beam(3), threads=1), X, Y),
    "meanings alone": (SemanticParser(None, FEW, ONE, search=Beam(3), most_names=1, threads=1), X, Y),
    "simple types": (
        SemanticParser(DOMAIN, FEW, ONE, search=Beam(2), types="simple", lexicon=LexiconOptions(most=3), threads=1),
        X,
        Y,
    ),
    "likelihood": (SemanticParser(DOMAIN, FEW, CRF("sgd", search="beam", epochs=1), search=Beam(2), threads=2), X, Y),
}
