"""The same data and seed give the same model file, byte by byte: in other processes, whatever order sets and dicts have
there. Strings have another hash in each process, and so sets of them another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from margent.models.loading import KINDS

PROGRAM = '''
import hashlib, json, random, sys, tempfile
import numpy as np
import margent
from margent import MIRA, SpanFeatures, Spectral, Translator
from margent import CRF, PCFG, Beam, DependencyTree, Durations, Kernel, MaximumLikelihood, Parser, ParserFeatures
from margent import Perceptron, PhraseParser, PhraseTree, SegmentCosts, Segmenter, SemanticParser, Tagger, Transcriber
from margent.crfsuite import CRF as CrfsuiteCRF
from margent import AlignmentFeatures, EntailmentClassifier
from margent.datasets import make_entailment, make_questions, make_translations
from margent.features.frame_map import FrameFeatures
from margent.features.segment_token_map import TokenFeatures
from margent.features import Templates
from margent.structures import BeamOracle

seed = int(sys.argv[1])
shuffler = random.Random(seed)


def shuffled(items):
    """A dict of the same items, in an order of this process."""
    items = list(items.items() if isinstance(items, dict) else items)
    shuffler.shuffle(items)
    return dict(items)


sentences = [["the", "old", "bank"], ["a", "river", "bank"], ["old", "men", "sing"], ["the", "men"]] * 3
labels = [["D", "A", "N"], ["D", "N", "N"], ["A", "N", "V"], ["D", "N"]] * 3


def attributes(word):
    shape = shuffled({"length": len(word) / 7, "vowels": sum(c in "aeiou" for c in word) / 3})
    letters = {f"letter {c}" for c in word}
    return shuffled({"word": word, "letters": letters, "shape": shape, "ends": shuffled({"first": word[0]})})


dicts = [[attributes(word) for word in sentence] for sentence in sentences]
sets = [[{f"letter {c}" for c in word} for word in sentence] for sentence in sentences]
costs = shuffled({"D": 2.0, "N": 0.5, ("N", "V"): 3.0})
pairs = {("D", "V"), (None, "V"), ("A", None)}


def segment_function(tokens, begin, end):
    return {f"has {c}" for token in tokens[begin:end] for c in token}


def segment_values(tokens, begin, end):
    return shuffled({c: 1 / (1 + i) for i, c in enumerate(sorted(set(tokens[begin])))})


names = shuffled({"things": {"bank", "river bank", "old bank"}, "people": {"men", "old men"}, "all": {"men", "bank"}})
spans = [[(0, 1, "D"), (1, len(x), "NP")] for x in sentences]
frames = [np.sin(np.arange(12.0).reshape(6, 2) + i) for i in range(8)]
cuts = [[(0, 2, "a"), (2, 6, "b")] for _ in frames]
durations = Durations(min=shuffled({"a": 1, "b": 2}), max=shuffled({"a": 4, "b": 6}))
trees = [DependencyTree([len(x)] * (len(x) - 1) + [0], ["dep"] * (len(x) - 1) + ["root"]) for x in sentences]
phrases = [PhraseTree(x, y, [(0, len(x), "S"), (0, len(x) - 1, "NP")]) for x, y in zip(sentences, labels)]
clusters = shuffled({"old": "01", "men": "0", "bank": "11", "river": "10"})
vectors = shuffled({"old": [1.0, 0.0], "men": [0.5, 1.0], "bank": [0.0, 1.0], "river": [0.1, 0.9]})

questions, meanings, company, _ = make_questions(15, seed=1)
foreign, english, links = make_translations(20, seed=1, longest=8)

MODELS = {
    "dicts": lambda: Tagger(learner=CRF(epochs=5), label_costs=None).fit(dicts, labels),
    "sets": lambda: Tagger(learner=Perceptron(epochs=3), label_costs=costs, constrain=pairs).fit(sets, labels),
    "function": lambda: Tagger(lambda s: [set(word) for word in s], Perceptron(epochs=3)).fit(sentences, labels),
    "templates": lambda: Tagger(Templates({"U:%x[0,0]", "U:%x[-1,0]", "B"}), CRF(epochs=3)).fit(sentences, labels),
    "kernel": lambda: Tagger(Kernel("linear", features="attributes"), Perceptron(epochs=2)).fit(dicts, labels),
    "crfsuite": lambda: CrfsuiteCRF(max_iterations=5).fit(dicts, labels).tagger_.model,
    "tokens": lambda: Segmenter(
        TokenFeatures(first={"word", "lower", "suffix3"}, names=names, similar=0.3,
                      functions=[segment_function, segment_values]),
        Perceptron(epochs=2), costs=SegmentCosts(labels=shuffled({"D": 2.0, "NP": 1.5})),
    ).fit(sentences, spans),
    "frames": lambda: Segmenter(
        FrameFeatures(bins=shuffled({"a": 2, "b": np.int64(3)}), covariance="diagonal"), MaximumLikelihood(),
        durations=durations,
    ).fit(frames, cuts).with_front_end(shuffled({"frame": 0.01, "rate": None, "normalise": True})),
    "words": lambda: Transcriber(2, sizes={(1, 0), (1, 1), (2, 1), (1, 2)}, held_out=0).fit(
        ["cab", "back", "tack", "cat"], ["K AE B", "B AE K", "T AE K", "K AE T"]),
    "arcs": lambda: Parser(ParserFeatures(clusters=clusters), Perceptron(epochs=2)).fit(sentences, trees),
    "actions": lambda: Parser(
        ParserFeatures(vectors=vectors), Perceptron(epochs=2), search=Beam(2), tagger=Tagger("pos"),
    ).fit([list(zip(x, y)) for x, y in zip(sentences, labels)], trees),
    "phrases": lambda: PhraseParser(learner=Perceptron(epochs=2)).fit(sentences, phrases),
    "grammar": lambda: PhraseParser(learner=PCFG()).fit(sentences, phrases),
    "questions": lambda: SemanticParser(company, learner=Perceptron(epochs=2)).fit(questions, meanings),
    "meanings": lambda: SemanticParser(learner=Perceptron(epochs=2)).fit(questions, meanings)
    .partial_fit(*make_questions(10, seed=2)[:2]),
    "pairs": lambda: Translator(learner=Perceptron(epochs=2), order=2).fit(
        foreign, english, alignments=links),
    "aligned": lambda: Translator([], MIRA(epochs=2), order=2, left_out=False).fit(foreign, english),
    "entailed": lambda: EntailmentClassifier(AlignmentFeatures(compose=True), Perceptron(epochs=2)).fit(
        *make_entailment(30, seed=1)[:2]),
    "spans": lambda: PhraseParser(SpanFeatures({"first.word", "last.word", "left.word", "right.word"}),
                                  Perceptron(epochs=2)).fit(sentences, phrases),
    "spanning": lambda: Parser(search="mst", learner=CRF(epochs=2)).fit(sentences, trees),
    "beam crf": lambda: Parser(
        search=Beam(4), learner=CRF(search="beam", method="sgd", epochs=2)).fit(sentences, trees),
    "hidden": lambda: Tagger(hidden=2, learner=Perceptron(epochs=2)).fit(sentences, labels),
    "k-grams": lambda: Tagger(learner=Spectral(iterations=5, order=2)).fit(sentences, labels),
    "reranked": lambda: Transcriber(2, learner=MIRA(epochs=2), held_out=0).fit(
        ["cab", "back", "tack", "cat"] * 3, ["K AE B", "B AE K", "T AE K", "K AE T"] * 3),
}


class Choices:
    def start(self, x):
        return x, ""

    def actions(self, state):
        return "abc" if len(state[1]) < len(state[0]) else ""

    def step(self, state, action):
        return state[0], state[1] + action

    def features(self, state, action):
        return {(action, place, c) for place, c in enumerate(state[0])}

    def gold_actions(self, x, y):
        return y

    def signature(self, state):
        return state

    def output(self, state):
        return state[1]


def digest(make):
    model = make()
    kinds.add(model.fitted.kind)
    with tempfile.NamedTemporaryFile(suffix=".margent") as file:
        model.save(file.name)
        return hashlib.sha256(open(file.name, "rb").read()).hexdigest()


kinds = set()
found = {name: digest(make) for name, make in MODELS.items()}
oracle = BeamOracle(Choices(), ["xyz", "zzy", "yx"], ["abc", "cca", "ba"], beam=2)
weights = margent.train(Perceptron(epochs=3), oracle).weights
found["system"] = hashlib.sha256(weights.tobytes()).hexdigest()
print(json.dumps({"digests": found, "kinds": sorted(kinds)}))
'''


@pytest.fixture(scope="module")
def digests() -> list[dict[str, str]]:
    """Of each process. Every kind of model is among them."""
    found = []
    for seed in (1, 2, 3):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", PROGRAM, str(seed)]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        assert report["kinds"] == sorted(KINDS)
        found.append(report["digests"])
    return found


NAMES = ("dicts", "sets", "function", "templates", "kernel", "crfsuite", "tokens", "frames", "words")
NAMES += ("arcs", "actions", "phrases", "grammar", "questions", "meanings", "pairs", "aligned", "system")
NAMES += ("spans", "spanning", "beam crf", "hidden", "k-grams", "reranked")
NAMES += ("entailed",)


@pytest.mark.parametrize("name", NAMES)
def test_other_processes_make_the_same_bytes(name: str, digests: list[dict[str, str]]) -> None:
    assert len({found[name] for found in digests}) == 1


def test_all_are_compared(digests: list[dict[str, str]]) -> None:
    assert set(digests[0]) == set(NAMES) and len(set(digests[0].values())) == len(NAMES)


def test_a_file_keeps_what_a_set_said(tmp_path: Path) -> None:
    from margent import Perceptron, Tagger, load

    tagger = Tagger(["U:%x[0,0]"], Perceptron(epochs=1), constrain={("N", "D"), (None, "N")})
    tagger.fit([["the", "dog"]] * 3, [["D", "N"]] * 3).save(tmp_path / "m.margent")
    again = load(tmp_path / "m.margent")
    assert {tuple(pair) for pair in again.constrain} == {("N", "D"), (None, "N")}
    assert again.predict([["dog", "dog"]]) == tagger.predict([["dog", "dog"]])
