"""The native transition system of questions against plain search with real expressions and types."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.oracle.question_parsing import all_states, states_in_reach
from tests.unit.models.semantic_parser.questions import MEANINGS, QUESTIONS, encoded, grammar

from margent import _core
from margent.meaning import Application, TypeTable, meaning_key, normal_form, parse_type
from margent.models.semantic_parser.fragments import names_of
from margent.models.semantic_parser.grammar import MeaningGrammar, union
from margent.models.semantic_parser.templates import parsed_templates
from margent.models.semantic_parser.weights import MeaningWeights

MOST = 3


class Plain:
    """Expressions as (key of the meaning, type, names that were said for it), as long as no name is said too often."""

    def __init__(self, of: MeaningGrammar, allowed: Counter[str]) -> None:
        self.types = TypeTable(of.domain.hierarchy)
        self.expressions = {}
        self.allowed = allowed

    def piece(self, expression, type_, names):
        if Counter(names) - self.allowed:
            return None
        expression = normal_form(expression)
        key = meaning_key(expression), str(type_), tuple(sorted(names))
        self.expressions[key] = expression, self.types.intern(type_)
        return key

    def apply(self, function, argument):
        (f, of), (a, to) = self.expressions[function], self.expressions[argument]
        type_ = self.types.apply(of, to)
        return self.made(type_, Application(f, (a,)), function, argument)

    def unite(self, word, first, second):
        (a, of), (b, to) = self.expressions[first], self.expressions[second]
        type_ = self.types.combine(of, to)
        return self.made(type_, union(word, a, b), first, second)

    def made(self, type_, expression, *parts):
        if type_ < 0:
            return None
        return self.piece(expression, self.types.type(type_), [name for part in parts for name in part[2]])

    def choices(self, of, questions, number):
        """By word, the (length, expression) that may be shifted, each once."""
        begin, end = questions.sequence_ptr[number : number + 2]
        given = questions.choices
        found = []
        for word in range(begin, end):
            shifts = {}
            for c in range(given.ptr[word], given.ptr[word + 1]):
                said = given.said[c]
                expression = of.filled(*given.filled[said])
                key = self.piece(expression, of.types[given.types[said]], names_of(expression))
                if key is not None:
                    shifts[given.lengths[c], key] = None
            found.append(list(shifts))
        return found


@pytest.mark.parametrize("options", [{}, {"per_piece": 1, "most": 4}, {"most_names": 1}])
def test_states_in_reach_are_those_of_plain_search(options):
    of = grammar(**options)
    questions, _ = encoded(of)
    right = questions.right(MEANINGS, options.get("most_names", 3))
    right.find_reach(questions.native(1.0), of.native_types, MOST, 10**6, 2)
    n_states = right.n_states()
    assert (n_states > 0).mean() > 0.8
    smallest = options.get("most_names") == 1
    keys = [meaning_key(meaning) for meaning in MEANINGS]
    for number, meaning in enumerate(MEANINGS):
        plain = Plain(of, Counter(names_of(normal_form(meaning))))
        good = states_in_reach(
            len(QUESTIONS[number]) + 1,
            plain.choices(of, questions, number),
            plain.apply,
            plain.unite,
            MOST,
            lambda top, key=keys[number]: top[0] == key and of.is_answer(parse_type(top[1])),
        )
        expected = len(good) + 1 if good else 0  # and the end
        if smallest:
            assert n_states[number] == expected, QUESTIONS[number]
        else:  # native code tells apart (argmax state) as one piece and as two that are put together
            assert n_states[number] >= expected and (n_states[number] > 0) == bool(good), QUESTIONS[number]


def test_an_unlimited_beam_finds_all_meanings_of_plain_search():
    questions = QUESTIONS[:8]
    of = grammar(per_piece=1, most=3)
    given, atoms = encoded(of, questions=questions)
    nothing = _core.FeatureRows(
        1, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    )
    weights = MeaningWeights(parsed_templates(None), atoms, nothing, 1.0, MOST)
    for number, derivations in enumerate(weights.understood(given, 0, 10**6, 2)):
        plain = Plain(of, Counter(dict.fromkeys([*of.names, "texas", "ohio"], 99)))
        n_words = len(questions[number]) + 1
        states = all_states(n_words, plain.choices(of, given, number), plain.apply, plain.unite, MOST)
        answers = {stack[0] for position, stack in states if position == n_words and len(stack) == 1}
        expected = {key for key, type_, _ in answers if of.is_answer(parse_type(type_))}
        assert {meaning_key(given.meaning(each)) for each in derivations} == expected
        assert [each.score for each in derivations] == sorted((each.score for each in derivations), reverse=True)
