"""The parser of phrases as people use it, on trees of a small grammar."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import margent
from margent import (
    CRF,
    MIRA,
    PCFG,
    Markovisation,
    PassiveAggressive,
    Perceptron,
    PhraseParser,
    PhraseTree,
    SpanFeatures,
)
from margent.annotation.schemes import Span
from margent.datasets import make_phrases
from margent.errors import CalibrationWarning, CapabilityError, ConstraintError, CorpusError
from margent.metrics import bracketing_scores

X, Y = make_phrases(60, seed=0)
X_TEST, Y_TEST = make_phrases(40, seed=1)
FEW = SpanFeatures(
    ("first.word", "last.word", "first.upos last.upos", "before.word first.word", "right.word", "left.upos right.word")
)


def words(sentences):
    return [[word for word, _ in sentence] for sentence in sentences]


@pytest.fixture(scope="module")
def parser():
    return PhraseParser(FEW, CRF(epochs=15)).fit(X, Y)


@pytest.fixture(scope="module")
def grammar():
    return PhraseParser(learner="pcfg", grammar=Markovisation(0, 1)).fit(X, Y)


@pytest.mark.parametrize(
    "learner", [Perceptron(epochs=4), PassiveAggressive(epochs=4), MIRA(epochs=3), CRF(epochs=15), CRF("sgd", epochs=5)]
)
def test_learners_find_what_the_grammar_cannot(learner, grammar):
    found = PhraseParser(FEW, learner, grammar=Markovisation(0, 1)).fit(X, Y)
    assert grammar.score(X_TEST, Y_TEST) < 0.97 < found.score(X_TEST, Y_TEST)
    assert found.score(words(X_TEST), Y_TEST) > 0.97


def test_a_grammar_with_more_context_is_a_better_one(grammar):
    assert PhraseParser(learner=PCFG(), grammar=Markovisation(1, 2)).fit(X, Y).score(X_TEST, Y_TEST) > grammar.score(
        X_TEST, Y_TEST
    )


def test_every_sentence_gets_a_tree(parser, grammar):
    strange = [["."], ["of"] * 6, [], ["Qwerty", "uiop"], [("Ann", "NEVER"), ("saw", "VBD")], ["with", ".", "."] * 4]
    for model in (parser, grammar):
        found = model.predict(strange)
        plain = [[token if isinstance(token, str) else token[0] for token in sentence] for sentence in strange]
        assert [list(tree.words) for tree in found] == plain
        assert found[4].tags == ("NEVER", "VBD")


def test_given_tags_are_kept_and_others_found(parser):
    assert all(tree.tags == gold.tags for tree, gold in zip(parser.predict(X_TEST), Y_TEST))
    report = parser.evaluate(words(X_TEST), Y_TEST)
    assert report.tag_accuracy > 0.99 and report.f1 == pytest.approx(parser.score(words(X_TEST), Y_TEST))


def test_the_k_best_are_different_and_the_first_is_the_best(parser, grammar):
    for model in (parser, grammar):
        for readings, best in zip(model.predict_k_best(X_TEST[:10], 4), model.predict(X_TEST[:10])):
            scores = [reading.score for reading in readings]
            assert readings[0].tree == best and scores == sorted(scores, reverse=True)
    assert parser.predict_k_best([[]], 3)[0][0].tree == PhraseTree([], [])


def test_probabilities_of_phrases_are_those_of_the_listed_trees():
    parser = PhraseParser(FEW, CRF(epochs=5), pruning=6.0).fit(X, Y)
    x = min(X_TEST, key=len)
    (readings,) = parser.predict_k_best([x], 5000)
    scores = np.array([reading.score for reading in readings])
    shares = np.exp(scores - np.logaddexp.reduce(scores))
    expected: dict[Span, float] = {}
    for share, reading in zip(shares, readings):
        for span in set(reading.tree.phrases):
            expected[span] = expected.get(span, 0.0) + share
    (answer,) = parser.predict_marginals([x])
    assert answer.tree == readings[0].tree
    assert answer.spans.keys() == expected.keys()
    for span, p in expected.items():
        assert answer.spans[span] == pytest.approx(p, abs=1e-6)
    assert [phrase[:3] for phrase in answer.phrases] == [tuple(span) for span in answer.tree.phrases]
    assert all(phrase.confidence == pytest.approx(expected[Span(*phrase[:3])], abs=1e-6) for phrase in answer.phrases)


def test_explanations_sum_up_to_the_score(parser, grammar):
    for model in (parser, grammar):
        (first, *others) = model.predict_k_best([X_TEST[0]], 2)[0]
        explanation = model.explain(X_TEST[0])
        assert explanation.tree == first.tree and explanation.score == pytest.approx(first.score)
        assert sum(reason.score for reason in explanation.reasons) == pytest.approx(first.score)
        if others:
            assert explanation.margin == pytest.approx(first.score - others[0].score)
        if model is parser:
            for reason in explanation.reasons:
                assert sum(weight for _, weight in reason.features) == pytest.approx(reason.score)
        assert explanation.tree.brackets() in str(explanation)
    assert parser.explain([]).reasons == []


def test_development_data_choose_the_epoch_and_the_temperature():
    parser = PhraseParser(FEW, Perceptron(epochs=4, patience=2)).fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST)
    assert all(0 < epoch["dev_score"] <= 1 for epoch in parser.history_)
    assert parser.score(X_TEST, Y_TEST) == pytest.approx(max(epoch["dev_score"] for epoch in parser.history_))
    assert parser.calibrated_ and parser.temperature_ != 1
    exact = PhraseParser(FEW, Perceptron(epochs=1)).fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST, dev_metric="exact")
    assert exact.history_[0]["dev_score"] == exact.evaluate(X_TEST, Y_TEST).exact_share
    mine = PhraseParser(FEW, Perceptron(epochs=1)).fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST, dev_metric=lambda *_: 0.5)
    assert mine.history_[0]["dev_score"] == 0.5


def test_probabilities_are_calibrated_by_held_out_sentences(grammar):
    with pytest.warns(CalibrationWarning):
        margent.PhraseParser(learner="pcfg").fit(X, Y).predict_marginals(X_TEST[:1])
    held = PhraseParser(FEW, Perceptron(epochs=2), calibration=0.2).fit(X, Y)
    assert held.calibrated_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held.predict_marginals(X_TEST[:1])
        curve = held.reliability(X_TEST, Y_TEST)["phrases"]
    assert curve.expected_error < 0.1
    loose = PhraseParser(learner="pcfg", grammar=Markovisation(0, 1)).fit(X, Y).calibrate(X_TEST, Y_TEST)
    assert loose.calibrated_


def test_partial_fit_learns_new_labels_words_and_rules():
    parser = PhraseParser(FEW, Perceptron(epochs=3), grammar=Markovisation(0, 1)).fit(X[:20], Y[:20])
    before = parser.predict(X_TEST)
    new = PhraseTree.from_brackets("(FRAG (INTJ (UH oh)) (NP (NNP Ann)) (. .))")
    more = [list(zip(new.words, new.tags))] * 3
    parser.partial_fit(more, [new] * 3)
    assert parser.predict([words(more)[0]])[0] == new
    assert "INTJ" in parser.classes_ and "UH" in parser.tags_
    after = bracketing_scores(before, parser.predict(X_TEST)).f1
    assert after > 0.8  # what was learned before is still there
    frozen = PhraseParser(FEW, Perceptron(epochs=1)).fit(X[:5], Y[:5])
    n = len(frozen.weights_.keys)
    frozen.partial_fit(X[5:9], Y[5:9], freeze_features=True)
    assert len(frozen.weights_.keys) == n
    counted = PhraseParser(learner="pcfg").fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert counted.score(X_TEST, Y_TEST) == PhraseParser(learner="pcfg").fit(X, Y).score(X_TEST, Y_TEST)


def test_weights_of_sentences_are_as_if_they_came_several_times():
    weights = np.array([2.0, 0.0] * 30)
    weighted = PhraseParser(FEW, CRF(epochs=8)).fit(X, Y, sample_weight=weights)
    listed = PhraseParser(FEW, CRF(epochs=8)).fit([x for x in X[::2] for _ in "12"], [y for y in Y[::2] for _ in "12"])
    a, b = (np.array([r[0].score for r in model.predict_k_best(X_TEST, 1)]) for model in (weighted, listed))
    assert a == pytest.approx(b, rel=1e-3, abs=1e-3)
    half = np.array([1.0, 0.0] * 20)
    assert weighted.score(X_TEST, Y_TEST, half) == pytest.approx(weighted.score(X_TEST[::2], Y_TEST[::2]))


def test_threads_and_repetition_change_nothing():
    models = [PhraseParser(FEW, CRF(epochs=4), threads=threads).fit(X[:30], Y[:30]) for threads in (1, 2, 2)]
    values = [model.weights_.values for model in models]
    assert np.array_equal(values[0], values[1]) and np.array_equal(values[1], values[2])
    a, b = (model.predict_k_best(X_TEST, 3) for model in models[:2])
    assert a == b


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((X, None), CorpusError, "trees are missing"),
        ((X[:2], Y[:1]), CorpusError, "y has 1 trees; expected 2"),
        ((X[:1], [Y[0].brackets()]), CorpusError, "tree 0 of y is a str; expected a PhraseTree"),
        (([X[0][:-1]], [Y[0]]), CorpusError, "tree 0 has .* words; expected"),
        ((["a b"], [Y[0]]), CorpusError, "sentence 0 of X is 'a b', but a list"),
        (([["a b"]], [Y[0]]), CorpusError, "sentence 0 of X, token 0 is 'a b'; expected a word"),
        (([[("a", "b", "c")]], [Y[0]]), CorpusError, "sentence 0 of X, token 0"),
        (([[]], [PhraseTree([], [])]), CorpusError, "there is nothing to learn from"),
    ],
)
def test_wrong_data_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        PhraseParser().fit(*given)


def test_wrong_parameters_are_refused():
    with pytest.raises(TypeError, match="grammar of PhraseParser should be Markovisation"):
        PhraseParser(grammar=2).fit(X, Y)
    with pytest.raises(ValueError, match="pruning of PhraseParser should be a number of at least 0"):
        PhraseParser(pruning=-1).fit(X, Y)
    with pytest.raises(CapabilityError, match="HiddenMarkov counts labels"):
        PhraseParser(learner="hmm").fit(X, Y)
    with pytest.raises(CorpusError, match=r"'first\.color' names no atom"):
        SpanFeatures(("first.color",))
    with pytest.raises(ValueError, match=r"the model has been learned with PCFG\(\) and cannot continue with Perc"):
        PhraseParser(learner="pcfg").fit(X, Y).set_params(learner=Perceptron()).partial_fit(X, Y)
    with pytest.raises(ValueError, match="dev_metric should be one of f1, exact"):
        PhraseParser().fit(X, Y, X_dev=X, y_dev=Y, dev_metric="las")


def test_a_sentence_that_is_too_long_fails_alone(parser, monkeypatch):
    monkeypatch.setattr(type(parser.model_), "longest", 6)
    X = [X_TEST[0][:2], [*X_TEST[0], *X_TEST[1], *X_TEST[2]], X_TEST[0][:3]]
    for ask in (parser.predict, parser.predict_k_best, parser.predict_marginals):
        with pytest.raises(ConstraintError, match=r"sentence 1 has \d+ words; expected at most 6, as a grammar of"):
            ask(X)
        answers = ask(X, on_error="none")
        assert [answer is None for answer in answers] == [False, True, False]
        assert answers[2] == ask(X[2:])[0]
    for refuse in (lambda: parser.score(X_TEST, Y_TEST), lambda: parser.explain(X[1])):
        with pytest.raises(ConstraintError, match="expected at most 6"):
            refuse()


def test_memory_of_a_chart_is_bounded_before_it_is_made(parser):
    longest = parser.model_.longest
    assert 16 * longest**2 * len(parser.grammar_.symbols) <= 1 << 31 and longest > 500
    words = ["a"] * 20_000
    with pytest.raises(ConstraintError, match="sentence 0 has 20000 words"):
        parser.predict([words])
    tree = PhraseTree(words, ["DT"] * len(words), [(0, len(words), "S")])
    for data in (([*X, words], [*Y, tree]), (X, Y, [*X_TEST, words], [*Y_TEST, tree])):
        with pytest.raises(CorpusError, match=r"sentence \d+ of X(_dev)? has 20000 words; expected at most"):
            PhraseParser(FEW).fit(*data[:2], **dict(zip(("X_dev", "y_dev"), data[2:])))
    with pytest.raises(ValueError, match="k should be an integer of at most"):
        parser.predict_k_best(X_TEST, 10**12)
