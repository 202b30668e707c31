"""The geometric median against direct minimisation, and where it is a row."""

import numpy as np
import pytest
from scipy.optimize import minimize

from inlier.data import as_table
from inlier.linalg.centers import geometric_median


def sum_of_distances(X):
    return lambda x: np.linalg.norm(X - x, axis=1).sum()


@pytest.mark.parametrize(("n", "d"), [(5, 2), (30, 3), (101, 8)])
def test_geometric_median_minimises_the_sum_of_distances(n, d):
    X = np.random.default_rng([n, d]).standard_normal((n, d)) * np.arange(1, d + 1) + 100.0
    X[: n // 3] += 50.0
    found = geometric_median(as_table(X)).location
    best = minimize(
        sum_of_distances(X),
        X.mean(axis=0),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-10, "maxiter": 20000, "maxfev": 20000},
    )
    assert sum_of_distances(X)(found) <= best.fun * (1.0 + 1e-8)
    if d <= 3:  # where Nelder and Mead find the place as well
        np.testing.assert_allclose(found, best.x, atol=1e-4)


def test_geometric_median_of_rows_on_a_line_is_their_median():
    along = np.array([-3.0, -1.0, 0.5, 2.0, 40.0])
    direction = np.array([3.0, -4.0]) / 5.0
    X = np.array([7.0, 1.0]) + along[:, None] * direction
    np.testing.assert_allclose(
        geometric_median(as_table(X)).location, np.array([7.0, 1.0]) + 0.5 * direction, atol=1e-6
    )


@pytest.mark.parametrize("copies", [1, 4])
def test_geometric_median_at_a_row(copies):
    """The center of a square and its corners: Weiszfeld's own iteration divides by zero there."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    X = np.vstack([corners, np.zeros((copies, 2))])
    np.testing.assert_allclose(geometric_median(as_table(X)).location, np.zeros(2), atol=1e-9)


def test_geometric_median_where_it_starts_at_a_row_that_is_not_it():
    # The coordinate-wise median is the first row; the sum of distances is smaller elsewhere.
    X = np.array([[0.0, 0.0], [-1.0, 9.0], [9.0, -1.0], [9.0, 9.0], [-1.0, -1.0]])
    assert np.array_equal(np.median(X, axis=0), X[0])
    found = geometric_median(as_table(X)).location
    grid = np.linspace(-1.0, 9.0, 201)
    lowest = min(sum_of_distances(X)(np.array([a, b])) for a in grid for b in grid)
    assert sum_of_distances(X)(found) <= lowest + 1e-9


def test_geometric_median_of_identical_rows():
    X = np.full((4, 3), 2.5)
    np.testing.assert_array_equal(geometric_median(as_table(X)).location, X[0])
