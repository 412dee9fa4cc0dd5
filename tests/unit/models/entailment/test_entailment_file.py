"""Model files of entailment classifiers; those of networks are written and read without torch."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import margent
from margent import AlignmentFeatures, EntailmentClassifier, Network, Perceptron, WordVectors, storage
from margent.datasets import make_entailment
from margent.errors import MissingExtraError, ModelFileError
from margent.models.entailment.data import PairData
from margent.models.entailment.model import EntailmentModel
from margent.models.entailment.network.network_weights import NetworkWeights
from margent.models.entailment.network.vocabulary import Vocabulary

X, Y, _ = make_entailment(20, seed=1)
SMALL = Network(size=2, relation=2, words=3)


def of_network() -> EntailmentClassifier:
    vectors = WordVectors(["cat", "dog"], np.eye(2, dtype=np.float16))
    weights = NetworkWeights(SMALL, Vocabulary(vectors), 0, np.zeros(0, np.float32))
    classifier = EntailmentClassifier(network=SMALL)
    classifier.model_ = EntailmentModel(
        learner=margent.Adam(), history=[], labels=("a", "b"), weights=weights.grown(PairData.of(X), 2, True, 0)
    )
    return classifier


def of_words() -> EntailmentClassifier:
    return EntailmentClassifier(AlignmentFeatures(compose=True), Perceptron(epochs=1)).fit(X, Y, progress=False)


def test_networks_are_written_and_read_without_torch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    classifier = of_network()
    classifier.save(tmp_path / "m")
    other = margent.load(tmp_path / "m")
    assert other.network == SMALL and (other.weights_.values == classifier.weights_.values).all()
    assert other.weights_.vocabulary.learned == classifier.weights_.vocabulary.learned
    for ask in (lambda: other.predict(X), lambda: EntailmentClassifier(network=SMALL).fit(X, Y)):
        with pytest.raises(MissingExtraError, match=r"a network needs torch; install it with: .*margent\[neural\]"):
            ask()
    classifier.save(tmp_path / "small", compact=True)
    assert margent.load(tmp_path / "small").weights_.values == pytest.approx(classifier.weights_.values, abs=1e-3)


def test_a_model_of_words_is_read_as_it_was_written(tmp_path):
    classifier = of_words()
    classifier.save(tmp_path / "m")
    other = margent.load(tmp_path / "m")
    assert other.predict(X) == classifier.predict(X) and str(other.explain(X[0])) == str(classifier.explain(X[0]))


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (of_words, {"labels": []}, "its labels should be different texts"),
        (of_words, {"labels": ["x", "x", "y"]}, "its labels should be different texts"),
        (of_words, {"weights": "magic"}, "should be one of alignment, network"),
        (of_words, {"labels": ["x", "y"]}, "should"),
        (of_words, {"compose": False}, "no rules, as relations are not composed"),
        (of_words, {"candidates": 0}, "candidates"),
        (of_network, {"network": {"type": "Network", "size": 4096, "relation": 4096}}, "at most|shape|values"),
        (of_network, {"network": {"type": "Network", "size": 0}}, "its network is wrong: size of Network"),
        (of_network, {"network": {"type": "AlignmentFeatures"}}, "its network should be a Network"),
        (of_network, {"labels": ["a", "b", "c"]}, "'values' should"),
        (of_network, {"has_given": False}, "'values' should"),
    ],
)
def test_wrong_headers_are_refused(make, change, message, tmp_path):
    header, arrays = make().file_content()
    _refused(tmp_path, header | change, arrays, message)


@pytest.mark.parametrize(
    ("make", "name", "change", "message"),
    [
        (of_words, "parts", lambda a: a[[0, *range(len(a) - 1)]], "different features of its words"),
        (of_words, "parts", lambda a: a | np.uint64(1 << 27), "different features of its words"),
        (of_words, "rules", lambda a: a + np.uint64(1 << 60), "different features of its words"),
        (of_words, "positions", lambda a: a[::-1].copy(), "should rise"),
        (of_words, "values", lambda a: a * np.float32(np.nan), "finite"),
        (of_network, "values", lambda a: a[:-1], "'values'"),
        (of_network, "values", lambda a: a * np.float32(np.inf), "finite"),
        (of_network, "given.vectors", lambda a: a[:1], "given.vectors"),
    ],
)
def test_wrong_arrays_are_refused(make, name, change, message, tmp_path):
    header, arrays = make().file_content()
    _refused(tmp_path, header, arrays | {name: change(arrays[name])}, message)


def _refused(folder: Any, header: Any, arrays: Any, message: str) -> None:
    storage.write(folder / "m", header, arrays, kind="entailment")
    with pytest.raises(ModelFileError, match=message):
        margent.load(folder / "m")


def test_networks_have_names_of_rows():
    rows = {Network(**changes).row for changes in (
        {}, {"dual": False}, {"alignment": "sampled"}, {"composition": "rnn"}, {"composition": "none"},
        {"composition": "none", "encoder": "esim"},
    )}  # fmt: skip
    assert len(rows) == 6 and replace(SMALL, dual=False).row == "Binary Tree-LSTM + Expected Alignment"
