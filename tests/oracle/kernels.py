"""Plain twins of the kernels over windows: dense vectors, one pair at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def windows(sentences: list[NDArray[np.float64]], window: int) -> list[Vector]:
    """The vector of each token of each sentence: its neighbours' and its own side by side, zeros beyond the ends."""
    result = []
    for sentence in sentences:
        nothing = np.zeros(sentence.shape[1])
        for t in range(len(sentence)):
            places = range(t - window // 2, t + window // 2 + 1)
            result.append(np.concatenate([sentence[p] if 0 <= p < len(sentence) else nothing for p in places]))
    return result


def kernel(kind: str, a: Vector, b: Vector, degree: int, gamma: float, coef0: float) -> float:
    if kind == "polynomial":
        return float((gamma * (a @ b) + coef0) ** degree)
    if kind == "rbf":
        return float(np.exp(-gamma * ((a - b) ** 2).sum()))
    return float(gamma * (a @ b))


def spectrum(first: list[str | None], second: list[str | None], length: int) -> int:
    """Pairs of equal substrings in words at the same place; None: beyond the end of a sentence."""
    total = 0
    for word, other in zip(first, second):
        if word is None or other is None:
            continue
        pieces = [_pieces(text, length) for text in (word, other)]
        total += sum(a == b for a in pieces[0] for b in pieces[1])
    return total


def _pieces(word: str, length: int) -> list[str]:
    marked = "<" + word + ">"
    if len(marked) <= length:
        return [marked]
    return [marked[i : i + length] for i in range(len(marked) - length + 1)]
