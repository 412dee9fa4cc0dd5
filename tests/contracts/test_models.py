"""The battery that every model joins: scikit-learn's tools and checks, copies, files, failures, threads, reports."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from tests.unit.model_files import timeless

import margent
from margent.datasets import (
    make_entailment,
    make_phrases,
    make_pronunciations,
    make_questions,
    make_series,
    make_translations,
    make_trees,
)
from margent.models import StructuredModel
from margent.models.loading import KINDS, model_class

DOCUMENT = Path(__file__).parents[2] / "docs" / "scikit-learn.md"
PAGE = Path(__file__).parents[2] / "docs" / "models.md"
DATA = Path(__file__).parents[1] / "data"


def _rows(X: Any) -> Any:
    """One matrix of the checks as sequences of one token or frame each."""
    if isinstance(X, margent.TokenMatrix) or (isinstance(X, list) and X and getattr(X[0], "ndim", 0) == 2):
        return X
    matrix = X if hasattr(X, "tocsr") else np.asarray(X)
    return margent.TokenMatrix(matrix, np.ones(matrix.shape[0], dtype=int))


class OneTokenTagger(margent.Tagger):
    """A tagger for the data of the checks, one matrix and one target column: each row is a sequence of one token."""

    @staticmethod
    def _labels(y: Any) -> Any:
        if y is None or (isinstance(y, list) and y and isinstance(y[0], list)):
            return y
        return [[str(label)] for label in np.asarray(y).ravel()]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        return super().fit(_rows(X), self._labels(y), sample_weight=sample_weight, **others)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return super().partial_fit(_rows(X), self._labels(y), sample_weight=sample_weight)

    def predict(self, X: Any) -> Any:
        return np.array([float(labels[0]) for labels in super().predict(_rows(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(_rows(X), self._labels(y), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class OneFrameSegmenter(margent.Segmenter):
    """A segmenter for the data of the checks, one matrix and one target column: each row is a sequence of one frame."""

    @staticmethod
    def _segments(y: Any) -> Any:
        if y is None or (isinstance(y, list) and y and isinstance(y[0], list)):
            return y
        return [[(0, 1, str(label))] for label in np.asarray(y).ravel()]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        return super().fit(self._frames(X), self._segments(y), sample_weight=sample_weight, **others)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, **others: Any) -> Any:
        return super().partial_fit(self._frames(X), self._segments(y), sample_weight=sample_weight, **others)

    def predict(self, X: Any) -> Any:
        return np.array([float(segments[0].label) for segments in super().predict(self._frames(X))])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return super().score(self._frames(X), self._segments(y), sample_weight)

    @staticmethod
    def _frames(X: Any) -> Any:
        if hasattr(X, "tocsr"):
            raise TypeError("a sparse matrix is no sequence of frames: use an array")
        return _rows(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.sparse = False
        return tags


@dataclass(frozen=True)
class Case:
    """`model`: unfitted and fast. `grid`: parameters to search, and the best. `wrong`: data that `fit` must refuse.
    `as_matrix`: the model for scikit-learn's own checks, and those that do not hold, with the reason."""

    model: Any
    X: Any
    y: Any
    grid: dict[str, list[Any]]
    best: dict[str, Any]
    wrong: tuple[Any, Any]
    as_matrix: Any = None
    expected_failures: dict[str, str] = field(default_factory=dict)


