"""margent.crfsuite.CRF beside the class that it follows."""

from __future__ import annotations

import copy
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

import margent
from margent.crfsuite import CRF
from margent.metrics import span_scores

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
pycrfsuite = pytest.importorskip("pycrfsuite")

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")


def word2features(sentence: list[str], i: int) -> dict[str, Any]:
    """The features of sklearn-crfsuite's tutorial, without part-of-speech tags."""
    word = sentence[i]
    features: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    for name, j in (("-1", i - 1), ("+1", i + 1)):
        if 0 <= j < len(sentence):
            features[f"{name}:word.lower()"] = sentence[j].lower()
            features[f"{name}:word.istitle()"] = sentence[j].istitle()
        else:
            features["BOS" if j < 0 else "EOS"] = True
    return features


def sentence_features(sentence: list[str]) -> list[dict[str, Any]]:
    return [word2features(sentence, i) for i in range(len(sentence))]


Data = tuple[list[Any], list[Any], list[Any], list[Any]]


@pytest.fixture(scope="module")
def data() -> Data:
    sentences, y = margent.make_addresses(600, seed=5)
    X = [sentence_features(sentence) for sentence in sentences]
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def ours(data: Data) -> CRF:
    return CRF(algorithm="ap", max_iterations=15).fit(data[0], data[1])


@pytest.fixture(scope="module")
def theirs(data: Data) -> Any:
    crf = sklearn_crfsuite.CRF(algorithm="ap", max_iterations=15, all_possible_transitions=True)
    return crf.fit(data[0], data[1])


def known_attributes(crf: CRF) -> list[str]:
    """All attributes of the training data, with or without a weight."""
    features = crf.tagger_.model.feature_map_
    return [features.name(i) for i in range(features.n_unigrams)]


# The same face


def test_the_constructor_is_the_same() -> None:
    def parameters(kind: Any) -> list[tuple[str, Any]]:
        return [(p.name, p.default) for p in inspect.signature(kind.__init__).parameters.values()]

    assert parameters(CRF) == parameters(sklearn_crfsuite.CRF)


def test_everything_public_is_there() -> None:
    own = {name for name in vars(sklearn_crfsuite.CRF) if not name.startswith("_")}
    assert own <= {*dir(CRF), "tagger_"}


def test_predictions_have_the_same_types(ours: CRF, theirs: Any, data: Data) -> None:
    X = data[2]
    for crf in (ours, theirs):
        predicted = crf.predict(X)
        assert isinstance(predicted, np.ndarray) and predicted.dtype == object and predicted.shape == (len(X),)
        assert [len(labels) for labels in predicted] == [len(sequence) for sequence in X]
        assert all(type(labels) is list and {type(label) for label in labels} <= {str} for labels in predicted)
        assert crf.predict_single(X[0]) == predicted[0]
        marginals = crf.predict_marginals(X)
        assert isinstance(marginals, np.ndarray) and marginals.shape == (len(X),)
        assert [len(tokens) for tokens in marginals] == [len(sequence) for sequence in X]
        single = crf.predict_marginals_single(X[0])
        assert single == marginals[0] and type(single) is list
        for token in single:
            assert set(token) == set(crf.classes_)
            assert all(type(probability) is float for probability in token.values())
            assert sum(token.values()) == pytest.approx(1)
        assert type(crf.score(X, data[3])) is float


def test_one_shape_where_all_sequences_are_equally_long(ours: CRF, data: Data) -> None:
    X = [sequence[:2] for sequence in data[2][:3]]
    assert ours.predict(X).shape == ours.predict_marginals(X).shape == (3,)
    assert ours.predict([]).shape == (0,)


def test_learned_attributes_have_the_same_types(ours: CRF, theirs: Any) -> None:
    assert sorted(ours.classes_) == sorted(theirs.classes_) and type(ours.classes_) is list
    for crf in (ours, theirs):
        assert len(crf.attributes_) == crf.num_attributes_ == len(set(crf.attributes_))
        assert {attribute for attribute, _ in crf.state_features_} == set(crf.attributes_)
        assert {label for _, label in crf.state_features_} == set(crf.classes_)
        assert {label for pair in crf.transition_features_ for label in pair} <= set(crf.classes_)
        assert all(type(w) is float and w for w in [*crf.state_features_.values(), *crf.transition_features_.values()])
        assert type(crf.size_) is int and crf.size_ > 1000
    # Which attributes have a weight depends on the order of the sentences in training; the names do not.
    assert set(theirs.attributes_) <= set(known_attributes(ours))
    assert len(set(theirs.attributes_) & set(ours.attributes_)) > 0.8 * theirs.num_attributes_


def test_it_is_as_good(ours: CRF, theirs: Any, data: Data) -> None:
    _, _, X, y = data
    f1, their_f1 = (span_scores(y, crf.predict(X)).f1 for crf in (ours, theirs))
    assert their_f1 > 0.8
    assert f1 > their_f1 - 0.02
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)


