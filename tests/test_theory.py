"""The theory against brute force over subsets, and against the theorems of the paper."""

from fractions import Fraction
from itertools import combinations
from math import ceil, inf, isclose, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from inlier import theory


def spread(points):
    """Square root of the largest eigenvalue of the covariance of points about their own mean."""
    return np.linalg.norm(points - points.mean(axis=0), 2) / sqrt(len(points))


def gap(first, second):
    return np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))


def subsets(points):
    for size in range(1, len(points) + 1):
        for rows in combinations(range(len(points)), size):
            yield points[list(rows)]


def awkward_points(seed, n, d):
    """Heavy-tailed points on a coarse grid, so that some of them coincide."""
    return np.round(np.random.default_rng(seed).standard_t(1.5, size=(n, d)))


def every_pair(points):
    sets = [(subset, spread(subset)) for subset in subsets(points)]
    for kept, kept_sigma in sets:
        for inliers, sigma in sets:
            yield kept, kept_sigma, inliers, sigma


@pytest.mark.parametrize(("seed", "n", "d"), [(0, 6, 1), (1, 6, 2), (2, 5, 3), (3, 6, 1)])
def test_error_radius_holds_for_every_pair_of_sets(seed, n, d):
    points = awkward_points(seed, n, d)
    finite = 0
    for kept, kept_sigma, inliers, sigma in every_pair(points):
        # The assumption may be exact (alpha is the fraction of outliers) or loose.
        alpha = (n - np.arange(1, len(inliers) + 1)) / n
        radius = theory.error_radius(kept_sigma, len(kept), n, alpha, sigma)
        assert np.all(gap(kept, inliers) <= radius * (1 + 1e-12) + 1e-12)
        finite += np.isfinite(radius).sum()
    assert finite > 500


def resilience(sigma, dropped):
    """How far the mean of a set can move when a fraction of it is dropped."""
    return sigma * sqrt(dropped / (1 - dropped))


def test_error_radius_is_the_worst_over_all_sizes_of_the_inliers_and_of_the_overlap():
    # The formula of resilience, maximised over all that is not known.
    n, kept_sigma, sigma = 12, 0.7, 1.3
    for n_kept in range(1, n + 1):
        for k in range(n_kept):
            worst = 0.0
            for n_inliers in range(n - k, n + 1):
                for overlap in range(n_kept + n_inliers - n, min(n_kept, n_inliers) + 1):
                    worst = max(
                        worst,
                        resilience(kept_sigma, 1 - overlap / n_kept)
                        + resilience(sigma, 1 - overlap / n_inliers),
                    )
            assert isclose(theory.error_radius(kept_sigma, n_kept, n, k / n, sigma), worst)


@pytest.mark.parametrize(
    ("n", "n_kept", "k"), [(10, 9, 1), (10, 8, 3), (11, 11, 5), (12, 7, 0), (100, 60, 45)]
)
def test_error_radius_is_attained(n, n_kept, k):
    overlap, a, b = n_kept - k, 2.0, 5.0
    both, only_kept, only_inliers = np.zeros(overlap), np.full(k, a), np.full(n - n_kept, -b)
    kept = np.concatenate([both, only_kept])[:, None]
    inliers = np.concatenate([both, only_inliers])[:, None]
    radius = theory.error_radius(spread(kept), n_kept, n, k / n, spread(inliers))
    assert isclose(radius, gap(kept, inliers))


def test_error_radius_counts_outliers_as_written():
    # 0.29 * 100 is stored as less than 29, (1 - 0.7) * 10 as more than 3.
    for n in (1, 7, 10, 100, 300, 1000):
        for percent in range(100):
            alpha = percent / 100
            k = n - ceil((1 - Fraction(percent, 100)) * n)
            radius = theory.error_radius(1.0, n, n, alpha, 1.0)
            assert isclose(radius, sqrt(k / (n - k)))


@given(st.integers(10, 2000), st.floats(0.001, 0.3333), st.floats(0, 1), st.floats(1.225, 20))
def test_error_radius_implies_theorem1(n, removable, share, c1):
    # The sets in the proof of Theorem 1: alpha' n rows at most are missing from either one, and
    # their second moments are at most c1^2 n and 3/2 n.
    n_kept = n - int(share * removable * n)
    radius = theory.error_radius(
        c1 * sqrt(n / n_kept), n_kept, n, removable, sqrt(1.5 / (1 - removable))
    )
    assert radius <= (4 + 3 * c1) * sqrt(removable)


@cases(
    ("call", "name", "found"),
    [
        (lambda: theory.error_radius(-1.0, 5, 10, 0.1, 1.0), "kept_sigma", "-1.0"),
        (lambda: theory.error_radius(1.0, 11, 10, 0.1, 1.0), "n_kept", "11"),
        (lambda: theory.error_radius(1.0, -1, 10, 0.1, 1.0), "n_kept", "-1"),
        (lambda: theory.error_radius(1.0, 5, 0, 0.1, 1.0), "n", "0"),
        (lambda: theory.error_radius(1.0, 5, 10, 1.1, 1.0), "alpha", "1.1"),
        (lambda: theory.error_radius(1.0, 5, 10, np.array([0.1, nan]), 1.0), "alpha", "nan"),
        (lambda: theory.error_radius(1.0, 5, 10, "much", 1.0), "alpha", "'much'"),
        (lambda: theory.error_radius(1.0, 5, 10, 0.1, inf), "sigma", "inf"),
        (lambda: theory.error_radius(1.0, 5, 10, 0.1, nan), "sigma", "nan"),
    ],
)
def test_invalid_arguments_are_named_with_what_was_found(call, name, found):
    with pytest.raises(ValueError, match=rf"^{name} must be .*, but is {found}\.$"):
        call()
