"""Counts and probabilities of the grammar, and of words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from margent.annotation import PhraseTree
from margent.datasets import make_phrases
from margent.models.phrase_parser.grammar import TreebankGrammar
from margent.models.phrase_parser.lexicon import Lexicon, spellings
from margent.models.phrase_parser.options import Markovisation

_, TREES = make_phrases(30, seed=4)


def counted(trees, how=None):
    empty = TreebankGrammar.empty(how or Markovisation(0, 1))
    return empty.grown([empty.nodes(tree) for tree in trees], np.ones(len(trees)))


def test_probabilities_of_what_may_follow_sum_to_one():
    grammar = counted(TREES, Markovisation(1, 2))
    parents = grammar.binary[:, 0]
    for symbol in set(parents.tolist()):
        assert np.exp(grammar.binary_scores[parents == symbol]).sum() == pytest.approx(1)
    tops = grammar.unary[:, 0]
    for symbol in set(tops[grammar.unary_counts > 0].tolist()):
        assert np.exp(grammar.unary_scores[tops == symbol]).sum() == pytest.approx(1)


def test_counts_are_those_of_the_trees_by_hand():
    tree = PhraseTree.from_brackets("(S (NP (DT a) (JJ b) (NN c)) (VP (VB d)))")
    grammar = counted([tree, tree])
    rules = {grammar.rule_text(r): c for r, c in enumerate(grammar.binary_counts)}
    assert rules == {"S -> NP VP": 2, "NP -> DT @NP": 2, "@NP -> JJ NN": 2}
    chains = {
        (str(grammar.symbols[a]), str(grammar.symbols[b])): c
        for (a, b), c in zip(grammar.unary.tolist(), grammar.unary_counts)
        if a != b
    }
    assert chains == {("VP", "VB"): 2}
    assert grammar.root_label == "S" and set(grammar.tags) == {"DT", "JJ", "NN", "VB"}


def test_growing_in_parts_counts_as_much_as_at_once():
    once, parts = counted(TREES), counted(TREES[:10])
    parts = parts.grown([parts.nodes(tree) for tree in TREES[10:]], np.ones(20))
    assert parts.symbols[: len(counted(TREES[:10]).symbols)] == counted(TREES[:10]).symbols

    def named(grammar):
        return Counter({grammar.rule_text(r): c for r, c in enumerate(grammar.binary_counts)})

    assert named(once) == named(parts) and once.unary_counts.sum() == parts.unary_counts.sum()


def test_the_columns_of_weights_are_shared_by_symbols_of_one_label():
    grammar = counted(TREES, Markovisation(1, 2))
    width, symbols, unary = grammar.columns()
    for kind in ("phrase", "rest"):
        by_label = {}
        for symbol, column in zip(grammar.symbols, symbols.tolist()):
            if symbol.kind == kind:
                assert by_label.setdefault(symbol.label, column) == column
        assert len(set(by_label.values())) == len(by_label)
    assert (unary[: len(grammar.symbols)] == -1).all() and unary.max() < width
    assert unary[unary >= 0].min() > symbols.max()


def test_tags_of_words_are_probable_as_they_were_seen_or_as_they_are_spelled():
    lexicon = Lexicon.empty().grown(
        [(["walks", "talks", "the", "Ann", "rocks"], ["VBZ", "VBZ", "DT", "NNP", "NNS"])] + [(["the"], ["DT"])] * 9,
        [1.0] * 10,
    )
    assert lexicon.scores("the") == {"DT": pytest.approx(np.log(14 / 10))}
    unseen = lexicon.scores("balks")
    shares = {tag: np.exp(score) * {"VBZ": 2, "DT": 10, "NNP": 1, "NNS": 1}[tag] / 14 for tag, score in unseen.items()}
    assert max(shares, key=shares.get) == "VBZ" and shares["VBZ"] > shares["NNS"] > shares.get("DT", 0)
    assert max(lexicon.scores("Bob"), key=lexicon.scores("Bob").get) == "NNP"
    assert spellings("Ab") == ["title None None", "title None None -b", "title None None -ab"]
    assert lexicon.scores("%")  # nothing is like it
