"""The parser by itself, with plain weights: data, trees that cross, own tags, probabilities, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.models.parser.plain_weights import PlainWeights

from margent import Beam, ConstraintError, CorpusError, Parser, ParserFeatures, Perceptron, Tagger
from margent.annotation import DependencyTree
from margent.errors import CalibrationWarning, NotFittedError
from margent.formats import Columns
from margent.models.parser import kinds

X = [
    [("the", "D"), ("cat", "N"), ("sleeps", "V")],
    [("a", "D"), ("dog", "N"), ("sees", "V"), ("the", "D"), ("cat", "N")],
    [("dogs", "N"), ("sleep", "V")],
    [("the", "D"), ("dog", "N"), ("sees", "V"), ("dogs", "N")],
]
Y = [
    DependencyTree([2, 3, 0], ["det", "nsubj", "root"]),
    DependencyTree([2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"]),
    DependencyTree([2, 0], ["nsubj", "root"]),
    DependencyTree([2, 3, 0, 3], ["det", "nsubj", "root", "obj"]),
]
# A tree with two arcs that cross: "a hearing is scheduled on the issue today" (McDonald et al. 2005), shortened.
CROSSING_X = [[("hearing", "N"), ("is", "V"), ("on", "P"), ("issue", "N"), ("today", "R")]]
CROSSING_Y = [DependencyTree([2, 0, 4, 1, 2], ["nsubj", "root", "case", "nmod", "advmod"])]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kinds, "weights_of_kind", lambda kind: PlainWeights)
    monkeypatch.setattr("margent.models.parser.model.weights_of_kind", lambda kind: PlainWeights)
    yield


def parser(**parameters: Any) -> Parser:
    return Parser(**({"search": "eisner", "learner": Perceptron(epochs=8)} | parameters))


def test_it_learns_its_training_data_and_predicts_trees() -> None:
    fitted = parser().fit(X, Y)
    assert fitted.predict(X) == Y and fitted.score(X, Y) == 1.0
    assert fitted.classes_.tolist() == ["det", "nsubj", "root", "obj"]
    assert fitted.predict([]) == [] and fitted.predict([[]]) == [DependencyTree([])]
    assert fitted.predict(Columns.from_sentences(X)) == Y
    found = fitted.predict([["dogs", "sleep"]])  # words alone will do
    assert len(found[0]) == 2 and np.array(found, dtype=object).shape == (1,)


def test_development_data_choose_the_epoch_by_the_metric() -> None:
    seen = []
    fitted = parser().fit(X, Y, X_dev=X[:2], y_dev=Y[:2], dev_metric="uas", callbacks=[lambda e: seen.append(e)])
    assert fitted.best_epoch_ == 1 + int(np.argmax([epoch.dev_score for epoch in seen]))
    assert fitted.history_[fitted.best_epoch_ - 1]["dev_score"] == 1.0
    with pytest.raises(ValueError, match="dev_metric should be one of las, uas, label_accuracy, clas or None"):
        parser().fit(X, Y, X_dev=X, y_dev=Y, dev_metric="f1")


def test_scores_are_those_of_the_report() -> None:
    fitted = parser(learner=Perceptron(epochs=1)).fit(X[:1], Y[:1])
    report = fitted.evaluate(X, Y)
    answers = fitted._answers(fitted.model_, X, Y)
    found = fitted._found(fitted.model_, answers)
    for metric in ("las", "uas", "label_accuracy", "clas"):
        assert answers.score(found, metric) == pytest.approx(getattr(report, metric))
    assert 0 < fitted.score(X, Y) < 1
    weights = [1, 0, 0, 0]
    assert fitted.score(X, Y, weights) == fitted.score(X[:1], Y[:1])


def test_partial_trees_are_completed() -> None:
    partial: list[Any] = [Y[0], ([2, None, 0, 5, None], ["det", None, "root", "det", None]), Y[2], Y[3]]
    fitted = parser().fit(X, partial)
    assert fitted.predict(X) == Y
    assert fitted.score(X, partial) == 1.0
    assert fitted.evaluate(X, partial).sentences == 3


@pytest.mark.parametrize("crossing", ["head", "path", "head+path"])
def test_lifted_arcs_come_back(crossing: str) -> None:
    fitted = parser(crossing=crossing, learner=Perceptron(epochs=20)).fit(X + CROSSING_X, Y + CROSSING_Y)
    assert fitted.predict(CROSSING_X) == CROSSING_Y
    assert any("↑" in label for label in fitted.classes_)
    assert fitted.score(X + CROSSING_X, Y + CROSSING_Y) == 1.0
    assert fitted.predict_k_best(CROSSING_X, 3)[0][0].tree == CROSSING_Y[0]


def test_arcs_may_be_lifted_without_a_mark_or_refused_or_kept() -> None:
    lifted = parser(crossing="lift", learner=Perceptron(epochs=20)).fit(X + CROSSING_X, Y + CROSSING_Y)
    assert lifted.predict(CROSSING_X)[0].heads == (2, 0, 4, 2, 2)
    with pytest.raises(CorpusError, match="sentence 4 has arcs that cross"):
        parser(crossing="error").fit(X + CROSSING_X, Y + CROSSING_Y)
    spanning = parser(search="mst", learner=Perceptron(epochs=20)).fit(X + CROSSING_X, Y + CROSSING_Y)
    assert spanning.predict(CROSSING_X) == CROSSING_Y
    with pytest.raises(CorpusError, match="sentence 0 has some heads that are not known, and others whose arcs cross"):
        parser().fit(CROSSING_X, [([2, 0, None, 1, 2], [None] * 5)])


def test_k_best_trees_are_different_and_sorted() -> None:
    readings = parser().fit(X, Y).predict_k_best(X, 4)
    for tree, found in zip(Y, readings):
        assert found[0].tree == tree and len({one.tree for one in found}) == len(found) <= 4
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_probabilities_and_calibration() -> None:
    fitted = parser().fit(X, Y)
    with pytest.warns(CalibrationWarning):
        found = fitted.predict_marginals(X)
    assert [p.heads.shape for p in found] == [(len(s), len(s) + 1) for s in X]
    assert all(np.allclose(p.heads.sum(axis=1), 1) and np.allclose(p.labels.sum(axis=1), 1) for p in found)
    assert fitted.predict_marginals([]) == []
    fitted.calibrate(X, Y)
    assert fitted.calibrated_
    curves = fitted.reliability(X, Y)
    assert [*curves] == ["heads", "arcs"] and curves["arcs"].counts.sum() == sum(map(len, X))
    assert parser(calibration=0.3).fit(X, Y).calibrated_


def test_explanations_add_up_to_the_margin() -> None:
    fitted = parser().fit(X, Y)
    explanations = fitted.explain(X[1], top=3)
    assert [e.word for e in explanations] == [1, 2, 3, 4, 5] and explanations[1].arc == (3, "nsubj")
    assert sum(each.rival is not None for each in explanations) >= 3
    for each in explanations:
        if each.rival is None:  # all trees that were looked at have this arc
            assert each.margin == np.inf and "no other arc was found" in str(each)
            continue
        assert each.margin >= 0 and len(each.contributions) <= 3 and each.rival != each.arc
        assert sum(c.weight for c in each.contributions) + each.rest == pytest.approx(each.margin)
    assert str(fitted.explain(X[1], 2)[0]).startswith("word 2 'dog': nsubj of 3 over ")
    with pytest.raises(ValueError, match="word should be a number from 1 to 5"):
        fitted.explain(X[1], 6)
    assert len(fitted.top_features("det", 2)) == 2


def test_partial_fit_adds_words_and_labels() -> None:
    fitted = parser().fit(X[:2], Y[:2])
    first = fitted.predict(X)
    fitted.partial_fit(X + CROSSING_X, Y + CROSSING_Y)
    assert fitted.classes_.tolist()[:4] == ["det", "nsubj", "root", "obj"] and "case" in fitted.classes_
    assert fitted.predict(X) == Y != first
    fitted.set_params(single_root=False)
    with pytest.raises(ValueError, match="single_root is False now, but this Parser was fitted with single_root True"):
        fitted.partial_fit(X, Y)


def test_own_tags_need_only_words() -> None:
    words = [[form for form, _ in sentence] for sentence in X]
    fitted = parser(tagger=Tagger(learner=Perceptron(epochs=5))).fit(X * 5, Y * 5)
    assert [*fitted.taggers_] == ["upos"] and fitted.predict(words) == Y
    tagged = fitted.tag(words)
    assert tagged.n_columns == 5 and [(row[1], row[4]) for row in tagged[0]] == [
        ("D", "the"),
        ("N", "cat"),
        ("V", "sleeps"),
    ]
    assert fitted.predict([[(form, "X") for form in sentence] for sentence in words]) == Y  # given tags are not read
    with pytest.raises(CorpusError, match="the training data have no tags that the templates look at"):
        parser(tagger=Tagger()).fit(words, Y)


def test_jackknifed_tags_are_not_those_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that occurs once is unknown to the tagger of its tenth, so that its tag is a guess in training, too."""
    from margent.models.parser import problem

    seen: list[Any] = []
    kept = problem.jackknifed

    def spy(*given: Any) -> Any:
        own, columns = kept(*given)
        seen.append(columns)
        return own, columns

    monkeypatch.setattr(problem, "jackknifed", spy)
    X_ = X * 5 + [[("zzz", "Z")]]
    fitted = parser(tagger=Tagger(features=["U:%x[0,0]"]), threads=2).fit(X_, Y * 5 + [DependencyTree([0], ["root"])])
    assert fitted.tag([["zzz"]])[0][0][1] == "Z"
    assert seen[0][len(X_) - 1][0][1] != "Z" and seen[0][0] == [(f, t, "_", "_", f) for f, t in X[0]]
    again = parser(tagger=Tagger(features=["U:%x[0,0]"]), threads=1).fit(X_, Y * 5 + [DependencyTree([0], ["root"])])
    assert list(seen[0]) == list(seen[1])
    assert (again.weights_.weights == fitted.weights_.weights).all()


