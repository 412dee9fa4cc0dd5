"""Questions about an invented company: meanings have types, answers are right, and all is said in their words."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from margent.datasets import make_questions
from margent.meaning import answer, infer_type, meaning_key

DATA = make_questions(600, seed=3)


def test_every_meaning_has_a_type_in_the_domain_and_with_simple_types():
    simple = DATA.domain.simplified()
    types = Counter(str(infer_type(meaning, DATA.domain)) for meaning in DATA.y)
    assert {"i", "t", "person", "project", "city", "person -> t", "project -> t", "city -> t"} <= set(types)
    assert {str(infer_type(meaning, simple)) for meaning in DATA.y} == {"i", "t", "e", "e -> t"}


def test_constants_are_named_in_the_question():
    for words, meaning in zip(DATA.X, DATA.y):
        found = {name for i in range(len(words)) for j in (1, 2) for name in DATA.domain.constants_of(words[i : i + j])}
        types = {name: DATA.domain.types_of(name) for name in meaning.constants()}
        assert {name for name, of in types.items() if of and of[0].depth == 0} <= found


def test_answers_follow_from_the_facts():
    facts = DATA.facts
    age, salary = dict(facts.function("age", 1)), dict(facts.function("salary", 1))
    lives = dict(facts.relation("lives_in", 2))
    for words, meaning in zip(DATA.X, DATA.y):
        text, found = " ".join(words), answer(meaning, facts)
        if text.startswith("how old is the oldest person living in ") and len(words) < 11:
            city = "_".join(words[8:])
            assert found == tuple({max(age[person] for person in age if lives[person] == city)})
        if text.startswith("how much does ") and len(words) == 6 and words[5] == "earn":
            assert found == (salary["_".join(words[3:5])],)
    assert answer(next(m for x, m in zip(DATA.X, DATA.y) if x[0] == "is"), facts) in (True, False)
    answered = [answer(meaning, facts) for meaning in DATA.y]
    assert sum(found == () for found in answered) < len(answered) / 5
    assert {True, False} <= {found for found in answered if isinstance(found, bool)}


def test_there_are_several_phrasings_of_a_meaning_and_many_meanings():
    phrasings: dict[str, set[str]] = {}
    for words, meaning in zip(DATA.X, DATA.y):
        phrasings.setdefault(meaning_key(meaning), set()).add(" ".join(words))
    assert len(phrasings) > 250 and sum(len(texts) > 1 for texts in phrasings.values()) > 30
    # One question has one meaning.
    meanings: dict[str, set[str]] = {}
    for words, meaning in zip(DATA.X, DATA.y):
        meanings.setdefault(" ".join(words), set()).add(meaning_key(meaning))
    assert all(len(found) == 1 for found in meanings.values())


def test_a_seed_gives_the_same_questions_and_a_company_other_people():
    again = make_questions(600, seed=3)
    assert again.X == DATA.X and again.y == DATA.y and (again.domain, again.facts) == (DATA.domain, DATA.facts)
    other, elsewhere = make_questions(600, seed=4), make_questions(5, company=1)
    assert other.X != DATA.X and other.facts == DATA.facts and elsewhere.facts != DATA.facts
    text = "\n".join(f"{' '.join(words)}\t{meaning}" for words, meaning in zip(DATA.X, DATA.y))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "9975fb0141ae93e0"


@pytest.mark.parametrize("company", range(5))
def test_every_company_has_managers_and_leaders(company):
    facts = make_questions(0, company=company).facts
    assert len(facts.function("manager", 1)) == 23 and len(facts.relation("leads", 2)) == 8
