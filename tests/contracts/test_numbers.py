"""Every numeric parameter of models, learners, their values and methods: what is far too large, or no number, is an
error of ours in one sentence. Never one of memory, of native code, of NumPy or of Python."""

from __future__ import annotations

import dataclasses
import math
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from margent import (
    EM,
    AlignmentBeam,
    AlignmentFeatures,
    Beam,
    CubePruning,
    DenseStart,
    DependencyTree,
    DualPerceptron,
    Durations,
    EntailmentClassifier,
    Features,
    HiddenLabels,
    Kernel,
    LexiconOptions,
    Markovisation,
    MaximumLikelihood,
    Network,
    Parser,
    ParserFeatures,
    Perceptron,
    PhraseParser,
    RuleExtraction,
    SegmentCosts,
    Segmenter,
    SemanticParser,
    SpanFeatures,
    Spectral,
    Tagger,
    Transcriber,
    Translator,
)
from margent.annotation import PhraseTree
from margent.datasets import make_entailment, make_questions, make_translations
from margent.features.frame_map import FrameFeatures
from margent.features.segment_token_map import TokenFeatures
from margent.learners import LEARNERS
from margent.models.loading import KINDS, model_class

VALUES = [2**31, 2**40, 10**12, 2**63, 2**64, 10**400, -1, 0, 1e300, math.inf, math.nan, True, "9", np.float64(1.5)]

X = [["the", "old", "bank"], ["a", "dog"], ["old", "dog", "runs"]] * 4
Y = [["D", "A", "N"], ["D", "N"], ["A", "N", "V"]] * 4
FRAMES = [np.sin(np.arange(12.0).reshape(6, 2) + i) for i in range(6)]
SEGMENTS = [[(0, 2, "a"), (2, 6, "b")] for _ in FRAMES]
SPANS = [[(0, 1, "a"), (1, len(x), "b")] for x in X]
WORDS, SPOKEN = ["cab", "back", "tack", "cat", "bat"] * 2, ["K AE B", "B AE K", "T AE K", "K AE T", "B AE T"] * 2
SEEN = ["U:%x[0,0]", "B"]
TREES = [DependencyTree([2, 3, 0] if len(x) == 3 else [2, 0], ["x"] * len(x)) for x in X]
PHRASES = [PhraseTree(x, t, [(0, len(x), "S"), *([(0, 2, "NP")] if len(x) > 2 else [])]) for x, t in zip(X, Y)]
QUESTIONS, MEANINGS, DOMAIN, _ = make_questions(6)
FOREIGN, ENGLISH, _ = make_translations(8, longest=8)
TRANSLATING = {
    "features": ["target.first"],
    "learner": Perceptron(epochs=1),
    "order": 2,
    "search": CubePruning(5),
    "left_out": False,
}
ENTAILED, RELATIONS, _ = make_entailment(6)
SEEN_OF_STATES = ["q0.lower action.piece", "s0.type action.kind"]
# Nothing but how long somebody wants to wait; more is not wrong.
WAITS = {"epochs", "iterations", "restarts", "n_reprocess"}


def tag(features: Any = SEEN, learner: Any = None, **options: Any) -> None:
    Tagger(features, learner or Perceptron(epochs=1), **options).fit(X, Y, progress=False).predict(X[:2])


def segment(**options: Any) -> None:
    given = {"features": FrameFeatures(bins=1), "learner": Perceptron(epochs=1), **options}
    Segmenter(**given).fit(FRAMES, SEGMENTS, progress=False).predict(FRAMES[:1])


def speak(**options: Any) -> None:
    model = Transcriber(**({"order": 2} | options)).fit(WORDS, SPOKEN, progress=False)
    model.predict_k_best(WORDS[:1])


def parse(**options: Any) -> None:
    Parser(learner=Perceptron(epochs=1), **options).fit(X, TREES, progress=False).predict(X[:2])


