"""Moments of rows with missing cells: closed forms, the likelihood, and the truth."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier import RobustCovariance, RobustPCA
from inlier.covariance.missing import moments_of

FACTOR = np.random.default_rng(7).standard_normal((4, 4))


def rows(n=600, share=0.15, seed=0):
    """Correlated rows, the same with missing cells, and which cells are."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ FACTOR * [1.0, 10.0, 100.0, 0.1] + 50.0
    gone = rng.random(X.shape) < share
    gone[gone.all(axis=1), 0] = False
    return X, np.where(gone, np.nan, X), gone


def test_one_column_that_is_missing_in_some_rows_has_a_closed_form():
    # Anderson (1957): the regression of the second column on the first, in the complete rows.
    X, _, _ = rows()
    X = X[:, :2]
    gone = np.zeros(X.shape, dtype=bool)
    gone[200:, 1] = True
    slope, intercept = np.polyfit(X[:200, 0], X[:200, 1], 1)
    left = np.var(X[:200, 1] - intercept - slope * X[:200, 0])
    found = moments_of(np.where(gone, np.nan, X), gone)
    variance = np.var(X[:, 0])
    mean = [X[:, 0].mean(), intercept + slope * X[:, 0].mean()]
    np.testing.assert_allclose(found.mean, mean, rtol=1e-5)
    expected = [[variance, slope * variance], [slope * variance, slope**2 * variance + left]]
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-3)


def test_no_other_moments_are_more_likely():
    _, X, gone = rows()
    found = moments_of(X, gone)

    def likelihood(mean, covariance):
        return sum(
            multivariate_normal(mean[~own], covariance[np.ix_(~own, ~own)]).logpdf(x[~own])
            for x, own in zip(X, gone, strict=True)
        )

    best, rng = likelihood(*found), np.random.default_rng(0)
    unit = np.sqrt(np.diag(found.covariance))
    for _ in range(8):
        move = 0.02 * rng.standard_normal((4, 4))
        other = (
            (np.eye(4) + move) @ (found.covariance / unit / unit[:, None]) @ (np.eye(4) + move.T)
        )
        assert likelihood(found.mean, other * unit * unit[:, None]) < best
        assert (
            likelihood(found.mean + 0.05 * unit * rng.standard_normal(4), found.covariance) < best
        )


def test_without_missing_cells_they_are_the_plain_moments():
    X, _, _ = rows()
    found = moments_of(X, np.zeros(X.shape, dtype=bool))
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True))
    np.testing.assert_allclose(found.mean, X.mean(axis=0))


def test_bad_rows_and_missing_cells():
    X, gappy, _ = rows(1000)
    X[:50] += 40.0 * X.std(axis=0)
    gappy = np.where(np.isnan(gappy), np.nan, X)
    model, good = RobustCovariance().fit(gappy), EmpiricalCovariance().fit(X[50:])
    assert not model.support_[:50].any() and model.support_[50:].all()
    unit = np.sqrt(np.diag(good.covariance_))
    off = (model.covariance_ - good.covariance_) / np.outer(unit, unit)
    assert np.abs(off).max() < 0.1  # 1,000 rows determine it to 0.05
    # The distance of the cells that there are, in their own covariance.
    i = 100 + int(np.argmax(np.isnan(gappy[100:]).any(axis=1)))
    own = ~np.isnan(gappy[i])
    offset = gappy[i, own] - model.location_[own]
    expected = offset @ np.linalg.solve(model.covariance_[np.ix_(own, own)], offset)
    assert model.dist_[i] == pytest.approx(expected, rel=1e-6)
    assert model.mahalanobis(gappy)[i] == pytest.approx(expected, rel=1e-6)
    pca = RobustPCA(n_components=2).fit(gappy)
    values, vectors = np.linalg.eigh(model.covariance_)
    m = model.support_.sum()
    np.testing.assert_allclose(pca.explained_variance_, values[::-1][:2] * m / (m - 1), rtol=1e-6)
    assert np.abs(np.sum(pca.components_ * vectors.T[::-1][:2], axis=1)) == pytest.approx(1.0)
    np.testing.assert_allclose(pca.mean_, model.location_)


@cases("n_components", [1, 3])
def test_components_along_which_a_row_with_missing_cells_lies(n_components):
    X, gappy, gone = rows(share=0.05)
    pca = RobustPCA(n_components).fit(X)
    plain = PCA(n_components, svd_solver="full").fit(X)
    found, complete = pca.transform(gappy), ~gone.any(axis=1)
    np.testing.assert_allclose(np.abs(found), np.abs(pca.transform(gappy)))
    np.testing.assert_allclose(found[complete], plain.transform(X)[complete])
    # The conditional mean of the missing cells, by the model of probabilistic PCA.
    C, i = plain.get_covariance(), int(np.argmax(gone.any(axis=1)))
    own, x = ~gone[i], X[i] - plain.mean_
    x[~own] = C[np.ix_(~own, own)] @ np.linalg.solve(C[np.ix_(own, own)], x[own])
    np.testing.assert_allclose(found[i], x @ plain.components_.T, rtol=1e-5)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 150)) * 5.0
    X += rng.standard_normal(X.shape)
    X[rng.random(X.shape) < 0.01] = np.nan
    pca = RobustPCA(n_components=3).fit(X)
    assert pca.explained_variance_ratio_.sum() > 0.9 and np.isfinite(pca.transform(X)).all()


def test_what_is_not_determined_is_told(monkeypatch):
    _, X, gone = rows(40)
    monkeypatch.setattr("inlier.covariance.missing.MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="still changed by .* after 2 steps"):
        moments_of(X, gone)
    gone[:, 2] = True
    with pytest.raises(ValueError, match=r"No row that was kept has a value in column 2 of X"):
        moments_of(np.where(gone, np.nan, X), gone)
