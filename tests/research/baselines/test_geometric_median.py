"""The geometric median: optimality conditions, and the same by scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
from inlier.research.baselines.geometric_median import GeometricMedian
from reference import contaminated


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


@pytest.mark.parametrize("seed", [31, 114, 145, 175])
def test_geometric_median_of_rows_nearly_on_a_line(seed):
    # Between the two middle rows of an even number the sum of distances is nearly constant.
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 8)) * np.logspace(-8, 8, 8)
    found = geometric_median(as_table(X))
    assert found.converged and found.n_iter <= 200
    assert smallest_subgradient(X, found.location) <= 1e-7


def test_geometric_median_says_that_it_has_not_converged():
    X = contaminated()
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        result = GeometricMedian(max_iter=2).fit(X).result_
    assert not result.converged
