"""Rows that inflate the covariance, and the directions along which they do."""

import numpy as np
import pytest
from scipy import stats

from cases import cases
from covariances import clean, contaminated
from inlier import robust_mean
from inlier.covariance.directions import (
    LEAST,
    RATIO_VARIANCE,
    SKEWED,
    bulk_scales,
    distinct,
    heavy_beside,
    inflated_directions,
    length_axes,
    log_ratios,
    skewness,
    units,
)
from inlier.covariance.rows import good_rows, inflating_rows, products
from inlier.data import as_table


def whitened(X):
    """Rows as q x m, with covariance I."""
    R = X - X.mean(axis=0)
    L = np.linalg.cholesky(R.T @ R / len(R))
    return np.linalg.solve(L, R.T)


def spread(n, d, seed=0):
    """White rows of which a tenth vary ten times as much along a direction; and the direction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    u = units(rng.standard_normal((1, d)))[0]
    X[: n // 10] += 9.0 * np.outer(X[: n // 10] @ u, u)
    R = X - X.mean(axis=0)
    L = np.linalg.cholesky(R.T @ R / n)
    return np.linalg.solve(L, R.T), units((L.T @ u)[None])[0]


def test_ratios_of_gaussian_rows_have_their_standard_error():
    T = np.random.default_rng(0).standard_normal((4000, 1000))
    expected = stats.median_abs_deviation(T[:5], axis=1, scale="normal")
    np.testing.assert_allclose(bulk_scales(T[:5]), expected)
    ratios = log_ratios(T)
    np.testing.assert_allclose(np.var(ratios) * 1000, RATIO_VARIANCE, rtol=0.1)
    assert abs(np.mean(ratios)) < 0.005
    assert log_ratios(np.eye(2, 50)).tolist() == [0.0, 0.0]  # no bulk


def test_tails_of_student_t_are_mild_along_one_direction_and_heavy_along_all():
    tails = stats.t(5)
    scale = tails.ppf(0.75) / stats.norm.ppf(0.75)
    np.testing.assert_allclose(np.log(tails.var() / scale**2), 0.36, atol=0.005)
    assert 0.05 < 0.36 < LEAST  # `heavy_beside` has the first number


def test_skewness_is_that_of_a_coin_whatever_the_tails():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 500))
    for _ in range(2):
        assert 0.9 < np.sqrt(np.mean(skewness(X) ** 2)) < 1.4
        assert np.mean(skewness(X) > SKEWED) < 0.01
        X[:, :50] *= 20.0
    assert np.mean(skewness(rng.lognormal(size=(100, 300))) > SKEWED) > 0.95


@cases("d", [6, 30])
def test_direction_of_bad_rows_is_found_though_no_axis_shows_it(d):
    Z, u = spread(2000, d)
    found = inflated_directions(Z, [np.eye(d)])
    assert found.few
    assert len(found.directions) == 1
    assert abs(found.directions[0] @ u) > 0.95
    assert all(np.abs(axes @ u).max() > 0.9 for axes in length_axes(Z))


@cases("kind", ["Gaussian", "uniform"])
def test_nothing_is_inflated_in_clean_rows(kind):
    Z = whitened(clean(kind, 1000, 20, np.random.default_rng(0)))
    found = inflated_directions(Z, [np.eye(20)])
    assert found.few
    assert found.directions.shape == (0, 20)


@cases("kind", ["t5", "multivariate t5"])
def test_rows_with_heavy_tails_everywhere_have_no_few_inflated_directions(kind):
    Z = whitened(clean(kind, 2000, 20, np.random.default_rng(0)))
    assert not inflated_directions(Z, [np.eye(20)]).few


def test_skewed_bulk_is_not_inflated():
    X = np.random.default_rng(0).standard_normal((2000, 10))
    X[:, 0] = np.exp(X[:, 0])
    assert not len(inflated_directions(whitened(X), [np.eye(10)]).directions)


def test_heavy_tails_beside_a_direction():
    rng = np.random.default_rng(0)
    heavy, light = rng.standard_t(5, (8, 1000)), rng.standard_normal((8, 1000))
    first = np.eye(8)[:1]
    assert heavy_beside(heavy, first, np.eye(8))
    assert not heavy_beside(light, first, np.eye(8))
    light[0] = 10.0 * rng.standard_t(2, 1000)
    assert not heavy_beside(light, first, np.eye(8))
    assert heavy_beside(light, np.eye(8), np.eye(8))  # nothing is left


def test_distinct_directions_are_orthonormal_and_in_order():
    rng = np.random.default_rng(0)
    directions = units(rng.standard_normal((3, 6)))
    near = units(directions[:1] + 1e-3 * rng.standard_normal((1, 6)))
    basis = distinct(np.concatenate([directions[:1], near, directions[1:]]))
    assert basis.shape == (3, 6)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(basis[0], directions[0])
    assert len(distinct(np.eye(12))) == 8


def found(X, **given):
    n = len(X)
    return inflating_rows(as_table(X), np.ones(n, dtype=bool), X.mean(axis=0), **given)


def test_only_rows_of_the_support_are_found():
    sample = contaminated("pair", 800, 5, 0.2)
    support = np.arange(800) >= 40  # the first 40 of the bad rows left before
    mean = sample.X[support].mean(axis=0)
    inflating = inflating_rows(as_table(sample.X), support, mean)
    assert not inflating[:40].any()
    assert inflating[40:160].all()


def test_spread_in_every_direction_is_found_only_if_rows_are_known_to_be_gaussian():
    good_lost = []
    for seed in range(4):  # how many good rows are lost varies from draw to draw
        X = np.random.default_rng(seed).standard_normal((1000, 10))
        X[:200] *= 3.0
        assert not found(X).any()
        inflating = found(X, gaussian=True)
        assert np.mean(inflating[:200]) > 0.9
        good_lost.append(np.mean(inflating[200:]))
    assert np.mean(good_lost) < 0.02


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
