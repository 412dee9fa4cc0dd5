"""The evaluation of the CoNLL 2018 shared task (Zeman et al. 2018) on gold tokens.

Written from the description of the task: relations are compared without their subtypes; CLAS is an F1 over words whose
relation, in the gold or in the system's tree, is one of content words.
"""

from __future__ import annotations

CONTENT = {
    *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl", "advmod"),
    *("discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound", "list", "parataxis"),
    *("orphan", "goeswith", "reparandum", "root", "dep"),
}


def f1(correct, gold, system):
    return 2 * correct / (gold + system) if gold + system else 0.0


def evaluate(gold, system):
    """gold, system: for each sentence a list of (head, relation). Gives UAS, LAS and CLAS."""
    words = heads = arcs = 0
    content_gold = content_system = content_arcs = 0
    for sentence, other in zip(gold, system, strict=True):
        for (head, relation), (found, guess) in zip(sentence, other, strict=True):
            relation, guess = relation.split(":")[0], guess.split(":")[0]
            words += 1
            heads += head == found
            arcs += (head, relation) == (found, guess)
            content_gold += relation in CONTENT
            content_system += guess in CONTENT
            content_arcs += relation in CONTENT and (head, relation) == (found, guess)
    return {
        "UAS": f1(heads, words, words),
        "LAS": f1(arcs, words, words),
        "CLAS": f1(content_arcs, content_gold, content_system),
    }