@pytest.mark.parametrize("compact", [False, True])
def test_files_hold_all_of_it(tmp_path: Path, compact: bool) -> None:
    features = ParserFeatures("h.word m.word\nh.upos m.upos\nm.cluster2 h.cluster", {"cat": "01", "dog": "01"})
    fitted = parser(features=features, tagger=Tagger()).fit(X * 3 + CROSSING_X, Y * 3 + CROSSING_Y)
    fitted.save(tmp_path / "p.margent", compact=compact)
    restored = Parser.load(tmp_path / "p.margent")
    assert isinstance(restored, Parser) and restored.predict(X) == fitted.predict(X)
    assert restored.predict(CROSSING_X) == fitted.predict(CROSSING_X)
    assert restored.classes_.tolist() == fitted.classes_.tolist() and isinstance(restored.tagger, Tagger)
    restored.save(tmp_path / "again.margent", compact=compact)
    assert (tmp_path / "again.margent").read_bytes() == (tmp_path / "p.margent").read_bytes()
    assert Parser.load(tmp_path / "again.margent").partial_fit(X, Y).predict(X) == Y


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search": "cky"}, r"search of Parser should be a Beam\(...\) or one of eisner, mst"),
        ({"search": Beam(decode="sum")}, "a Beam with decode='viterbi'"),
        ({"system": "stack"}, "system of Parser should be one of arc-standard, arc-hybrid, arc-eager, swap"),
        ({"order": 3}, "order of Parser should be an integer"),
        ({"crossing": "drop"}, "crossing of Parser should be one of head, path"),
        ({"exploration": 2}, "exploration of Parser should be a number of at most 1"),
        ({"single_root": 1}, "single_root of Parser should be True or False"),
        ({"tagger": "pos"}, r"tagger of Parser should be a Tagger\(...\) or None"),
        ({"tagger": Tagger(features=len)}, "tagger of Parser should read words"),
        ({"features": 7}, "templates of ParserFeatures should be text, lines of text or None, got 7"),
        ({"features": "h.wrod m.word"}, "templates, line 1: 'h.wrod' names no atom of 'h'"),
        ({"features": "mine"}, "there is no preset 'mine'"),
        ({"seed": -1}, "seed of Parser"),
    ],
)
def test_wrong_parameters_are_refused_before_the_data(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        parser(**parameters).fit(None, None)


@pytest.mark.parametrize(
    ("sentences", "given", "message"),
    [
        (X, None, "trees are missing: a parser requires y"),
        (X, Y[:3], "found trees for 3 sentences, expected them for 4"),
        (X[:1], [Y[1]], "sentence 0 has 3 words, but its tree has 5"),
        (X[:1], [[2, 3, 0]], r"sentence 0: expected a DependencyTree, or a pair of lists \(heads, labels\)"),
        (X[:1], [([2, 1, None], [None] * 3)], r"sentence 0: word 1 is on a cycle of heads \(1 -> 2 -> 1\)"),
        (X[:1], [([0, 0, None], [None] * 3)], "sentence 0: words 1 and 2 are both attached to the root"),
        (X[:1], [([7, 0, None], [None] * 3)], "sentence 0: word 1 has the head 7"),
        (X[:1], [([-2, 0, None], [None] * 3)], "sentence 0: word 1 has the head -2"),
        (X[:1], [([None] * 3, [None] * 3)], "there is nothing to learn from"),
        ([[]], [DependencyTree([])], "there is nothing to learn from: the training data have no word"),
        ([[("a",) * 6]], [DependencyTree([0])], "expected words of up to 5 columns"),
        (X[:1], [DependencyTree([0, 0, 0])], "sentence 0: words 1 and 2 are both attached to the root"),
    ],
)
def test_wrong_data_are_refused(sentences: Any, given: Any, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        parser().fit(sentences, given)


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError):
        parser().predict(X)


def test_a_sentence_that_is_too_long_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = parser().fit(X, Y)
    monkeypatch.setattr(PlainWeights, "longest", 4)
    for ask in (fitted.predict, fitted.predict_k_best):
        with pytest.raises(ConstraintError, match="sentence 1 has 5 words; expected at most 4, as search"):
            ask(X)
        answers = ask(X, on_error="none")
        assert answers[1] is None and [one is None for one in answers].count(True) == 1
    assert [fitted.predict(X, on_error="none")[i] for i in (0, 2, 3)] == [Y[0], Y[2], Y[3]]
    for refuse in (lambda: fitted.score(X, Y), lambda: fitted.explain(X[1])):
        with pytest.raises(ConstraintError, match="expected at most 4"):
            refuse()
