"""Small parsers of all searches, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import CRF, Beam, DependencyTree, Parser, ParserFeatures, Perceptron, Tagger

SENTENCES = [
    [("the", "DET"), ("cat", "NOUN"), ("sits", "VERB")],
    [("cats", "NOUN"), ("see", "VERB"), ("the", "DET"), ("dog", "NOUN")],
    [("rain", "NOUN")],
    [("dogs", "NOUN"), ("bark", "VERB")],
]
TREES = [
    DependencyTree([2, 3, 0], ["det", "nsubj", "root"]),
    DependencyTree([2, 0, 4, 2], ["nsubj", "root", "det", "obj"]),
    DependencyTree([0], ["root"]),
    DependencyTree([2, 0], ["nsubj", "root"]),
]
ONE = Perceptron(epochs=1)
CLUSTERS = ParserFeatures(["h.cluster m.upos direction", "m.cluster1 label"], clusters={"cat": "01", "the": "1"})

CASES: dict[str, tuple[Parser, Any, Any]] = {
    "pairs of arcs": (Parser(learner=ONE, threads=1), SENTENCES, TREES),
    "spanning trees": (Parser(learner=ONE, search="mst", order=1, threads=1), SENTENCES, TREES),
    "greedy": (Parser(learner=ONE, search=Beam(1), threads=1), SENTENCES, TREES),
    "beam with swap": (Parser(learner=ONE, search=Beam(4), system="swap", threads=1), SENTENCES, TREES),
    "arcs with clusters": (Parser(CLUSTERS, CRF(epochs=1), order=1, threads=1), SENTENCES, TREES),
    "own tags": (
        Parser(learner=ONE, search=Beam(2), system="arc-eager", tagger=Tagger(["U:%x[0,0]"], ONE), threads=1),
        SENTENCES,
        TREES,
    ),
}