def test_the_metrics_of_the_original_take_the_predictions(ours: CRF, data: Data) -> None:
    metrics = pytest.importorskip("sklearn_crfsuite.metrics")
    _, _, X, y = data
    assert metrics.flat_accuracy_score(y, ours.predict(X)) == pytest.approx(ours.score(X, y))


# The same attributes

ITEMS = [
    {"text": "the", "other": "a=b:c", "": "empty name", "empty": ""},
    {"yes": True, "no": False, "whole": 2, "real": -1.5, "zero": 0, "numpy": np.float64(3), "int64": np.int64(4)},
    {"nested": {"text": "t", "number": 0.5, "yes": True, "deeper": {"list": ["p", "q"], "no": False}}},
    {"list": ["u", "v"], "set": {"one"}, "nothing": [], "neither": {}},
    {"naïve": "café", "日本": "語"},
    ["just", "names", "text:the"],
    {"bytes": "caf\u00e9".encode()},
    {"one": 1, "two": 2}.keys(),
    [],
    {},
]


@pytest.mark.parametrize("item", ITEMS, ids=range(len(ITEMS)))
def test_attributes_are_converted_in_the_same_way(item: Any) -> None:
    (wanted,) = pycrfsuite.ItemSequence([item]).items()
    wanted = {name: value for name, value in wanted.items() if value != 0}  # adds nothing to any score
    tagger = margent.Tagger(features="attributes").fit([[item]], [["A"]])
    encoded = tagger.feature_map_.encode([[item]])
    values = np.ones(len(encoded.ids)) if encoded.values is None else encoded.values
    assert {tagger.feature_map_.name(i): v for i, v in zip(encoded.ids.tolist(), values)} == pytest.approx(wanted)


