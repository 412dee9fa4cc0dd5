"""Dependency trees by listing all of them: tuples of heads, 0 the root, for the questions of enumeration.py."""

from __future__ import annotations

import itertools
import math


def is_tree(heads):
    """Whether every word reaches the root."""
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def is_projective(heads):
    """Whether all words between the ends of an arc descend from its head."""
    for modifier, head in enumerate(heads, 1):
        for word in range(min(head, modifier) + 1, max(head, modifier)):
            while word and word != head:
                word = heads[word - 1]
            if word != head:
                return False
    return True


def trees(n_words, projective, single_root):
    """All trees of so many words."""
    for heads in itertools.product(range(n_words + 1), repeat=n_words):
        if single_root and n_words and heads.count(0) != 1:
            continue
        if is_tree(heads) and (not projective or is_projective(heads)):
            yield heads


def inner_sibling(heads, word):
    """The modifier of the same head on the same side that is next to `word` on the way to the head; None: none."""
    head = heads[word - 1]
    between = range(head + 1, word) if head < word else range(head - 1, word, -1)
    same = [other for other in between if heads[other - 1] == head]
    return same[-1] if same else None


def tree_score(heads, labels, arcs, label_scores=None, siblings=None, grandparents=None):
    total = 0.0
    for word, head in enumerate(heads, 1):
        total += arcs[head][word]
        if label_scores is not None:
            total += label_scores[head][word][labels[word - 1]]
        if siblings is not None:
            sibling = inner_sibling(heads, word)
            total += siblings[head][head if sibling is None else sibling][word]
        if grandparents is not None and head:
            total += grandparents[heads[head - 1]][head][word]
    return float(total)


def scored_trees(arcs, label_scores, siblings, grandparents, projective, single_root):
    """[(score, (heads, labels))] of all trees whose score is not -inf; labels are () where there are none."""
    n_words = len(arcs) - 1
    n_labels = 0 if label_scores is None else len(label_scores[0][0])
    listed = []
    for heads in trees(n_words, projective, single_root):
        for labels in itertools.product(range(n_labels), repeat=n_words) if n_labels else [()]:
            value = tree_score(heads, labels, arcs, label_scores, siblings, grandparents)
            if value > -math.inf:
                listed.append((value, (heads, labels)))
    return listed