def phrase(**options: Any) -> None:
    given = {"learner": Perceptron(epochs=1), **options}
    PhraseParser(**given).fit(X, PHRASES, progress=False).predict(X[:2])


def understand(**options: Any) -> None:
    given = {
        "domain": DOMAIN,
        "features": SEEN_OF_STATES,
        "learner": Perceptron(epochs=1),
        "search": Beam(2),
        **options,
    }
    SemanticParser(**given).fit(QUESTIONS, MEANINGS, progress=False).predict(QUESTIONS[:2])


def translate(**options: Any) -> None:
    Translator(**{**TRANSLATING, **options}).fit(FOREIGN, ENGLISH, progress=False).predict(FOREIGN[:2])


def entail(**options: Any) -> None:
    EntailmentClassifier(**{"learner": Perceptron(epochs=1), **options}).fit(
        ENTAILED, RELATIONS, progress=False
    ).predict(ENTAILED[:2])


def learn(learner: Any) -> None:
    if "epochs" in {field.name for field in dataclasses.fields(learner)}:
        learner = dataclasses.replace(learner, epochs=1)
    if isinstance(learner, Spectral):
        Tagger(learner=learner).fit(X[:3], Y[:3], progress=False)
    else:
        tag(learner=learner, hidden=2 if type(learner).__name__ == "LatentSVM" else None)


def numeric(kind: type[Any]) -> list[str]:
    found = [f.name for f in dataclasses.fields(kind) if f.init and ("int" in str(f.type) or "float" in str(f.type))]
    return [name for name in found if not any(name.endswith(wait) for wait in WAITS)]


