"""What words are expected to say before any question is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.models.semantic_parser.questions import DOMAIN, MEANINGS, QUESTIONS

from margent import LexiconOptions, Perceptron, SemanticParser, parse_meaning
from margent.meaning import TypeHierarchy, parse_type
from margent.meaning.domain import Domain, Seed
from margent.models.semantic_parser.alignment import aligned
from margent.models.semantic_parser.fragments import parts_of
from margent.models.semantic_parser.hints import hints_of_names, name_parts, stem, with_seeds
from margent.models.semantic_parser.lexicon import END, Lexicon
from margent.models.semantic_parser.pieces import Piece


def piece(text):
    return Piece.of(parse_meaning(text))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("cities", "city"), ("rivers", "river"), ("boxes", "box"), ("churches", "church"), ("gas", "gas")),
        *(("class", "class"), ("texas", "texa"), ("basis", "basis"), ("status", "status"), ("ties", "tie")),
    ],
)
def test_a_plural_has_the_stem_of_its_singular(word, expected):
    assert stem(word) == expected and stem(stem(word)) == stem(expected)


def test_names_of_one_word_or_several_are_compared_by_their_stems():
    assert name_parts(piece("population:i")) == {"population"}
    assert name_parts(piece("(lambda $0 e (lambda $1 e (ground_fares $1 $0)))")) == {"ground", "fare"}
    assert name_parts(piece("next_to:t")) == {"next"}  # "to" says too little
    for text in ("count", "(lambda $0 e (argmax $0 size:i))", "(lambda $0 e (loc $0 ?))", "(size:i texas:s)"):
        assert name_parts(piece(text)) == frozenset()


def test_a_word_is_expected_to_say_all_pieces_of_its_name():
    pieces = [piece(text) for text in ("state:t", "loc:t", "(lambda $0 e (lambda $1 e (state:t $1)))", "states_in:i")]
    assert hints_of_names(["States", "in", "the"], pieces) == {"states": (0, 2, 3)}


def test_seeds_join_the_pieces_unless_they_are_there():
    meanings = ["(lambda $7 e (state $7))", "(lambda $0 e (argmax $0 size))"]
    seeds = [Seed(("land",), parse_meaning(meanings[0])), Seed(("the", "biggest"), parse_meaning(meanings[1]))]
    seeds.append(Seed(("land",), parse_meaning(meanings[1])))
    pieces, found = with_seeds(replace(DOMAIN, seeds=tuple(seeds)), [piece("river"), piece("state")])
    assert [str(each.expression) for each in pieces[2:]] == ["(lambda $0 e (argmax $0 size))"]
    assert found == {"land": (1, 2), "the biggest": (2,)}


SEEDS = (
    Seed(("bulk",), parse_meaning("size")),
    Seed(("how", "many"), parse_meaning("count")),
    Seed(("the", "biggest"), parse_meaning("(lambda $0 e (argmax $0 size))")),
)


def learned(domain, iterations):
    parts = [parts_of(meaning, 3) for meaning in MEANINGS]
    options = LexiconOptions(min_count=1, per_piece=2)
    lexicon = Lexicon.learned(QUESTIONS, parts, domain, options)
    limits = {"complexity": 1.0, "most_expressions": 4, "most_states": 5000, "threads": 1}
    return aligned(lexicon, QUESTIONS, parts, iterations=iterations, **limits)


@pytest.mark.parametrize("iterations", [0, 1, 6])
def test_a_seed_stays_whether_its_words_were_seen_or_not(iterations):
    lexicon = learned(replace(DOMAIN, seeds=SEEDS), iterations)
    said = {
        " ".join(words[choice.start : choice.start + choice.length]): str(lexicon.pieces[choice.piece].expression)
        for words in (["how", "many", "states"], ["bulk", "of", "ohio"], ["the", "biggest", "state"])
        for choice in lexicon.choices(words)
        if choice.length > 1 or choice.start == 0
    }
    assert said["how many"] == "count" and said["the biggest"] == "(lambda $0 e (argmax $0 size))"
    assert said["bulk"] == "size"
    assert all(0 < strength <= 1 for given in lexicon.words.values() for _, strength in given)


def test_phrases_of_seeds_are_said_by_their_first_word_alone():
    """What a word says, names or skips is shared among its choices, those of phrases that it begins with them."""
    lexicon = learned(replace(DOMAIN, seeds=SEEDS), 6)
    plain = learned(DOMAIN, 6)
    total = lexicon.skipped("how") + sum(s for _, s in (*lexicon.words.get("how", ()), *lexicon.words["how many"]))
    assert total <= 1 + 1e-9
    assert "how many" not in plain.words
    assert lexicon.skipped(END) == pytest.approx(plain.skipped(END), abs=0.3)


def test_a_name_that_was_not_seen_as_a_word_is_understood():
    domain = Domain(
        TypeHierarchy({"s": "e"}),
        {"heads": [parse_type("s -> i")], "texas": [parse_type("s")], "ohio": [parse_type("s")]},
        {("texas",): ["texas"], ("ohio",): ["ohio"]},
    )
    X, y = [["people", "of", "texas"], ["people", "of", "ohio"]], ["(heads texas)", "(heads ohio)"]
    parser = SemanticParser(domain, learner=Perceptron(epochs=2), threads=1).fit(X, y)
    lexicon = parser.lexicon_
    (number,) = {choice.piece for choice in lexicon.choices(["heads"])}
    assert lexicon.pieces[number].names == ("heads",)
    assert str(parser.predict(["heads of ohio"])[0]) == "(heads ohio)"


def test_what_words_likely_say_is_seen_ahead():
    """The features of `ahead0` and `ahead1` are those of a plain look at the strongest choices."""
    templates = ["ahead0 action.kind", "ahead1 action.kind", "ahead2 action.kind"]
    parser = SemanticParser(DOMAIN, templates, Perceptron(epochs=2), threads=1).fit(QUESTIONS, MEANINGS)
    lexicon, grammar = parser.lexicon_, parser.model_.grammar
    for words in QUESTIONS:
        expected = []
        for place, word in enumerate((*words, END)):
            given = [choice for choice in lexicon.choices(words) if choice.start == place]
            best = max(given, key=lambda choice: choice.strength, default=None)
            if best is not None and best.strength > lexicon.skipped(word):
                type_ = grammar.types[grammar.piece_types[best.piece, best.type]]
                is_constant = best.constant is not None
                expected.append((place, str(type_) if is_constant else str(lexicon.pieces[best.piece].expression)))
        position = 0
        for step in parser.explain(words).steps:
            left = [said for place, said in expected if place >= position]
            for name, _ in step.features:
                term, _, seen = name.rpartition(" action.kind")[0].partition("=")
                if term:
                    place = int(term.removeprefix("ahead"))
                    assert seen == (left[place] if place < len(left) else "(none)")
            position += len(step.words) if step.action in ("skip", "shift") else 0
        assert any("ahead" in name for step in parser.explain(words).steps for name, _ in step.features)
