"""Trees of a small grammar: every arc is one that the grammar has, and words tell what tags do not."""

from __future__ import annotations

import hashlib

import pytest

from margent.annotation import DependencyTree
from margent.datasets import make_trees
from margent.datasets.generated_trees import GRAMMAR, LEXICON

FEATURES = {"beard", "hat", "smile", "scar"}
INSTRUMENTS = {"telescope", "camera", "spoon"}


def test_arcs_are_those_of_the_grammar() -> None:
    X, y = make_trees(500, seed=2)
    tag = {line.split()[0]: line.split()[1] for line in LEXICON.strip().splitlines() if " = " in line}
    head_of = {}
    for line in GRAMMAR.strip().splitlines():
        name, _, right = line.partition(" = ")
        head_of[name] = next(part[5:] for part in right.split() if part.startswith("HEAD*"))
    allowed = {("punct", "VERB", "PUNCT")}
    allowed |= {(label, "VERB", kind) for label in ("nsubj", "obj") for kind in ("PROPN", "PRON")}
    for line in GRAMMAR.strip().splitlines():
        name, _, right = line.partition(" = ")
        for part in right.split():
            if not part.startswith("HEAD*"):
                label, _, inner = part.rpartition(":")
                for phrase in inner.split("|"):
                    allowed.add((label.partition("?")[0], tag[head_of[name]], tag[head_of[phrase]]))
    seen = set()
    for sentence, tree in zip(X, y):
        assert tree == DependencyTree(tree.heads, tree.labels, single_root=True) and tree.is_projective()
        for word, head, label in zip(sentence, tree.heads, tree.labels):
            if head:
                assert (label, sentence[head - 1][1], word[1]) in allowed
                seen.add(label)
            else:
                assert (label, word[1]) == ("root", "VERB")
    assert seen == {label for label, _, _ in allowed}


def test_words_tell_what_a_phrase_of_with_hangs_on() -> None:
    X, y = make_trees(500, seed=3)
    nouns = 0
    for sentence, tree in zip(X, y):
        for word, head, label in zip(sentence, tree.heads, tree.labels):
            if label == "case" and word[0] == "with":
                noun = sentence[head - 1][0]
                on_verb = noun in INSTRUMENTS or noun.endswith(("oscope", "ograph"))
                assert on_verb != (noun in FEATURES or noun.endswith("let"))
                above = tree.heads[head - 1]
                assert (sentence[above - 1][1] == "VERB") == on_verb
                assert tree.labels[head - 1] == ("obl" if on_verb else "nmod")
                nouns += 1
    assert nouns > 100


def test_the_share_of_crossing_trees_is_the_one_asked_for() -> None:
    for share in (0.0, 0.3, 1.0):
        _, y = make_trees(600, crossing=share, seed=4)
        found = sum(not tree.is_projective() for tree in y) / len(y)
        assert abs(found - share) < 0.05


def test_the_same_seed_gives_the_same_corpus() -> None:
    assert make_trees(20, crossing=0.2, seed=5) == make_trees(20, crossing=0.2, seed=5) != make_trees(20, seed=5)
    text = repr(make_trees(50, crossing=0.2, seed=6)).encode()
    assert hashlib.sha256(text).hexdigest()[:16] == "6765027ca8061e34"
    assert make_trees(0) == ([], [])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected n of at least 0 and crossing from 0 to 1, got 3 and 1.5"):
        make_trees(3, crossing=1.5)
