"""Twin of the entailment network, without dropout and sampling: recursion over nested trees, in plain numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Weights = Mapping[str, Any]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / e.sum()


def lstm(G: Any, U: Any, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """(h, c) of a node from those of its parts; as many parts as there are, of as many as U is made for."""
    n = 1 if U.shape[1] == 4 * U.shape[0] else 2
    k = U.shape[0] // n
    if parts:
        G = G + np.concatenate([h for h, _ in parts]) @ U
    i, o, u = sigmoid(G[:k]), sigmoid(G[k : 2 * k]), np.tanh(G[2 * k : 3 * k])
    c = i * u
    for j, (_, other) in enumerate(parts):
        c = c + sigmoid(G[(3 + j) * k : (4 + j) * k]) * other
    return o * np.tanh(c), c


def meanings(words: list[Any], parts: list[tuple[int, int]], w: Weights, prefix: str = "meaning") -> list[Any]:
    """h of every node of a tree; words are vectors, phrases see none."""
    W, U, b = (w[f"{prefix}.{name}"] for name in "WUb")
    states = [lstm(x @ W + b, U, []) for x in words]
    for left, right in parts:
        states.append(lstm(b, U, [states[left], states[right]]))
    return [h for h, _ in states]


def sequence(words: list[Any], w: Weights) -> Any:
    W, U, b = (w[f"meaning.{name}"] for name in "WUb")
    state = None
    for x in words:
        state = lstm(x @ W + b, U, [] if state is None else [state])
    assert state is not None
    return state[0]


def score(w: Weights, name: str, affine: bool, hi: Any, hj: Any) -> float:
    if affine:
        return float(w[f"{name}.W"] @ np.concatenate([hi, hj]))
    inner = np.abs(hi - hj) @ w[f"{name}.W1"] + hj @ w[f"{name}.W2"] + hi @ w[f"{name}.W3"] + w[f"{name}.b"]
    return float(np.tanh(inner) @ w[f"{name}.v"])


def alignment(P: list[Any], Q: list[Any], w: Weights, affine: bool, dual: bool) -> Any:
    """(q, p + 1), null last."""
    P = [*P, w["null"]]
    A = np.array([softmax(np.array([score(w, "attention", affine, q, p) for p in P])) for q in Q])
    if not dual:
        return A
    R = np.array([softmax(np.array([score(w, "reverse", affine, q, p) for q in Q])) for p in P]).T
    return A * R / (A * R).sum(axis=1, keepdims=True)


def relations(P: list[Any], Q: list[Any], parts: list[tuple[int, int]], A: Any, w: Weights, simple: bool) -> list[Any]:
    """e of every node of the hypothesis."""
    W, U, b = (w[f"relation.{name}"] for name in "WUb")
    means = A @ np.array([*P, w["null"]])
    states: list[Any] = []
    for node, (q, mean) in enumerate(zip(Q, means)):
        G = np.concatenate([q, mean]) @ W + b
        own = [states[part] for part in parts[node - (len(parts) + 1)]] if node > len(parts) else []
        if simple:
            h = np.tanh(G + (np.concatenate([h for h, _ in own]) @ U if own else 0))
            states.append((h, h))
        else:
            states.append(lstm(G, U, own))
    return [h for h, _ in states]
