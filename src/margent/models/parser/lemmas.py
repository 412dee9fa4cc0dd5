"""Base forms of words, learned from a treebank: looked up where a word is known, by its ending where it is not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.feature_map import restored_strings
from margent.storage import ModelFile, string_arrays

LONGEST_ENDING = 5
_UNKNOWN = "_"
_ALL = "*"

Seen = Counter[tuple[str, str, str]]
"""How often a form with a tag had a lemma."""
_Rules = dict[tuple[str, str], Counter[str]]


class Lemmatizer:
    """The lemma of a form with a tag, by rules: which letters at the end go, and what comes in their place.

    A rule is found by form and tag, by the form in lower case and tag, or else by tag and the longest ending that was
    seen. Only what the shorter ending would get wrong is kept.

    >>> lemmas = Lemmatizer.learned(lemmas_seen([[("cats", "N"), ("dogs", "N"), ("was", "V")]], [["cat", "dog", "be"]]))
    >>> lemmas.find("Dogs", "N"), lemmas.find("birds", "N"), lemmas.find("was", "V"), lemmas.find("London", "P")
    ('dog', 'bird', 'be', 'london')
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules = dict(sorted(rules.items()))

    @classmethod
    def learned(cls, seen: Seen) -> Lemmatizer:
        """The rule of most of a word's occurrences, and for an ending of most of the different words that have it; of
        those that are as frequent, the first in the alphabet. O(words x LONGEST_ENDING)."""
        best = _rules_of(seen)
        of_ending: _Rules = defaultdict(Counter)
        for (form, tag), rule in best.items():
            if not rule[1:].startswith(_ALL):
                for ending in _endings(form.lower()):
                    of_ending[ending, tag][rule] += 1
        self = cls({})
        for (ending, tag), rules in sorted(of_ending.items(), key=lambda item: len(item[0][0])):
            self._keep(
                _key(ending, tag, ending=True), _most(rules), self._by_ending(ending[1:], tag) if ending else None
            )
        return self._with(best)

    def _keep(self, key: str, rule: str, otherwise: str | None) -> None:
        if rule != otherwise:
            self._rules[key] = rule

    def find(self, form: str, tag: str) -> str:
        return applied(self._rule(form, tag), form)

    def _rule(self, form: str, tag: str) -> str | None:
        lower = form.lower()
        found = self._rules.get(_key(form, tag)) or self._rules.get(_key(lower, tag))
        return found or self._by_ending(lower[-LONGEST_ENDING:], tag)

    def _by_ending(self, ending: str, tag: str) -> str | None:
        for start in range(len(ending) + 1):
            rule = self._rules.get(_key(ending[start:], tag, ending=True))
            if rule is not None:
                return rule
        return None

    def grown(self, seen: Seen) -> Lemmatizer:
        """With rules of further words; those that are there stay."""
        return Lemmatizer(self._rules)._with(_rules_of(seen))

    def _with(self, rules: Mapping[tuple[str, str], str]) -> Lemmatizer:
        """Words in lower case come first, as others are looked up by them."""
        for (form, tag), rule in sorted(rules.items(), key=lambda item: item[0][0] != item[0][0].lower()):
            key = _key(form, tag)
            if key not in self._rules:
                self._keep(key, rule, self._rule(form, tag))
        return Lemmatizer(self._rules)

    def stored(self) -> dict[str, NDArray[Any]]:
        distinct = sorted(set(self._rules.values()))
        ids = {rule: i for i, rule in enumerate(distinct)}
        return {
            **string_arrays("lemmas", self._rules),
            **string_arrays("lemmas.rules", distinct),
            "lemmas.of_word": np.fromiter((ids[rule] for rule in self._rules.values()), np.int32, len(self._rules)),
        }

    @classmethod
    def restored(cls, file: ModelFile) -> Lemmatizer | None:
        if "lemmas" not in file.arrays:
            return None
        words: _core.StringTable = restored_strings(file, "lemmas")
        rules = file.strings("lemmas.rules")
        if not all(map(_is_rule, rules)):
            raise file.error("its rules of lemmas should say what letters go, and what comes in their place")
        ids = file.array("lemmas.of_word", np.int32, (len(words),), minimum=0, maximum=len(rules) - 1)
        return cls(dict(zip(words.strings(0), (rules[i] for i in ids.tolist()))))


def lemmas_seen(tokens: Iterable[Iterable[tuple[str, ...]]], lemmas: Iterable[Sequence[str]]) -> Seen:
    """Counts of sentences whose tokens begin with form and tag."""
    return Counter(
        (token[0], token[1], lemma)
        for sentence, each in zip(tokens, lemmas)
        for token, lemma in zip(sentence, each)
        if lemma != _UNKNOWN or token[0] == _UNKNOWN
    )


def _rules_of(seen: Seen) -> dict[tuple[str, str], str]:
    """The rule of most occurrences of each form, and of each in lower case, with a tag."""
    found: _Rules = defaultdict(Counter)
    for (form, tag, lemma), count in seen.items():
        for word in {form, form.lower()}:
            found[word, tag][rule_of(form, lemma)] += count
    return {key: _most(rules) for key, rules in found.items()}


def rule_of(form: str, lemma: str) -> str:
    """A letter, c for the form as it is or l for lower case; how many letters go, or *; +; what comes after the rest.

    >>> rule_of("Studies", "study"), rule_of("Paris", "Paris"), rule_of("was", "be")
    ('l3+y', 'c0+', 'l*+be')
    """
    same, lower = (sum(takewhile(bool, map(eq, text, lemma))) for text in (form, form.lower()))
    case, kept, length = ("c", same, len(form)) if same > lower else ("l", lower, len(form.lower()))
    return f"{case}{length - kept if kept else _ALL}+{lemma[kept:]}"


def applied(rule: str | None, form: str) -> str:
    """The lemma; without a rule, or with one that leaves nothing, the form in lower case."""
    if rule is None:
        return form.lower()
    letters, _, added = rule[1:].partition("+")
    text = form if rule[0] == "c" else form.lower()
    kept = 0 if letters == _ALL else max(len(text) - int(letters), 0)
    return text[:kept] + added or form.lower()


def _is_rule(text: str) -> bool:
    letters, plus, _ = text[1:].partition("+")
    return text[:1] in ("c", "l") and plus == "+" and (letters == _ALL or (letters.isdecimal() and len(letters) < 7))


def _key(text: str, tag: str, *, ending: bool = False) -> str:
    return f"{'-' if ending else ' '}{text}\t{tag}"


def _endings(word: str) -> Iterator[str]:
    return (word[len(word) - n :] for n in range(min(len(word), LONGEST_ENDING) + 1))


def _most(counts: Mapping[str, int]) -> str:
    return min(counts, key=lambda rule: (-counts[rule], rule))
