"""The native transition system of questions against plain search with real expressions and types."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.oracle.question_parsing import all_states, states_in_reach
from tests.unit.models.semantic_parser.questions import DOMAIN, MEANINGS, QUESTIONS, encoded, grammar

from margent import _core
from margent.errors import MeaningError
from margent.meaning import Application, TypeTable, meaning_key, normal_form, parse_type
from margent.models.semantic_parser.alignment import aligned
from margent.models.semantic_parser.fragments import names_of, parts_of
from margent.models.semantic_parser.grammar import MeaningGrammar, union
from margent.models.semantic_parser.lexicon import Lexicon, LexiconOptions
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
    right = questions.right([parts_of(meaning, options.get("most_names", 3)) for meaning in MEANINGS])
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


def plain_chances(of, given, number, meaning, says, skips):
    """The sum of the chances of all sequences of actions that make the meaning, and how much of it takes each choice
    and skips each word: by trying all of them."""
    plain = Plain(of, Counter(names_of(normal_form(meaning))))
    begin, end = given.sequence_ptr[number : number + 2].tolist()
    choices = given.choices
    total, chosen, skipped = 0.0, Counter(), Counter()

    def go(word, stack, reduced, chance, taken):
        nonlocal total
        if word == end and len(stack) == 1 and stack[0][0] == meaning_key(meaning):
            total += chance
            for kind, what in taken:
                (chosen if kind == "choice" else skipped)[what] += chance
        if word < end:
            go(word + 1, stack, 0, chance * skips[word], [*taken, ("word", word)])
        if word < end and len(stack) < MOST:
            for c in range(choices.ptr[word], choices.ptr[word + 1]):
                said = choices.said[c]
                expression = of.filled(*choices.filled[said])
                key = plain.piece(expression, of.types[choices.types[said]], names_of(expression))
                if key is not None:
                    go(word + choices.lengths[c], [*stack, key], 0, chance * says[c], [*taken, ("choice", c)])
        if len(stack) > 1 and reduced + 1 < MOST:
            *below, first, second = stack
            made = [plain.apply(first, second), plain.apply(second, first)]
            made += [plain.unite(word_, first, second) for word_ in ("and", "or")]
            for key in made:
                if key is not None:
                    go(word, [*below, key], reduced + 1, chance, taken)

    go(begin, [], 0, 1.0, [])
    return total, chosen, skipped


def test_expected_choices_are_those_of_all_derivations():
    of = grammar(most_names=1, per_piece=1, most=3)
    given, _ = encoded(of)
    rng = np.random.default_rng(0)
    says = rng.uniform(0.1, 1.0, len(given.choices.said)).astype(np.float32).astype(float)
    skips = rng.uniform(0.1, 1.0, len(given.atoms)).astype(np.float32).astype(float)
    right = given.right([parts_of(meaning, 1) for meaning in MEANINGS])
    asked = (given.native(1.0, logs=(np.log(says), np.log(skips))), of.native_types, MOST, 10**6)
    chosen, skipped, totals = right.expect_choices(*asked, 2)
    again = right.expect_choices(*asked, 1)
    for one, other in zip((chosen, skipped, totals), again):
        np.testing.assert_array_equal(one, other)
    assert np.isfinite(totals).mean() > 0.7
    tried = [number for number, words in enumerate(QUESTIONS) if len(words) <= 5 and np.isfinite(totals[number])]
    assert len(tried) > 4
    for number in tried:
        total, by_choice, by_word = plain_chances(of, given, number, MEANINGS[number], says, skips)
        np.testing.assert_allclose(totals[number], np.log(total), rtol=1e-5)
        begin, end = given.sequence_ptr[number : number + 2].tolist()
        for word in range(begin, end):
            np.testing.assert_allclose(skipped[word], by_word[word] / total, rtol=1e-4, atol=1e-9)
            for c in range(given.choices.ptr[word], given.choices.ptr[word + 1]):
                np.testing.assert_allclose(chosen[c], by_choice[c] / total, rtol=1e-4, atol=1e-9)


def test_what_words_say_is_learned_from_what_their_derivations_need():
    parts = [parts_of(meaning) for meaning in MEANINGS]
    wide = Lexicon.learned(QUESTIONS, parts, DOMAIN, LexiconOptions(min_count=1))
    options = {"complexity": 2.0, "most_expressions": 5, "most_states": 5000}
    found, again = (aligned(wide, QUESTIONS, parts, iterations=12, threads=n, **options) for n in (2, 1))
    assert (found.words, found.slots) == (again.words, again.slots)
    assert wide is aligned(wide, QUESTIONS, parts, iterations=0, threads=1, **options)
    says = {word: str(found.pieces[ways[0][0]].expression) for word, ways in found.words.items() if ways}
    assert says["states"] == says["state"] == "state" and says["rivers"] == "river"
    assert "size" in says["largest"] and "argmax" in says["largest"]
    n_ways = [sum(map(len, lexicon.words.values())) for lexicon in (wide, found)]
    assert n_ways[1] < n_ways[0] / 2
    assert all(0 < strength <= 1 for ways in found.words.values() for _, strength in ways)


def test_pieces_of_many_arguments_are_left_out_where_too_many_types_come_of_them(monkeypatch):
    every = grammar()
    most = max(len(every.types[type_].arguments) for type_ in every.piece_types.values())
    closed = TypeTable.closed

    def with_few(table):
        if any(len(table.type(number).arguments) >= most for number in range(len(table))):
            raise MeaningError("more than 3 types come of those given; expected fewer")
        return closed(table)

    assert most > 1
    monkeypatch.setattr("margent.models.semantic_parser.grammar.FEW_ARGUMENTS", 1)
    monkeypatch.setattr(TypeTable, "closed", with_few)
    few = grammar()
    assert 0 < len(few.piece_types) < len(every.piece_types)
    assert max(len(few.types[type_].arguments) for type_ in few.piece_types.values()) == most - 1
