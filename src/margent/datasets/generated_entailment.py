"""A generated corpus of entailment whose truth is known: pictures described twice, word by word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from margent.annotation.binary_tree import BinaryTree
from margent.formats.pairs import SentencePair
from margent.parameters import check_count

_NOUNS = {
    "person": ("woman", "man", "girl", "boy", "child"),
    "animal": ("dog", "cat", "horse", "bird", "goat"),
    "instrument": ("guitar", "drum", "flute", "piano"),
    "vehicle": ("car", "bus", "truck", "bicycle"),
}
"""A general word, and special ones that exclude each other."""
_VERBS = {"moving": ("running", "walking", "jumping"), "resting": ("sleeping", "sitting", "lying")}
_ADJECTIVES = ("young", "old", "tall", "happy", "red", "brown")
_PLACES = ("near", "behind", "under")


@dataclass(frozen=True)
class EntailmentTruth:
    """alignment : of each word of the hypothesis the word of the premise that it is about, or -1
    relations : of each word of the hypothesis "entailment", "neutral" or "contradiction"
    """

    alignment: tuple[int, ...]
    relations: tuple[str, ...]


def make_entailment(
    n_pairs: int = 500, *, seed: int = 0
) -> tuple[list[SentencePair], list[str], list[EntailmentTruth]]:
    """Pairs of binary trees, their labels, and what the labels follow from.

    A premise says who does what near whom; the hypothesis says it again, with words left out, made more general
    (entailment), more special or added (neutral), or exchanged for one that excludes it (contradiction). The label is
    contradiction where any word contradicts, else neutral where any word is, else entailment; which of the three is
    drawn first, with equal probability. A seed always gives the same corpus.

    >>> X, y, truth = make_entailment(2, seed=4)
    >>> X[0].premise.brackets(), X[0].hypothesis.brackets(), y[0]
    ('( ( the car ) ( is sitting ) )', '( ( the car ) ( is lying ) )', 'contradiction')
    """
    check_count("n_pairs", n_pairs, 1)
    check_count("seed", seed, 0)
    random = np.random.default_rng(seed)
    pairs, labels, truths = [], [], []
    for _ in range(n_pairs):
        label = ("entailment", "neutral", "contradiction")[random.integers(3)]
        while True:
            pair, truth = _pair(random)
            if _label(truth.relations) == label:
                break
        pairs.append(pair)
        labels.append(label)
        truths.append(truth)
    return pairs, labels, truths


def _label(relations: tuple[str, ...]) -> str:
    return next((one for one in ("contradiction", "neutral") if one in relations), "entailment")


@dataclass
class _Words:
    """The words of both sentences as they are said; of those of the hypothesis, what they are about."""

    premise: list[str]
    hypothesis: list[str]
    alignment: list[int]
    relations: list[str]

    def say(self, first: str, second: str | None, relation: str = "entailment") -> tuple[str, str]:
        """A word of the premise, and what is said of it in the hypothesis (None: nothing)."""
        self.premise.append(first)
        return first, self.add(second, len(self.premise) - 1, relation)

    def add(self, word: str | None, about: int, relation: str) -> str:
        if word is None:
            return ""
        self.hypothesis.append(word)
        self.alignment.append(about)
        self.relations.append(relation)
        return word


def _pair(random: np.random.Generator) -> tuple[SentencePair, EntailmentTruth]:
    words = _Words([], [], [], [])
    who = _noun_phrase(random, words, said=True)
    copula = words.say("is", "is")
    does = words.say(*_replaced(random, _VERBS))
    if random.random() < 0.5:
        said = random.random() < 0.7
        place = str(random.choice(_PLACES))
        where = words.say(place, place if said else None)
        whom = _noun_phrase(random, words, said)
        does = (
            f"( {does[0]} ( {where[0]} {whom[0]} ) )",
            f"( {does[1]} ( {where[1]} {whom[1]} ) )" if said else does[1],
        )
    first, second = (f"( {who[i]} ( {copula[i]} {does[i]} ) )" for i in range(2))
    pair = SentencePair(BinaryTree.from_brackets(first), BinaryTree.from_brackets(second))
    return pair, EntailmentTruth(tuple(words.alignment), tuple(words.relations))


def _noun_phrase(random: np.random.Generator, words: _Words, said: bool) -> tuple[str, str]:
    """The brackets of both sides; `said`: whether the hypothesis speaks of it."""
    the = words.say("the", "the" if said else None)
    adjective = str(random.choice(_ADJECTIVES)) if random.random() < 0.5 else None
    described = ("", "")
    if adjective is not None:
        described = words.say(adjective, adjective if said and random.random() < 0.6 else None)
    if said and not described[1] and random.random() < 0.15:
        other = str(random.choice([one for one in _ADJECTIVES if one != adjective]))
        described = (described[0], words.add(other, -1, "neutral"))
    first, second, relation = _replaced(random, _NOUNS)
    noun = words.say(first, second if said else None, relation)
    phrases = [f"( {a} {n} )" if a else n for a, n in zip(described, noun)]
    return f"( {the[0]} {phrases[0]} )", f"( {the[1]} {phrases[1]} )"


def _replaced(random: np.random.Generator, kinds: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str]:
    """A word, what is said in its place, and what follows: the same, a more general, a more special one, another."""
    general = str(random.choice(list(kinds)))
    special, other = (str(word) for word in random.choice(kinds[general], 2, replace=False))
    draw = random.random()
    if draw < 0.5:
        return special, special, "entailment"
    if draw < 0.7:
        return special, general, "entailment"
    return (general, special, "neutral") if draw < 0.85 else (special, other, "contradiction")
