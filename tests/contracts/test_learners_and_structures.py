"""Every learner against every structure: what they declare decides, and what is declared is so.

A pair that fits by its declarations must train; one that does not is refused with one sentence that names both, before
anything is asked of the oracle. A new structure joins with one function in `STRUCTURES_OF_TESTS`, a new learner by
its name in `LEARNERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.answer import Answer, Rival
from margent.capability import METHODS, STRUCTURES, Capability, chain_structure
from margent.datasets import make_phrases, make_questions, make_translations
from margent.features.encoded import Encoded, sequence_ptr
from margent.learners import CRF, EM, LEARNERS, PCFG, BatchLearner, MaximumLikelihood, RuleLearner, capability_table
from margent.learners.capabilities import check_fits, declared
from margent.learners.training import Training
from margent.models.entailment.data import PairData
from margent.models.entailment.network.network_weights import NetworkWeights
from margent.models.entailment.network.vocabulary import Vocabulary
from margent.models.phrase_parser.problem import PhraseProblem
from margent.models.semantic_parser.problem import SemanticParserProblem
from margent.models.training_data import TrainingData
from margent.models.translator.problem import PairData as AlignedData
from margent.models.translator.problem import TranslatorProblem
from margent.spectral import KGramOracle, Spectral
from margent.structures import BeamOracle, Cosegments, ForestOracle

N_LABELS, N_FEATURES = 3, 4


# Structures: each a function that gives a tiny oracle with something to learn


def chain(*, beam: bool = False, hidden: bool = False, kernel: bool = False) -> _core.ChainOracle:
    """Label y where feature y is seen; with hidden labels, the first stands for two of the chain."""
    labels = np.array([0, 2, 0, 2, 2, 0] if hidden else [0, 1, 2, 0, 1, 2], dtype=np.int32)
    ids = np.repeat(labels, 1).astype(np.int32)
    encoded = Encoded(sequence_ptr([3, 2, 1]), ids, sequence_ptr([1] * 6), None, None, None, None)
    ways = np.array([2, 1, 1], dtype=np.int32) if hidden else None
    examples = encoded.examples(labels, hidden=ways) if hidden else encoded.examples(labels)
    rows = np.eye(N_FEATURES, dtype=np.float32)
    given = (lambda wanted: rows[wanted], 1 << 20) if kernel else ()
    oracle = _core.ChainOracle(examples, N_LABELS, 1, True, N_FEATURES, 0, False, [], *given)
    if beam:
        oracle.set_beam(2, _core.BeamUpdate.max_violation)
    return oracle


def segments(data: _core.SegmentData) -> _core.SegmentOracle:
    model = _core.SegmentModel(2, [1, 1], [2, 2], np.ones((3, 1)), None, True)
    gold = _core.GoldSegments(
        np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([1, 3, 2], np.int32), np.ones(2, np.uint8), None
    )
    oracle = _core.SegmentOracle(model, data, gold)
    oracle.start_from(np.zeros(model.layout(data.n_weights)[-1], np.float32))
    return oracle


def frames() -> _core.SegmentOracle:
    values = np.array([[1, 0], [0, 1], [0, 1], [0, 1], [0, 1]], np.float32)
    return segments(_core.FrameData([1, 1], [2, 2], 1, False, True, values, np.array([0, 3, 5])))


def tokens() -> _core.SegmentOracle:
    inside = np.array([0, 1, 1, 1, 1], np.int32), None, np.arange(6)
    return segments(_core.TokenData(2, 2, 2, np.array([0, 3, 5]), inside, None, None, None))


def listed_answers() -> _core.CandidateOracle:
    """Two examples of two answers each; the right one has feature 0."""
    features, ones = np.array([0, 1, 1, 0], np.int32), np.ones(4, np.float32)
    losses = np.array([0, 1, 1, 0], np.float32)
    listed = _core.Candidates(np.array([0, 2, 4]), np.arange(5), features, ones, losses, np.ones(2, np.int32))
    return _core.CandidateOracle(listed, 2)


def cosegments() -> _core.CosegmentOracle:
    """Two words of one letter, each with the other's phoneme as its rival."""
    pairs = _core.SpellingPairs(*2 * (np.arange(3), np.array([0, 1], np.int32)))
    graphones = _core.Graphones.of(
        np.arange(5), np.array([0, 0, 1, 1], np.int32), np.arange(5), np.array([0, 1, 0, 1], np.int32)
    )
    counts = _core.GramCounts()
    for unit in range(5):
        counts.add([unit], 1.0)
    model = _core.GramModel.of(counts, 4)
    model.estimate(np.zeros((1, 3)))
    words = _core.TranscriptionExamples(pairs, np.arange(3), np.zeros(2, np.int32), (model,))
    return _core.CosegmentOracle(graphones, words, 6, 8, 0.0, 1, _core.BeamUpdate.max_violation)