def _cases() -> dict[str, Case]:
    sentences, labels = margent.make_addresses(60, seed=3)
    series, segments, _ = make_series(24, noise=0.5, seed=3)
    phrase_X, phrase_y = make_phrases(24, seed=3)
    words, spoken = make_pronunciations(150, seed=0, noise=0)
    trees_X, trees_y = make_trees(60, seed=3)
    questions, meanings, domain, _ = make_questions(40, seed=3)
    pairs, relations, _ = make_entailment(120, seed=3)
    foreign, english, _ = make_translations(40, seed=3, longest=9)
    return {
        "tagger": Case(
            margent.Tagger(learner=margent.Perceptron(epochs=2)),
            sentences,
            labels,
            {"learner__epochs": [1, 4], "features__min_count": [1]},
            {"features__min_count": 1},
            (sentences[:2], [["O"], ["O"]]),
            OneTokenTagger(),
            {
                "check_sample_weight_equivalence_on_dense_data": "the perceptron learns from one example after the "
                "other: a sentence of weight 2 makes one step of twice the size, a sentence given twice makes two "
                "steps",
                "check_sample_weight_equivalence_on_sparse_data": "the same, for sparse matrices",
            },
        ),
        "segmenter": Case(
            margent.Segmenter(margent.FrameFeatures(bins=1), margent.Perceptron(epochs=1)),
            series,
            segments,
            {"features__bins": [1, 3], "learner__epochs": [1, 2]},
            {"features__bins": 3},  # what tells the labels apart is how they rise and fall
            (series[:2], [[], [(0, 10**6, "a")]]),
            OneFrameSegmenter(),
            {
                "check_sample_weight_equivalence_on_dense_data": "frames are standardised over all sequences, whatever "
                "they count",
            },
        ),
        "transcriber": Case(
            margent.Transcriber(order=2, threads=1),
            words,
            spoken,
            {"order": [1, 3], "search__width": [20]},
            {"order": 3},
            (["ab", ""], ["A B", ""]),
        ),
        "parser": Case(
            margent.Parser(["h.upos m.upos direction", "m.upos label"], margent.Perceptron(epochs=2), threads=1),
            trees_X,
            trees_y,
            {"learner__epochs": [1, 3], "features__min_count": [1]},
            {"features__min_count": 1},
            (trees_X[:2], trees_y[:1]),
        ),
        "phrase-parser": Case(
            margent.PhraseParser(margent.SpanFeatures(("first.word", "right.word")), margent.Perceptron(epochs=2)),
            phrase_X,
            phrase_y,
            {"learner__epochs": [1, 3], "grammar__vertical": [1]},
            {"grammar__vertical": 1},
            (phrase_X[:2], phrase_y[:1]),
        ),
        "semantic-parser": Case(
            margent.SemanticParser(
                domain,
                ["action.kind", "q0.lower action.piece", "s0.type s1.type action.kind"],
                margent.Perceptron(epochs=2),
                search=margent.Beam(4),
                threads=1,
            ),
            questions,
            meanings,
            {"learner__epochs": [1, 3], "lexicon__most": [15]},
            {"lexicon__most": 15},
            (questions[:2], meanings[:1]),
        ),
        "entailment": Case(
            margent.EntailmentClassifier(learner=margent.Perceptron(epochs=2), threads=1),
            pairs,
            relations,
            {"learner__epochs": [1, 3], "features__candidates": [2]},
            {"features__candidates": 2},
            (pairs[:2], relations[:1]),
        ),
        "translator": Case(
            margent.Translator(
                ["target.first", "source.first.word target.first"],
                margent.Perceptron(epochs=2),
                extraction=margent.RuleExtraction(max_span=5, max_source_symbols=3),
                order=2,
                search=margent.CubePruning(10, update="max-violation", batch=4),
                left_out=False,
                threads=1,
            ),
            foreign,
            english,
            {"learner__epochs": [1, 3], "search__pop_limit": [10]},
            {"search__pop_limit": 10},
            (foreign[:2], english[:1]),
        ),
    }


CASES = _cases()


