"""What a tagger refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import Perceptron, Tagger
from margent.errors import CorpusError, NotFittedError
from margent.formats.columns import Columns

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([["a", "b"], ["c"]], [["A", "B"], ["A", "B"]], "sentence 1 has 1 tokens, but 2 labels"),
        ([["a"]], [["A"], ["B"]], "found labels for 2 sentences, expected them for 1"),
        ([["a"]], [[None]], "nothing to learn from"),
        ([["a"], ["b"]], [[None], [None]], "nothing to learn from"),
        ([], [], "nothing to learn from"),
        ([[]], [[]], "nothing to learn from"),
        ([["a"]], [[5]], "sentence 0, token 0: expected a label of type str"),
        ([["a"], ["b", "c"]], [["A"], ["A", ["B"]]], "sentence 1, token 1: expected a label"),
        ([["a"]], [["\ud800"]], "sentence 0, token 0: expected a label"),
        ([["a"]], ["A"], "sentence 0: expected a list of labels, got 'A'"),
        ([["a"]], [3], "sentence 0: expected a list of labels"),
        ([["a"]], None, "labels are missing"),
        ([["a"]], 5, "expected a list of sequences, got int"),
        (5, [["A"]], "expected a list of sequences, got int"),
        ("ab", [["A"]], "expected a list of sequences, got str"),
        ([["a", 7]], [["A", "B"]], "sentence 0, token 1: expected"),
        ([[object()]], [["A"]], "sentence 0: expected tokens as text"),
        ([["a"]], Columns.from_sentences([[("x", "y")]]), "labels in one column, got 2"),
    ],
)
def test_wrong_training_data_are_explained(X: Any, y: Any, words: str) -> None:
    tagger = Tagger()
    with pytest.raises(CorpusError, match=words):
        tagger.fit(X, y)
    with pytest.raises(NotFittedError):
        tagger.predict([["a"]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order of Tagger"),
        ({"order": 1.5}, "order of Tagger"),
        ({"order": True}, "order of Tagger"),
        ({"search": 5}, "search of Tagger"),
        ({"seed": -1}, "seed of Tagger"),
        ({"hidden": "x"}, "hidden of Tagger"),
        ({"scheme": "iob"}, "scheme of Tagger should be one of iob1"),
        ({"threads": 0}, "threads of Tagger"),
        ({"threads": "2"}, "threads of Tagger"),
        ({"tag_dictionary": 0}, "tag_dictionary of Tagger"),
        ({"tag_dictionary": True}, "tag_dictionary of Tagger"),
        ({"constrain": 3}, "constrain of Tagger should be True, False or a list of pairs of labels, got 3"),
        ({"constrain": "iob2"}, "constrain of Tagger should be .*, got 'iob2'"),
        ({"constrain": ["AB"]}, "constrain of Tagger should be .*, got 'AB' in it"),
        ({"label_costs": [1]}, "label_costs of Tagger should be a dict"),
        ({"label_costs": {"Q": 1}}, "label_costs names 'Q', which is not among the labels A"),
        ({"label_costs": {"A": -1}}, "the cost of label 'A' should be"),
        ({"label_costs": {"A": 10**400}}, r"the cost of label 'A' should be a number of at most 1e\+25"),
        ({"label_costs": {"A": "1"}}, "the cost of label 'A' should be a number of at least 0"),
        ({"label_costs": {("A", "Q"): 1}}, "label_costs names 'Q'"),
        ({"label_costs": {("Q", "A"): 1}}, "label_costs names 'Q'"),
        ({"label_costs": {("A", "A"): 1}}, "a pair is of two different labels"),
        ({"label_costs": {("A",): 1}}, "a pair is of two different labels"),
        ({"label_costs": {"A": "x"}}, "the cost of label 'A' should be"),
        ({"features": "nothing"}, "features='nothing' is not known"),
        ({"learner": "nothing"}, "learner='nothing' is not known"),
        ({"order": 40}, "order of Tagger should be an integer of at most 16, got 40"),
    ],
)
def test_wrong_parameters_are_explained(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Tagger(**options).fit([["a", "b"]], [["A", "A"]])


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, -1], [1, float("nan")], ["a", "b"], 5])
def test_wrong_weights_are_explained(weights: Any) -> None:
    with pytest.raises(CorpusError, match="sample_weight should be 2 finite numbers"):
        Tagger().fit([["a"], ["b"]], [["A"], ["B"]], sample_weight=weights)
    tagger = Tagger().fit([["a"], ["b"]], [["A"], ["B"]])
    with pytest.raises(CorpusError, match="sample_weight should be 2 finite numbers"):
        tagger.score([["a"], ["b"]], [["A"], ["B"]], sample_weight=weights)


def test_weights_of_the_score() -> None:
    tagger = Tagger().fit([["a"], ["b"]], [["A"], ["B"]])
    assert tagger.score([["a"], ["b"]], [["A"], ["A"]], sample_weight=[3, 1]) == 0.75
    assert tagger.score([["a"]], [["A"]], sample_weight=[0]) == 0


def test_development_data_that_cannot_choose_are_refused() -> None:
    """Every epoch would have the score 0, and the first would be kept as the best."""
    for X_dev, y_dev in (([["a"]], [[None]]), ([], []), ([[]], [[]])):
        with pytest.raises(CorpusError, match="the development data have no labelled token"):
            Tagger().fit([["a"]], [["A"]], X_dev=X_dev, y_dev=y_dev)
    with pytest.raises(CorpusError, match="the target y_dev is None; only with X_dev as Columns"):
        Tagger().fit([["a"]], [["A"]], X_dev=[["a"]])


def test_columns_that_still_hold_the_labels_are_recognised() -> None:
    columns = Columns.from_sentences([[("a", "A"), ("b", "B")]])
    tagger = Tagger().fit(columns)
    with pytest.raises(CorpusError, match=r"trained on 1; leave out the label column: X, y = columns.split\(\)"):
        tagger.predict(columns)
    assert tagger.predict(columns.split()[0]) == [["A", "B"]]
    two = Tagger().fit([[("a", "b")]], [["A"]])
    with pytest.raises(CorpusError, match=r"the data has 1 input column, but the templates were trained on 2$"):
        two.predict([["a"]])
    with pytest.raises(CorpusError, match="X has no tokens"):
        Tagger().fit(Columns.from_sentences([]))


@pytest.mark.parametrize("callbacks", [print, None, 3, [3], "abc"])
def test_callbacks_are_a_list_of_functions(callbacks: Any) -> None:
    with pytest.raises(TypeError, match="callbacks should be a list of functions, got"):
        Tagger().fit([["a"]], [["A"]], callbacks=callbacks)


@pytest.mark.parametrize("learner", [Perceptron, 3])
def test_a_learner_is_an_object(learner: Any) -> None:
    with pytest.raises(TypeError, match=r"learner should be a learner such as CRF\(\), its name or None, got"):
        Tagger(learner=learner).fit([["a"]], [["A"]])


def test_words_cannot_be_looked_up_in_attributes() -> None:
    with pytest.raises(CorpusError, match="tag_dictionary looks up words, the first column, but sentence 0, token 0"):
        Tagger(tag_dictionary=1).fit([[{"a": 1}]], [["A"]])


@pytest.mark.parametrize("position", [2, -3, 0.5, "a", None])
def test_wrong_questions_to_explain(position: Any) -> None:
    tagger = Tagger().fit([["a", "b"]], [["A", "B"]])
    if position is None:
        with pytest.raises(ValueError, match="top should be an integer of at least 0, got 'x'"):
            tagger.explain(["a", "b"], top="x")  # type: ignore[arg-type]
        return
    with pytest.raises(ValueError, match="position should be within the sentence of 2 tokens, got"):
        tagger.explain(["a", "b"], position)


def test_development_labels_without_sentences_are_refused() -> None:
    with pytest.raises(CorpusError, match="y_dev was given without X_dev"):
        Tagger().fit([["a"]], [["A"]], y_dev=[["A"]])


def test_wrong_sentences_to_tag_are_explained() -> None:
    tagger = Tagger(["U0:%x[0,0]", "B"]).fit([["a", "b"], ["b"]], [["N", "V"], ["V"]])
    for X, words in (
        (["abc"], "sentence 0: expected a list of tokens, got str"),
        ([["a", None]], "sentence 0, token 1: expected str"),
        ([[("a", "b")]], "the data has 2 input columns, but the templates were trained on 1"),
        ("a b", "expected a list of sequences, got str"),
        (None, "expected a list of sequences, got NoneType"),
    ):
        with pytest.raises(CorpusError, match=words):
            tagger.predict(X)
    with pytest.raises(CorpusError, match="expected a dict or a list of attributes, got str"):
        Tagger().fit([[{"a": 1}]], [["A"]]).predict([["a"]])
    with pytest.raises(CorpusError, match="sequence 0: expected an array"):
        Tagger().fit([np.ones((1, 2))], [["A"]]).predict([["a"]])


def test_a_fit_that_fails_leaves_the_tagger_as_it_was() -> None:
    tagger = Tagger().fit([["a", "b"]], [["A", "B"]])
    before = tagger.predict([["b", "a"]])
    for wrong in ([["A"]], [["A", "B"], ["A"]]):
        with pytest.raises(CorpusError):
            tagger.fit([["a", "b"]], wrong)
        assert tagger.predict([["b", "a"]]) == before
