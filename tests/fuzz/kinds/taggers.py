"""Small taggers of all kinds of features, weights and searches, for tests of their files."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import margent
from margent import Beam, Constraints, Features, HiddenLabels, Kernel, Perceptron, Spectral, Tagger
from margent.annotation.schemes import labels_of

RANDOM = np.random.default_rng(0)
WORDS = [[str(w) for w in RANDOM.choice(["a", "Bé", "c-1", "中", ""], RANDOM.integers(1, 6))] for _ in range(25)]
PLAIN = [[str(y) for y in RANDOM.choice(["N", "V", "D"], len(x))] for x in WORDS]
SPANS = [labels_of([(0, len(x) // 2 + 1, "X")], len(x), "iob2") for x in WORDS]
ROWS = [RANDOM.normal(size=(len(x), 4)).round(2) for x in WORDS]
LINES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0.suffix1]", "Us:%x[0,0.short_shape]", "B1:%x[0,0.lower]", "B"]
ONE = Perceptron(epochs=2)
UP_TO = Spectral(tau=0.3, order=2, loss="up-to-k", iterations=3, tol=0)


def attributes(sentence: list[str]) -> list[dict[str, Any]]:
    return [{"w": word, "n": len(word)} for word in sentence]


def cosine(A: Any, B: Any) -> Any:
    """A kernel of one's own, of arrays and of sparse matrices."""
    A, B = (M.toarray() if sparse.issparse(M) else M for M in (A, B))
    return A @ B.T / (1 + np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1)))


ATTRIBUTES = [attributes(x) for x in WORDS]
COLUMNS = [[(w, w[:1] or "-") for w in x] for x in WORDS]

CASES: dict[str, tuple[Tagger, Any, Any]] = {
    "generic": (Tagger(learner=ONE), WORDS, PLAIN),
    "templates": (Tagger(LINES, ONE), WORDS, PLAIN),
    "columns": (Tagger(Features("generic", min_count=2), ONE), COLUMNS, PLAIN),
    "sparse": (Tagger(Features(margent.Templates(LINES), layout="sparse"), ONE), WORDS, PLAIN),
    "attributes": (Tagger(learner=ONE), ATTRIBUTES, PLAIN),
    "sparse attributes": (Tagger(Features("attributes", layout="sparse"), ONE), ATTRIBUTES, PLAIN),
    "function": (Tagger(attributes, ONE), WORDS, PLAIN),
    "vectors": (Tagger(learner=ONE), ROWS, PLAIN),
    "matrices": (Tagger("vectors", ONE), [sparse.csr_matrix(rows) for rows in ROWS], PLAIN),
    "order 2": (Tagger(LINES, ONE, order=2), WORDS, PLAIN),
    "order 3": (Tagger(Features(LINES, layout="sparse"), ONE, order=3), WORDS, PLAIN),
    "dictionary": (Tagger(LINES, "perceptron", tag_dictionary=np.int64(2)), WORDS, PLAIN),  # type: ignore[arg-type]
    "constrained": (Tagger(LINES, ONE, constrain=True, scheme="iob2"), WORDS, SPANS),
    "pairs": (Tagger(LINES, ONE, constrain=[("N", "V"), (None, "D")]), WORDS, PLAIN),
    "pair costs": (Tagger(LINES, ONE, label_costs={"N": 2, ("N", "D"): 0.5}), WORDS, PLAIN),
    "costs": (Tagger(LINES, ONE, label_costs={"N": 2}, seed=3, threads=2), WORDS, PLAIN),
    "kernel": (Tagger(Kernel("polynomial"), ONE), WORDS, PLAIN),
    "kernel columns": (Tagger(Kernel("rbf", window=5, features=[*LINES[:3], "B"]), ONE, order=2), COLUMNS, PLAIN),
    "kernel letters": (Tagger(Kernel("string-spectrum", window=1), ONE, scheme="iob2", constrain=True), WORDS, SPANS),
    "kernel attributes": (
        Tagger(Features(Kernel("linear", gamma=np.float64(0.5)), layout="sparse"), ONE),
        ATTRIBUTES,
        PLAIN,
    ),
    "kernel vectors": (Tagger(Kernel("rbf", cache_mb=0.001), ONE, tag_dictionary=None), ROWS, PLAIN),
    "kernel matrices": (Tagger(Kernel(degree=3), ONE), [sparse.csr_matrix(rows) for rows in ROWS], PLAIN),
    "kernel features": (Tagger(Kernel(features=attributes), ONE), WORDS, PLAIN),
    "kernel function": (Tagger(Kernel(cosine, features="pos"), ONE, tag_dictionary=2), WORDS, PLAIN),
    "kernel functions": (Tagger(Kernel(cosine, features=attributes), ONE), WORDS, PLAIN),
    "kernel of vectors": (Tagger(Kernel(cosine), ONE), ROWS, PLAIN),
    "kernel symbols": (Tagger(Kernel("linear", features="symbols"), ONE), WORDS, PLAIN),
    "symbols": (Tagger(Features("symbols", min_count=2), ONE), WORDS, PLAIN),
    "k-grams": (Tagger(learner=Spectral(tau=0.3, iterations=3, tol=0)), WORDS, PLAIN),
    "hidden": (Tagger(LINES, ONE, hidden=3, label_costs={"N": 2, ("N", "D"): 0.5}, search="sum"), WORDS, PLAIN),
    "hidden sparse": (Tagger(Features(LINES, layout="sparse"), ONE, hidden=2, order=2, tag_dictionary=3), WORDS, PLAIN),
    "hidden constrained": (Tagger(LINES, ONE, hidden=2, constrain=True, search="posterior"), WORDS, SPANS),
    "beam": (Tagger(LINES, ONE, search=Beam(4, update="early"), order=2, seed=1), WORDS, PLAIN),
    "hidden vectors": (Tagger(learner=ONE, hidden=HiddenLabels(2, restarts=2)), ROWS, PLAIN),
    "k-grams up to": (Tagger("symbols", UP_TO, scheme="iob2", constrain=True, threads=2), WORDS, SPANS),
}


def constraints(tagger: Tagger) -> list[Any]:
    """What the first sentence may be given to know."""
    return [Constraints(labels={0: str(tagger.classes_[0])})]