@pytest.fixture(scope="module", params=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(scope="module")
def fitted(case: Case) -> Any:
    return clone(case.model).fit(case.X, case.y)


def test_every_kind_of_model_is_in_the_battery() -> None:
    assert set(CASES) == set(KINDS)
    assert all(type(case.model) is model_class(kind) for kind, case in CASES.items())
    assert [model_class(kind).fitted.kind for kind in KINDS] == list(KINDS)


# scikit-learn's own checks


def _checks() -> list[Any]:
    found = []
    with warnings.catch_warnings():
        # Inheriting from scikit-learn's base class would mean to import it with margent.
        warnings.filterwarnings("ignore", "Estimator .* does not inherit")
        for name, case in CASES.items():
            for _, check in estimator_checks_generator(case.as_matrix) if case.as_matrix is not None else ():
                found.append(pytest.param(case, check, id=f"{name}-{check.func.__name__}"))
    return found


@pytest.mark.parametrize(("case", "check"), _checks())
def test_estimator_check(case: Case, check: Any) -> None:
    if check.func.__name__ in case.expected_failures:
        with pytest.raises(AssertionError):
            check(clone(case.as_matrix))
    else:
        check(clone(case.as_matrix))


def test_expected_failures_are_names_of_checks_and_in_the_document() -> None:
    names = [param.id.split("-", 1) for param in _checks()]
    text = " ".join(DOCUMENT.read_text(encoding="utf-8").split())
    for name, case in CASES.items():
        own = {check for kind, check in names if kind == name}
        assert set(case.expected_failures) <= own and (not own or len(own) > 40)
    for check, reason in CASES["tagger"].expected_failures.items():
        assert f"`{check}`: {reason}" in text
    assert text.count("`check_sample") == len(CASES["tagger"].expected_failures)


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@pytest.mark.filterwarnings("ignore:Estimator .* does not inherit")
def test_scikit_learn_knows_that_sequences_are_no_matrix(case: Case) -> None:
    results = check_estimator(type(case.model)(), on_skip=None)
    assert {result["status"] for result in results} == {"passed"}
    assert not is_classifier(case.model)


# Parameters


def test_parameters_are_kept_as_given_and_few(case: Case) -> None:
    other = clone(case.model)
    assert other.get_params() == case.model.get_params() and not hasattr(other, "model_")
    with pytest.raises(NotFittedError):
        other.predict(case.X[:1])
    for ask in ("history_", "temperature_", "calibrated_", "best_epoch_", "interrupted_"):
        assert not hasattr(other, ask)
    with pytest.raises(ValueError, match="Invalid parameter 'ordr'"):
        other.set_params(ordr=2)
    assert len(type(other)().get_params(deep=False)) <= 12
    assert other.set_params(**other.get_params()).get_params() == other.get_params()


def test_grouped_parameters_have_help(case: Case) -> None:
    for value in type(case.model)().get_params(deep=False):
        grouped = type(case.model)().resolved(value)
        if hasattr(grouped, "__dataclass_fields__") and value not in ("features",):
            assert all(each.metadata.get("help") for each in fields(grouped)), value


# Search, pipelines, cross-validation


def test_search_pipeline_and_cross_validation(case: Case) -> None:
    search = GridSearchCV(clone(case.model), case.grid, cv=3).fit(case.X, case.y, progress=False)
    assert {name: search.best_params_[name] for name in case.best} == case.best
    assert len(cross_val_score(clone(case.model), case.X, case.y, cv=3)) == 3
    y = np.fromiter(case.y, dtype=object, count=len(case.y))
    assert len(cross_val_predict(clone(case.model), case.X, y, cv=3)) == len(case.X)
    same = FunctionTransformer(lambda X: X)
    piped = Pipeline([("same", same), ("model", clone(case.model))]).fit(case.X, case.y)
    assert piped.score(case.X, case.y) == pytest.approx(clone(case.model).fit(case.X, case.y).score(case.X, case.y))


# A model is a value


def test_the_same_training_gives_the_same_bytes(case: Case, fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "first")
    clone(case.model).fit(case.X, case.y).save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert all("seconds" in epoch for epoch in copy.deepcopy(fitted).history_)


def test_copies_and_files_are_the_same_model(case: Case, fitted: Any, tmp_path: Path) -> None:
    found = fitted.predict(case.X)
    fitted.save(tmp_path / "m")
    for other in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted)), margent.load(tmp_path / "m")):
        assert other.predict(case.X) == found and other.get_params() == fitted.get_params()
        assert timeless(other.history_) == timeless(fitted.history_) and other.model_.learner == fitted.model_.learner
    assert copy.copy(fitted).model_ is fitted.model_
    with pytest.raises(AttributeError):
        fitted.model_.history = []  # frozen
    fitted.save(tmp_path / "small", compact=True)
    small = type(fitted).load(tmp_path / "small")
    assert (tmp_path / "small").stat().st_size <= (tmp_path / "m").stat().st_size
    assert np.mean([a == b for a, b in zip(small.predict(case.X), found)]) > 0.9


def test_what_fails_leaves_the_model_untouched(case: Case, fitted: Any) -> None:
    model = copy.copy(fitted)
    before, found = model.model_, model.predict(case.X)

    def fail(epoch: Any) -> None:
        raise ZeroDivisionError

    calls = [model.fit, *([model.partial_fit] if hasattr(model, "partial_fit") else [])]
    for call in calls:
        with pytest.raises(ValueError):
            call(*case.wrong)
        with pytest.raises(ZeroDivisionError):
            call(case.X, case.y, callbacks=[fail])
        assert model.model_ is before
    assert model.predict(case.X) == found