class Bits:
    """A transition system: for each input, a bit."""

    def start(self, x: Any) -> Any:
        return x, ()

    def actions(self, state: Any) -> list[int]:
        return [0, 1] if len(state[1]) < len(state[0]) else []

    def step(self, state: Any, action: int) -> Any:
        return state[0], (*state[1], action)

    def features(self, state: Any, action: int) -> list[Any]:
        return [(state[0][len(state[1])], action)]

    def gold_actions(self, x: Any, y: Any) -> Any:
        return y


class Classes:
    """The smallest structure in Python: one of two classes, which is the sign of the only input."""

    n_features = 2
    X = (1.0, -1.0, 2.0)

    def __len__(self) -> int:
        return len(self.X)

    def features(self, i: int, label: int) -> dict[int, float]:
        return {label: self.X[i]}


class ClassesWithAnswer(Classes):
    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        gold = int(self.X[i] > 0)
        scores = [weights[label] * self.X[i] + cost * (label != gold) for label in (0, 1)]
        ranked = sorted((0, 1), key=lambda label: -scores[label])[:k]
        rivals = [Rival(self.features(i, label), float(label != gold), int(label != gold)) for label in ranked]
        return Answer(self.features(i, gold), rivals)


class ClassesWithLogLoss(Classes):
    def log_loss(self, i: int, weights: Any) -> tuple[float, dict[int, float]]:
        gold = int(self.X[i] > 0)
        log_p = self.X[i] * weights - np.logaddexp.reduce(self.X[i] * weights)
        change = np.exp(log_p) - (np.arange(2) == gold)
        return float(-log_p[gold]), dict(enumerate((change * self.X[i]).tolist()))


class ClassesWithGradient(Classes):
    """As Adam asks for it: of batches, and weights that are changed in place."""

    def __init__(self) -> None:
        self.values = np.zeros(2)

    def gradient(self, examples: Any, seed: int) -> tuple[float, Any]:
        loss, found = 0.0, np.zeros(2)
        for i in examples.tolist():
            own, change = ClassesWithLogLoss.log_loss(self, i, self.values)  # type: ignore[arg-type]
            loss += own
            found += np.array([change[0], change[1]]) / len(examples)
        return loss, found

    def weights(self, average: bool) -> Any:
        return self.values.copy()


def network_of_trees() -> Any:
    """Two pairs of sentences; without torch, something else that has gradients of batches."""
    try:
        import torch  # noqa: F401
    except ImportError:
        stand_in = ClassesWithGradient()
        stand_in.structure = "network of trees"  # type: ignore[attr-defined]
        return stand_in
    data = PairData.of([("a cat", "the cat"), ("a dog", "a cat")], ["yes", "no"])
    network = margent.Network(size=2, relation=2, words=3, min_count=1)
    empty = NetworkWeights(network, Vocabulary(None), 0, np.zeros(0, np.float32))
    return empty.grown(data, 2, True, 0).oracle(data, np.array([1, 0]), None)


def dependency_arcs() -> _core.TreeOracle:
    """Two sentences of two words; the word with the larger atom is the root."""
    templates = [
        (0, [(0, 0, 0), (1, 0, 0)], True, False, False, False, -1),
        (0, [(1, 0, 0)], False, False, True, False, -1),
    ]
    atoms, labels = np.array([[1], [2], [2], [1]], np.int32), np.array([0, 1, 1, 0], np.int32)
    examples = _core.TreeExamples(np.array([0, 2, 4]), atoms, np.array([2, 0, 0, 1], np.int32), labels, None, 2)
    problem = _core.TreeProblem(_core.PartTemplates(templates, 1), examples, None, True, True, 6, 0.5)
    return _core.TreeOracle(problem)


