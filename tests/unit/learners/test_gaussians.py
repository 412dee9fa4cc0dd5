"""Gaussians, gamma distributions and Markov chains as weights of linear models."""

from __future__ import annotations

import numpy as np
import pytest

from margent.learners.gaussians import (
    Gaussian,
    bin_shares,
    gamma_weights,
    log_gamma_slopes,
    markov_weights,
    statistics,
)


@pytest.mark.parametrize("full", [True, False])
def test_gaussians_are_linear_in_statistics(full):
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4)) if full else np.diag(rng.uniform(1, 2, 4))
    gaussian = Gaussian(rng.normal(size=4), root @ root.T + np.eye(4) * 0.1)
    X = rng.normal(size=(5, 4))
    expected = multivariate_normal(gaussian.mean, gaussian.covariance).logpdf(X)
    np.testing.assert_allclose(statistics(X, full) @ gaussian.weights(full), expected)


def test_gamma_distributions_have_maximum_likelihood():
    from scipy.optimize import minimize
    from scipy.stats import gamma

    durations = np.random.default_rng(1).gamma(3.0, 2.0, 200) + 0.5
    weights = gamma_weights(durations, np.ones(200))
    features = np.stack([np.log(durations), durations, np.ones_like(durations)], axis=1)
    ours = (features @ weights).sum()
    best = minimize(lambda p: -gamma(np.exp(p[0]), scale=np.exp(p[1])).logpdf(durations).sum(), [1.0, 0.5])
    assert ours == pytest.approx(-best.fun, rel=1e-6)
    assert np.isfinite(gamma_weights(np.array([3.0, 3.0]), np.ones(2))).all()


@pytest.mark.parametrize("x", [1e-3, 0.1, 0.7, 1.0, 3.3, 9.99, 10.0, 100.0, 1e6])
def test_slopes_of_the_gamma_function(x):
    from scipy.special import digamma, polygamma

    assert log_gamma_slopes(x) == pytest.approx((float(digamma(x)), float(polygamma(1, x))), rel=1e-13)


def test_markov_chains_are_normalised():
    transitions, start, end = markov_weights([np.array([0, 1, 0]), np.array([1])], np.ones(2), 2, 0.5)
    assert np.exp(start).sum() == pytest.approx(1)
    np.testing.assert_allclose(np.exp(transitions).sum(axis=1) + np.exp(end), 1)
    assert transitions[0, 1] == pytest.approx(np.log(1.5 / 3.5))


def test_shares_of_bins():
    np.testing.assert_allclose(bin_shares(3, 2), [[1, 0], [0.5, 0.5], [0, 1]])
    np.testing.assert_allclose(bin_shares(1, 3), [[1 / 3] * 3])
