"""The entailment classifier as users see it: inputs, answers, pictures, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import margent
from margent import AlignmentFeatures, BinaryTree, EntailmentClassifier, PhraseTree
from margent.datasets import make_entailment
from margent.errors import CalibrationWarning, CorpusError
from margent.models.entailment.data import PairData, words_of_text

X, Y, _ = make_entailment(400, seed=5)
X_TEST, Y_TEST, _ = make_entailment(100, seed=6)
PLAIN = [tuple(" ".join(tree.words) for tree in pair) for pair in X_TEST]


@pytest.fixture(scope="module")
def model() -> EntailmentClassifier:
    return EntailmentClassifier().fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST, progress=False)


def test_sentences_come_in_many_forms(model):
    assert model.predict(PLAIN) == model.predict([[list(tree.words) for tree in pair] for pair in X_TEST])
    assert model.predict(PLAIN) == model.predict(X_TEST)  # words are aligned, whatever the trees
    phrases = PhraseTree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VBZ is) (VP (VBG lying))))")
    assert len(model.predict([(phrases, "the cat")])) == 1
    assert words_of_text("Two men can't see Ann's e-mail...") == [
        *("Two", "men", "ca", "n't", "see", "Ann", "'s", "e-mail", ".", ".", ".")
    ]


def test_answers_agree_with_each_other(model):
    assert model.score(X_TEST, Y_TEST) == np.mean([a == b for a, b in zip(model.predict(X_TEST), Y_TEST)]) > 0.8
    shares = model.predict_proba(X_TEST)
    best = [model.classes_[i] for i in shares.argmax(axis=1)]
    assert best == model.predict(X_TEST) and shares.sum(axis=1) == pytest.approx(1)
    for readings, row in zip(model.predict_k_best(X_TEST, 2), shares):
        assert len(readings) == 2 and readings[0].score >= readings[1].score
        assert readings[0].label == model.classes_[row.argmax()]
    found = model.predict_marginals(X_TEST[:1])[0]
    assert found.probabilities == pytest.approx(dict(zip(model.classes_, shares[0])))
    assert str(model.evaluate(X_TEST, Y_TEST)).count("contradiction") == 1
    assert model.reliability(X_TEST, Y_TEST)["labels"].counts.sum() == len(X_TEST)
    assert model.top_features("neutral", 3)[0][1] > 0


def test_an_explanation_can_be_read_and_drawn(model):
    why = model.explain(("the red cat is sleeping", "the cat is resting"))
    text = str(why)
    assert "the red cat is sleeping  =>  the cat is resting" in text and "cat -- cat" in text
    assert why.label in text and why.runner_up in text and why.margin > 0
    assert sum(part.weight for part in why.contributions) == pytest.approx(why.margin, abs=1e-3)
    assert why.alignment_svg().count("<rect") == 4 * 6
    picture = why.composition_svg()
    assert picture.startswith("<svg ") and "stroke-dasharray" in picture and "contradiction" in picture


def test_composition_gives_every_phrase_a_relation():
    composed = EntailmentClassifier(AlignmentFeatures(compose=True), "perceptron").fit(X, Y, progress=False)
    assert composed.score(X_TEST, Y_TEST) > 0.6
    with pytest.warns(CalibrationWarning):
        found = composed.predict_marginals(X_TEST[:1])[0]
    assert found.relations.shape == (X_TEST[0].hypothesis.n_nodes, 3)


def test_latent_crf_sums_over_alignments():
    crf = EntailmentClassifier(learner=margent.CRF("sgd", epochs=4)).fit(X, Y, progress=False)
    assert crf.calibrated_ and crf.weights_.summed and crf.score(X_TEST, Y_TEST) > 0.8


def test_training_goes_on_with_another_learner():
    model = EntailmentClassifier(learner="perceptron").fit(X[:200], Y[:200], progress=False)
    model.set_params(learner=margent.CRF("sgd", epochs=2)).partial_fit(X[200:], Y[200:], progress=False)
    assert model.weights_.summed and model.calibrated_ and model.score(X_TEST, Y_TEST) > 0.7


def test_the_history_says_what_had_no_tree():
    trained = EntailmentClassifier(learner="perceptron").fit(PLAIN, Y_TEST, progress=False)
    assert trained.history_[0]["right_branching"] == 2 * len(PLAIN)
    trained.partial_fit(X_TEST, Y_TEST, progress=False)
    assert "right_branching" not in trained.history_[-1]


def test_labels_that_are_missing_do_not_count():
    labels = [None if i % 3 == 0 else label for i, label in enumerate(Y)]
    trained = EntailmentClassifier(learner="perceptron").fit(X, labels, progress=False)
    kept = EntailmentClassifier(learner="perceptron").fit(
        [x for i, x in enumerate(X) if i % 3], [y for i, y in enumerate(Y) if i % 3], progress=False
    )
    assert trained.predict(X_TEST) == kept.predict(X_TEST)
    assert 0 < trained.score(X[:9], labels[:9]) <= 1


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ("abc", ["a"], "expected a list of pairs"),
        (["ab"], ["a"], r"pair 0 of X is 'ab'; expected \(premise, hypothesis\)"),
        ([("a", "b", "c")], ["a"], "pair 0 of X is"),
        ([("a", "")], ["a"], "the hypothesis of pair 0 of X has no words; expected at least one"),
        ([([], "b")], ["a"], "the premise of pair 0 of X has no words"),
        ([(["a b"], "b")], ["a"], "the premise of pair 0 of X holds 'a b'; expected words"),
        ([(3, "b")], ["a"], "the premise of pair 0 of X is 3; expected a text"),
        ([("a " * 501, "b")], ["a"], "has 501 words; expected at most 500"),
        ([("a", "b")], ["a", "b"], "y has 2 labels; expected 1"),
        ([("a", "b")], [3], "label 0 of y is 3; expected text"),
        ([("a", "b")], "a", "y: expected a list of labels"),
        ([("a", "b")], [None], "there is nothing to learn from"),
        ([("a", "b")], None, "labels are missing"),
        (np.zeros((2, 2)), ["a", "b"], "got an array of numbers"),
    ],
)
def test_wrong_data_are_refused(X, y, message):
    with pytest.raises(CorpusError, match=message):
        EntailmentClassifier().fit(X, y)


def test_wrong_parameters_are_refused(model):
    with pytest.raises(TypeError, match=r"features of EntailmentClassifier should be AlignmentFeatures"):
        EntailmentClassifier(features=3).fit(X[:4], Y[:4])
    with pytest.raises(ValueError, match="dev_metric should be one of accuracy, f1"):
        EntailmentClassifier().fit(X[:4], Y[:4], dev_metric="bleu")
    with pytest.raises(CorpusError, match="at most 8 labels"):
        EntailmentClassifier(AlignmentFeatures(compose=True)).fit(X[:9], [str(i) for i in range(9)])
    with pytest.raises(CorpusError, match="label 'maybe' is not known to the model"):
        model.top_features("maybe")
    assert EntailmentClassifier().fit(X[:20], Y[:20], X_dev=X[:5], y_dev=Y[:5], dev_metric="f1").history_


def test_data_know_their_parts():
    data = PairData.of([("a b c", "d"), (BinaryTree(["a"], []), "b c d")], ["x", None], [1, 2])
    assert data.n_without_tree == 2 and data.counting().tolist() == [0]
    assert data.part([1]).hypotheses[0].brackets() == "( b ( c d ) )" and data.part([1]).counts.tolist() == [2]