def forest() -> ForestOracle:
    """Three forests of one node with two edges, of which the second is right."""
    forests = []
    for features in ((0, 1), (0, 2), (3, 1)):
        builder = margent.ForestBuilder()
        root = builder.add_node()
        for feature in features:
            builder.add_edge(root, features=[feature])
        forests.append(builder.build())
    return ForestOracle(forests, right=[[False, True]] * 3)


def transitions_of_a_parser(*, exploring: bool = False) -> _core.ParserOracle:
    """Two sentences of two words, in which the first or the second one is the head."""
    heads, labels = np.array([2, 0, 0, 1], np.int32), np.array([0, 1, 1, 0], np.int32)
    atoms, ptr = np.array([[1], [2], [3], [4]], np.int32), np.array([0, 2, 4])
    system = _core.ParsingTransitions.arc_hybrid
    treebank = _core.Treebank(atoms, ptr, heads, labels)
    address, terms = np.array([[-1, 0]], np.int32), np.array([[0, 0, 0]], np.int32)
    templates = _core.ParserTemplates(address, terms, np.array([0, 1], np.int32), np.array([0], np.int32))
    actions = _core.ParserActions(np.array([0, 3, 4, 5], np.int32), np.array([-1, 0, 0, 1], np.int32))
    if exploring:
        return _core.DecisionOracle.exploring(system, treebank, templates, actions, 0.9, 0, 0.5)
    update = _core.BeamUpdate.max_violation
    return _core.ParserOracle.searching(system, treebank, templates, actions, 2, update, 0.5, True)


def phrases() -> _core.PhraseOracle:
    """Trees of a small grammar; what a parser of phrases would learn from."""
    oracles: list[Any] = []

    def run(learner: Any, oracle: Any, evaluate: Any) -> Training:
        oracles.append(oracle)
        return Training(weights=oracle.weights(False))

    parser = margent.PhraseParser(
        margent.SpanFeatures(("first.word", "right.upos")),
        margent.Perceptron(),
        grammar=margent.Markovisation(0, 1),
        pruning=1000,
    )
    PhraseProblem.of(parser, TrainingData(*make_phrases(4)), None, True).learned(run)
    return oracles[0]


def meanings() -> _core.QuestionOracle:
    """Questions about a company; what a semantic parser would learn from."""
    oracles: list[Any] = []

    def run(learner: Any, oracle: Any, evaluate: Any) -> Training:
        oracles.append(oracle)
        return Training(weights=oracle.weights(False))

    X, y, domain, _ = make_questions(4)
    parser = margent.SemanticParser(domain, ["q0.lower action.piece", "s0.type action.kind"], margent.Perceptron())
    SemanticParserProblem.of(parser, TrainingData(X, y), None, True).learned(run)
    return oracles[0]


def translations() -> _core.TranslationOracle:
    """Sentences of an invented language; what a translator would learn from."""
    oracles: list[Any] = []

    def run(learner: Any, oracle: Any, evaluate: Any) -> Training:
        oracles.append(oracle)
        return Training(weights=oracle.weights(False))

    X, y, alignments = make_translations(40, longest=8)
    translator = margent.Translator(["target.first"], margent.Perceptron(), order=2, dense=margent.DenseStart(0.1))
    TranslatorProblem.of(translator, AlignedData(X, y, alignments=alignments)).learned(run)
    return oracles[0]


STRUCTURES_OF_TESTS: dict[str, Callable[[], Any]] = {
    **{
        chain_structure(beam=beam, hidden=hidden, kernel=kernel): (
            lambda beam=beam, hidden=hidden, kernel=kernel: chain(beam=beam, hidden=hidden, kernel=kernel)
        )
        for beam in (False, True)
        for hidden, kernel in ((False, False), (True, False), (False, True))
    },
    "segments of frames": frames,
    "segments of tokens": tokens,
    "dependency arcs": dependency_arcs,
    "forest": forest,
    "trees of phrases": phrases,
    "derivations of meanings": meanings,
    "derivations of translations": translations,
    "listed answers": listed_answers,
    "co-segments": cosegments,
    "alignments": lambda: Cosegments([(0, 1), (1,)], [(0, 1), (1,)]),
    "transitions of a parser": transitions_of_a_parser,
    "decisions of a parser": lambda: transitions_of_a_parser(exploring=True),
    "transitions": lambda: BeamOracle(Bits(), ["ab", "b"], [(0, 1), (1,)], beam=3),
    "k-grams": lambda: KGramOracle(["aba", "bba"], ["xyy", "yxx"]),
    "network of trees": network_of_trees,
    "ClassesWithGradient": ClassesWithGradient,
    "ClassesWithAnswer": ClassesWithAnswer,
    "ClassesWithLogLoss": ClassesWithLogLoss,
}
"""A tiny oracle for each structure, by the name of the structure."""


