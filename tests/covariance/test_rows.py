"""Rows that inflate the covariance, against those that were put in."""

import numpy as np
import pytest

from cases import cases
from covariances import clean, contaminated, relative_error
from inlier import robust_mean
from inlier.covariance.rows import good_rows, inflating_rows, products
from inlier.data import as_table


def found(X, **given):
    n = len(X)
    return inflating_rows(as_table(X), np.ones(n, dtype=bool), X.mean(axis=0), **given)


@cases(("n", "d"), [(500, 5), (1000, 100)])
def test_symmetric_pair_of_clusters_is_found(n, d):
    sample = contaminated("pair", n, d, 0.2)
    inflating = found(sample.X)
    assert np.mean(inflating[sample.bad]) > 0.95
    assert np.mean(inflating[~sample.bad]) < 0.01


@cases(("n", "d"), [(500, 5), (2000, 20)])
def test_rows_left_of_a_wide_spread_do_no_harm(n, d):
    sample = contaminated("spread", n, d, 0.1)
    kept = ~found(sample.X)
    good = relative_error(np.cov(sample.X[~sample.bad].T), sample.covariance)
    assert relative_error(np.cov(sample.X.T), sample.covariance) > 8.0
    assert relative_error(np.cov(sample.X[kept].T), sample.covariance) < 1.3 * good


@cases("kind", ["Gaussian", "t5", "multivariate t5", "lognormal", "uniform"])
@cases(("n", "d"), [(300, 5), (400, 60)])
def test_clean_rows_stay(kind, n, d):
    assert not found(clean(kind, n, d, np.random.default_rng(3))).any()


def test_only_rows_of_the_support_are_found():
    sample = contaminated("pair", 800, 5, 0.2)
    support = np.arange(800) >= 40  # the first 40 of the bad rows left before
    mean = sample.X[support].mean(axis=0)
    inflating = inflating_rows(as_table(sample.X), support, mean)
    assert not inflating[:40].any()
    assert inflating[40:160].all()


def test_spread_in_every_direction_is_found_only_if_rows_are_known_to_be_gaussian():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 10))
    X[:200] *= 3.0
    assert not found(X).any()
    inflating = found(X, gaussian=True)
    assert np.mean(inflating[:200]) > 0.9
    assert np.mean(inflating[200:]) < 0.01


@cases(
    "X",
    [
        np.ones((70, 3)),
        np.zeros((6, 2)),
        np.eye(70),
        np.arange(80.0)[:, None],
        contaminated("pair", 59, 3, 0.2).X,  # too few rows
    ],
)
def test_tables_without_anything_to_see(X):
    assert not found(X).any()


@cases(("n", "d"), [(500, 5), (2000, 20)])
def test_a_heavy_tailed_column_among_gaussian_ones_is_no_contamination(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, 1] = rng.laplace(size=n)
    assert not found(X).any()
    assert found(X, gaussian=True).any()


def test_columns_that_repeat_each_other():
    sample = contaminated("pair", 500, 4, 0.1)
    X = np.concatenate([sample.X, sample.X[:, :2], np.ones((500, 1))], axis=1)
    inflating = found(X)
    assert np.mean(inflating[sample.bad]) > 0.95
    assert not inflating[~sample.bad].any()


def test_many_more_columns_than_rows():
    rng = np.random.default_rng(0)
    # Three strong components, one of them wide in a fifth of the rows, and noise.
    scores = rng.standard_normal((200, 3)) * [30.0, 20.0, 20.0]
    scores[:40, 2] = 160.0 * rng.choice([-1.0, 1.0], 40)
    X = scores @ np.linalg.qr(rng.standard_normal((3000, 3)))[0].T
    X += 0.1 * rng.standard_normal(X.shape)
    inflating = found(X, standardized=False)
    assert inflating[:40].all()
    assert np.mean(inflating[40:]) < 0.02


def test_extreme_rows_a_group_and_a_pair_are_removed():
    sample = contaminated("pair", 1000, 6, 0.1)
    X, bad = sample.X.copy(), sample.bad.copy()
    X[990:] += 1000.0
    X[900:950] += 12.0 * np.linalg.cholesky(sample.covariance)[:, 0]
    bad[900:950] = bad[990:] = True
    good = good_rows(as_table(X))
    assert np.mean(good.support[bad]) < 0.02
    assert np.mean(good.support[~bad]) > 0.99
    np.testing.assert_allclose(good.location, X[good.support].mean(axis=0), atol=1e-12)


def test_with_nothing_assumed_it_is_the_robust_mean():
    X = contaminated("pair", 500, 5, 0.1).X
    good, expected = good_rows(as_table(X), "nothing"), robust_mean(X, assume="nothing")
    np.testing.assert_array_equal(good.support, expected.support)
    np.testing.assert_allclose(good.location, expected.location)
    with pytest.raises(ValueError, match=r"assume must be one of 'auto', .* but is 'normal'"):
        good_rows(as_table(X), "normal")


def test_products_are_the_matrices_and_uncorrelated_with_variance_2():
    Z = np.random.default_rng(1).standard_normal((9, 400_000))
    Y, matrices = products(Z[:4, :30]), np.einsum("in,jn->nij", Z[:4, :30], Z[:4, :30])
    assert Y.shape == (30, 10)
    np.testing.assert_allclose(Y @ Y.T, np.einsum("nij,mij->nm", matrices, matrices))
    Y = products(Z[:3], np.sum(Z[3:] ** 2, axis=0), 6)
    np.testing.assert_allclose(np.cov(Y.T), 2.0 * np.eye(7), atol=0.06)