@pytest.mark.filterwarnings("ignore:.* entries cannot be aligned")  # of so few
def test_prediction_goes_on_while_another_thread_learns(case: Case, fitted: Any) -> None:
    """Each answer is of one model as a whole: of one before, or of one after, a training."""
    model = copy.copy(fitted).set_params(threads=1)
    learn = model.partial_fit if hasattr(model, "partial_fit") else model.fit
    X, done, answers, errors = case.X[:8], threading.Event(), [], []

    def ask() -> None:
        try:
            while not done.is_set():
                answers.append(model.predict(X))
        except BaseException as error:
            errors.append(error)

    seen = [model.model_]
    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for part in range(200):  # until there were answers while it learned
        learn(case.X[part % 4 :: 4], case.y[part % 4 :: 4], progress=False)
        seen.append(model.model_)
        if part >= 3 and len(answers) > 4:
            break
    done.set()
    for thread in asking:
        thread.join()
    assert not errors and len(answers) > 4
    known = []
    for value in seen:
        model.model_ = value
        known.append(model.predict(X))
    assert all(answer in known for answer in answers)


def test_data_are_encoded_once(case: Case, fitted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(fitted, "feature_map_"):
        pytest.skip("words are numbered, not encoded by a feature map")
    kind, counts = type(fitted.feature_map_), []
    encode = kind.encode
    monkeypatch.setattr(kind, "encode", lambda *a, **k: counts.append(1) or encode(*a, **k))
    half = len(case.X) // 2
    model = clone(case.model).set_params(calibration=0.3)
    model.fit(case.X[:half], case.y[:half], X_dev=case.X[half:], y_dev=case.y[half:])
    assert len(counts) == 2  # the training data, and the development data: training, scores and two temperatures
    counts.clear()
    model.reliability(case.X, case.y)
    assert len(counts) == 1
    if hasattr(model, "explain"):
        counts.clear()
        assert len(model.explain(case.X[0])) == len(case.X[0]) and len(counts) == 1


# The same words for the same things


def test_scores_reports_and_reliability(case: Case, fitted: Any) -> None:
    report = fitted.evaluate(case.X, case.y)
    assert str(report)
    curves = copy.deepcopy(fitted).reliability(case.X, case.y) if fitted.calibrated_ else None
    if curves is None:
        with pytest.warns(margent.CalibrationWarning, match="not calibrated"):
            curves = copy.deepcopy(fitted).reliability(case.X, case.y)
    assert curves and all(curve.counts.sum() for curve in curves.values())
    assert 0 <= fitted.score(case.X, case.y) <= 1


def test_the_page_shows_what_each_kind_can_do() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for name, kind in zip(KINDS, map(model_class, KINDS)):
        assert issubclass(kind, StructuredModel)
        for method, answer in kind.abilities().items():
            assert hasattr(kind, method) == (answer == "yes")
            if answer != "yes":
                assert f"| `{method}` | {kind.__name__} | {answer} |" in text, (name, method)
    assert text.count("| Transcriber |") == sum(a != "yes" for a in margent.Transcriber.abilities().values())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tagger", {"tag_dictionary": 2, "search": "posterior", "features": margent.Features(None, 2, "sparse")}),
        ("hidden", {"hidden": margent.HiddenLabels(2, restarts=2), "search": margent.Beam(8, "early")}),
        ("segmenter", {"durations": margent.Durations(1, {"low": 4}), "calibration": 0}),
        ("segmenter_tokens", {"outside": "O", "costs": margent.SegmentCosts()}),
        ("transcriber", {"search": margent.AlignmentBeam(20, 8.0, sum_alignments=False), "unseen": "error"}),
    ],
)
def test_files_from_before_options_were_grouped_are_read(name: str, parameters: dict[str, Any]) -> None:
    model = margent.load(DATA / f"before-values-{name}.margent")
    assert {key: getattr(model, key) for key in parameters} == parameters
    if name == "transcriber":
        assert model.predict(["tab"]) == [["T", "AE", "B"]]
    elif name == "segmenter":
        assert model.predict([np.array([[0.0], [5.0]])])[0][0].start == 0 and model.calibrated_
        assert model.front_end_ == {"step": 0.01}
    else:
        found = model.predict([["the", "dog", "barks"]])
        assert found == ([["D", "N", "V"]] if name != "segmenter_tokens" else [[(0, 1, "D"), (1, 2, "N")]])
        assert model.calibrated_
