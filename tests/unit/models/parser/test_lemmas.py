"""Lemmas that a parser with its own tags learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent import DependencyTree, ModelFileError, Parser, Perceptron, Tagger, load
from margent.models.parser.lemmas import Lemmatizer, applied, lemmas_seen, rule_of
from margent.models.parser.tagging import FOLDS, STRETCHES, folds
from margent.storage import ModelFile, read, write

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\t"), min_size=1, max_size=8)
WORDS = [
    [("the", "D", "_", "_", "the"), ("dogs", "N", "_", "_", "dog"), ("were", "V", "_", "_", "be")],
    [("Cats", "N", "_", "_", "cat"), ("studies", "V", "_", "_", "study"), ("Paris", "P", "_", "_", "Paris")],
]
TREES = [DependencyTree([2, 3, 0], ["det", "nsubj", "root"]), DependencyTree([2, 0, 2], ["nsubj", "root", "obj"])]


@given(TEXT, TEXT)
def test_a_rule_makes_the_lemma_that_it_was_made_for(form: str, lemma: str) -> None:
    assert applied(rule_of(form, lemma), form) == lemma


@given(st.lists(st.tuples(TEXT, st.sampled_from("NV"), TEXT), min_size=1, max_size=12))
def test_known_words_get_the_lemma_they_have_most_often(words: list[tuple[str, str, str]]) -> None:
    """Against plain counting: of rules that are as frequent, the first in the alphabet."""
    lemmatizer = Lemmatizer.learned(Counter(words))
    for form, tag, _ in words:
        rules = Counter(rule_of(f, lemma) for f, t, lemma in words if t == tag and form in (f, f.lower()))
        best = min(rules, key=lambda rule: (-rules[rule], rule))
        assert lemmatizer.find(form, tag) == applied(best, form)


def test_other_words_go_by_case_tag_and_ending() -> None:
    nouns = [(f"{word}s", "N", word) for word in ("cat", "pen", "car")] + [("boxes", "N", "box"), ("foxes", "N", "fox")]
    forms = [*nouns, ("does", "V", "do"), ("is", "V", "be")]
    lemmatizer = Lemmatizer.learned(Counter(forms))
    found = {word: lemmatizer.find(word, "N") for word in ("Cats", "dogs", "taxes")}
    assert found == {"Cats": "cat", "dogs": "dog", "taxes": "tax"}
    assert lemmatizer.find("goes", "V") == "go" and lemmatizer.find("Is", "V") == "be"
    assert lemmatizer.find("Unseen", "X") == "unseen"


def test_unknown_lemmas_are_not_learned() -> None:
    assert lemmas_seen([[("a", "X"), ("_", "X")]], [["_", "_"]]) == {("_", "X", "_"): 1}


def test_more_words_leave_what_was_known() -> None:
    first = Lemmatizer.learned(Counter([("was", "V", "be")]))
    grown = first.grown(Counter([("was", "V", "was"), ("went", "V", "go")]))
    assert grown.find("was", "V") == "be" and grown.find("went", "V") == "go"


def test_folds_are_made_of_stretches() -> None:
    found = folds(5000, 0)
    assert np.bincount(found).tolist() == [500] * FOLDS
    assert (np.diff(found) != 0).sum() < FOLDS * STRETCHES
    assert sorted(folds(7, 1)) == list(range(7)) and folds(1, 0).tolist() == [0] and not len(folds(0, 0))


def own_tags() -> Parser:
    parser = Parser(["h.lemma m.lemma", "h.upos m.upos"], Perceptron(epochs=2), tagger=Tagger(learner=Perceptron()))
    return parser.fit(WORDS * 10, TREES * 10)


def test_the_parser_lemmatises(tmp_path: Path) -> None:
    parser = own_tags()
    assert [word[4] for word in parser.tag([["the", "dogs", "were"]])[0]] == ["the", "dog", "be"]
    parser.save(tmp_path / "m.margent")
    assert [word[4] for word in load(tmp_path / "m.margent").tag([["Cats", "studies", "Paris"]])[0]] == [
        "cat",
        "study",
        "Paris",
    ]
    more = [[("mice", "N", "_", "_", "mouse"), ("ran", "V", "_", "_", "run")]]
    parser.partial_fit(more, [DependencyTree([2, 0], ["nsubj", "root"])])
    assert parser.model_.own.lemmatizer.find("mice", "N") == "mouse"


def test_without_lemmas_the_form_in_lower_case_stands_in() -> None:
    plain = [[word[:2] for word in sentence] for sentence in WORDS]
    parser = Parser(["h.lemma m.lemma", "h.upos m.upos"], Perceptron(), tagger=Tagger(learner=Perceptron()))
    assert [word[4] for word in parser.fit(plain, TREES).tag([["Dogs"]])[0]] == ["dogs"]


@pytest.mark.parametrize(
    ("name", "value"), [("lemmas.rules", "no rule"), ("lemmas.rules", "c99999999999+"), ("lemmas.of_word", None)]
)
def test_hostile_files_are_refused(tmp_path: Path, name: str, value: str | None) -> None:
    own_tags().save(tmp_path / "m.margent")
    file = read(tmp_path / "m.margent")
    arrays = dict(file.arrays)
    if value is None:
        arrays[name] = np.full_like(arrays[name], 10**6)
    else:
        text = value.encode()
        n = len(arrays[f"{name}.ends"])
        arrays[name] = np.frombuffer(text * n, np.uint8)
        arrays[f"{name}.ends"] = np.arange(1, n + 1, dtype=np.int64) * len(text)
    changed: ModelFile = replace(file, arrays=arrays)
    write(tmp_path / "n.margent", changed.header, changed.arrays, kind=changed.kind)
    with pytest.raises(ModelFileError):
        load(tmp_path / "n.margent")