# Learners: as they come, and with the parameters that need something else


LEARNERS_OF_TESTS: dict[str, Any] = {
    **{name: kind() for name, kind in LEARNERS.items()},
    "spectral": Spectral(order=2, tau=0.01),  # with its usual tau, so few data are not worth a score
    "em": EM(order=2, unigram_iterations=2),
    "crf by a beam": CRF(search="beam"),
    "crf by single examples": CRF(method="sgd"),
    "crf by single examples under a beam": CRF(method="sgd", search="beam"),
    "crf of the best completion": CRF(completion="best"),
    "crf of the best completion under a beam": CRF(completion="best", search="beam"),
    "crf with all pairs": CRF(all_pairs=True),
}


def numbers(weights: Any) -> np.ndarray:
    """All floats of weights, at any depth, as one vector."""
    if isinstance(weights, dict):
        weights = list(weights.values())
    if isinstance(weights, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(numbers, weights)])
    is_array = isinstance(weights, np.ndarray) and weights.dtype.kind == "f"
    return weights.ravel() if is_array else np.zeros(0)


def asked(oracle: Any, *_: Any) -> Any:
    raise AssertionError("a pair that does not fit must be refused before anything is asked of the oracle")


@pytest.mark.parametrize("learner", LEARNERS_OF_TESTS.values(), ids=LEARNERS_OF_TESTS)
@pytest.mark.parametrize("structure", STRUCTURES_OF_TESTS)
def test_a_pair_trains_or_is_refused(structure: str, learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = STRUCTURES_OF_TESTS[structure]()
    name, can = declared(oracle)
    assert name == structure
    if learner.needs <= can:
        check_fits(learner, name, can)
        start = numbers(oracle.weights(False)) if hasattr(oracle, "weights") else 0.0
        result = margent.train(learner, oracle, progress=False)
        learned = numbers(result.weights)
        grown = (
            not isinstance(start, float) and learned.size != start.size
        )  # weights that come into being when they are learned
        assert learned.size and np.isfinite(learned).all() and (grown or np.any(learned != start))
        assert bool(result.support) == learner.keeps_support
        return
    kind = RuleLearner if isinstance(learner, RuleLearner) else BatchLearner
    for method in ("rule", "objective"):
        if hasattr(kind, method):
            monkeypatch.setattr(type(learner), method, asked)
    said = (
        rf"^{type(learner).__name__} .+, and the structure {structure!r} .+: (choose [A-Z]|no learner of the library)"
    )
    with pytest.raises(margent.CapabilityError, match=said):
        margent.train(learner, oracle, progress=False)
    if structure in STRUCTURES:
        with pytest.raises(margent.CapabilityError, match=said):
            check_fits(learner, structure)


def test_every_structure_of_the_library_is_tried() -> None:
    assert set(STRUCTURES) <= set(STRUCTURES_OF_TESTS)


def test_what_a_structure_does_not_declare_it_cannot_do() -> None:
    """Declarations are not smaller than they need be: without them, the learner fails by itself or learns nothing.

    Not so for what is refused because it makes no sense: whole answers of which there are only parts (a beam) or whose
    right side moves (hidden labels, co-segments), exact sums over all alignments of words or all ways to parse, which
    take too long, counts of hidden labels, which would all go to the first, and parameters of labels or a choice of the
    right side, which an oracle that makes its own sums is not told.
    """
    senseless = {Capability.WHOLE_ANSWERS, Capability.LABEL_PARAMETERS, Capability.BEST_COMPLETION}
    only_beams = ("co-segments", "transitions of a parser", "derivations of meanings")
    of_structure = {name: {Capability.LIKELIHOOD} for name in only_beams}
    of_structure |= {chain_structure(hidden=True, beam=beam): {Capability.COUNTS} for beam in (False, True)}
    for structure, make in STRUCTURES_OF_TESTS.items():
        for learner in LEARNERS_OF_TESTS.values():
            oracle = make()
            missing = learner.needs - declared(oracle)[1] - senseless
            if not missing - of_structure.get(structure, set()):
                continue
            with pytest.raises((AttributeError, TypeError, ValueError, LookupError, RuntimeError)):
                if isinstance(learner, RuleLearner):
                    _core.run(oracle, learner.rule(), np.arange(len(oracle)))
                else:
                    objective = learner.objective(oracle, 1)
                    next(learner.steps(objective, np.random.default_rng(0), lambda _: None))
                pytest.fail(f"{structure} can do what {learner} needs, {missing}, and does not say so")


def test_densities_of_frames_are_for_segments_of_frames() -> None:
    """`MaximumLikelihood` only counts: it has no rule and no steps, and is a learner of the segmenter."""
    X = [np.random.default_rng(i).normal(size=(8, 2)) for i in range(3)]
    y = [[(0, 4, "a"), (4, 8, "b")]] * 3
    segmenter = margent.Segmenter(learner=MaximumLikelihood()).fit(X, y)
    assert np.isfinite(segmenter.weights_.weights).all() and segmenter.weights_.weights.any()
    words = [["the", "old", "man", "sees", "a", "bird", "up", "there"]] * 3
    with pytest.raises(TypeError, match=r"MaximumLikelihood fits densities .* 'segments of tokens' has no frames"):
        margent.Segmenter(learner=MaximumLikelihood()).fit(words, y)


def test_models_refuse_before_they_look_at_the_data() -> None:
    class Unseen(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise AssertionError("the data were looked at")

    with pytest.raises(TypeError, match="Spectral learns tables of k-gram scores, and the structure 'listed answers'"):
        margent.Transcriber(learner="spectral").fit(Unseen(["a"]), Unseen([["A"]]))
    with pytest.raises(TypeError, match=r"HiddenMarkov counts .* 'chain of hidden labels' cannot count them: choose"):
        margent.Tagger(learner="hmm", hidden=2).fit([["a"]], [["A"]])


# Declarations


class Own(ClassesWithAnswer):
    capabilities = frozenset({Capability.RIVALS})
    structure = "classes of mine"


def test_an_oracle_of_the_users_may_declare_what_it_can_do() -> None:
    assert declared(Own()) == ("classes of mine", frozenset({Capability.RIVALS}))
    assert margent.train(margent.Perceptron(), Own()).weights.any()
    with pytest.raises(
        TypeError, match=r"DualPerceptron keeps whole wrong answers .* 'classes of mine' has only parts"
    ):
        margent.train(margent.DualPerceptron(), Own())
    assert declared(ClassesWithAnswer())[1] == METHODS["answer"]

    class Wrong(Own):
        capabilities = frozenset({"rivals"})  # type: ignore[assignment, arg-type]

    with pytest.raises(TypeError, match="capabilities of Wrong should be a set of Capability"):
        margent.train(margent.Perceptron(), Wrong())


def test_what_does_not_derive_from_a_learner_is_refused() -> None:
    class Looks:
        epochs, average, shuffle, patience = 1, False, False, None

        def rule(self) -> _core.Rule:
            return _core.PerceptronRule(0.0)

    for learner in (Looks(), margent.Perceptron):
        with pytest.raises(TypeError, match="a learner derives from RuleLearner or BatchLearner"):
            margent.train(learner, ClassesWithAnswer())  # type: ignore[arg-type]


def test_the_page_shows_the_declarations() -> None:
    page = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text(encoding="utf-8")
    assert capability_table() in page, "write the table of margent.learners.capability_table() into docs/choosing.md"
    rows = re.findall(r"^\| (.+?) \|", capability_table(), flags=re.M)
    assert rows[2:] == list(STRUCTURES)
    named = re.findall(r"`(\w+)`", capability_table().splitlines()[0])
    assert named == [kind.__name__ for kind in (*LEARNERS.values(), EM, MaximumLikelihood, PCFG)]
