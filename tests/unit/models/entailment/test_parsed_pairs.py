"""Trees of sentences that have none, by our own parsers."""

from __future__ import annotations

import pytest

from margent import BinaryTree, Parser, Perceptron, PhraseParser
from margent.datasets import make_phrases, make_trees
from margent.errors import CorpusError
from margent.models import parsed_pairs


def test_sentences_without_trees_are_parsed():
    _, y = make_phrases(30, seed=1)
    words = [list(tree.words) for tree in y]
    parser = PhraseParser(learner=Perceptron(epochs=2)).fit(words, y, progress=False)
    given = BinaryTree.from_brackets("( a b )")
    (pair,) = parsed_pairs([(words[0], given)], parser)
    assert pair.hypothesis == given
    assert pair.premise == BinaryTree.from_phrases(parser.predict(words[:1])[0])


def test_dependencies_are_binarised():
    X, y = make_trees(30, seed=1)
    parser = Parser(learner=Perceptron(epochs=2)).fit(X, y, progress=False)
    words = [token if isinstance(token, str) else token[0] for token in X[0]]
    (pair,) = parsed_pairs([(words, words[:2])], parser)
    assert pair.premise.words == tuple(words)
    assert pair.premise == BinaryTree.from_dependencies(words, parser.predict([words])[0])


def test_what_is_no_parser_is_refused():
    class Tags:
        def predict(self, X):
            return [["A"] * len(words) for words in X]

    with pytest.raises(CorpusError, match="the parser made list of 'a b c'; expected a PhraseTree"):
        parsed_pairs([("a b c", "a b c")], Tags())
