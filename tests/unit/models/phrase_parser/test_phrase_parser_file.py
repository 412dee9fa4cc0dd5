"""Model files of parsers of phrases: there and back, and wrong ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import margent
from margent import PCFG, Perceptron, PhraseParser, SpanFeatures, storage
from margent.datasets import make_phrases
from margent.errors import ModelFileError

X, Y = make_phrases(25, seed=0)
X_TEST, Y_TEST = make_phrases(15, seed=1)
FEW = SpanFeatures(("first.word", "last.word tags", "right.word left.upos", "length"), min_count=2)


@pytest.fixture(scope="module", params=["weights", "grammar"])
def parser(request):
    learner = Perceptron(epochs=2) if request.param == "weights" else PCFG()
    return PhraseParser(FEW, learner).fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST)


@pytest.mark.parametrize("compact", [False, True])
def test_a_model_that_was_saved_answers_the_same(parser, compact, tmp_path):
    parser.save(tmp_path / "a.margent", compact=compact)
    loaded = margent.load(tmp_path / "a.margent")
    assert isinstance(loaded, PhraseParser) and loaded.get_params() == parser.get_params()
    assert loaded.temperature_ == parser.temperature_ and loaded.calibrated_
    close = 1e-2 if compact else 1e-5
    for ours, theirs in zip(parser.predict_k_best(X_TEST, 2), loaded.predict_k_best(X_TEST, 2)):
        assert [r.score for r in ours] == pytest.approx([r.score for r in theirs], rel=close, abs=close)
    if not compact:
        assert loaded.predict(X_TEST) == parser.predict(X_TEST)
        loaded.save(tmp_path / "b.margent")
        assert (tmp_path / "a.margent").read_bytes() == (tmp_path / "b.margent").read_bytes()


def test_a_model_that_was_loaded_learns_on(parser, tmp_path):
    parser.save(tmp_path / "a.margent")
    loaded = PhraseParser.load(tmp_path / "a.margent").partial_fit(X_TEST, Y_TEST)
    assert loaded.score(X_TEST, Y_TEST) >= parser.score(X_TEST, Y_TEST) - 0.05
    assert pickle.loads(pickle.dumps(loaded)).predict(X_TEST) == loaded.predict(X_TEST)


def changed(file, change):
    header, arrays = dict(file.header), dict(file.arrays)
    change(header, arrays)
    return header, arrays


WRONG = {
    "a symbol twice": (lambda h, a: h["symbols"].__setitem__(1, h["symbols"][0]), "symbols should be different"),
    "a symbol of no kind": (lambda h, a: h["symbols"].__setitem__(0, ["x", "S", [], []]), "should be a symbol"),
    "a chain too far": (lambda h, a: h.update(chains=[[99]] * len(h["chains"])), "chains should be lists of symbols"),
    "rules out of range": (lambda h, a: a.update(binary=a["binary"] + 1000), "binary"),
    "rules twice": (lambda h, a: a.update(binary=np.repeat(a["binary"][:1], len(a["binary"]), 0)), "rules are not"),
    "a tag above phrases": (
        lambda h, a: a.update(binary=a["binary"] * 0 + [s[0] for s in h["symbols"]].index("tag")),
        "rules are not",
    ),
    "counts below 0": (lambda h, a: a.update(binary_counts=-a["binary_counts"]), "counts of at least 0"),
    "no counts": (lambda h, a: a.pop("root_counts"), "root_counts"),
    "pruning": (lambda h, a: h.update(pruning=-1.0), "pruning"),
    "markovisation": (lambda h, a: h.update(markovisation=[0, 0, "up"]), "markovisation is wrong"),
    "counts too small for shares": (lambda h, a: a["unary_counts"].__setitem__(0, 1e-300), "each 0, or from 1e-60 on"),
    "words too frequent": (lambda h, a: a["lexicon.count"].__setitem__(0, 1e200), "each 0, or from 1e-60 on"),
    "a tag that cannot stand anywhere": (
        lambda h, a: a.update(unary_counts=a["unary_counts"] * 0),
        "should leave each tag something that may be above it",
    ),
    "tags of words": (lambda h, a: a.update({"lexicon.tag": a["lexicon.tag"] + 100}), "lexicon.tag"),
    "parameters": (lambda h, a: h["parameters"].update(pruning="wide"), "parameters are wrong"),
}
WRONG_WEIGHTS = {
    "positions": (lambda h, a: a.update(positions=a["positions"][::-1].copy()), "positions of its weights should rise"),
    "position too far": (lambda h, a: a.update(positions=a["positions"] + 10**9), "positions"),
    "keys twice": (lambda h, a: a.update(keys=a["keys"] * 0), "features should be different"),
    "templates": (lambda h, a: h.update(templates=["first.color"]), "names no atom"),
    "atoms": (lambda h, a: h.update(templates=["first.suffix3"]), "atoms should be those"),
    "values": (lambda h, a: a.update(values=a["values"] * np.float32(np.inf)), "values"),
}


@pytest.mark.parametrize("what", [*WRONG, *WRONG_WEIGHTS])
def test_what_no_training_leaves_is_refused(parser, what, tmp_path):
    if what in WRONG_WEIGHTS and parser.weights_ is None:
        return
    change, message = {**WRONG, **WRONG_WEIGHTS}[what]
    parser.save(tmp_path / "a.margent")
    file = storage.read(tmp_path / "a.margent")
    header, arrays = dict(file.header), {name: np.array(array) for name, array in file.arrays.items()}
    with np.errstate(invalid="ignore"):
        change(header, arrays)
    storage.write(tmp_path / "b.margent", header, arrays, kind=file.kind)
    with pytest.raises(ModelFileError, match=message):
        margent.load(tmp_path / "b.margent")
