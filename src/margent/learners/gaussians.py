"""Weights of a semi-Markov model of frames by maximum likelihood: Gaussians, gamma distributions, a Markov chain.

The log density of a Gaussian is linear in the statistics of a frame, upper triangle of [x x', x; x', 1],

    log N(x; m, P^-1) = -1/2 x' P x + (P m)' x - 1/2 m' P m + 1/2 log |P| - D/2 log 2 pi,

and that of a gamma distribution linear in [log d, d, 1] (paper 002, equations 6 and 7).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


class Gaussian(NamedTuple):
    """mean (D,), covariance (D, D), and the log of its share in a mixture."""

    mean: Doubles
    covariance: Doubles
    log_share: float = 0.0

    def weights(self, full: bool) -> Doubles:
        """(statistics,): what the statistics of a frame are multiplied with."""
        n = len(self.mean)
        if full:
            precision = np.linalg.inv(self.covariance)
            log_det = -np.linalg.slogdet(self.covariance)[1]
            quadratic = -precision[np.triu_indices(n)] * np.where(np.equal(*np.triu_indices(n)), 0.5, 1.0)
            linear = precision @ self.mean
        else:
            variance = np.diag(self.covariance)
            quadratic, linear, log_det = -0.5 / variance, self.mean / variance, -np.log(variance).sum()
        constant = -0.5 * linear @ self.mean + 0.5 * log_det - 0.5 * n * np.log(2 * np.pi) + self.log_share
        return np.concatenate([quadratic, linear, [constant]])


def statistics(frames: Doubles, full: bool) -> Doubles:
    """(n, statistics) of frames (n, D)."""
    if full:
        rows, columns = np.triu_indices(frames.shape[1])
        products = frames[:, rows] * frames[:, columns]
    else:
        products = frames * frames
    return np.concatenate([products, frames, np.ones((len(frames), 1))], axis=1)


def fit_gaussian(frames: Doubles, sample_weight: Doubles, overall: Doubles, shrinkage: float) -> Gaussian:
    """The Gaussian of frames (n, D) of weights (n,), its covariance drawn to the overall one."""
    total = sample_weight.sum()
    if total <= 0:
        return Gaussian(np.zeros(frames.shape[1]), overall)
    mean = sample_weight @ frames / total
    centred = frames - mean
    scatter = (centred * sample_weight[:, None]).T @ centred
    return Gaussian(mean, (scatter + shrinkage * overall) / (total + shrinkage))


def fit_mixture(
    frames: Doubles,
    sample_weight: Doubles,
    n: int,
    overall: Doubles,
    shrinkage: float,
    rounds: int,
    full: bool,
    random: np.random.Generator,
) -> list[Gaussian]:
    """`n` Gaussians for frames, each frame belonging to one of them: k-means, then classification EM."""
    whole = fit_gaussian(frames, sample_weight, overall, shrinkage)
    if n == 1 or not len(frames):
        return [whole] * n
    # Centres far from each other (k-means++), seen through the covariance of all.
    scaled = frames / np.sqrt(np.diag(whole.covariance))
    chosen = [int(random.choice(len(frames), p=sample_weight / sample_weight.sum()))]
    for _ in range(n - 1):
        distance = np.min([((scaled - scaled[c]) ** 2).sum(axis=1) for c in chosen], axis=0) * sample_weight
        total = distance.sum()
        p = distance / total if total > 0 else sample_weight / sample_weight.sum()
        chosen.append(int(random.choice(len(frames), p=p)))
    member = np.argmin([((scaled - scaled[c]) ** 2).sum(axis=1) for c in chosen], axis=0)
    z = statistics(frames, full)
    parts: list[Gaussian] = []
    for _ in range(rounds):
        parts = []
        for m in range(n):
            part = fit_gaussian(frames, sample_weight * (member == m), whole.covariance, shrinkage)
            share = (sample_weight[member == m].sum() + 1) / (sample_weight.sum() + n)
            parts.append(part._replace(log_share=float(np.log(share))))
        now = np.argmax([z @ part.weights(full) for part in parts], axis=0)
        if np.array_equal(now, member):
            break
        member = now
    return parts


def log_gamma_slopes(x: float) -> tuple[float, float]:
    """The first two derivatives of log Gamma at x > 0, digamma and trigamma.

    By their asymptotic series at x + n >= 16 (Abramowitz and Stegun, 6.3.18 and 6.4.12), brought back to x by
    psi(x) = psi(x + 1) - 1 / x and psi'(x) = psi'(x + 1) + 1 / x².
    """
    first = second = 0.0
    while x < 16:
        first, second, x = first - 1 / x, second + 1 / x**2, x + 1
    y = 1 / x**2
    first += math.log(x) - 1 / (2 * x) - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    second += (1 + 1 / (2 * x) + y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))) / x
    return first, second


def gamma_weights(durations: Doubles, sample_weight: Doubles) -> Doubles:
    """(3,): log density of the gamma distribution of maximum likelihood as weights of [log d, d, 1].

    durations (n,) of weights (n,).

    The shape k solves log k - digamma(k) = log(mean) - mean(log), by Newton's method (Minka 2002). Where all durations
    are equal, or there are few, k is at most 100.
    """
    if not sample_weight.sum() > 0:
        return np.zeros(3)
    mean = float(np.average(durations, weights=sample_weight))
    gap = max(float(np.log(mean) - np.average(np.log(durations), weights=sample_weight)), 1e-9)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(20):
        first, second = log_gamma_slopes(shape)
        error = np.log(shape) - first - gap
        slope = 1 / shape - second
        shape = max(shape - error / slope, shape / 2)
    shape = float(np.clip(shape, 1e-2, 100.0))
    scale = mean / shape
    return np.array([shape - 1, -1 / scale, -math.lgamma(shape) - shape * np.log(scale)])


def markov_weights(
    sequences: list[NDArray[np.int32]], sample_weight: Doubles, n_labels: int, smoothing: float
) -> tuple[Doubles, Doubles, Doubles]:
    """Log-probabilities: transitions (L, L), start (L,) and end (L,), from label sequences of these weights."""
    counts = np.full((n_labels + 1, n_labels + 1), smoothing)
    for labels, weight in zip(sequences, sample_weight):
        if len(labels):
            np.add.at(counts, ([n_labels, *labels], [*labels, n_labels]), weight)
    counts[n_labels, n_labels] = 0
    logs = np.log(counts / counts.sum(axis=1, keepdims=True), where=counts > 0, out=np.zeros_like(counts))
    return logs[:n_labels, :n_labels], logs[n_labels, :n_labels], logs[:n_labels, n_labels]


def bin_shares(duration: int, bins: int) -> NDArray[np.float64]:
    """(duration, bins): how much of each frame lies in each of so many equal parts of a segment."""
    boundaries = np.arange(bins + 1) * duration / bins
    t = np.arange(duration)[:, None]
    shares: NDArray[np.float64] = np.clip(np.minimum(boundaries[1:], t + 1) - np.maximum(boundaries[:-1], t), 0, None)
    return shares
