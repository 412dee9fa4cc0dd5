"""The score of an operator model as the sum over all paths of hidden states, from its definition."""

from __future__ import annotations

from itertools import product
from math import prod


def score(initial, final, operators, x, y):
    """sum over h_0 .. h_T of alpha(h_0) A(h_0, h_1) ... A(h_{T-1}, h_T) beta(h_T); operators: {(a, b): rows}."""
    total, n = 0.0, len(initial)
    for path in product(range(n), repeat=len(x) + 1):
        steps = (operators[a, b][before][after] for a, b, before, after in zip(x, y, path, path[1:]))
        total += initial[path[0]] * prod(steps) * final[path[-1]]
    return total
