"""The semantic parser as people use it, on questions about an invented company."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import margent
from margent import (
    CRF,
    MIRA,
    Beam,
    Domain,
    LexiconOptions,
    PassiveAggressive,
    Perceptron,
    SemanticParser,
    parse_meaning,
)
from margent.datasets import make_questions
from margent.errors import CalibrationWarning, CapabilityError, CorpusError, MeaningError, TrainingWarning
from margent.meaning import meaning_key, normal_form, parse_type
from margent.metrics import meaning_scores

X, Y, DOMAIN, FACTS = make_questions(60, seed=0)
X_TEST, Y_TEST, _, _ = make_questions(25, seed=1)
FEW = [
    *("action.kind", "s0.type action.kind", "q0.lower action.piece", "s0.name s1.name action.kind"),
    *("q0.lower action.kind", "p1.lower action.kind action.type", "s0.type s1.type action.kind"),
]
SMALL = {"features": FEW, "search": Beam(8), "threads": 1}


@pytest.fixture(scope="module")
def parser():
    return SemanticParser(DOMAIN, learner=Perceptron(epochs=3), **SMALL).fit(X, Y)


@pytest.fixture(scope="module")
def calibrated(parser):
    return copy.copy(parser).calibrate(X_TEST, Y_TEST)


def test_training_questions_are_understood(parser):
    assert parser.coverage_ > 0.95 and parser.score(X, Y) > 0.6
    assert all(meaning is None or meaning == normal_form(meaning) for meaning in parser.predict(X_TEST))


def test_what_is_right_at_a_step_may_be_the_best_prefix_of_any_derivation(parser):
    search = Beam(8, reference="prefix")
    other = SemanticParser(DOMAIN, learner=Perceptron(epochs=3), **{**SMALL, "search": search}).fit(X, Y)
    assert other.score(X, Y) > 0.6
    learned = [each.model_.stored()[1]["rows.weights"].tolist() for each in (parser, other)]
    assert learned[0] != learned[1]
    with pytest.raises(ValueError, match="reference"):
        Beam(8, reference="path")


def test_a_question_is_text_or_words_and_a_meaning_text_or_an_expression():
    words = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), **SMALL).fit(X[:20], Y[:20])
    text = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), **SMALL).fit(
        [" ".join(question) for question in X[:20]], [str(meaning) for meaning in Y[:20]]
    )
    assert text.predict([" ".join(question) for question in X]) == words.predict(X)


@pytest.mark.parametrize(
    "learner", [MIRA(epochs=2), CRF(search="beam", method="sgd", epochs=2), PassiveAggressive(epochs=2)]
)
def test_other_learners_learn_too(learner):
    found = SemanticParser(DOMAIN, learner=learner, **SMALL).fit(X[:30], Y[:30])
    assert found.score(X[:30], Y[:30]) > 0.3
    assert found.model_.learner == learner and len(found.history_) == 2


def test_a_learner_that_cannot_is_refused():
    with pytest.raises(CapabilityError, match="derivations of meanings"):
        SemanticParser(learner=CRF()).fit(X[:3], Y[:3])


def test_the_same_for_any_number_of_threads(parser):
    other = SemanticParser(DOMAIN, learner=Perceptron(epochs=3), **SMALL | {"threads": 3}).fit(X, Y)
    assert other.predict_k_best(X_TEST) == parser.predict_k_best(X_TEST)


def test_without_a_domain_the_meanings_say_what_there_is():
    found = SemanticParser(learner=Perceptron(epochs=2), **SMALL).fit(X[:30], Y[:30])
    assert found.domain_ == Domain.from_meanings(Y[:30]) and found.coverage_ >= 0.85
    assert found.score(X[:30], Y[:30]) > 0.3


def test_simple_types_are_the_topmost(parser):
    simple = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), types="simple", **SMALL).fit(X[:20], Y[:20])
    names = {name for type_ in simple.model_.grammar.types for name in type_.names()}
    assert names <= {"e", "i", "t"} and simple.domain_ == DOMAIN
    assert {"person", "city"} <= {name for type_ in parser.model_.grammar.types for name in type_.names()}


def test_what_cannot_be_understood_is_none(parser):
    assert parser.predict(["qwerty uiop", []]) == [None, None]
    assert parser.predict_k_best(["qwerty uiop"]) == [[]]
    explanation = parser.explain("qwerty uiop")
    assert explanation.meaning is None and explanation.unknown == ("qwerty", "uiop")
    assert "cannot be understood" in str(explanation)


def test_the_k_best_are_different_meanings_best_first(parser):
    for readings, best in zip(parser.predict_k_best(X_TEST, 6), parser.predict(X_TEST)):
        keys = [meaning_key(reading.meaning) for reading in readings]
        scores = [reading.score for reading in readings]
        assert len(set(keys)) == len(keys) <= 6 and scores == sorted(scores, reverse=True)
        assert best is None if not readings else readings[0].meaning == best
        assert all(reading.confidence is None for reading in readings)


def test_confidences_are_shares_of_what_the_beam_found(calibrated):
    for readings in calibrated.predict_k_best(X_TEST, 100):
        if not readings:
            continue
        scores = np.array([reading.score for reading in readings]) / calibrated.temperature_
        expected = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
        assert [reading.confidence for reading in readings] == pytest.approx(expected)
        assert sum(reading.confidence for reading in readings) == pytest.approx(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = calibrated.reliability(X_TEST, Y_TEST)["meanings"]
    understood = sum(meaning is not None for meaning in calibrated.predict(X_TEST))
    assert curve.counts.sum() == understood


def test_confidences_of_an_uncalibrated_model_are_warned_of(parser):
    with pytest.warns(CalibrationWarning, match="not calibrated"):
        copy.deepcopy(parser).reliability(X_TEST, Y_TEST)


def test_a_share_of_the_training_data_calibrates():
    found = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), calibration=0.3, **SMALL).fit(X[:40], Y[:40])
    assert found.calibrated_ and found.temperature_ > 0


def test_answers_are_of_the_type_that_is_asked_for(parser):
    hierarchy = DOMAIN.hierarchy
    for asked in ("person", "project", "i"):
        found = parser.predict(X_TEST, answer_type=asked)
        assert any(meaning is not None for meaning in found)
        for question, meaning in zip(X_TEST, found):
            explanation = parser.explain(question, answer_type=asked)
            assert explanation.meaning == meaning
            if meaning is None:
                continue
            type_ = parse_type(explanation.type)
            members = type_.argument if type_.arguments else type_
            assert hierarchy.is_subtype(members, parse_type(asked)), (meaning, type_)
    with pytest.raises(MeaningError, match="answer_type: the type planet"):
        parser.predict(X_TEST, answer_type="planet")
    with pytest.raises(TypeError, match="answer_type should be a type"):
        parser.predict(X_TEST, answer_type=3)


def test_explanations_sum_up_to_the_score(parser):
    n_explained = 0
    for question in X_TEST[:8]:
        readings = parser.predict_k_best([question], 2)[0]
        explanation = parser.explain(question)
        if not readings:
            assert explanation.meaning is None
            continue
        n_explained += 1
        assert explanation.meaning == readings[0].meaning and explanation.score == readings[0].score
        assert sum(step.score for step in explanation.steps) == pytest.approx(explanation.score, rel=1e-4, abs=1e-2)
        assert explanation.steps[-1].action == "finish"
        assert normal_form(explanation.steps[-1].meaning) == explanation.meaning
        assert explanation.type == explanation.steps[-1].type
        read = [word for step in explanation.steps for word in step.words]
        assert [word for word in read if word != "(end)"] == question
        if len(readings) > 1:
            assert explanation.runner_up == readings[1].meaning
            assert explanation.margin == pytest.approx(readings[0].score - readings[1].score)
        text = explanation.text(top=2)
        assert str(explanation.meaning) in text and "shift" in text
    assert n_explained >= 4


def test_development_data_choose_the_epoch(parser):
    found = SemanticParser(DOMAIN, learner=Perceptron(epochs=3), **SMALL).fit(X, Y, X_dev=X_TEST, y_dev=Y_TEST)
    scores = [epoch["dev_score"] for epoch in found.history_]
    assert found.best_epoch_ == scores.index(max(scores)) + 1
    assert found.score(X_TEST, Y_TEST) == pytest.approx(max(scores)) and found.calibrated_
    for metric in ("precision", "recall", lambda right, predicted: meaning_scores(right, predicted).recall):
        one = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), **SMALL).fit(
            X[:20], Y[:20], X_dev=X_TEST, y_dev=Y_TEST, dev_metric=metric
        )
        name = metric if isinstance(metric, str) else "recall"
        assert one.history_[0]["dev_score"] == pytest.approx(getattr(one.evaluate(X_TEST, Y_TEST), name))


def test_the_score_is_f1_of_the_questions_that_are_understood(parser):
    report = parser.evaluate(X_TEST, Y_TEST)
    found = parser.predict(X_TEST)
    right = sum(a is not None and meaning_key(a) == meaning_key(b) for a, b in zip(found, Y_TEST))
    understood = sum(meaning is not None for meaning in found)
    assert parser.score(X_TEST, Y_TEST) == pytest.approx(2 * right / (understood + len(Y_TEST))) == report.f1
    assert report.coverage == understood / len(Y_TEST)
    weights = np.zeros(len(X_TEST))
    weights[:5] = 2
    assert parser.score(X_TEST, Y_TEST, weights) == pytest.approx(parser.score(X_TEST[:5], Y_TEST[:5]))


def test_training_goes_on_with_new_words_and_pieces(parser):
    before = parser.predict_k_best(X)
    found = copy.copy(parser)
    found.partial_fit(*make_questions(40, seed=2)[:2])
    assert parser.predict_k_best(X) == before  # the old value is as it was
    assert len(found.lexicon_.pieces) > len(parser.lexicon_.pieces)
    assert [str(piece.expression) for piece in found.lexicon_.pieces[: len(parser.lexicon_.pieces)]] == [
        str(piece.expression) for piece in parser.lexicon_.pieces
    ]
    types = parser.model_.grammar.types
    assert found.model_.grammar.types[: len(types)] == types
    assert found.score(X_TEST, Y_TEST) > parser.score(X_TEST, Y_TEST) - 0.1
    assert len(found.history_) == 2 * len(parser.history_)


def test_weights_mean_the_same_when_there_are_more_pieces(parser):
    """Nothing learned, but with more words and pieces: what was understood scores what it did, or more."""
    from dataclasses import replace

    from margent.models.semantic_parser.fragments import parts_of
    from margent.models.semantic_parser.grammar import MeaningGrammar
    from margent.models.semantic_parser.lexicon import Lexicon
    from margent.models.semantic_parser.stored_grammar import grown_lexicon

    more_X, more_y, _, _ = make_questions(30, seed=5)
    model = parser.model_
    new = Lexicon.learned(more_X, [parts_of(meaning) for meaning in more_y], DOMAIN, LexiconOptions())
    known = model.grammar
    grown = MeaningGrammar.of(grown_lexicon(known.lexicon, new, DOMAIN), known.types)
    assert len(grown.types) > len(known.types)
    wide, short = Beam(2000), sorted(X, key=len)[:8]  # so that none is lost
    before, after = copy.copy(parser).set_params(search=wide), copy.copy(parser).set_params(search=wide)
    after.model_ = replace(model, grammar=grown)
    n_understood = 0
    for first, second in zip(before.predict_k_best(short, 1), after.predict_k_best(short, 2000)):
        scores = {str(reading.meaning): reading.score for reading in second}
        for score, meaning, _ in first:  # another derivation may score more
            n_understood += 1
            assert scores[str(meaning)] >= score - 1e-3
    assert n_understood > 5


def test_frozen_features_add_no_piece(parser):
    found = copy.copy(parser)
    found.partial_fit(*make_questions(20, seed=2)[:2], freeze_features=True)
    assert found.model_.grammar is parser.model_.grammar
    assert found.model_.weights.atoms is parser.model_.weights.atoms


def test_a_domain_of_meanings_grows_with_them():
    found = SemanticParser(learner=Perceptron(epochs=1), **SMALL).fit(X[:20], Y[:20])
    before = found.domain_
    found.partial_fit(["who likes rome"], ["(lambda $0 e (likes $0 rome))"])
    assert "likes" not in before.types and "likes" in found.domain_.types
    assert {name: before.types[name] for name in before.types} == {
        name: found.domain_.types[name] for name in before.types
    }
    assert found.domain_.phrases["rome",] == ("rome",)


def test_what_cannot_go_on_says_so(parser):
    other = copy.copy(parser).set_params(prior=2.0)
    with pytest.raises(ValueError, match=r"prior is 2\.0 now, but this SemanticParser was fitted with prior 1\.0"):
        other.partial_fit(X, Y)
    for change in ({"types": "simple"}, {"features": None}, {"most_expressions": 4}):
        with pytest.raises(ValueError, match="partial_fit continues as training began"):
            copy.copy(parser).set_params(**change).partial_fit(X, Y)


def test_few_derivations_are_warned_of_and_none_refused():
    odd = [parse_meaning(f"(likes mary{i} john{i})") for i in range(3)]
    with pytest.raises(CorpusError, match="no meaning of the 3 questions can be made"):
        SemanticParser(Domain.from_meanings(Y), **SMALL).fit(["a b", "c d", "e f"], odd)
    with pytest.warns(TrainingWarning, match="only 1 of 4 questions have a derivation"):
        found = SemanticParser(Domain.from_meanings(Y), **SMALL).fit(["count projects", "a b", "c d", "e f"],
                                                                     ["(count project)", *odd])  # fmt: skip
    assert found.coverage_ == 0.25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X[:2], Y[:1]), "X has 2 questions and y 1 meanings"),
        ((X[:1], None), "the meanings are missing"),
        ((X[:1], ["(a"]), "meaning 0 of y: in the meaning"),
        (("text", Y), "expected a list of questions for X"),
        (([["a", ""]], Y[:1]), "question 0 of X: expected text or a list of words"),
        (([], []), "the training data have no question"),
        ((X[:2], [None, None]), "no question has a meaning and a sample_weight above 0"),
        (([["a"] * 1001], Y[:1]), "question 0 of X has 1001 words; expected at most 1000"),
    ],
)
def test_wrong_data_are_told(arguments, message):
    with pytest.raises(CorpusError, match=message):
        SemanticParser(DOMAIN).fit(*arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"domain": 3}, "domain of SemanticParser should be a Domain, the path"),
        ({"features": 3}, "features of SemanticParser should be text"),
        ({"features": "s0.colour action.kind"}, "names no atom"),
        ({"features": "s0.type"}, "sees no action"),
        ({"search": "eisner"}, "should be a Beam"),
        ({"search": Beam(4, decode="sum")}, "should be a Beam"),
        ({"types": "none"}, "types of SemanticParser"),
        ({"lexicon": 3}, "lexicon of SemanticParser should be LexiconOptions"),
        ({"prior": -1}, "prior of SemanticParser"),
        ({"most_names": 0}, "most_names of SemanticParser"),
        ({"most_expressions": 1000}, "most_expressions of SemanticParser"),
        ({"calibration": 2}, "calibration of SemanticParser"),
    ],
)
def test_wrong_parameters_are_told(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        SemanticParser(**{"domain": DOMAIN} | parameters).fit(X[:2], Y[:2])


def test_a_domain_may_be_a_file(parser, tmp_path):
    margent.write_domain(tmp_path / "company.domain", DOMAIN)
    found = SemanticParser(tmp_path / "company.domain", learner=Perceptron(epochs=1), **SMALL).fit(X[:10], Y[:10])
    assert found.domain_ == DOMAIN


def test_a_word_of_any_length_is_a_word():
    """Memory does not grow with the square of its length."""
    long = "a" * 200_000
    found = SemanticParser(DOMAIN, learner=Perceptron(epochs=1), **SMALL).fit([["count", long]], ["(count project)"])
    assert [str(meaning) for meaning in found.predict([["count", long]])] == ["(count project)"]
    assert found.predict([["b" * 200_000]]) == [None]


@pytest.mark.parametrize("model", [margent.Tagger, margent.Parser])
def test_answers_with_one_derivation_have_no_other_reference(model):
    with pytest.raises(ValueError, match="should be a Beam with reference='derivation'"):
        model(search=Beam(8, reference="prefix")).fit([["a"]], [["A"]])
