"""Outputs scored by tables of k-grams, by listing every possibility; from the definition."""

from __future__ import annotations

from itertools import product


def score(tables, pairs):
    """tables: {length: {gram: score}}, a gram being a tuple of (input, output); one that is not there scores 0."""
    return sum(
        table.get(tuple(pairs[t : t + length]), 0.0)
        for length, table in tables.items()
        for t in range(len(pairs) - length + 1)
    )


def outputs(tables, candidates, x):
    """[(score, y)] of all outputs, y being a tuple; candidates: {input: outputs}."""
    listed = [tuple(y) for y in product(*(candidates[a] for a in x))]
    return [(score(tables, list(zip(x, y))), y) for y in listed]
