"""A tagger goes to a file and comes back the same; a file that lies is refused, and nothing else ever happens."""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz.kinds.taggers import ATTRIBUTES, CASES, LINES, ONE, PLAIN, WORDS, attributes
from tests.unit.model_files import timeless

import margent
from margent import Features, Kernel, Perceptron, Tagger, storage
from margent.errors import CorpusError, ModelFileError
from margent.spectral.weights import KGramWeights

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Tagger, Any, Any]:
    tagger, X, y = CASES[request.param]
    return copy.deepcopy(tagger).fit(X, y), X, y


def answers(tagger: Tagger, X: Any) -> Any:
    return (
        tagger.predict(X),
        tagger.predict_k_best(X, k=3),
        [table.tolist() for table in tagger.predict_marginals(X)],
        tagger.predict_spans(X),
        [str(why) for why in tagger.explain(X[0])],
        [tagger.top_features(label) for label in tagger.classes_],
        None if isinstance(tagger.weights_, KGramWeights) else tagger.top_transitions(),
    )


def function_of(tagger: Tagger) -> Any:
    if isinstance(tagger.features, Kernel):
        code = tuple(part for part in (tagger.features.kind, tagger.features.features) if callable(part))
        return code if len(code) == 2 else next(iter(code), None)
    return attributes if tagger.features is attributes else None


@pytest.mark.parametrize("mmap", [True, False])
def test_a_tagger_comes_back_the_same(case: Any, tmp_path: Path, mmap: bool) -> None:
    tagger, X, y = case
    tagger.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent", function=function_of(tagger), mmap=mmap)
    assert type(loaded) is Tagger
    assert answers(loaded, X) == answers(tagger, X)
    assert list(loaded.classes_) == list(tagger.classes_) and loaded.scheme_ == tagger.scheme_
    assert loaded.history_ == timeless(tagger.history_) and loaded.best_epoch_ == tagger.best_epoch_
    assert loaded.interrupted_ is False
    assert loaded.score(X, y) == tagger.score(X, y)
    loaded.save(tmp_path / "again.margent")
    assert (tmp_path / "again.margent").read_bytes() == (tmp_path / "m.margent").read_bytes()


def test_parameters_come_back_too(case: Any, tmp_path: Path) -> None:
    tagger, X, y = case
    tagger.save(tmp_path / "m")
    loaded = margent.load(tmp_path / "m", function=function_of(tagger))
    for name in (
        "order",
        "hidden",
        "search",
        "scheme",
        "tag_dictionary",
        "seed",
        "threads",
        "label_costs",
    ):
        assert getattr(loaded, name) == getattr(tagger, name)
    assert loaded.learner == tagger.learner
    if isinstance(tagger.features, Features):
        assert loaded.features == tagger.features
    elif isinstance(tagger.features, Kernel):
        assert loaded.features == replace(tagger.features, features=loaded.features.features)
        assert loaded.feature_map_.gamma == tagger.feature_map_.gamma
    assert loaded.fit(X, y).predict(X) == tagger.predict(X)  # so that training anew gives the same model


def test_going_on_after_loading_is_going_on(case: Any, tmp_path: Path) -> None:
    tagger, X, y = copy.deepcopy(case[0]), *case[1:]
    tagger.save(tmp_path / "m")
    loaded = margent.load(tmp_path / "m", function=function_of(tagger))
    more = X[3:9], [[*labels[:-1], labels[0] if tagger.constrain else "Q"] for labels in y[3:9]]
    for model in (tagger, loaded):
        model.partial_fit(*more)
    assert answers(loaded, X) == answers(tagger, X)
    assert len(loaded.history_) == 2 * len(case[0].history_)


def test_copies_are_the_same(case: Any) -> None:
    tagger, X, _ = case
    for other in (copy.deepcopy(tagger), pickle.loads(pickle.dumps(tagger))):
        assert answers(other, X) == answers(tagger, X)
        assert other.get_params(deep=False).keys() == tagger.get_params(deep=False).keys()


def test_a_compact_model_is_smaller_and_says_nearly_the_same(case: Any, tmp_path: Path) -> None:
    tagger, X, _ = case
    tagger.save(tmp_path / "full")
    tagger.save(tmp_path / "compact", compact=True)
    size = (tmp_path / "compact").stat().st_size
    assert size < (tmp_path / "full").stat().st_size
    loaded = margent.load(tmp_path / "compact", function=function_of(tagger))
    found, wanted = loaded.predict_k_best(X, k=1), tagger.predict_k_best(X, k=1)
    np.testing.assert_allclose([r[0].score for r in found], [r[0].score for r in wanted], rtol=2e-3, atol=0.05)
    assert sum(a[0].labels == b[0].labels for a, b in zip(found, wanted)) >= 0.9 * len(X)
    loaded.partial_fit(X[:2], case[2][:2])


