"""Twin of Adam: Algorithm 1 of Kingma and Ba (2015), number by number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def adam(
    gradient: Callable[[list[float], int], list[float]],
    start: Sequence[float],
    steps: int,
    rate: float,
    beta1: float,
    beta2: float,
    clip: float,
) -> list[float]:
    """`gradient(w, t)`: at step t, from 1."""
    w, m, v = list(start), [0.0] * len(start), [0.0] * len(start)
    for t in range(1, steps + 1):
        g = gradient(w, t)
        length = math.sqrt(sum(x * x for x in g))
        if length > clip:
            g = [x * clip / length for x in g]
        for i, x in enumerate(g):
            m[i] = beta1 * m[i] + (1 - beta1) * x
            v[i] = beta2 * v[i] + (1 - beta2) * x * x
            w[i] -= rate * (m[i] / (1 - beta1**t)) / (math.sqrt(v[i] / (1 - beta2**t)) + 1e-8)
    return w