def test_attribute_names_in_the_models_agree() -> None:
    X = [[item, {"text": "other"}] for item in ITEMS]
    y = [["A", "B"], ["B", "A"]] * (len(ITEMS) // 2)
    theirs = sklearn_crfsuite.CRF(algorithm="ap", all_possible_states=True, max_iterations=3).fit(X, y)
    ours = CRF(algorithm="ap", all_possible_states=True, max_iterations=3).fit(X, y)
    assert set(theirs.attributes_) <= set(known_attributes(ours))
    assert {"text:the", "nested:deeper:list:p", "real", "list:u", "just"} <= set(ours.attributes_)


def test_generators_of_sequences(data: Data) -> None:
    X, y = data[0][:20], data[1][:20]
    crf = CRF(algorithm="ap", max_iterations=2)
    assert crf.fit(iter(X), iter(y)).predict(iter(X)).tolist() == crf.fit(X, y).predict(X).tolist()


# Algorithms and options


def test_arow_is_the_learner_of_this_name(data: Data) -> None:
    learner = CRF(algorithm="arow", gamma=3.0, variance=0.5, max_iterations=2).fit(*data[:2]).tagger_.model.learner
    assert learner == margent.AROW(r=6.0, average=False, epochs=2)


@pytest.mark.parametrize(("long", "short"), [("averaged-perceptron", "ap"), ("passive-aggressive", "pa")])
def test_long_names_of_algorithms(long: str, short: str, data: Data) -> None:
    X, y = data[0][:20], data[1][:20]
    found, wanted = (CRF(algorithm=name, max_iterations=2).fit(X, y).state_features_ for name in (long, short))
    assert found == wanted


@pytest.mark.parametrize("possible", [False, True])
def test_the_weights_of_lbfgs_are_those_of_the_original(data: Data, possible: bool) -> None:
    """Both minimise the same strictly convex function of the same parameters: there is one answer."""
    # The original counts an attribute of value 0 as seen with the label, which here it is not.
    X = [[{name: value for name, value in token.items() if value} for token in sequence] for sequence in data[0][:60]]
    y = data[1][:60]
    options = {"c2": 0.5, "all_possible_states": possible, "all_possible_transitions": possible, "delta": 1e-9}
    theirs = sklearn_crfsuite.CRF(epsilon=1e-9, max_iterations=1000, **options).fit(X, y)
    ours = CRF(**options).fit(X, y)
    assert isinstance(ours.tagger_.model.learner, margent.CRF) and ours.tagger_.model.learner.method == "lbfgs"
    for ours_found, found in (
        (ours.state_features_, theirs.state_features_),
        (ours.transition_features_, theirs.transition_features_),
    ):
        assert found and all(abs(ours_found.get(key, 0.0) - weight) < 5e-3 for key, weight in found.items())
        assert all(abs(weight) < 5e-3 for key, weight in ours_found.items() if key not in found)
    for here, there in zip(ours.predict_marginals(X[:20]), theirs.predict_marginals(X[:20])):
        for token, their_token in zip(here, there):
            assert token == pytest.approx(their_token, abs=2e-3)


def test_l1_makes_the_model_small(data: Data) -> None:
    X, y = data[0][:100], data[1][:100]
    ours = CRF(c1=1.0, c2=0.0).fit(X, y)
    theirs = sklearn_crfsuite.CRF(c1=1.0, c2=0.0).fit(X, y)
    assert ours.num_attributes_ < 0.5 * len(known_attributes(ours))
    assert ours.num_attributes_ == pytest.approx(theirs.num_attributes_, rel=0.2)


@pytest.mark.parametrize(("algorithm", "least"), [("l2sgd", 0.7), ("pa", 0.7), ("arow", 0.6)])
def test_other_algorithms_are_as_good(algorithm: str, least: float, data: Data) -> None:
    X, y, X_test, y_test = data
    options = {"algorithm": algorithm, "max_iterations": 20}
    f1, their_f1 = (
        span_scores(y_test, kind(**options).fit(X, y).predict(X_test)).f1 for kind in (CRF, sklearn_crfsuite.CRF)
    )
    assert f1 > their_f1 - 0.02 > least


def test_options_of_pa(data: Data) -> None:
    X, y = data[0][:20], data[1][:20]
    learner = CRF(algorithm="pa", c=0.25, averaging=False, max_iterations=2).fit(X, y).tagger_.model.learner
    assert (learner.C, learner.average, learner.epochs) == (0.25, False, 2)
    assert CRF(algorithm="pa", pa_type=0, max_iterations=2).fit(X, y).tagger_.model.learner.C == 1e25
    with pytest.raises(ValueError, match="pa_type of CRF should be 0 or 1 in Margent"):
        CRF(algorithm="pa", pa_type=2).fit(X, y)


@pytest.mark.parametrize(
    ("algorithm", "option", "value"),
    [
        ("lbfgs", "linesearch", "Backtracking"),
        ("lbfgs", "max_linesearch", 5),
        ("lbfgs", "epsilon", 1e-3),
        ("l2sgd", "calibration_eta", 0.1),
        ("pa", "error_sensitive", True),
    ],
)
def test_options_that_cannot_be_mapped_give_a_warning(algorithm: str, option: str, value: Any) -> None:
    with pytest.warns(UserWarning, match=f"{option} of algorithm='{algorithm}' has no effect"):
        CRF(algorithm=algorithm, max_iterations=2, **{option: value}).fit([[{"a": 1}]], [["A"]])


def test_a_line_search_that_is_none() -> None:
    with pytest.raises(ValueError, match="linesearch of CRF should be one of MoreThuente"):
        CRF(linesearch="Bisection").fit([[{"a": 1}]], [["A"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "sgd"}, r"algorithm='sgd' is not known; expected one of 'lbfgs' \(CRF by L-BFGS\), 'l2sgd'"),
        ({"c1": 0.1}, "c1=0.1 does not fit algorithm='ap', which has max_iterations, epsilon"),
        ({"pa_type": 0}, "pa_type=0 does not fit"),
        ({"error_sensitive": False}, "error_sensitive=False does not fit"),
        ({"trainer_cls": object}, "trainer_cls should be None"),
        ({"max_iterations": 0}, "max_iterations of CRF should be an integer of at least 1"),
        ({"epsilon": -1}, "epsilon of CRF should be a number of at least 0"),
        ({"min_freq": "2"}, "min_freq of CRF should be a number"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CRF(**{"algorithm": "ap", **options}).fit([[{"a": 1}]], [["A"]])


@pytest.mark.parametrize("option", ["all_possible_states", "all_possible_transitions", "keep_tempfiles"])
def test_options_without_effect_give_a_warning(option: str) -> None:
    crf = CRF(algorithm="ap", **{option: option == "keep_tempfiles"})
    with pytest.warns(UserWarning, match=f"{option}=.* has no effect"):
        crf.fit([[{"a": 1}]], [["A"]])


def test_every_algorithm_in_the_table_is_one_of_the_original() -> None:
    from margent.crfsuite.estimator import _ALGORITHMS, _OPTIONS

    assert set(_ALGORITHMS) == {"lbfgs", "l2sgd", "ap", "pa", "arow"}
    names = {*CRF()._parameter_names()}
    assert set(_OPTIONS) < names and all(set(row.options) <= set(_OPTIONS) for row in _ALGORITHMS.values())


def test_max_iterations_and_epsilon(data: Data) -> None:
    X, y = data[0][:50], data[1][:50]
    assert len(CRF(algorithm="ap", max_iterations=3).fit(X, y).history_) == 3
    until_right = CRF(algorithm="ap").fit(X, y).history_
    assert len(until_right) < 100 and until_right[-1]["accuracy"] == 1
    early = CRF(algorithm="ap", epsilon=0.1).fit(X, y).history_
    assert len(early) < len(until_right) and 1 - early[-1]["accuracy"] < 0.1 <= 1 - early[-2]["accuracy"]


def test_min_freq_drops_rare_attributes() -> None:
    X = [[{"word": "often"}, {"word": "once"}], [{"word": "often"}, {"word": "single"}]]
    crf = CRF(algorithm="ap", min_freq=1.5).fit(X, [["A", "B"], ["A", "B"]])
    assert known_attributes(crf) == ["word:often"]


def test_development_data_choose_the_iteration(data: Data) -> None:
    X, y, X_dev, y_dev = data
    crf = CRF(algorithm="ap", max_iterations=4).fit(X[:50], y[:50], X_dev, y_dev)
    scores = [epoch["dev_score"] for epoch in crf.history_]
    assert crf.tagger_.model.score(X_dev, y_dev) == pytest.approx(max(scores))
    for one in ((X_dev, None), (None, y_dev)):
        for kind in (CRF, sklearn_crfsuite.CRF):
            with pytest.raises(ValueError, match="X_dev and y_dev"):
                kind(algorithm="ap").fit(X[:5], y[:5], *one)


# Not fitted, files, copies, scikit-learn


@pytest.mark.parametrize(
    "name", ["tagger_", "classes_", "state_features_", "transition_features_", "attributes_", "size_", "training_log_"]
)
def test_nothing_learned_before_fit(name: str) -> None:
    for kind in (CRF, sklearn_crfsuite.CRF):
        assert getattr(kind(algorithm="ap"), name) is None
    with pytest.raises(margent.NotFittedError, match="this CRF is not fitted yet"):
        CRF(algorithm="ap").predict([[{"a": 1}]])


def test_nothing_to_learn_from() -> None:
    with pytest.warns(margent.TrainingWarning, match="there is nothing to learn from: no model was made"):
        crf = CRF().fit([], [])
    assert crf.tagger_ is None


def test_model_filename(data: Data, tmp_path: Path) -> None:
    X, y = data[0][:30], data[1][:30]
    path = tmp_path / "model.margent"
    crf = CRF(algorithm="ap", max_iterations=2, model_filename=path)
    with pytest.raises(margent.NotFittedError):
        crf.predict(X)
    crf.fit(X, y)
    again = CRF(model_filename=path)
    assert again.predict(X).tolist() == crf.predict(X).tolist() == margent.load(path).predict(X)
    assert again.state_features_ == crf.state_features_ and again.classes_ == crf.classes_
    path.write_bytes(b"lCRF" + bytes(100))
    with pytest.raises(margent.ModelFileError):
        CRF(model_filename=str(path)).predict(X)


def test_save_and_copies(ours: CRF, data: Data, tmp_path: Path) -> None:
    X = data[2][:20]
    ours.save(tmp_path / "crf.margent", compact=True)
    assert margent.load(tmp_path / "crf.margent").predict(X) == ours.predict(X).tolist()
    assert copy.deepcopy(ours).predict(X).tolist() == ours.predict(X).tolist()
    assert clone(ours).get_params() == ours.get_params() and clone(ours).tagger_ is None


def test_model_selection(data: Data) -> None:
    X, y = data[0][:60], data[1][:60]
    crf = CRF(algorithm="ap", max_iterations=3)
    assert cross_val_score(crf, X, y, cv=2, n_jobs=2).min() > 0.5
    assert [len(labels) for labels in cross_val_predict(crf, X, y, cv=2)] == [len(labels) for labels in y]
    search = GridSearchCV(crf, {"max_iterations": [1, 5], "min_freq": [0, 2]}, cv=2).fit(X, y)
    assert search.best_params_["max_iterations"] == 5


def test_the_sparse_layout_names_the_same_weights() -> None:
    X, y = [[{"a": "x"}, {"a": "y"}]] * 2 + [[{"a": "y"}]], [["A", "B"]] * 2 + [["A"]]
    found = []
    for layout in ("dense", "sparse"):
        crf = CRF(algorithm="ap")
        crf._model = margent.Tagger(margent.Features("attributes", layout=layout)).fit(X, y)
        found.append((crf.state_features_, crf.transition_features_, crf.attributes_))
    assert found[0] == found[1] and found[0][0]


def test_the_advice_on_probabilities_fits_this_class():
    X, y = [[{"w": "a"}, {"w": "b"}]], [["A", "B"]]
    crf = CRF(algorithm="ap", max_iterations=1).fit(X, y)
    with pytest.warns(margent.CalibrationWarning, match=r"algorithm='ap'.*call tagger_\.model\.calibrate\(X, y\)"):
        crf.predict_marginals(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crf.predict_marginals(X)  # said once
        CRF(max_iterations=1).fit(X, y).predict_marginals(X)
