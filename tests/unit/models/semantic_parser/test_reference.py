"""What searches for meanings are compared with in training: one right derivation, or the best right states."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.models.semantic_parser.questions import MEANINGS, QUESTIONS, encoded, grammar

from margent import Perceptron, _core, train
from margent.models.semantic_parser.fragments import parts_of
from margent.models.semantic_parser.templates import compiled, parsed_templates

MOST, BEAM = 4, 6
TEMPLATES = ["action.kind", "q0.lower action.piece", "s0.type s1.type action.kind", "q0.lower action.kind"]


@pytest.fixture(scope="module")
def given():
    templates = parsed_templates(TEMPLATES)
    of = grammar()
    found, atoms = encoded(of, TEMPLATES)
    right = found.right([parts_of(meaning) for meaning in MEANINGS])
    questions = found.native(1.0)
    right.find_reach(questions, of.native_types, MOST, 5000, 1)
    assert (right.n_states() > 0).all()
    return questions, of.native_types, compiled(templates, atoms.names), right


def oracle(given, update, follows_answer, start=None, beam=BEAM):
    made = _core.QuestionOracle(*given, beam, getattr(_core.BeamUpdate, update), MOST, follows_answer=follows_answer)
    if start is not None:
        made.start_from(start, [0])
    return made


@pytest.fixture(scope="module")
def weights(given):
    """After some learning, so that right derivations differ in their scores, and before all is right."""
    result = train(Perceptron(epochs=1, average=False), oracle(given, "max_violation", False), progress=False)
    return _core.FeatureRows(1, **result.weights)


@pytest.mark.parametrize("update", ["standard", "skip"])
def test_whole_answers_are_compared_alike(given, weights, update):
    steps, answer = (oracle(given, update, follows, weights) for follows in (False, True))
    for question in range(len(QUESTIONS)):
        assert steps.ask(question, 3, 0.0) == answer.ask(question, 3, 0.0)


def test_prefixes_are_those_of_the_best_right_derivation(given, weights):
    """The best right state of a step scores no less than what the best right derivation has there; and sometimes more,
    so that other prefixes are learned from."""
    steps, answer = (oracle(given, "max_violation", follows, weights) for follows in (False, True))
    asked = [(steps.ask(q, 1, 0.0), answer.ask(q, 1, 0.0)) for q in range(len(QUESTIONS))]
    violations = [(a[1][0][0] - a[0], b[1][0][0] - b[0]) for a, b in asked if a[1] and b[1]]
    assert len(violations) > 5 and min(min(pair) for pair in violations) >= -1e-6
    more = [of_answer - of_steps for of_steps, of_answer in violations]
    assert min(more) >= -1e-6 and max(more) > 1e-3  # against one path, the largest is no smaller


def test_both_learn(given):
    for follows in (False, True):
        result = train(Perceptron(epochs=40), oracle(given, "max_violation", follows), progress=False)
        assert result.history[-1].accuracy > 0.8
        assert np.isfinite(result.weights["weights"]).all()