USES: dict[str, Callable[[Any], None]] = {
    **{f"{name}.{field}": lambda v, kind=kind, field=field: learn(kind(**{field: v}))
       for name, kind in LEARNERS.items() for field in numeric(kind)},
    **{f"Tagger.{name}": lambda v, name=name: tag(**{name: v})
       for name in ("order", "hidden", "tag_dictionary", "calibration", "seed", "threads")},
    **{f"Beam.{name}": lambda v, name=name: tag(search=Beam(**{name: v})) for name in numeric(Beam)},
    **{f"HiddenLabels.{name}": lambda v, name=name: tag(hidden=HiddenLabels(**{name: v}))
       for name in numeric(HiddenLabels)},
    **{f"Features.{name}": lambda v, name=name: tag(Features(SEEN, **{name: v})) for name in numeric(Features)},
    **{f"Kernel({kind!r}).{name}": lambda v, name=name, kind=kind: tag(Kernel(kind, **{name: v}))
       for kind in ("polynomial", "rbf", "string-spectrum") for name in numeric(Kernel)},
    **{f"Segmenter.{name}": lambda v, name=name: segment(**{name: v}) for name in ("calibration", "seed", "threads")},
    **{f"Durations.{name}": lambda v, name=name: segment(durations=Durations(**{name: v}))
       for name in numeric(Durations)},
    **{f"SegmentCosts.{name}": lambda v, name=name: segment(costs=SegmentCosts(**{name: v}))
       for name in numeric(SegmentCosts)},
    **{f"FrameFeatures.{name}": lambda v, name=name: segment(features=FrameFeatures(**{name: v}))
       for name in numeric(FrameFeatures)},
    "TokenFeatures.similar": lambda v: Segmenter(
        TokenFeatures(similar=v, names={"a": ["dog"]}), Perceptron(epochs=1)).fit(X, SPANS, progress=False),
    **{f"MaximumLikelihood.{name}": lambda v, name=name: segment(learner=MaximumLikelihood(**{name: v}))
       for name in numeric(MaximumLikelihood)},
    **{f"Transcriber.{name}": lambda v, name=name: speak(
        **{"learner": Perceptron(epochs=1) if name in ("candidates", "folds") else None, name: v})
       for name in ("order", "candidates", "folds", "held_out", "seed", "threads")},
    **{f"Parser.{name}": lambda v, name=name: parse(**{name: v})
       for name in ("order", "exploration", "calibration", "seed", "threads")},
    **{f"ParserFeatures.{name}": lambda v, name=name: parse(features=ParserFeatures(**{name: v}))
       for name in numeric(ParserFeatures)},
    **{f"PhraseParser.{name}": lambda v, name=name: phrase(**{name: v})
       for name in ("pruning", "calibration", "seed", "threads")},
    **{f"SemanticParser.{name}": lambda v, name=name: understand(**{name: v})
       for name in ("prior", "most_names", "most_expressions", "calibration", "seed", "threads")},
    **{f"Translator.{name}": lambda v, name=name: translate(**{name: v})
       for name in ("order", "calibration", "seed", "threads")},
    **{f"DenseStart.{name}": lambda v, name=name: translate(dense=DenseStart(**{name: v}))
       for name in ("scale", "step")},
    **{f"CubePruning.{name}": lambda v, name=name: translate(search=CubePruning(**{name: v}))
       for name in numeric(CubePruning)},
    **{f"RuleExtraction.{name}": lambda v, name=name: translate(extraction=RuleExtraction(**{name: v}))
       for name in numeric(RuleExtraction)},
    **{f"EntailmentClassifier.{name}": lambda v, name=name: entail(**{name: v})
       for name in ("calibration", "seed", "threads")},
    **{f"AlignmentFeatures.{name}": lambda v, name=name: entail(features=AlignmentFeatures(**{name: v}))
       for name in numeric(AlignmentFeatures)},
    **{f"Network.{name}": lambda v, name=name: Network(**{name: v}) for name in numeric(Network)},
    **{f"LexiconOptions.{name}": lambda v, name=name: understand(lexicon=LexiconOptions(**{name: v}))
       for name in numeric(LexiconOptions)},
    **{f"SpanFeatures.{name}": lambda v, name=name: phrase(features=SpanFeatures(**{name: v}))
       for name in numeric(SpanFeatures)},
    **{f"Markovisation.{name}": lambda v, name=name: phrase(grammar=Markovisation(**{name: v}))
       for name in numeric(Markovisation)},
    "Transcriber.sizes": lambda v: speak(sizes=[(1, v)]),
    **{f"EM.{name}": lambda v, name=name: speak(order=None, em=EM(**({"order": 2} | {name: v})))
       for name in numeric(EM)},
    **{f"AlignmentBeam.{name}": lambda v, name=name: speak(search=AlignmentBeam(**{name: v}))
       for name in numeric(AlignmentBeam)},
}  # fmt: skip


