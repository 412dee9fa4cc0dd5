"""What a tagger does where its restrictions, or those of the caller, leave a sentence no labelling."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from margent import CRF, Beam, Perceptron, Spectral, Tagger
from margent.annotation.schemes import transition_mask
from margent.errors import ConstraintError, RestrictionWarning
from margent.models.tagger.model import TaggerModel

X = [["the", "old", "bank"], ["old", "bank", "of", "rome"], ["a", "bank", "in", "rome"], ["rome", "of", "old"]] * 4
Y = [["O", "B-X", "I-X"], ["B-X", "I-X", "I-X", "I-X"], ["O", "B-X", "O", "B-Y"], ["B-Y", "I-Y", "I-Y"]] * 4
# "of" was seen with I-X and I-Y alone, neither of which can begin a sentence or follow O.
MIXED = [["the", "old", "bank"], ["of"], ["the", "of", "rome"], [], ["of", "rome"], ["a", "bank"]]
STUCK = [1, 2, 4]


def tagger_of(**options: Any) -> Tagger:
    return Tagger(["U:%x[0,0]", "B"], CRF(epochs=20), constrain=True, tag_dictionary=2, **options).fit(X, Y)


def without_dictionary(tagger: Tagger) -> Tagger:
    free = copy.deepcopy(tagger)
    model: TaggerModel = free.model_
    free.model_ = replace(model, space=replace(model.space, dictionary=None))
    return free


def admitted(labels: list[str]) -> bool:
    names = sorted({label for row in Y for label in row})
    mask, ids = transition_mask(names, "iob2"), {name: i for i, name in enumerate(names)}
    path = [len(names), *(ids[label] for label in labels), len(names)]
    return all(mask[a, b] for a, b in pairwise(path))


def same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("predict", {}),
    ("predict_k_best", {"k": 4}),
    ("predict_marginals", {}),
    ("predict_spans", {}),
    ("sample", {"n": 3}),
]


@pytest.mark.parametrize(("ask", "options"), QUESTIONS, ids=[ask for ask, _ in QUESTIONS])
@pytest.mark.parametrize("search", ["viterbi", "posterior", Beam(16)], ids=str)
def test_the_tag_dictionary_goes_first_and_only_where_it_leaves_nothing(ask: str, options: Any, search: Any) -> None:
    tagger = tagger_of(search=search).calibrate(X, Y)  # which a beam needs
    free = without_dictionary(tagger)
    with pytest.warns(RestrictionWarning, match=r"the tag dictionary for 3 sentences \(the first: 1\)"):
        found = getattr(tagger, ask)(MIXED, **options)
    for numbers, alone in ((STUCK, free), (sorted({*range(len(MIXED))} - {*STUCK}), tagger)):
        if ask == "sample":  # drawn by the place among those that are searched together
            assert all(admitted(labels) for number in numbers for labels in found[number])
            continue
        wanted = getattr(alone, ask)([MIXED[number] for number in numbers], **options)
        for number, answer in zip(numbers, wanted):
            assert same(found[number], answer)
    with warnings.catch_warnings():  # it is said once
        warnings.simplefilter("error")
        getattr(tagger, ask)(MIXED, **options)


def test_then_the_pairs_go() -> None:
    tagger = tagger_of()
    everything = [(None, str(label)) for label in tagger.classes_]
    tagger.constrain = everything  # nothing can begin a sentence
    with pytest.warns(RestrictionWarning, match="the tag dictionary and constrain for 5 sentences"):
        found = tagger.predict(MIXED)
    free = without_dictionary(tagger)
    free.constrain = False
    assert found == free.predict(MIXED) and found[3] == []


def test_training_with_development_data_counts_the_sentences() -> None:
    learner = Perceptron(epochs=3)
    tagger = Tagger(["U:%x[0,0]", "B"], learner, constrain=True, tag_dictionary=2)
    right = [["O", "B-X", "I-X"], ["B-X"], ["O", "B-X", "B-Y"], [], ["B-X", "B-Y"], ["O", "B-X"]]
    tagger.fit(X, Y, X_dev=MIXED, y_dev=right)
    assert [epoch["dev_lifted"] for epoch in tagger.history_] == [3, 3, 3]
    with pytest.warns(RestrictionWarning):
        assert tagger.score(MIXED, right) == tagger.history_[(tagger.best_epoch_ or 0) - 1]["dev_score"]
    tagger.fit(X, Y, X_dev=X, y_dev=Y)
    assert all(epoch["dev_lifted"] is None for epoch in tagger.history_)


@pytest.mark.parametrize("learner", [CRF(epochs=10), Spectral(order=2)], ids=["chain", "k-grams"])
@pytest.mark.parametrize("ask", ["predict", "predict_k_best", "predict_marginals", "predict_spans"])
def test_constraints_fail_for_their_sentence_alone(ask: str, learner: Any) -> None:
    features = None if isinstance(learner, Spectral) else ["U:%x[0,0]", "B"]
    tagger = Tagger(features, learner, constrain=True).fit(X, Y).calibrate(X, Y)
    sentences = [["the", "old"]] * 5
    constraints = [None, {0: "I-X"}, {1: "B-X"}, {7: "O"}, {0: "no such label"}]
    question = getattr(tagger, ask)
    with pytest.raises(ConstraintError, match="sentence 3: no position 7"):
        question(sentences, constraints=constraints)
    with pytest.raises(ConstraintError, match="sentence 1: the constraints leave no labelling"):
        question(sentences[:3], constraints=constraints[:3])
    found = question(sentences, constraints=constraints, on_error="none")
    assert [answer is None for answer in found] == [False, True, False, True, True]
    alone = question([sentences[0], sentences[2]], constraints=[None, constraints[2]])
    for number, answer in ((0, alone[0]), (2, alone[1])):
        assert same(found[number], answer)
    with pytest.raises(ValueError, match=r"on_error should be one of raise, none, got 'skip'"):
        question(sentences, on_error="skip")
    with pytest.raises(ConstraintError, match="found constraints for 1 sentences"):  # not of one sentence
        question(sentences, constraints=[None], on_error="none")


def test_a_constraint_holds_where_the_tag_dictionary_goes() -> None:
    tagger = tagger_of()
    with pytest.warns(RestrictionWarning, match="the tag dictionary for 1 sentence"):
        found = tagger.predict([["the", "of", "rome"], ["a", "bank"]], [{2: "I-Y"}, None])
    assert found[0][2] == "I-Y" and admitted(found[0])


def test_a_beam_that_misses_what_the_constraints_leave_is_not_the_last_word() -> None:
    tagger = Tagger(["U:%x[0,0]"], CRF(epochs=20), constrain=True, search=Beam(1)).fit(X, Y)
    exact = copy.deepcopy(tagger)
    exact.search = "viterbi"
    sentence, given = ["the", "old", "bank"], {1: ["I-X", "I-Y"], 2: ["I-Y"]}
    (wanted,) = exact.predict([sentence], [given])
    assert tagger.predict([sentence], [given]) == [wanted] and admitted(wanted)
