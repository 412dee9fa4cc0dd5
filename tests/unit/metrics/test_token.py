from __future__ import annotations

import warnings
from itertools import chain

import numpy as np
import pytest
import sklearn.metrics
import sklearn_crfsuite.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.metrics import accuracy, confusion_matrix, sentence_accuracy, token_scores

LABELS = ["O", "B-X", "I-X", "B-Y"]
corpora = st.lists(
    st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=6),
    min_size=1,
    max_size=6,
).map(lambda rows: ([[a for a, _ in row] for row in rows], [[b for _, b in row] for row in rows]))


@settings(deadline=None, max_examples=100)
@given(corpora)
def test_same_as_scikit_learn(case: tuple[list[list[str]], list[list[str]]]) -> None:
    gold, predicted = case
    flat_gold, flat_predicted = list(chain(*gold)), list(chain(*predicted))
    report = token_scores(gold, predicted)
    assert report.accuracy == pytest.approx(sklearn_crfsuite.metrics.flat_accuracy_score(gold, predicted))
    assert report.sentence_accuracy == pytest.approx(np.mean([g == p for g, p in zip(gold, predicted)]))
    assert (accuracy(gold, predicted), sentence_accuracy(gold, predicted)) == (
        report.accuracy,
        report.sentence_accuracy,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [row.label for row in report.rows]
        assert names == sorted({*flat_gold, *flat_predicted})

        def theirs(labels: list[str], average: str | None) -> tuple[np.ndarray, ...]:
            return sklearn.metrics.precision_recall_fscore_support(
                flat_gold, flat_predicted, labels=labels, average=average, zero_division=0
            )

        ours = [(row.precision, row.recall, row.f1, row.gold) for row in report.rows]
        np.testing.assert_allclose(np.array(ours).T, theirs(names, None), atol=1e-12)
        for average, kind in zip(report.averages, ("macro", "weighted")):
            np.testing.assert_allclose(average[1:4], theirs(names, kind)[:3], atol=1e-12)
        if inside := [name for name in names if name != "O"]:
            found = (report.inside.precision, report.inside.recall, report.inside.f1)
            np.testing.assert_allclose(found, theirs(inside, "micro")[:3], atol=1e-12)
        theirs_counts = sklearn.metrics.confusion_matrix(flat_gold, flat_predicted, labels=names)
    matrix = confusion_matrix(gold, predicted)
    assert list(matrix.labels) == names
    np.testing.assert_array_equal(matrix.counts, theirs_counts)


def test_tokens_in_chunks_are_counted_apart_from_spans() -> None:
    report = token_scores([["B-X", "I-X", "O", "O"]], [["B-X", "O", "B-X", "O"]])
    assert report.inside[1:] == (1, 2, 2)
    assert report.inside.f1 == 0.5
    assert token_scores([["_", "X"]], [["_", "X"]], outside="_").inside[1:] == (1, 1, 1)


def test_confusion_matrix_in_a_given_order() -> None:
    matrix = confusion_matrix([["b", "a", "a"]], [["a", "a", "b"]], labels=["b", "a", "c"])
    assert matrix.counts.tolist() == [[0, 1, 0], [1, 1, 0], [0, 0, 0]]
    with pytest.raises(CorpusError, match="the label 'b' is in the data, but not among the 1 labels given"):
        confusion_matrix([["b"]], [["a"]], labels=["a"])


def test_most_confused() -> None:
    gold, predicted = [["a"] * 6 + ["b"] * 4], [["a", "b", "b", "b", "c", "c", "a", "b", "b", "b"]]
    assert confusion_matrix(gold, predicted).most_confused(2) == [("a", "b", 3), ("a", "c", 2)]
    assert confusion_matrix([["a"]], [["a"]]).most_confused() == []
    assert confusion_matrix([], []).most_confused() == []


def test_empty_and_unequal() -> None:
    report = token_scores([], [])
    assert (report.accuracy, report.sentence_accuracy, report.rows, report.inside.f1) == (0, 0, (), 0)
    assert token_scores([[]], [[]]).sentence_accuracy == 1
    for metric in (accuracy, sentence_accuracy, token_scores, confusion_matrix):
        with pytest.raises(CorpusError, match="sentence 0 has 1 gold labels, but 2 predicted ones"):
            metric([["a"]], [["a", "a"]])
