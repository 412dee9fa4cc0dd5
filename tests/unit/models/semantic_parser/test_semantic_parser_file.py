"""Model files of semantic parsers: there and back, and wrong ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import margent
from margent import Beam, Perceptron, SemanticParser, storage
from margent.datasets import make_questions
from margent.errors import ModelFileError

X, Y, DOMAIN, _ = make_questions(25, seed=0)
X_TEST, Y_TEST, _, _ = make_questions(15, seed=1)
FEW = ["action.kind", "s0.type action.kind", "q0.lower action.piece", "s0.name s1.name action.kind"]


@pytest.fixture(scope="module", params=["a domain", "meanings alone", "simple types"])
def parser(request):
    domain = None if request.param == "meanings alone" else DOMAIN
    types = "simple" if request.param == "simple types" else "full"
    parser = SemanticParser(domain, FEW, Perceptron(epochs=2), search=Beam(6), types=types, threads=1)
    return parser.fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST)


@pytest.mark.parametrize("compact", [False, True])
def test_a_model_that_was_saved_answers_the_same(parser, compact, tmp_path):
    parser.save(tmp_path / "a.margent", compact=compact)
    loaded = margent.load(tmp_path / "a.margent")
    assert isinstance(loaded, SemanticParser) and loaded.get_params() == parser.get_params()
    assert loaded.domain_ == parser.domain_ and loaded.coverage_ == parser.coverage_
    assert loaded.temperature_ == parser.temperature_ and loaded.calibrated_ == parser.calibrated_
    if not compact:
        assert loaded.predict_k_best(X_TEST) == parser.predict_k_best(X_TEST)
        loaded.save(tmp_path / "b.margent")
        assert (tmp_path / "a.margent").read_bytes() == (tmp_path / "b.margent").read_bytes()
    else:
        parser.save(tmp_path / "b.margent")
        assert (tmp_path / "a.margent").stat().st_size < (tmp_path / "b.margent").stat().st_size
        assert np.mean([a == b for a, b in zip(loaded.predict(X), parser.predict(X))]) > 0.8


def test_a_model_that_was_loaded_learns_on(parser, tmp_path):
    parser.save(tmp_path / "a.margent")
    loaded = SemanticParser.load(tmp_path / "a.margent").partial_fit(X_TEST, Y_TEST)
    here = pickle.loads(pickle.dumps(parser)).partial_fit(X_TEST, Y_TEST)
    assert loaded.predict_k_best(X_TEST) == here.predict_k_best(X_TEST)


WRONG = {
    "no domain": (lambda h, a: h.pop("domain"), "no 'domain'"),
    "a domain of another form": (lambda h, a: h["domain"].pop("types"), "domain or templates are wrong"),
    "a type of the domain": (lambda h, a: h["domain"]["types"].update(x=["(("]), "domain or templates are wrong"),
    "types": (lambda h, a: h.update(types="many"), "'types'"),
    "templates": (lambda h, a: h.update(templates=["s0.colour action.kind"]), "names no atom"),
    "templates without actions": (lambda h, a: h.update(templates=["s0.type"]), "sees no action"),
    "atoms": (lambda h, a: h.update(atoms=["word"]), "atoms should be those of its templates"),
    "a piece": (
        lambda h, a: a.update(storage.string_arrays("pieces", ["(a"] * n_strings(a, "pieces"))),
        "piece or type",
    ),
    "no piece": (lambda h, a: a.update(storage.string_arrays("pieces", [])), "should have pieces"),
    "types twice": (
        lambda h, a: a.update(storage.string_arrays("types", ["e"] * n_strings(a, "types"))),
        "different types",
    ),
    "no types": (lambda h, a: a.update(storage.string_arrays("types", [])), "different types"),
    "piece types too far": (lambda h, a: a.update(piece_types=a["piece_types"] + 10**6), "numbers of pieces and types"),
    "piece types below 0": (lambda h, a: a.update(piece_types=a["piece_types"] - 10**6), "piece_types"),
    "slots of closed pieces": (
        lambda h, a: a.update(
            piece_types=np.roll(a["piece_types"], 1, axis=0) * [0, 1, 0] + a["piece_types"] * [1, 0, 1]
        ),
        "slot if and only if|int32",
    ),
    "words of pieces there are none of": (
        lambda h, a: a.update({"words.pieces": a["words.pieces"] + 10**6}),
        "words.pieces",
    ),
    "words twice": (
        lambda h, a: a.update(storage.string_arrays("words", ["a"] * n_strings(a, "words"))),
        "different from each other",
    ),
    "strengths": (lambda h, a: a.update({"words.strengths": a["words.strengths"] * 0}), "words.strengths"),
    "strengths that are none": (
        lambda h, a: a.update({"slots.strengths": a["slots.strengths"] * np.nan}),
        "slots.strengths",
    ),
    "offsets": (lambda h, a: a.update({"slots.ptr": a["slots.ptr"][::-1].copy()}), "slots.ptr"),
    "applications": (lambda h, a: a.update(apply=a["apply"] + np.uint16(20000)), "'apply'"),
    "unions": (lambda h, a: a.update(combine=a["combine"] + np.uint16(20000)), "'combine'"),
    "keys": (lambda h, a: a.update({"rows.keys": a["rows.keys"] * np.uint64(0)}), "rows.keys"),
    "keys twice": (lambda h, a: a.update({"rows.keys": a["rows.keys"] * np.uint64(0) + np.uint64(5)}), "weights"),
    "weights": (lambda h, a: a.update({"rows.weights": a["rows.weights"] * np.float32(np.inf)}), "rows.weights"),
    "fewer weights": (lambda h, a: a.update({"rows.weights": a["rows.weights"][1:]}), "rows.weights"),
    "the prior": (lambda h, a: h.update(prior=-1.0), "prior"),
    "expressions": (lambda h, a: h.update(most_expressions=0), "most_expressions"),
    "coverage": (lambda h, a: h.update(coverage=2.0), "coverage"),
    "made": (lambda h, a: h.update(made="yes"), "made"),
    "parameters": (lambda h, a: h["parameters"].update(prior="wide"), "parameters are wrong"),
}


def n_strings(arrays, name):
    return len(arrays[f"{name}.ends"])


@pytest.mark.parametrize("what", WRONG)
def test_what_no_training_leaves_is_refused(parser, what, tmp_path):
    change, message = WRONG[what]
    parser.save(tmp_path / "a.margent")
    file = storage.read(tmp_path / "a.margent")
    header, arrays = dict(file.header), {name: np.array(array) for name, array in file.arrays.items()}
    with np.errstate(invalid="ignore"):
        change(header, arrays)
    storage.write(tmp_path / "b.margent", header, arrays, kind=file.kind)
    with pytest.raises(ModelFileError, match=message):
        margent.load(tmp_path / "b.margent")


def test_a_file_with_odd_tables_gives_an_answer_or_none(parser, tmp_path):
    """All may be applied to all: meanings need not have a normal form, and what has none is no answer."""
    parser.save(tmp_path / "a.margent")
    file = storage.read(tmp_path / "a.margent")
    arrays = dict(file.arrays)
    n = n_strings(arrays, "types")
    places = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 2)
    arrays["apply"] = np.c_[places, places.sum(1) % n].astype(np.uint16)
    storage.write(tmp_path / "b.margent", file.header, arrays, kind=file.kind)
    found = margent.load(tmp_path / "b.margent")
    assert len(found.predict_k_best(X)) == len(X)
    assert found.explain(X[0]).words == tuple(X[0])
