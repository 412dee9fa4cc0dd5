"""Small entailment classifiers of every kind, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import CRF, AlignmentFeatures, EntailmentClassifier, Perceptron
from margent.datasets import make_entailment

X, Y, _ = make_entailment(12, seed=4)
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[EntailmentClassifier, Any, Any]] = {
    "best alignments": (EntailmentClassifier(learner=ONE, threads=1), X, Y),
    "composed": (EntailmentClassifier(AlignmentFeatures(2, compose=True, min_count=1), ONE, threads=1), X, Y),
    "likelihood": (EntailmentClassifier(learner=CRF(epochs=2), threads=2), X, Y),
}