def test_a_compact_model_drops_features_without_weights(tmp_path: Path) -> None:
    X, y = [["a", "b"], ["c", "d"]], [["A", "A"], ["A", "A"]]
    tagger = Tagger(LINES).fit(X, y)  # nothing to learn: no weight is touched
    tagger.save(tmp_path / "m", compact=True)
    loaded = margent.load(tmp_path / "m")
    assert tagger.feature_map_.n_unigrams > 0 == loaded.feature_map_.n_unigrams == loaded.feature_map_.n_edges
    assert loaded.predict(X) == y
    assert loaded.partial_fit([["x"]], [["B"]]).predict([["x"]]) == [["B"]]


def test_weights_too_large_for_16_bits_are_cut_off(tmp_path: Path) -> None:
    X = [np.array([[1e5, 0]]), np.array([[0, 1e5]])]
    tagger = Tagger(learner=Perceptron(epochs=3, average=False)).fit(X, [["A"], ["B"]])
    tagger.save(tmp_path / "m", compact=True)
    loaded = margent.load(tmp_path / "m")
    assert abs(tagger.weights_.unigrams).max() > 65504 >= abs(loaded.weights_.unigrams).max()  # type: ignore[arg-type]
    assert loaded.predict(X) == [["A"], ["B"]]


def test_no_constraint_comes_back_as_none(tmp_path: Path) -> None:
    tagger = Tagger(LINES, ONE, constrain=None).fit(WORDS, PLAIN)  # type: ignore[arg-type]
    tagger.save(tmp_path / "m")
    assert margent.load(tmp_path / "m").constrain is False


def test_a_function_must_be_given_again(tmp_path: Path) -> None:
    tagger = Tagger(attributes, ONE).fit(WORDS, PLAIN)
    tagger.save(tmp_path / "m")
    loaded = margent.load(tmp_path / "m")
    with pytest.raises(CorpusError, match=r"feature function attributes; .*margent\.load\(path, function=\.\.\.\)"):
        loaded.predict(WORDS)
    with pytest.raises(
        TypeError, match="function should be the feature function that the model was trained with, got 3"
    ):
        margent.load(tmp_path / "m", function=3)
    loaded.save(tmp_path / "again")
    assert margent.load(tmp_path / "again", function=attributes).predict(WORDS) == tagger.predict(WORDS)
    for X in (WORDS, ATTRIBUTES):
        Tagger(learner=ONE).fit(X, PLAIN).save(tmp_path / "m")
        with pytest.raises(ValueError, match="was not trained with a feature function"):
            margent.load(tmp_path / "m", function=attributes)


