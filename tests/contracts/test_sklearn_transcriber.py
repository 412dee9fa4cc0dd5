"""margent.Transcriber under scikit-learn's tools."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import margent
from margent.datasets import make_pronunciations

WORDS, SPOKEN = make_pronunciations(150, seed=0, noise=0)


@pytest.mark.filterwarnings("ignore:Can't test estimator Transcriber which requires input")
@pytest.mark.filterwarnings("ignore:Estimator Transcriber does not inherit")
def test_scikit_learn_knows_that_words_are_no_matrix() -> None:
    results = check_estimator(margent.Transcriber(), on_skip=None)
    assert {result["status"] for result in results} == {"passed"}
    assert not is_classifier(margent.Transcriber())


def test_parameters_are_kept_as_given() -> None:
    transcriber = margent.Transcriber(em=margent.EM(order=3), learner=margent.MIRA(C=0.5), sizes=[(1, 1), (1, 0)])
    other = clone(transcriber)
    assert other.get_params() == transcriber.get_params() and not hasattr(other, "model_")
    with pytest.raises(NotFittedError):
        other.predict(["cab"])
    other.set_params(learner__C=0.1, em__beam=None)
    assert (other.learner.C, other.em.beam, transcriber.learner.C) == (0.1, None, 0.5)
    with pytest.raises(ValueError, match="Invalid parameter 'ordr'"):
        other.set_params(ordr=2)


def test_search_pipeline_and_cross_validation() -> None:
    transcriber = margent.Transcriber(order=1, threads=1)
    search = GridSearchCV(transcriber, {"order": [1, 3]}, cv=3).fit(WORDS, SPOKEN, progress=False)
    assert search.best_params_ == {"order": 3}
    assert len(cross_val_score(transcriber, WORDS, SPOKEN, cv=3)) == 3
    predicted = cross_val_predict(clone(transcriber).set_params(order=3), WORDS, np.array(SPOKEN, dtype=object), cv=3)
    assert len(predicted) == len(WORDS)
    lower = FunctionTransformer(lambda words: [word.lower() for word in words])
    piped = Pipeline([("lower", lower), ("transcribe", margent.Transcriber(order=3))]).fit(WORDS, SPOKEN)
    assert piped.score([word.upper() for word in WORDS], SPOKEN) > 0.8
