"""What no model file can hold is refused before a training, for all kinds of models: not when all is learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import Parser, Perceptron, PhraseParser, Segmenter, Tagger, Transcriber
from margent.annotation import DependencyTree, PhraseTree

HALF = "\ud800"
"""Half of a surrogate pair: a str of Python that is no text."""
LEARNER = Perceptron(epochs=1)
WORDS, LABELS = [["a", "b"], ["c"]], [["X", "Y"], ["X"]]
FRAMES, CUTS = [np.arange(12.0).reshape(6, 2)] * 2, [[(0, 3, "a"), (3, 6, "b")]] * 2
SPANS = [[(0, 1, "N")], [(0, 1, "N")]]
TREES = [DependencyTree([2, 0], ["x", "root"]), DependencyTree([0], ["root"])]
PHRASES = ["(S (NP (N a)) (VP (V b)))", "(S (VP (V c)))"]


def tag(X: Any = WORDS, y: Any = LABELS, **parameters: Any) -> Any:
    return Tagger(**({"learner": LEARNER} | parameters)).fit(X, y, progress=False)


def cut(X: Any = FRAMES, y: Any = CUTS, **parameters: Any) -> Any:
    return Segmenter(**({"learner": LEARNER} | parameters)).fit(X, y, progress=False)


def spell(words: Any = ("ab", "b"), spoken: Any = (["A", "B"], ["B"]), **parameters: Any) -> Any:
    return Transcriber(2, **parameters).fit(list(words), list(spoken), progress=False)


def parse(X: Any = WORDS, y: Any = TREES, **parameters: Any) -> Any:
    return Parser(**({"learner": LEARNER} | parameters)).fit(X, y, progress=False)


def phrases(brackets: Any = PHRASES, **parameters: Any) -> Any:
    trees = [PhraseTree.from_brackets(text) for text in brackets]
    return PhraseParser(**({"learner": LEARNER} | parameters)).fit([t.words for t in trees], trees, progress=False)


def names(**lists: Any) -> Any:
    return cut(WORDS, SPANS, outside="O", features=margent.TokenFeatures(names=lists))


KINDS: tuple[Callable[..., Any], ...] = (tag, cut, spell, parse, phrases)
REFUSED: dict[str, Callable[[], Any]] = {
    **{f"the seed of {kind.__name__}": lambda kind=kind: kind(seed=10**30) for kind in KINDS},
    "a word to tag": lambda: tag([["a", HALF], ["c"]]),
    "a label to tag": lambda: tag(y=[[HALF, "Y"], ["X"]]),
    "an attribute": lambda: tag([[{HALF: 1.0}, {"b": 1.0}], [{"c": HALF}]]),
    "a template": lambda: tag(features=["U:%x[0,0]" + HALF]),
    "a label of frames": lambda: cut(y=[[(0, 3, HALF), (3, 6, "b")]] * 2),
    "a label without times": lambda: cut(y=[CUTS[0], ["a", HALF]]),
    "what is outside": lambda: cut(outside=HALF),
    "a word to cut": lambda: cut([["a", HALF], ["c"]], SPANS, outside="O"),
    "a name in a list": lambda: names(things=[HALF]),
    "the name of a list": lambda: names(**{HALF: ["a"]}),
    "a letter": lambda: spell(["a" + HALF, "b"]),
    "a phoneme": lambda: spell(spoken=[["A", HALF], ["B"]]),
    "phonemes in a string": lambda: spell(spoken=["A " + HALF, "B"]),
    "a word to parse": lambda: parse([["a", HALF], ["c"]]),
    "a label of an arc": lambda: parse(y=[DependencyTree([2, 0], [HALF, "root"]), TREES[1]]),
    "a label of a partial tree": lambda: parse(y=[([2, None], [HALF, None]), TREES[1]]),
    "a word with a cluster": lambda: parse(features=margent.ParserFeatures(clusters={"a": "0", HALF: "1"})),
    "a cluster": lambda: parse(features=margent.ParserFeatures(clusters={"a": "0" + HALF})),
    "a word of phrases": lambda: phrases([f"(S (NP (N a{HALF})) (VP (V b)))", PHRASES[1]]),
    "a tag of phrases": lambda: phrases([f"(S (NP (N{HALF} a)) (VP (V b)))", PHRASES[1]]),
    "a label of phrases": lambda: phrases([f"(S{HALF} (NP (N a)) (VP (V b)))", PHRASES[1]]),
    "how frames were made": lambda: cut().with_front_end({"frame": HALF}),
    "how long frames are": lambda: cut().with_front_end({"frame": float("nan")}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_file_can_hold_is_refused_before_the_training(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not name.startswith("how"):
        monkeypatch.setattr("margent.models.base.train", lambda *_, **__: pytest.fail("it was trained"))
    with pytest.raises(
        ValueError, match=r"valid text|not valid|UTF-8|more than 64 bits|compliant|a list of names|a pair of lists"
    ):
        REFUSED[name]()


STORED: dict[str, Callable[[], Any]] = {
    "the largest seed": lambda: tag(seed=2**64 - 1),
    "signs that mean something elsewhere": lambda: tag(y=[["\0", 'Y\n"'], ["\0"]]),
    "a long label": lambda: tag(y=[["X" * 10**6, "Y"], ["Y"]]),
    "many long labels": lambda: tag([[f"w{i}" for i in range(800)]], [[f"{i}" * 2000 for i in range(800)]]),
    "many templates": lambda: tag(features=[f"U{i}:%x[0,0]" for i in range(20_000)]),
    "a long template": lambda: tag(features=["U" + "a" * 10**6 + ":%x[0,0]"]),
    "many names": lambda: names(things=[f"w{i}" for i in range(100_000)]),
    "many lists": lambda: names(**{f"list{i}": ["a b"] for i in range(30_000)}),
    "many clusters": lambda: parse(features=margent.ParserFeatures(clusters={f"w{i}": "01" for i in range(150_000)})),
    "a long history": lambda: tag(learner=Perceptron(epochs=40_000, average=True, shuffle=False)),
    "numbers of NumPy": lambda: tag(order=np.int64(2), learner=margent.CRF(l2=np.float32(1), epochs=np.int32(2))),
}


@pytest.mark.parametrize("name", STORED)
def test_what_is_large_is_stored(name: str, tmp_path: Path) -> None:
    model = STORED[name]()
    model.save(tmp_path / "m")
    assert margent.load(tmp_path / "m").get_params().keys() == model.get_params().keys()