def test_an_unfitted_tagger_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(margent.NotFittedError):
        Tagger().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    storage.write(tmp_path / "m", {}, {}, kind="soufflé")
    with pytest.raises(ModelFileError, match="a model of the kind 'soufflé', which this version does not know"):
        margent.load(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        margent.load(tmp_path / "missing")


# --- files that lie


def stored(name: str, *, compact: bool = False) -> storage.ModelFile:
    tagger, X, y = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        copy.deepcopy(tagger).fit(X, y).save(Path(folder) / "m", compact=compact)
        file = storage.read(Path(folder) / "m")
    arrays = {name: np.array(array) for name, array in file.arrays.items()}
    return storage.ModelFile("m.margent", "tagger", "0", json.loads(json.dumps(file.header)), arrays)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("templates", {"labels": ["N", "N", "V"]}, "labels should be different"),
        ("templates", {"labels": []}, "labels should be different"),
        ("templates", {"labels": ["N", "V"]}, "should hold|should have"),
        ("templates", {"labels": ["N", "V", None]}, "strings only"),
        ("templates", {"order": 2}, "shape|transitions2|order"),
        ("templates", {"order": 10**6}, "'order'"),
        ("templates", {"features": "pickles"}, "should be one of templates"),
        ("templates", {"templates": ["X"]}, "its templates are wrong"),
        ("templates", {"templates": [5]}, "strings only"),
        ("templates", {"templates": ["U:%x[0,7]"]}, "its templates are wrong"),
        ("templates", {"templates": ["U0:%x[0,0]"]}, "do not fit|should hold|should have"),
        ("templates", {"templates": ["U:%x[0,*]"], "n_columns": 10_000}, "templates for 10000 columns, but only"),
        ("templates", {"templates": ["U:%x[0,*]"] * 50_000, "n_columns": 5}, "stand for 250000 cells"),
        ("templates", {"templates": ["U:%x[" + " " * 40_000]}, "expected cells as"),
        ("templates", {"n_columns": 0}, "n_columns"),
        ("templates", {"half": True}, "should be of type float16"),
        ("templates", {"layout": "sparse"}, "no array 'weights.columns'"),
        ("templates", {"found_scheme": "iob9"}, "found_scheme"),
        ("templates", {"history": [5]}, "epoch 1 of its history should be numbers by name"),
        ("templates", {"history": [{"epoch": 1, "loss": "low"}]}, "epoch 1 of its history should be numbers by name"),
        ("templates", {"history": [{"epoch": 1}, {"epoch": 3}]}, "epoch 2 of its history should say which one"),
        ("templates", {"history": [{"loss": 1.0}]}, "epoch 1 of its history should say which one"),
        ("templates", {"parameters": []}, "'parameters' in its header should be of type dict"),
        ("templates", {"labels": ["x" * 10**6] * 2}, "different"),
        ("templates", {"parameters": {}}, "its parameters are wrong"),
        ("vectors", {"n_dimensions": 5}, "shape"),
        ("vectors", {"n_dimensions": -1}, "n_dimensions"),
        ("constrained", {"found_scheme": None}, "they say that its labels are in the scheme iob2"),
        ("constrained", {"found_scheme": "ioe2"}, "scheme"),
        ("templates", {"found_scheme": "iob2"}, "labels are not in the scheme iob2"),
        ("templates", {"structure": "tree"}, "should be one of chain, k-grams, hidden, not 'tree'"),
        ("templates", {"structure": "hidden"}, "its header has no 'hidden'"),
        ("hidden", {"structure": "chain"}, "shape"),
        ("hidden", {"hidden": 1}, "'hidden' in its header should be between 2 and 256"),
        ("hidden", {"hidden": 10**9}, "'hidden' in its header should be between 2 and 256"),
        ("hidden", {"hidden": 2}, "'hidden_labels'"),
        ("hidden", {"hidden": 4}, "its weights are of other hidden labels than its parameters say"),
        ("hidden", {"labels": ["N", "V"]}, "'hidden_labels'"),
        ("templates", {"structure": "k-grams"}, "its k-grams should be of symbols, not of templates"),
        ("symbols", {"structure": "k-grams"}, "its header has no 'longest'"),
        ("k-grams", {"structure": "chain"}, "'layout'|'order'"),
        ("k-grams", {"longest": 0}, "'longest' in its header should be between 1 and 16"),
        ("k-grams", {"longest": 10**9}, "'longest' in its header should be between 1 and 16"),
        ("k-grams", {"longest": 16}, "bi-symbols are too many for 16-grams"),
        ("k-grams", {"longest": 2}, "no array 'k_grams2'"),
        ("k-grams", {"shorter": True}, "no array 'k_grams0'"),
        ("k-grams", {"shorter": 0}, "'shorter' in its header should be of type bool"),
        ("k-grams", {"half": True}, "should be of type float16"),
        ("k-grams", {"labels": ["N", "V"]}, "its bi-symbols should be different pairs of symbols and labels"),
    ],
)
def test_a_header_that_lies_is_explained(name: str, change: dict[str, Any], words: str) -> None:
    file = stored(name)
    with pytest.raises(ModelFileError, match=words) as caught:
        Tagger.from_file(storage.ModelFile(file.path, file.kind, "0", {**file.header, **change}, file.arrays))
    assert "the model file m.margent: " in str(caught.value)


def test_a_file_that_does_not_say_its_structure_holds_a_chain() -> None:
    file = stored("templates")
    header = {key: value for key, value in file.header.items() if key != "structure"}
    tagger = Tagger.from_file(replace(file, header=header))
    assert tagger.predict(WORDS) == Tagger.from_file(file).predict(WORDS)


