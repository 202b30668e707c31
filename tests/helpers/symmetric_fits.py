"""Tables, fits for which good rows are symmetric, and what holds of every answer."""

import numpy as np
import pytest

import fits
import reference
from inlier.research.datasets import (
    Clean,
    Gaussian,
    HeavyTails,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    SettingB,
    Spiked,
    StudentT,
)

SETTINGS = {"A": SettingA, "B": SettingB}
FEW = range(2)
MANY = range(100, 120)
no_warning = pytest.mark.filterwarnings("error")


def robust_mean(X, **options):
    """A fit for which good rows are symmetric, unless their bound is known."""
    if "sigma" not in options:
        options = {"assume": "symmetric", **options}
    return fits.robust_mean(X, **options)


ROWS = {
    "Gaussian": Gaussian(),
    "t3": StudentT(3),
    "t5": StudentT(5),
    "multivariate t5": StudentT(5, joint=True),
    "Laplace": Laplace(),
    "spiked": Spiked(),
    "rotated": Rotated(),
}


def quiet(kind, alpha, n=1000, d=50):
    return QuietDirections(n, d, alpha, ROWS[kind], "one each")


# A few small tables with groups of every kind that can be named in advance.
SMALL = {
    "A": lambda: SettingA(600, 60, 0.2).sample(0),
    "A, n < d": lambda: SettingA(150, 300, 0.2).sample(0),
    "B": lambda: SettingB(300, 60, 0.3).sample(0),
    "heavy": lambda: HeavyTails(500, 50, 0.2, StudentT(5)).sample(0),
    "spiked": lambda: quiet("spiked", 0.2, 500, 20).sample(0),
    "obvious and subtle": lambda: ObviousAndSubtle(300, 200, 0.2).sample(0),
    "clean": lambda: Clean(300, 20).sample(0),
}


def top_eigenvalue(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return reference.largest_eigenvalue(rows - rows.mean(axis=0), np.ones(len(rows)))


def fitted(X, dense=None, **options):
    """A fit with no other warning than that of weak evidence, checked."""
    if "sigma" not in options:
        options = {"assume": "symmetric", **options}
    result = fits.fitted(X, dense, **options)
    assert 2 * result.support.sum() >= len(result.support), "the majority is good"
    assert result.converged and result.message and result.certificate.feasible
    kinds = {"apart", "distance", "tail", "direction", "metric", "cells", "length"}
    assert {group.kind for group in result.groups} <= kinds
    return result


def error(result, sample):
    return float(np.linalg.norm(result.location - sample.mean))


def n_wrong(result, sample):
    """How many rows are on the wrong side."""
    return int((result.support == sample.is_outlier).sum())


def over_seeds(draw, seeds):
    """Errors, and rows on the wrong side, over several draws."""
    samples = [draw(seed) for seed in seeds]
    results = [fitted(sample.X) for sample in samples]
    pairs = list(zip(results, samples, strict=True))
    return np.array([error(*pair) for pair in pairs]), np.array([n_wrong(*pair) for pair in pairs])


def radius_by_hand(result, alpha, sigma):
    """(s sqrt(k) + sigma sqrt(n - m)) / sqrt(m - k)."""
    n, m = len(result.support), int(result.support.sum())
    k = np.floor(alpha * n * (1.0 + 1e-12))
    s = result.certificate.sigma_kept
    return (s * np.sqrt(k) + sigma * np.sqrt(n - m)) / np.sqrt(m - k) if m > k else np.inf
