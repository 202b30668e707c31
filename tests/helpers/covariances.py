"""Tables with a known covariance, and what is put among their rows."""

from typing import NamedTuple

import numpy as np


class Contaminated(NamedTuple):
    X: np.ndarray
    bad: np.ndarray
    covariance: np.ndarray
    """The true one of the good rows."""


def clean(kind, n, d, rng):
    """Independent columns of variance 1, or a multivariate t distribution."""
    if kind == "t5":
        return rng.standard_t(5, (n, d)) / np.sqrt(5 / 3)
    if kind == "multivariate t5":
        return rng.standard_normal((n, d)) * np.sqrt(3 / rng.chisquare(5, (n, 1)))
    if kind == "lognormal":
        return (rng.lognormal(size=(n, d)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), (n, d))
    return rng.standard_normal((n, d))


def contaminated(how, n, d, alpha, seed=0):
    """Gaussian rows with some covariance, the first of them bad."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) / np.sqrt(d) + np.eye(d)
    X, m = rng.standard_normal((n, d)), int(alpha * n)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    if how == "cluster":
        X[:m] += 6.0 * u
    elif how == "pair":
        X[:m] += 6.0 * np.outer(rng.choice([-1.0, 1.0], m), u)
    elif how == "spread":
        X[:m] += 9.0 * np.outer(X[:m] @ u, u)
    return Contaminated(X @ mixing.T, np.arange(n) < m, mixing @ mixing.T)


def relative_error(covariance, truth):
    """Largest relative error of the variance along a direction."""
    inverse = np.linalg.inv(np.linalg.cholesky(truth))
    return np.linalg.norm(inverse @ covariance @ inverse.T - np.eye(len(truth)), 2)
