"""The recursions of an order-1 chain in plain numpy and float64, for sequences too long to list all labellings.

emissions (T, L), transitions (L + 1, L) with the start in row L, end (L,), edges (T, L + 1, L); T at least 1.
"""

from __future__ import annotations

import numpy as np


def _double(emissions, transitions, end, edges):
    arrays = [np.asarray(a, dtype=np.float64) for a in (emissions, transitions, end)]
    edges = np.zeros((len(emissions), 1, 1)) if edges is None else np.asarray(edges, dtype=np.float64)
    return *arrays, edges


def viterbi(emissions, transitions, end, edges=None):
    """(score, labels): the best labelling; ties go to the smaller label, decided from the last position backwards."""
    emissions, transitions, end, edges = _double(emissions, transitions, end, edges)
    n = len(emissions)
    alpha = emissions[0] + transitions[-1] + edges[0][-1]
    back = np.zeros(emissions.shape, dtype=np.int64)
    for t in range(1, n):
        total = alpha[:, None] + (transitions + edges[t])[:-1]
        back[t] = total.argmax(axis=0)
        alpha = total.max(axis=0) + emissions[t]
    labels = np.zeros(n, dtype=np.int64)
    labels[-1] = (alpha + end).argmax()
    for t in range(n - 1, 0, -1):
        labels[t - 1] = back[t, labels[t]]
    return (alpha + end).max(), labels


def _log_sum(values, axis):
    top = values.max(axis=axis, keepdims=True)
    top = np.where(top > -np.inf, top, 0)
    with np.errstate(divide="ignore"):
        return np.squeeze(top, axis) + np.log(np.exp(values - top).sum(axis=axis))


def forward_backward(emissions, transitions, end, edges=None):
    """(log Z, label marginals (T, L), pair marginals (T, L + 1, L))."""
    emissions, transitions, end, edges = _double(emissions, transitions, end, edges)
    n, n_labels = emissions.shape
    alpha, beta = np.empty((2, n, n_labels))
    alpha[0] = emissions[0] + transitions[-1] + edges[0][-1]
    beta[-1] = end
    for t in range(1, n):
        alpha[t] = _log_sum(alpha[t - 1][:, None] + (transitions + edges[t])[:-1], axis=0) + emissions[t]
    for t in range(n - 2, -1, -1):
        beta[t] = _log_sum((transitions + edges[t + 1])[:-1] + emissions[t + 1] + beta[t + 1], axis=1)
    log_z = _log_sum(alpha[-1] + end, axis=0)
    labels = np.exp(alpha + beta - log_z)
    pairs = np.zeros((n, n_labels + 1, n_labels))
    pairs[0, -1] = labels[0]
    for t in range(1, n):
        step = (transitions + edges[t])[:-1] + emissions[t] + beta[t]
        pairs[t, :-1] = np.exp(alpha[t - 1][:, None] + step - log_z)
    return float(log_z), labels, pairs
