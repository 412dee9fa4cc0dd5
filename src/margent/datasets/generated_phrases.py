"""Phrase-structure trees of a small grammar, in which words tell what a prepositional phrase attaches to."""

from __future__ import annotations

import random

from margent.annotation.phrase_tree import PhraseTree

_NOUNS = ("man", "dog", "park", "bird", "letter", "house", "girl", "tree")
_NAMES = ("Ann", "Bo", "Kim", "Lee")
_VERBS = ("saw", "met", "found", "drew")
_ADJECTIVES = ("old", "small", "green", "quiet")


def make_phrases(n: int, *, seed: int = 0, longest: int = 30) -> tuple[list[list[tuple[str, str]]], list[PhraseTree]]:
    """Sentences of (word, tag) and their trees, of at most `longest` words each.

    In "Ann saw the dog of the man with a letter", phrases with "of" belong to the noun before them and those with
    "with" to the verb: the words tell which tree is right, the tags do not.

    >>> X, y = make_phrases(1, seed=1)
    >>> " ".join(word for word, _ in X[0]), y[0].phrases[0].label
    ('Ann drew a tree of a house of Ann with a dog .', 'S')
    """
    choose = random.Random(seed)
    trees: list[PhraseTree] = []
    while len(trees) < n:
        tree = PhraseTree.from_brackets(f"(S {_noun_phrase(choose, 0)} {_verb_phrase(choose, 0)} (. .))")
        if len(tree) <= longest:
            trees.append(tree)
    return [list(zip(tree.words, tree.tags)) for tree in trees], trees


def _noun_phrase(choose: random.Random, depth: int) -> str:
    if choose.random() < 0.3:
        return f"(NP (NNP {choose.choice(_NAMES)}))"
    adjective = f"(JJ {choose.choice(_ADJECTIVES)}) " if choose.random() < 0.3 else ""
    article = choose.choice(["a", "the"])
    phrase = f"(NP (DT {article}) {adjective}(NN {choose.choice(_NOUNS)}))"
    if depth < 3 and choose.random() < 0.35:
        return f"(NP {phrase} (PP (IN of) {_noun_phrase(choose, depth + 1)}))"
    return phrase


def _verb_phrase(choose: random.Random, depth: int) -> str:
    if depth < 2 and choose.random() < 0.2:
        clause = f"(S {_noun_phrase(choose, depth + 1)} {_verb_phrase(choose, depth + 1)})"
        return f"(VP (VBD said) (SBAR (IN that) {clause}))"
    instrument = f" (PP (IN with) {_noun_phrase(choose, depth + 1)})" if choose.random() < 0.5 else ""
    return f"(VP (VBD {choose.choice(_VERBS)}) {_noun_phrase(choose, depth + 1)}{instrument})"
