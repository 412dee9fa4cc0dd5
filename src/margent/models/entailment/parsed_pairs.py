"""Trees for sentences that have none, by a parser of one's own."""

from __future__ import annotations

from typing import Any

from margent.annotation.binary_tree import BinaryTree
from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.phrase_tree import PhraseTree
from margent.errors import CorpusError
from margent.formats.pairs import SentencePair
from margent.models.entailment.data import PairData


def parsed_pairs(X: Any, parser: Any) -> list[SentencePair]:
    """Pairs of binary trees for an `EntailmentClassifier`.

    Sentences that are no trees yet are parsed, each different one once, and binarised: trees of phrases from the
    right, dependencies from the heads.

    Parameters
    ----------
    X : pairs, as the classifier takes them
    parser : a fitted `PhraseParser` or `Parser`, or another object whose `predict` makes a `PhraseTree` or a
        `DependencyTree` of each list of words
    """
    pairs = [tuple(pair) for pair in X]
    data = PairData.of(pairs)
    bare = {
        tree.words: None
        for pair, *trees in zip(pairs, data.premises, data.hypotheses)
        for sentence, tree in zip(pair, trees)
        if not isinstance(sentence, (BinaryTree, PhraseTree))
    }
    sentences = list(bare)
    trees: dict[tuple[str, ...], BinaryTree] = {}
    if sentences:
        for words, found in zip(sentences, parser.predict([list(words) for words in sentences]), strict=True):
            if isinstance(found, PhraseTree):
                trees[words] = BinaryTree.from_phrases(found)
            elif isinstance(found, DependencyTree):
                trees[words] = BinaryTree.from_dependencies(words, found)
            else:
                raise CorpusError(
                    f"the parser made {type(found).__name__} of {' '.join(words)[:60]!r}; expected a PhraseTree or a "
                    "DependencyTree"
                )
    return [
        SentencePair(*(
            tree if isinstance(sentence, (BinaryTree, PhraseTree)) else trees[tree.words]
            for sentence, tree in zip(pair, both)
        ))
        for pair, *both in zip(pairs, data.premises, data.hypotheses)
    ]  # fmt: skip
