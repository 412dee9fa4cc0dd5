"""Small parsers of phrases, by a grammar alone and with weights, for tests of their files."""

from __future__ import annotations

from typing import Any

from margent import CRF, PCFG, Markovisation, Perceptron, PhraseParser, PhraseTree, SpanFeatures

TREES = [
    PhraseTree.from_brackets(text)
    for text in (
        "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NP (DT a) (NN dog)) (PP (IN of) (NP (NNP Ann))))) (. .))",
        "(S (NP (NNP Ann)) (VP (VBZ sleeps)))",
        "(S (NP (NP (DT the) (NN dog)) (PP (IN of) (NP (NNP Lee)))) (VP (VBZ sleeps)) (. .))",
        "(S (VP (VB go)))",
        "(FRAG (NP (NN rain)))",
    )
]
SENTENCES = [list(zip(tree.words, tree.tags)) for tree in TREES]
WORDS = [list(tree.words) for tree in TREES]
FEW = SpanFeatures(("first.word last.word", "right.word", "left.upos right.upos", "first.suffix2 length", "tags"))
ONE = Perceptron(epochs=2)

CASES: dict[str, tuple[PhraseParser, Any, Any]] = {
    "grammar": (PhraseParser(learner=PCFG(), threads=1), SENTENCES, TREES),
    "grammar of words": (PhraseParser(learner=PCFG(), grammar=Markovisation(1, 2), threads=1), WORDS, TREES),
    "rest on the left": (
        PhraseParser(FEW, ONE, grammar=Markovisation(0, 1, "left"), pruning=4, threads=1),
        SENTENCES,
        TREES,
    ),
    "likelihood": (PhraseParser(FEW, CRF(epochs=2), grammar=Markovisation(1, 3), threads=2), WORDS, TREES),
}
