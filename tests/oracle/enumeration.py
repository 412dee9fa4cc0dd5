"""Structured prediction by listing every possibility with its score.

`labellings` lists the label sequences of a chain, `derivations` the derivation trees of a hypergraph; both return a
list of (score, item), without the items whose score is -inf. The questions (`best`, `k_best`, `log_partition`,
`probabilities`, ...) are asked of such a list. A constraint is a condition on the items: filter the list.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

# --- the chain ---------------------------------------------------------------------------------------------------


def history_code(labels, n_labels):
    """A history as a number in base L + 1, the most recent label last; None, before the first token, is digit L."""
    code = 0
    for label in labels:
        code = code * (n_labels + 1) + (n_labels if label is None else label)
    return code


def chain_score(labels, emissions, transitions, end=None, order=1, edges=None):
    """The score of one labelling.

    emissions (T, L); transitions ((L + 1)^order, L), row = code of the `order` labels before; end
    ((L + 1)^(order - 1), L), row = code of the `order - 1` labels before the last one; edges (T, L + 1, L), scores of
    (previous label, label) at each position, previous = L at position 0. An empty labelling scores 0.
    """
    n_tokens, n_labels = np.shape(emissions)
    if n_tokens == 0:
        return 0.0
    padded = [None] * order + list(labels)
    score = 0.0
    for t, label in enumerate(labels):
        history = padded[t : t + order]
        score += emissions[t][label]
        score += transitions[history_code(history, n_labels)][label]
        if edges is not None:
            score += edges[t][history_code(history[-1:], n_labels)][label]
    if end is not None:
        before_last = padded[len(padded) - order : len(padded) - 1]
        score += end[history_code(before_last, n_labels)][labels[-1]]
    return float(score)


def labellings(emissions, transitions, end=None, order=1, edges=None, allowed=None):
    """[(score, labels)] of all labellings for which `allowed(labels)` holds, in lexicographic order of the labels."""
    n_tokens, n_labels = np.shape(emissions)
    listed = []
    for labels in itertools.product(range(n_labels), repeat=n_tokens):
        score = chain_score(labels, emissions, transitions, end, order, edges)
        if score > -math.inf and (allowed is None or allowed(labels)):
            listed.append((score, labels))
    return listed


def label_marginals(listed, n_tokens, n_labels):
    """(T, L): probability of each label at each position."""
    table = np.zeros((n_tokens, n_labels))
    for p, (_, labels) in zip(probabilities(listed), listed):
        for t, label in enumerate(labels):
            table[t, label] += p
    return table


def transition_marginals(listed, n_tokens, n_labels):
    """(T, L + 1, L): probability of (previous label, label) at each position; previous = L at position 0."""
    table = np.zeros((n_tokens, n_labels + 1, n_labels))
    for p, (_, labels) in zip(probabilities(listed), listed):
        for t, label in enumerate(labels):
            table[t, labels[t - 1] if t > 0 else n_labels, label] += p
    return table


# --- hypergraphs -------------------------------------------------------------------------------------------------


def derivations(heads, tails, scores, root):
    """[(score, edges)] of all derivations of `root`, edges being a tuple: those of each tail in order, then the edge.

    heads: node per edge; tails: a list of nodes per edge; scores: a number per edge.
    """
    listed = []
    for edge, head in enumerate(heads):
        if head != root or scores[edge] == -math.inf:
            continue
        below = [derivations(heads, tails, scores, tail) for tail in tails[edge]]
        for choice in itertools.product(*below):
            score = sum(s for s, _ in choice) + scores[edge]
            below_edges = itertools.chain.from_iterable(edges for _, edges in choice)
            listed.append((float(score), (*below_edges, edge)))
    return listed


def edge_marginals(listed, n_edges):
    """(E,): how often each edge is expected in a derivation."""
    uses = np.zeros(n_edges)
    for p, (_, edges) in zip(probabilities(listed), listed):
        for edge in edges:
            uses[edge] += p
    return uses


# --- questions ---------------------------------------------------------------------------------------------------


def count(listed):
    return len(listed)


def best(listed):
    """The (score, item) of highest score, the first of equals."""
    return max(listed, key=lambda pair: pair[0])


def k_best(listed, k):
    """The k of highest score, best first; equals in the order of the list."""
    return sorted(listed, key=lambda pair: -pair[0])[:k]


def log_partition(listed):
    if not listed:
        return -math.inf
    top = max(score for score, _ in listed)
    return top + math.log(math.fsum(math.exp(score - top) for score, _ in listed))


def probabilities(listed):
    """The probability of each entry of the list, proportional to exp(score)."""
    log_z = log_partition(listed)
    return [math.exp(score - log_z) for score, _ in listed]


def expectation(listed, value):
    """The expected `value(item)`."""
    return sum(p * value(item) for p, (_, item) in zip(probabilities(listed), listed))
