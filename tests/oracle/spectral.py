"""Max-margin learning of k-gram scores by listing all outputs, and its optimum by a general solver."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import minimize


def pieces(numbers, lengths, m):
    """The positions, in the vector of all scores of all `lengths` one after the other, of the l-grams of a sequence."""
    found, start = [], 0
    for length in lengths:
        for t in range(len(numbers) - length + 1):
            found.append(start + int(np.ravel_multi_index(numbers[t : t + length], (m,) * length)))
        start += m**length
    return found


def rivals(candidates, gold, lengths, m):
    """[(cost, difference)] for all outputs of a sequence; difference: features of the output less those of gold."""
    size = sum(m**length for length in lengths)
    right = np.bincount(pieces(gold, lengths, m), minlength=size)
    return [
        (sum(a != b for a, b in zip(z, gold)), np.bincount(pieces(z, lengths, m), minlength=size) - right)
        for z in product(*candidates)
    ]


def hinge(vector, examples):
    """The loss of a vector of scores; examples: a list of `rivals`."""
    return sum(max(cost + difference @ vector for cost, difference in example) for example in examples)


def optimum(examples, size, tau, norm):
    """The least hinge loss + tau * norm(vector), norm giving a value and a gradient.

    The vector has `size` scores, the first of which may be more than the differences know of (those of no symbol at
    all). One slack variable per example, above a linear function for each output: a smooth convex problem with linear
    conditions, for sequential quadratic programming.
    """
    costs = np.array([cost for example in examples for cost, _ in example], dtype=float)
    known = np.array([difference for example in examples for _, difference in example], dtype=float)
    differences = np.zeros((len(known), size))
    differences[:, size - known.shape[1] :] = known
    owner = np.repeat(np.eye(len(examples)), [len(example) for example in examples], axis=0)
    conditions = np.hstack([-differences, owner])

    def value(point):
        return point[size:].sum() + tau * norm(point[:size])[0]

    def gradient(point):
        return np.concatenate([tau * norm(point[:size])[1], np.ones(len(examples))])

    start = np.concatenate([np.full(size, 1e-3), owner.T @ costs])
    found = minimize(
        value,
        start,
        jac=gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda p: conditions @ p - costs, "jac": lambda p: conditions},
        options={"maxiter": 2000, "ftol": 1e-10},
    )
    assert found.success, found.message
    return float(found.fun)


def smooth_nuclear_norm(matrix, softness=1e-4):
    """Sum of sqrt(d^2 + softness^2) over the singular values d, and its gradient: above the norm by little."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    soft = np.sqrt(sizes**2 + softness**2)
    return soft.sum(), (left * (sizes / soft)) @ right
