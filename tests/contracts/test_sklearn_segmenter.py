"""margent.Segmenter under scikit-learn: its tools, and its own battery of estimator checks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import margent
from margent.datasets import make_series

# The checks that do not hold, with the reason.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "frames are standardised over all sequences, whatever they count",
}


class OneFrameSegmenter(margent.Segmenter):
    """A segmenter for the data of the checks, one matrix and one target column: each row is a sequence of one frame."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> OneFrameSegmenter:
        return super().fit(_sequences(X), _segments(y), sample_weight=sample_weight, **others)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> OneFrameSegmenter:
        return super().partial_fit(_sequences(X), _segments(y), sample_weight=sample_weight, **others)

    def predict(self, X: Any) -> Any:
        return np.array([float(segments[0].label) for segments in super().predict(_sequences(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(_sequences(X), _segments(y), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.sparse = False
        return tags


def _sequences(X: Any) -> Any:
    if isinstance(X, list) and X and getattr(X[0], "ndim", 0) == 2:
        return X
    if hasattr(X, "tocsr"):
        raise TypeError("a sparse matrix is no sequence of frames: use an array")
    return margent.TokenMatrix(np.asarray(X), np.ones(np.asarray(X).shape[0], dtype=int))


def _segments(y: Any) -> Any:
    if y is None or (isinstance(y, list) and y and isinstance(y[0], list)):
        return y
    return [[(0, 1, str(label))] for label in np.asarray(y).ravel()]


def _checks() -> list[Any]:
    with warnings.catch_warnings():
        # Inheriting from scikit-learn's base class would mean to import it with margent.
        warnings.filterwarnings("ignore", "Estimator OneFrameSegmenter does not inherit")
        return [check for _, check in estimator_checks_generator(OneFrameSegmenter())]


def _name(check: Any) -> str:
    return str(check.func.__name__)


@pytest.mark.parametrize("check", _checks(), ids=_name)
def test_estimator_check(check: Any) -> None:
    if _name(check) in EXPECTED_FAILURES:
        with pytest.raises(AssertionError):
            check(OneFrameSegmenter())
    else:
        check(OneFrameSegmenter())


@pytest.mark.filterwarnings("ignore:Can't test estimator Segmenter which requires input")
def test_scikit_learn_knows_that_sequences_are_no_matrix() -> None:
    results = check_estimator(margent.Segmenter(), on_skip=None)
    assert [result["status"] for result in results] == ["passed"]
    assert not is_classifier(margent.Segmenter())


def test_search_pipeline_and_cross_validation() -> None:
    X, y, _ = make_series(24, noise=0.5, seed=3)
    segmenter = margent.Segmenter(margent.FrameFeatures(bins=1), margent.Perceptron(epochs=1))
    other = clone(segmenter)
    assert other.get_params() == segmenter.get_params() and not hasattr(other, "classes_")
    with pytest.raises(NotFittedError):
        other.predict(X)
    grid = {"features__bins": [1, 3], "learner__epochs": [1, 2]}
    search = GridSearchCV(segmenter, grid, cv=3).fit(X, y, progress=False)
    assert search.best_params_["features__bins"] == 3  # what tells the labels apart is how they rise and fall
    assert len(cross_val_score(segmenter, X, y, cv=3)) == 3
    predicted = cross_val_predict(clone(segmenter), X, y, cv=3)
    assert [segments[-1].end for segments in predicted] == [len(x) for x in X]
    doubled = FunctionTransformer(lambda sequences: [2 * x for x in sequences])
    piped = Pipeline([("double", doubled), ("segment", clone(segmenter))]).fit(X, y)
    assert piped.score(X, y) > 0.2
