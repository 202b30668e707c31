"""Directions along which few rows inflate the variance, against those that were put in."""

import numpy as np
from scipy import stats

from cases import cases
from covariances import clean
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
