"""Simple rivals, and those for few rows, against their definitions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import trim_mean
from sklearn.covariance import MinCovDet
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
from inlier.research.baselines import NormTrimmedMean, SampleMean
from inlier.research.baselines.determinants import MinimumCovarianceDeterminant
from inlier.research.baselines.few_rows import CenteredClipping, Krum, MultiKrum
from inlier.research.baselines.simple import (
    CoordinateMedian,
    GeometricMedian,
    LeeValiant,
    MedianOfMeans,
    TrimmedMean,
)
from reference import contaminated
from rivals import krum_by_hand, told


def test_sample_mean():
    X = contaminated()
    result = SampleMean().fit(X).result_
    np.testing.assert_allclose(result.location, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(result.scores, np.linalg.norm(X - X.mean(axis=0), axis=1))
    assert result.support.all()


@pytest.mark.parametrize("n", [9, 10])
def test_coordinate_median(n):
    X = np.random.default_rng(n).standard_normal((n, 5))
    result = CoordinateMedian().fit(X).result_
    np.testing.assert_array_equal(result.location, np.median(X, axis=0))
    np.testing.assert_allclose(result.scores, np.linalg.norm(X - result.location, axis=1))
    assert result.support.all()


@cases("alpha", [0.0, 0.1, 0.3, 0.45])
@cases(("n", "d"), [(40, 3), (20, 50)])
def test_trimmed_mean(alpha, n, d):
    X = np.random.default_rng(0).standard_t(2, (n, d)) + 5.0
    expected = trim_mean(X, alpha, axis=0)
    np.testing.assert_allclose(TrimmedMean(alpha=alpha).fit(X).location_, expected, atol=1e-12)


@cases("alpha", [0.0, 0.1, 0.45])
@cases("shape", [(60, 4), (20, 50)])
def test_norm_trimmed_mean(shape, alpha):
    X = contaminated(*shape, n_bad=2, far=3.0)
    n_kept = len(X) - round(alpha * len(X))
    nearest = np.argsort(np.linalg.norm(X - np.median(X, axis=0), axis=1))[:n_kept]
    found = NormTrimmedMean(alpha=alpha).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.sort(nearest))
    np.testing.assert_allclose(found.location_, X[nearest].mean(axis=0), atol=1e-12)


@cases("alpha", [0.1, 0.3])
def test_lee_and_valiant(alpha):
    X = contaminated(60, 4, n_bad=2, far=3.0)
    found = LeeValiant(alpha=alpha).fit(X)
    nearest = np.argsort(found.result_.scores)[: len(X) - round(alpha * len(X))]
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.sort(nearest))
    np.testing.assert_allclose(found.location_, X[nearest].mean(axis=0), atol=1e-10)
    # The scores are distances from one point, and that is near the middle of the rows.
    A = np.hstack([-2.0 * X, np.ones((60, 1))])
    center = np.linalg.lstsq(A, found.result_.scores**2 - (X**2).sum(axis=1))[0][:4]
    np.testing.assert_allclose(found.result_.scores, np.linalg.norm(X - center, axis=1), rtol=1e-9)
    assert np.linalg.norm(center - X[2:].mean(axis=0)) < 1.0


def test_with_a_row_in_each_block_the_median_of_means_is_that_of_the_rows():
    X = contaminated(10, 3, n_bad=1, far=3.0)
    by_means, by_rows = (method(alpha=0.2).fit(X) for method in (LeeValiant, NormTrimmedMean))
    np.testing.assert_array_equal(by_means.support_, by_rows.support_)
    np.testing.assert_allclose(by_means.result_.scores, by_rows.result_.scores)


def smallest_subgradient(X, x):
    """Norm of the smallest subgradient of the mean distance from x."""
    away = X - x
    lengths = np.linalg.norm(away, axis=1)
    here = lengths <= 1e-10 * np.median(lengths)
    pull = np.linalg.norm((away[~here] / lengths[~here, None]).sum(axis=0))
    return max(0.0, pull - here.sum()) / len(X)


@cases(("n", "d"), [(5, 2), (12, 3), (60, 4), (200, 30), (10, 40)])
@cases("kind", ["normal", "cauchy", "clusters"])
def test_geometric_median(n, d, kind):
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((n, d)) if kind != "cauchy" else rng.standard_cauchy((n, d))
    if kind == "clusters":
        X[: n // 3] += 30.0
    found = GeometricMedian().fit(X)
    assert found.result_.converged
    assert smallest_subgradient(X, found.location_) <= 1.1e-8

    def mean_distance(x):
        away = X - x
        lengths = np.linalg.norm(away, axis=1)
        return lengths.mean(), -(away / lengths[:, None]).mean(axis=0)

    start = X.mean(axis=0)
    best = minimize(mean_distance, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    assert mean_distance(found.location_)[0] <= best.fun * (1.0 + 1e-12)
    np.testing.assert_allclose(found.location_, best.x, atol=1e-3)


@pytest.mark.parametrize("pull", [0.5, 0.999, 1.0, 1.0 + 1e-6, 1.0001, 1.01, 1.3])
def test_geometric_median_at_a_row_or_nearly(pull):
    # The other two rows pull at the first with this force: up to 1 it stays. Weiszfeld's own
    # iteration takes thousands of steps here.
    angle = np.arccos(pull / 2.0)
    X = np.array([[0, 0], [np.cos(angle), np.sin(angle)], [np.cos(angle), -np.sin(angle)]])
    found = geometric_median(as_table(X))
    assert found.converged and found.n_iter <= 100
    assert smallest_subgradient(X, found.location) <= 1e-8
    np.testing.assert_allclose(found.distances, np.linalg.norm(X - found.location, axis=1))
    if pull <= 1.0:
        np.testing.assert_allclose(found.location, X[0], atol=1e-8)


@cases("seed", range(200))
def test_geometric_median_of_few_rows_with_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (rng.integers(2, 12), rng.integers(1, 5))).astype(float)
    found = GeometricMedian().fit(X)
    assert found.result_.converged
    assert smallest_subgradient(X, found.location_) <= 1e-7


def test_geometric_median_says_that_it_has_not_converged():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="above 1e-08"):
        result = told(GeometricMedian, max_iter=2).fit(X).result_
    assert not result.converged


def test_median_of_means_of_as_many_blocks_as_rows_is_the_median_of_the_rows():
    X = contaminated()
    found = MedianOfMeans(alpha=0.45).fit(X)
    assert "60 blocks" in found.result_.message
    np.testing.assert_allclose(found.location_, GeometricMedian().fit(X).location_, atol=1e-6)


MCD = MinimumCovarianceDeterminant


def test_minimum_covariance_determinant():
    X = contaminated(200, 4, 30, far=8.0)
    found = MCD().fit(X)
    fits = [MinCovDet(random_state=s).fit(X) for s in range(10)]
    # Its answer depends on the random starts; on data this clear, hardly.
    best = min(fits, key=lambda fit: np.linalg.norm(fit.location_ - found.location_))
    np.testing.assert_allclose(found.location_, best.location_, atol=1e-6)
    np.testing.assert_array_equal(found.support_, best.support_)
    np.testing.assert_allclose(found.result_.scores**2, best.dist_, rtol=1e-5)
    assert not found.support_[:30].any()


def test_minimum_covariance_determinant_needs_rows():
    with pytest.raises(ValueError, match=r"more than 2 d = 80 rows .* but X has 80"):
        MCD().fit(np.random.default_rng(0).standard_normal((80, 40)))


@cases("n_bad", [0, 1, 3, 8])
@cases("d", [2, 40])
def test_krum(n_bad, d):
    X = contaminated(20, d, n_bad, far=2.0) + 100.0
    expected = krum_by_hand(X, n_bad)
    krum = Krum(alpha=n_bad / 20).fit(X)
    np.testing.assert_allclose(krum.result_.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(krum.location_, X[np.argmin(expected)])
    multi = MultiKrum(alpha=n_bad / 20).fit(X)
    best = np.argsort(expected)
    np.testing.assert_allclose(multi.location_, X[best[: 20 - n_bad]].mean(axis=0))


@cases("shape", [(60, 4), (15, 40)])
def test_centered_clipping_stands_still(shape):
    X = contaminated(*shape, n_bad=4)
    result = CenteredClipping().fit(X).result_
    assert result.converged
    away = X - result.location
    lengths = np.linalg.norm(away, axis=1)
    factors = np.minimum(1.0, np.median(lengths) / lengths)
    assert np.linalg.norm((factors[:, None] * away).mean(axis=0)) <= 2e-8 * np.median(lengths)
    np.testing.assert_allclose(result.weights * factors.max(), factors, atol=1e-9)


def test_centered_clipping_is_the_published_step():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="Still moving after 1 steps"):
        found = told(CenteredClipping, max_iter=1).fit(X)
    v = np.median(X, axis=0)
    away = X - v
    lengths = np.linalg.norm(away, axis=1)[:, None]
    radius = np.median(lengths)
    expected = v + np.where(lengths > radius, away * radius / lengths, away).mean(axis=0)
    np.testing.assert_allclose(found.location_, expected, atol=1e-12)