@pytest.mark.parametrize(
    "change",
    [
        {"order": 0},
        {"order": 2},
        {"order": True},
        {"hidden": 2},
        {"hidden": "x"},
        {"hidden": {"type": "HiddenLabels", "n": 1, "restarts": 0}},
        {"search": "x"},
        {"search": {"type": "Beam", "width": 0}},
        {"search": {"type": "Tagger"}},
        {"search": {"type": "tuple", "items": 5}},
        {"label_costs": {"type": "dict", "items": [[[], 1]]}},
        {"threads": "many"},
        {"threads": 0},
        {"tag_dictionary": "x"},
        {"restrict_labels": 1},  # a name of before
        {"learner": "unknown"},
        {"learner": 5},
        {"learner": {"epochs": 3}},
        {"learner": {"name": "perceptron", "epochs": "x"}},
        {"learner": {"name": "perceptron", "average": "x"}},
        {"learner": {"name": "perceptron", "colour": 1}},
        {"features": 5},
        {"features": {"templates": [5]}},
        {"features": {"templates": "X"}},
        {"features": {"other": []}},
        {"constrain": 5},
        {"constrain": ["N"]},
        {"constrain": [[["N"], "V"]]},
        {"constrain": [["N", "Q"]]},
        {"constrain": True},
        {"label_costs": 3},
        {"label_costs": [3]},
        {"label_costs": [[["N", "N"], 1.0]]},
        {"label_costs": [[[["N"], "V"], 1.0]]},
        {"scheme": "iob2"},
        {"scheme": "iob9"},
        {"colour": "blue"},
    ],
)
def test_parameters_that_lie_are_explained(change: dict[str, Any]) -> None:
    file = stored("templates")
    header = {**file.header, "parameters": {**file.header["parameters"], **change}}
    with pytest.raises(ModelFileError, match=r"the model file m\.margent: "):
        Tagger.from_file(storage.ModelFile(file.path, file.kind, "0", header, file.arrays))


@pytest.mark.parametrize(
    ("name", "array", "at", "value"),
    [
        ("templates", "features.text", 0, 99),
        ("templates", "features.text", 0, -1),
        ("templates", "features.text", 0, 3),  # the text of an edge template
        ("templates", "edge_features.text", 0, 0),
        ("templates", "features.ptr", 1, 10**9),
        ("templates", "features.ptr", 1, 0),
        ("templates", "edge_features.ptr", -1, 0),
        ("templates", "edge_weights.columns", 0, 32),
        ("templates", "edge_weights.columns", 0, -1),
        ("templates", "edge_weights.ptr", 1, 2**40),
        ("templates", "edge_weights.values", 0, np.nan),
        ("templates", "weights", (0, 0), np.inf),
        ("templates", "weights", (0, 0), 3e38),
        ("templates", "transitions1", (0, 0), np.nan),
        ("templates", "ends1", (0, 0), -np.inf),
        ("templates", "column0.ends", 0, 10**9),
        ("templates", "column0.ends", 0, -1),
        ("templates", "column1.of_word", 0, 10**6),
        ("templates", "column1.of_word", 0, -2),
        ("sparse", "weights.ptr", 2, -1),
        ("sparse", "weights.columns", 0, 8),
        ("attributes", "attributes.ends", 0, 10**6),
        ("attributes", "attributes", 0, 255),
        ("dictionary", "dictionary.pairs", (0, 0), 10**6),
        ("dictionary", "dictionary.pairs", (0, 1), 3),
        ("dictionary", "dictionary.pairs", (0, 1), -1),
        ("dictionary", "dictionary.ends", 0, -5),
        ("symbols", "symbols.ends", 0, 10**6),
        ("k-grams", "bi_symbols", (0, 0), 10**6),
        ("k-grams", "bi_symbols", (0, 1), 10**6),
        ("k-grams", "bi_symbols", (1, 0), -1),
        ("k-grams", "bi_symbols", (1, 1), -2),  # a label of the boundary, with another symbol
        ("k-grams", "bi_symbols", 1, -2),  # the boundary twice
        ("k-grams", "k_grams3", 0, np.nan),
        ("k-grams", "k_grams3", 0, np.inf),
        ("k-grams", "k_grams3", 0, 3e38),
        ("k-grams", "label_counts", 0, -1),
        ("hidden", "hidden_labels", 0, 0),
        ("hidden", "hidden_labels", 0, 2),  # and weights of three
        ("hidden", "hidden_labels", 0, 4),
        ("hidden", "hidden_labels", 0, -1),
        ("hidden", "weights", (0, 0), np.nan),
    ],
)
def test_an_array_that_lies_is_refused(name: str, array: str, at: Any, value: float) -> None:
    file = stored(name)
    file.arrays[array][at] = value
    with pytest.raises(ModelFileError, match=r"the model file m\.margent: "):
        Tagger.from_file(file)
