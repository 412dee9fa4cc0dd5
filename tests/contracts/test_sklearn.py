"""margent.Tagger under scikit-learn: what is special to it; what all models share is in test_models.py."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import margent
from margent.errors import CorpusError
from margent.metrics import span_scores

# Data: the same sentences as lists and as columns


@pytest.fixture(scope="module")
def addresses() -> tuple[list[list[str]], list[list[str]]]:
    return margent.make_addresses(90, seed=3)


@pytest.fixture(params=["lists", "columns"])
def data(request: pytest.FixtureRequest, addresses: Any) -> tuple[Any, Any]:
    if request.param == "lists":
        return addresses
    return tuple(margent.Columns.from_sentences(part) for part in addresses)  # type: ignore[return-value]


def quick(**parameters: Any) -> margent.Tagger:
    return margent.Tagger(learner=margent.Perceptron(epochs=2), **parameters)


# Parameters


def test_clone_has_the_same_parameters_and_nothing_learned(addresses: Any) -> None:
    tagger = quick(order=2, constrain=[("O", "O")], label_costs={"O": 0.5}).fit(*addresses)
    other = clone(tagger)
    assert other.get_params() == tagger.get_params()
    assert not hasattr(other, "classes_")
    for name, value in other.get_params(deep=False).items():
        assert getattr(type(other)(**other.get_params(deep=False)), name) is value


@pytest.mark.parametrize("learner", ["perceptron", margent.Perceptron()])
def test_nested_parameters_of_the_learner(learner: Any) -> None:
    tagger = margent.Tagger(learner=learner)
    assert tagger.get_params()["learner__epochs"] == 10
    assert "learner__epochs" not in tagger.get_params(deep=False)
    tagger.set_params(learner__epochs=3, learner__average=False, order=2)
    assert tagger.learner == margent.Perceptron(epochs=3, average=False)
    assert tagger.order == 2


def test_nested_parameters_of_the_default_learner() -> None:
    assert margent.Tagger().set_params(learner__k=2).learner == margent.PassiveAggressive(k=2)


def test_setting_the_parameters_as_they_are_changes_nothing() -> None:
    tagger = margent.Tagger().set_params(**margent.Tagger().get_params())
    assert tagger.learner is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lerner": None}, "Invalid parameter 'lerner' for estimator Tagger"),
        ({"learner__epoch": 1}, "Invalid parameter 'epoch'"),
        ({"order__epochs": 1}, "order=1 has no parameters of its own"),
        ({"learner__epochs": 0}, "epochs of PassiveAggressive should be an integer of at least 1, got 0"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        margent.Tagger().set_params(**wrong)


def test_repr_shows_what_differs_from_the_default() -> None:
    assert repr(margent.Tagger()) == "Tagger()"
    assert repr(margent.Tagger("ner", order=2, hidden=None)) == "Tagger(features='ner', order=2)"


# Not fitted


def test_not_fitted_is_an_error_of_both_libraries() -> None:
    with pytest.raises(NotFittedError):
        check_is_fitted(margent.Tagger())
    with pytest.raises(NotFittedError, match="this Tagger is not fitted yet") as caught:
        margent.Tagger().predict([["a"]])
    assert isinstance(caught.value, margent.NotFittedError)
    again = pickle.loads(pickle.dumps(caught.value))  # as a worker process hands it back
    assert isinstance(again, NotFittedError) and str(again) == str(caught.value)


def test_check_is_fitted_after_fit(addresses: Any) -> None:
    check_is_fitted(quick().fit(*addresses))


# Model selection


def test_cross_val_predict_gives_one_list_per_sentence(data: Any, addresses: Any) -> None:
    X, y = data
    predicted = cross_val_predict(quick(), X, y, cv=KFold(3, shuffle=True, random_state=0))
    assert predicted.shape == (len(X),)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in addresses[1]]
    assert all(isinstance(labels, list) for labels in predicted)
    assert span_scores(addresses[1], predicted).f1 > 0.4


def test_cross_val_predict_where_all_sentences_are_equally_long() -> None:
    X, y = [["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"]] * 3, [["A", "B"], ["B", "A"], ["A", "A"], ["B", "B"]] * 3
    predicted = cross_val_predict(quick(), X, y, cv=3)
    assert predicted.shape == (12,)
    assert predicted.tolist() == y


def test_predictions_are_a_list_for_everyone_else(addresses: Any) -> None:
    X, y = addresses
    predicted = quick().fit(X, y).predict(X[:2])
    assert isinstance(predicted, list) and predicted == [list(labels) for labels in predicted]
    assert np.asarray(predicted).shape == (2,)


def test_scores_are_the_same_for_lists_and_columns_and_processes(addresses: Any) -> None:
    columns = tuple(margent.Columns.from_sentences(part) for part in addresses)
    scores = cross_val_score(quick(), *addresses, cv=3)
    assert scores.min() > 0.3
    assert np.array_equal(scores, cross_val_score(quick(), *columns, cv=3, n_jobs=2))


def test_grid_search(data: Any) -> None:
    X, y = data
    # numpy's numbers, as np.arange gives them
    grid = {"learner__epochs": np.array([1, 4]), "order": np.array([1, 2]), "features__min_count": [1, 3]}
    search = GridSearchCV(margent.Tagger(), grid, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["learner__epochs"] == 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert len(search.predict(X[:3])) == 3


def test_a_tagger_found_by_search_can_be_saved(addresses: Any, tmp_path: Path) -> None:
    search = GridSearchCV(margent.Tagger(), {"learner__epochs": np.array([2]), "order": np.array([2])}, cv=2)
    best = search.fit(*addresses).best_estimator_
    best.save(tmp_path / "best.margent")
    loaded = margent.load(tmp_path / "best.margent")
    assert loaded.learner == margent.PassiveAggressive(epochs=2) and loaded.order == 2
    assert loaded.predict(addresses[0]) == best.predict(addresses[0])


def test_learning_curve(data: Any) -> None:
    sizes, _, scores = learning_curve(quick(), *data, cv=3, train_sizes=[0.3, 1.0])
    assert sizes.tolist() == [18, 60]
    assert scores[0].mean() < scores[1].mean()


def test_train_test_split(data: Any) -> None:
    X_train, X_test, y_train, y_test = train_test_split(*data, test_size=0.2, random_state=0)
    assert (len(X_train), len(X_test)) == (72, 18)
    assert quick().fit(X_train, y_train).score(X_test, y_test) > 0.3


def test_a_metric_of_ours_as_scorer(addresses: Any) -> None:
    def recall(estimator: Any, X: Any, y: Any) -> float:
        return span_scores(y, estimator.predict(X)).recall

    result = cross_validate(quick(), *addresses, cv=2, scoring={"recall": recall})
    assert result["test_recall"].shape == (2,)


# Pipelines


def to_attributes(sentences: Any) -> list[list[dict[str, Any]]]:
    return [[{"word": word.lower(), "digit": word.isdigit()} for word in sentence] for sentence in sentences]


def test_pipeline(data: Any, addresses: Any) -> None:
    X, y = data
    pipeline = Pipeline([("attributes", FunctionTransformer(to_attributes)), ("tagger", quick())])
    pipeline.set_params(tagger__learner__epochs=5).fit(X, y)
    assert pipeline.score(X, y) > 0.8
    assert ("word:," in dict(pipeline["tagger"].top_features("O"))) and pipeline["tagger"].learner.epochs == 5
    assert len(cross_val_predict(pipeline, X, y, cv=2, n_jobs=2)) == len(X)
    assert "Tagger" in repr(pipeline) and "Tagger" in pipeline._repr_html_()


def test_fit_arguments_reach_the_tagger(addresses: Any) -> None:
    X, y = addresses
    pipeline = Pipeline([("same", FunctionTransformer()), ("tagger", quick())])
    epochs: list[Any] = []
    pipeline.fit(X, y, tagger__callbacks=[epochs.append], tagger__X_dev=X[:5], tagger__y_dev=y[:5])
    assert [epoch.epoch for epoch in epochs] == [1, 2] and epochs[0].dev_score is not None


# Sample weights and routing


def test_sample_weight_is_split_with_the_sentences(addresses: Any) -> None:
    X, y = addresses
    right = np.ones(len(X))
    wrong_half = [[*labels] for labels in y]
    for i in range(0, len(X), 2):
        wrong_half[i] = ["O"] * len(X[i])
        right[i] = 0
    weighted = quick().fit(X, wrong_half, sample_weight=right)
    assert weighted.score(X, y) > quick().fit(X, wrong_half).score(X, y) + 0.1
    scores = cross_val_score(quick(), X, wrong_half, cv=3, params={"sample_weight": right})
    assert scores.shape == (3,)


def test_score_counts_sentences_by_weight(addresses: Any) -> None:
    X, y = addresses
    tagger = quick().fit(X, y)
    weight = np.zeros(len(X))
    weight[:10] = 3
    assert tagger.score(X, y, sample_weight=weight) == pytest.approx(tagger.score(X[:10], y[:10]))
    tokens = [[label[-1] for label in labels] for labels in y]  # these spell no spans
    plain = quick().fit(X, tokens)
    assert plain.scheme_ is None
    assert plain.score(X, tokens, sample_weight=weight) == pytest.approx(plain.score(X[:10], tokens[:10]))


@pytest.mark.parametrize("weight", [[1.0], [-1.0] * 90, [np.nan] * 90, [0.0] * 90])
def test_wrong_sample_weight(addresses: Any, weight: list[float]) -> None:
    with pytest.raises(CorpusError, match="sample_weight"):
        quick().fit(*addresses, sample_weight=weight)


def test_metadata_routing(addresses: Any) -> None:
    X, y = addresses
    weight = np.r_[np.ones(45), np.zeros(45)]
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            Pipeline([("tagger", quick())]).fit(X, y, sample_weight=weight)
        tagger = quick().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        for same in (tagger, clone(tagger), copy.deepcopy(tagger)):
            routed = Pipeline([("tagger", same)]).fit(X, y, sample_weight=weight)["tagger"]
            assert routed.predict(X) == quick().fit(X, y, sample_weight=weight).predict(X)
        search = GridSearchCV(tagger, {"order": [1]}, cv=2).fit(X, y, sample_weight=np.ones(90))
        assert search.best_score_ == pytest.approx(cross_val_score(quick(), X, y, cv=2).mean())
        with pytest.raises(TypeError, match=r"Tagger\.fit has no argument 'weights'"):
            tagger.set_fit_request(weights=True)
    with pytest.raises(RuntimeError, match="enable_metadata_routing"):
        tagger.set_fit_request(sample_weight=True)


# Copies


@pytest.mark.parametrize("features", [None, "attributes", "vectors", to_attributes])
def test_copies_predict_the_same(addresses: Any, tmp_path: Path, features: Any) -> None:
    X, y = addresses
    if features == "attributes":
        X = to_attributes(X)
    elif features == "vectors":
        X = [np.array([[len(word), word.isdigit()] for word in sentence], dtype=float) for sentence in X]
    elif features is not None:
        features = _function_of_sentence
    tagger = quick(features=features, tag_dictionary=None if X is not addresses[0] else 2).fit(X, y)
    joblib.dump(tagger, tmp_path / "tagger.joblib")
    for other in (copy.deepcopy(tagger), copy.copy(tagger), joblib.load(tmp_path / "tagger.joblib")):
        assert other.predict(X) == tagger.predict(X)
        assert other.history_ == tagger.history_
        assert other.get_params() == tagger.get_params()
        other.partial_fit(X[:5], y[:5])
    assert len(tagger.history_) == 2


def _function_of_sentence(sentence: Any) -> Any:
    return to_attributes([sentence])[0]


def test_the_state_of_a_tagger_is_plain_data(addresses: Any) -> None:
    _, (_, header, arrays, *_) = quick().fit(*addresses).model_.__reduce__()
    assert all(isinstance(array, np.ndarray) and array.dtype.kind in "iuf" for array in arrays.values())
    assert header == pickle.loads(pickle.dumps(header))


@pytest.mark.parametrize(
    "change",
    [{"order": 2}, {"tag_dictionary": 2}, {"constrain": True}, {"features": "ner"}, {"features__min_count": 5}],
)
def test_parameters_set_after_fit_do_not_spoil_copies(addresses: Any, tmp_path: Path, change: Any) -> None:
    X, y = addresses
    tagger = quick().fit(X, y).set_params(**change)
    tagger.save(tmp_path / "changed.margent")
    loaded, copied = margent.load(tmp_path / "changed.margent"), copy.deepcopy(tagger)
    assert loaded.predict(X) == copied.predict(X) == tagger.predict(X)
    assert copied.get_params() == tagger.get_params()
    assert (loaded.order, loaded.tag_dictionary) == (1, None)  # a file says how its model was trained
    loaded.partial_fit(X[:3], y[:3])


def test_constrain_holds_from_when_it_is_set(addresses: Any) -> None:
    X, y = addresses
    tagger = quick().fit(X, y)
    tagger.predict(X)
    forbidden = [(None, label) for label in tagger.classes_ if label != "O"]
    assert {labels[0] for labels in tagger.set_params(constrain=forbidden).predict(X)} == {"O"}


class Particular(margent.Tagger):
    def __init__(self, epochs: int = 2) -> None:
        super().__init__("generic", margent.Perceptron(epochs=epochs))
        self.epochs = epochs


def test_a_subclass_with_a_constructor_of_its_own(addresses: Any) -> None:
    tagger = Particular(epochs=1).fit(*addresses)
    assert len(clone(tagger).fit(*addresses).history_) == 1
    assert copy.deepcopy(tagger).predict(addresses[0]) == tagger.predict(addresses[0])


# What is found at the boundary


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, [["O"]], "expected a list of sequences, got NoneType"),
        (np.ones(3), [["O"]], "expected a list of sequences, got an array of float64 of 1 dimensions"),
        (np.ones((2, 3)), [["O"] * 3] * 2, "sentence 0: expected tokens as text"),
        ([["a"]], None, "requires y to be passed, but the target y is None"),
        ([["a"]], 5, "expected a list of sequences, got int"),
        ([["a"]], ["O"], "sentence 0: expected a list of labels, got 'O'"),
        ([["a"]], [0], "sentence 0: expected a list of labels, got 0"),
        ([["a"]], [["O"], ["O"]], "found labels for 2 sentences, expected them for 1"),
        ([["a", "b"]], [["O"]], "sentence 0 has 2 tokens, but 1 labels"),
        (margent.TokenMatrix(np.ones((1, 2)) * 1j, [1]), [["O"]], "Complex data not supported"),
        ([np.ones((1, 0))], [["O"]], r"0 feature\(s\)"),
    ],
)
def test_wrong_training_data(X: Any, y: Any, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        margent.Tagger().fit(X, y)


def test_a_sparse_matrix_needs_lengths() -> None:
    from scipy.sparse import eye_array

    with pytest.raises(CorpusError, match=r"TokenMatrix\(matrix, lengths\)"):
        margent.Tagger().fit(eye_array(3, format="csr"), [["A"], ["B"], ["C"]])
    X = margent.TokenMatrix(eye_array(3, format="csr"), [2, 1])
    tagger = margent.Tagger().fit(X, [["A", "B"], ["C"]])
    assert tagger.predict(X) == [["A", "B"], ["C"]]
    assert tagger.n_features_in_ == 3


def test_n_features_in_is_for_arrays_only(addresses: Any) -> None:
    assert not hasattr(margent.Tagger(), "n_features_in_")
    assert not hasattr(quick().fit(*addresses), "n_features_in_")


def test_iterators_are_read_once(addresses: Any) -> None:
    X, y = addresses
    tagger = quick().fit(iter(X), iter(y))
    assert tagger.predict(iter(X)) == quick().fit(X, y).predict(X)


def test_a_failed_partial_fit_leaves_the_tagger_as_it_was(addresses: Any, tmp_path: Path) -> None:
    X, y = addresses
    for parameters in (
        {},
        {"tag_dictionary": 1},
        {"features": margent.Features(layout="sparse")},
        {"features": ["U%x[0,0]", "B%x[0,0]"]},
    ):
        tagger = quick(**parameters).fit(X, y)
        before = tagger.predict(X)
        with pytest.raises(ValueError):
            tagger.partial_fit([["never", "seen"]], [["O"]])
        with pytest.raises(CorpusError):
            tagger.partial_fit([["never", "seen"]], [["NEW", "O"]], sample_weight=[-1])
        with pytest.raises(ValueError, match="this Tagger was fitted with order 1"):
            tagger.set_params(order=2).partial_fit(X, y)
        tagger.set_params(order=1)
        assert tagger.predict(X) == before and len(tagger.predict([["never", "seen"]])[0]) == 2
        tagger.save(tmp_path / "kept.margent")
        assert margent.load(tmp_path / "kept.margent").predict(X) == before
        tagger.partial_fit([["never", "seen"]], [["NEW", "O"]])
        assert "NEW" in tagger.classes_


@pytest.mark.parametrize("learner", [5, margent.Perceptron])
def test_something_that_is_no_learner(addresses: Any, learner: Any) -> None:
    with pytest.raises(TypeError, match="learner should be a learner such as CRF"):
        margent.Tagger(learner=learner).fit(*addresses)


@pytest.mark.parametrize("parameters", [{"threads": 0}, {"tag_dictionary": 0}, {"order": 1.5}, {"order": True}])
def test_wrong_numbers(addresses: Any, parameters: Any) -> None:
    with pytest.raises(ValueError, match="of Tagger should be an integer of at least 1"):
        margent.Tagger(**parameters).fit(*addresses)


def test_nothing_to_predict(addresses: Any) -> None:
    for parameters in ({}, {"tag_dictionary": 1}):
        tagger = quick(**parameters).fit(*addresses)
        assert tagger.predict([]) == [] and tagger.predict([[]]) == [[]]
