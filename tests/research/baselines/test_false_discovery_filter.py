"""The false discovery filter against the same steps by hand."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import FalseDiscoveryFilter
from rivals import shapes

# -- filters that know less -----------------------------------------------------------------------


def benjamini_hochberg(p_values, rate):
    """Which are rejected, straight from the step-up definition."""
    order = np.argsort(p_values)
    n = len(p_values)
    below = [k for k in range(1, n + 1) if p_values[order[k - 1]] <= k * rate / n]
    rejected = np.zeros(n, dtype=bool)
    rejected[order[: max(below, default=0)]] = True
    return rejected


def false_discovery_filter_by_hand(X, rate):
    kept = np.arange(len(X))
    while True:
        away = X[kept] - X[kept].mean(axis=0)
        seen = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        T = (seen - np.median(seen)) / median_abs_deviation(seen, scale="normal")
        rejected = benjamini_hochberg(np.minimum(1.0, 8.0 * np.exp(-(T**2) / 2.0)), rate)
        if not rejected.any():
            return kept
        kept = kept[~rejected]


@cases("seed", range(8))
def test_false_discovery_filter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 1 + seed % 4)) * 7.0 + 100.0
    X[: rng.integers(0, 40)] += rng.uniform(20.0, 60.0)
    found = FalseDiscoveryFilter(fdr=0.1 + 0.1 * (seed % 2)).fit(X)
    expected = false_discovery_filter_by_hand(X, found.fdr)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), expected)


@shapes([(2000, 50), (500, 300), (500, 1), (50, 100)])
def test_false_discovery_filter_leaves_clean_rows_alone(shape):
    rng = np.random.default_rng(4)
    removed = [
        (~FalseDiscoveryFilter().fit(rng.standard_normal(shape)).support_).sum() for _ in range(5)
    ]
    assert max(removed) <= 3


@cases("seed", range(3))
def test_false_discovery_filter_bears_heavy_tails(seed):
    # The authors' code has an error of 9.7 on such rows; the sample mean's is sqrt(3 d / n) = .39.
    X = np.random.default_rng(seed).standard_t(3, (2000, 100))
    found = FalseDiscoveryFilter().fit(X)
    assert np.linalg.norm(found.location_) <= 0.45


# -- where the authors' code fails ----------------------------------------------------------------


def test_false_discovery_filter_says_that_tails_are_too_heavy():
    X = np.random.default_rng(0).standard_t(1.1, (200, 20))
    with pytest.warns(ConvergenceWarning, match=r"none is rejected.* Lower fdr"):
        FalseDiscoveryFilter().fit(X)