def told(use: Callable[[Any], Any], value: Any) -> None:
    """Works, or is an error of one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(value)
        except (ValueError, TypeError) as error:
            assert "\n" not in str(error)
            *_, last = traceback.extract_tb(error.__traceback__)
            assert "/margent/" in last.filename and (last.line or "").startswith(("raise", "f", '"', "(")), last


def test_every_number_of_every_model_is_asked() -> None:
    """A model, or a parameter of one, that comes later joins by itself or fails here."""
    for kind in map(model_class, KINDS):
        hints = get_type_hints(kind.__init__, vars(sys.modules[kind.__module__]), {"LabelCosts": Any})
        numbers = {name for name, hint in hints.items() if {int, float} & {hint, *get_args(hint)}}
        assert {"seed", "threads"} <= numbers
        assert {f"{kind.__name__}.{name}" for name in numbers} <= set(USES)


@pytest.mark.parametrize("name", USES)
def test_parameters(name: str) -> None:
    for value in VALUES:
        told(USES[name], value)


@pytest.mark.parametrize(
    "kind",
    [
        *("chain", "hidden", "spectral", "beam", "kernel", "segmenter", "transcriber", "parser", "phrase-parser"),
        *("semantic-parser", "translator", "entailment"),
    ],
)
def test_methods(kind: str) -> None:
    makers: dict[str, Callable[[], Any]] = {
        "chain": lambda: Tagger(SEEN, Perceptron(epochs=1)).fit(X, Y, progress=False),
        "hidden": lambda: Tagger(SEEN, Perceptron(epochs=1), hidden=2, search="sum").fit(X, Y, progress=False),
        "spectral": lambda: Tagger(learner=Spectral(order=2, iterations=3)).fit(X, Y, progress=False),
        "beam": lambda: Tagger(SEEN, Perceptron(epochs=1), search=Beam(2)).fit(X, Y, progress=False),
        "kernel": lambda: Tagger(Kernel(), DualPerceptron(epochs=1)).fit(X, Y, progress=False),
        "segmenter": lambda: Segmenter(FrameFeatures(bins=1), Perceptron(epochs=1)).fit(
            FRAMES, SEGMENTS, progress=False),
        "transcriber": lambda: Transcriber(2).fit(WORDS, SPOKEN, progress=False),
        "parser": lambda: Parser(learner=Perceptron(epochs=1)).fit(X, TREES, progress=False),
        "phrase-parser": lambda: PhraseParser(learner=Perceptron(epochs=1)).fit(X, PHRASES, progress=False),
        "semantic-parser": lambda: SemanticParser(DOMAIN, SEEN_OF_STATES, Perceptron(epochs=1)).fit(
            QUESTIONS, MEANINGS, progress=False),
        "translator": lambda: Translator(**TRANSLATING).fit(FOREIGN, ENGLISH, progress=False),
        "entailment": lambda: EntailmentClassifier(learner=Perceptron(epochs=1)).fit(
            ENTAILED, RELATIONS, progress=False),
    }  # fmt: skip
    model = makers[kind]()
    data: dict[str, Any] = {"segmenter": (FRAMES[:2], SEGMENTS[:2]), "transcriber": (WORDS[:2], SPOKEN[:2])}
    data |= {"parser": (X[:2], TREES[:2]), "phrase-parser": (X[:2], PHRASES[:2])}
    data |= {"semantic-parser": (QUESTIONS[:2], MEANINGS[:2]), "translator": (FOREIGN[:2], ENGLISH[:2])}
    data |= {"entailment": (ENTAILED[:2], RELATIONS[:2])}
    given, right = data.get(kind, (X[:2], Y[:2]))
    long = given if kind in data else [["the", "old", "dog"] * 30]
    asked: list[Callable[[Any], Any]] = [
        lambda v: model.predict_k_best(given, v),
        lambda v: model.predict_k_best(long, v),
        lambda v: model.reliability(given, right, bins=v),
    ]
    if kind == "segmenter":
        asked += [lambda v: model.scores_of(given[0], v)]
    if kind not in data:
        asked += [lambda v: model.sample(given, v), lambda v: model.sample(given, 2, seed=v)]
    no_number = ("phrase-parser", "semantic-parser", "translator", "entailment")  # which explain without one
    if hasattr(model, "explain") and kind not in no_number:
        asked += [lambda v: model.explain(given[0], v), lambda v: model.explain(given[0], top=v)]
    if hasattr(model, "top_features"):
        label = "x" if kind == "parser" else str(model.classes_[0])
        asked += [lambda v: model.top_features(label, v)]
    if hasattr(model, "top_transitions"):
        asked += [lambda v: model.top_transitions(v)]
    if kind == "kernel":
        asked += [model.support_sequences]
    for ask in asked:
        for value in VALUES:
            told(ask, value)


def test_answers_that_would_not_fit() -> None:
    tagger = Tagger(SEEN, Perceptron(epochs=1)).fit(X, Y, progress=False)
    with pytest.raises(
        ValueError, match="k should be an integer of at most 2982616 for 90 tokens at once, got 10000000"
    ):
        tagger.predict_k_best([["the", "old", "dog"] * 30], k=10**12)
    with pytest.raises(ValueError, match="n should be an integer of at most"):
        tagger.sample(X, n=10**12)
    with pytest.raises(ValueError, match="order of Tagger should be an integer of at most 16, got 1099511627776"):
        Tagger(order=2**40).fit(X, Y)
