"""The hidden Markov SVM and the dual perceptron of the paper (001), by enumeration of all label sequences.

A problem is a list of examples (tokens, labels): tokens are rows of a kernel matrix `K` over all observations.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np


def label_pairs(labels):
    """How often each label follows each, with the start before the first and the end after the last."""
    return Counter(itertools.pairwise(["start", *labels, "end"]))


def joint_kernel(K, tokens, labels, other_tokens, other_labels):
    """Equation (7), with the start and the end as neighbours of the first and the last label."""
    pairs, others = label_pairs(labels), label_pairs(other_labels)
    return sum(pairs[p] * others[p] for p in pairs) + sum(
        K[u, v] for u, y in zip(tokens, labels) for v, z in zip(other_tokens, other_labels) if y == z
    )


def sequences(tokens, n_labels):
    return list(itertools.product(range(n_labels), repeat=len(tokens)))


def discriminant(K, examples, alphas, tokens, labels):
    """F(x, y) = sum of alpha_i(y') K((x_i, y'), (x, y)): equation (8)."""
    return sum(a * joint_kernel(K, examples[i][0], y, tokens, labels) for (i, y), a in alphas.items())


def best(K, examples, alphas, tokens, n_labels):
    """Of equal ones, the first in order; equal is what does not differ by 1e-5: the other side has single precision."""
    return max(sequences(tokens, n_labels), key=lambda y: round(discriminant(K, examples, alphas, tokens, y), 5))


def dual_perceptron(K, examples, n_labels, order):
    """Algorithm 1, done naively: alpha_i(y) of all sequences that have one, for examples in the given order."""
    alphas = Counter()
    for i in order:
        tokens, gold = examples[i]
        found = best(K, examples, alphas, tokens, n_labels)
        if found != tuple(gold):
            alphas[i, tuple(gold)] += 1
            alphas[i, found] -= 1
    return {key: value for key, value in alphas.items() if value}


def wrong_sequences(examples, n_labels):
    """(example, sequence) of every wrong sequence of every example."""
    return [(i, y) for i, (x, gold) in enumerate(examples) for y in sequences(x, n_labels) if y != tuple(gold)]


def gram(K, examples, rows):
    """Inner products of the differences between gold and wrong sequences."""

    def inner(i, y, j, z):
        (x, gold), (other, other_gold) = examples[i], examples[j]
        return (
            joint_kernel(K, x, gold, other, other_gold)
            - joint_kernel(K, x, gold, other, z)
            - joint_kernel(K, x, y, other, other_gold)
            + joint_kernel(K, x, y, other, z)
        )

    return np.array([[inner(i, y, j, z) for j, z in rows] for i, y in rows])


def margins(examples, rows, hamming):
    return np.array([sum(a != b for a, b in zip(examples[i][1], y)) if hamming else 1 for i, y in rows], float)


def solve_dual(K, examples, n_labels, C, slack, hamming):
    """The largest dual objective over all wrong sequences, and the variables there, by scipy."""
    from scipy.optimize import LinearConstraint, minimize

    rows = wrong_sequences(examples, n_labels)
    matrix, margin = gram(K, examples, rows), margins(examples, rows, hamming)
    member = np.array([[float(i == e) for i, _ in rows] for e in range(len(examples))])
    if slack == "l2":
        matrix = matrix + member.T @ member / C
    limits = [LinearConstraint(member, -np.inf, C)] if slack == "l1" else []
    solved = minimize(
        lambda a: a @ matrix @ a / 2 - margin @ a,
        np.full(len(rows), 1e-3),
        jac=lambda a: matrix @ a - margin,
        bounds=[(0, None)] * len(rows),
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    assert solved.success, solved.message
    return -solved.fun, dict(zip(rows, solved.x))
