"""What inner products say, against the vectors themselves."""

import numpy as np

from cases import cases
from inlier.federated.geometry import (
    about,
    distances_from,
    middle,
    sq_distances,
    weighted_median,
)

X = np.random.default_rng(0).standard_normal((7, 12))
A = np.random.default_rng(1).dirichlet(np.ones(7))


def test_distances():
    expected = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(sq_distances(X @ X.T), expected, atol=1e-12)


def test_products_about_a_point():
    Z = X - A @ X
    np.testing.assert_allclose(about(X @ X.T, A), Z @ Z.T, atol=1e-12)
    np.testing.assert_allclose(distances_from(X @ X.T, A), np.linalg.norm(Z, axis=1))


def test_middle_is_the_client_whose_majority_is_nearest():
    points = np.array([[0.0], [1.0], [2.0], [50.0], [51.0]])
    central, radius = middle((points - points.T) ** 2)
    assert (central, radius) == (1, 1.0)


@cases(
    ("x", "weights", "expected"),
    [
        ([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], 2.0),
        ([3.0, 1.0, 2.0, 4.0], [1.0] * 4, 3.0),
        ([3.0, 1.0, 2.0], [10.0, 1.0, 1.0], 3.0),
        ([5.0], [0.1], 5.0),
        ([1.0, 2.0], [0.0, 1.0], 2.0),
    ],
)
def test_weighted_median(x, weights, expected):
    assert weighted_median(np.array(x), np.array(weights)) == expected


def test_weighted_median_counts_repeats():
    random = np.random.default_rng(0)
    for _ in range(20):
        x, k = random.standard_normal(9), random.integers(1, 5, 9)
        repeated = np.sort(np.repeat(x, k))
        assert weighted_median(x, k / 7.0) == repeated[len(repeated) // 2]
