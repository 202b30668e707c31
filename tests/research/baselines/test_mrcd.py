"""MRCD against brute force, with more columns than rows, and in other units."""

from itertools import combinations

import numpy as np

from inlier.research.baselines.determinants import MinimumRegularizedCovarianceDeterminant as MRCD


def apart(n, d, n_bad, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:n_bad] += 6.0 / np.sqrt(d) + 2.0
    return rows


def test_it_finds_the_smallest_determinant_of_all_subsets():
    # Few rows in two columns: no covariance needs the target, so that this is the plain MCD.
    rows = apart(11, 2, 3)
    h = 8
    determinants = {
        subset: np.linalg.det(np.cov(rows[list(subset)].T))
        for subset in combinations(range(len(rows)), h)
    }
    best = min(determinants, key=determinants.__getitem__)
    found = MRCD(alpha=3 / 11).fit(rows)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), best)
    np.testing.assert_allclose(found.location_, rows[list(best)].mean(axis=0))


def test_more_columns_than_rows():
    rows = apart(60, 300, 12)
    found = MRCD(alpha=0.2).fit(rows)
    np.testing.assert_array_equal(found.support_, np.arange(60) >= 12)


def test_columns_that_do_not_vary():
    rows = np.hstack([apart(40, 3, 4), np.ones((40, 2))])
    assert not MRCD(alpha=0.1).fit(rows).support_[:4].any()
    assert MRCD(alpha=0.1).fit(np.ones((10, 3))).support_.all()
