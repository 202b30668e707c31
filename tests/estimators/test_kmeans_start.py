"""First centers: not on rows that are alone, and k-medians as brute force would do them."""

import numpy as np
from scipy.spatial.distance import cdist

from inlier.estimators.kmeans_start import best_start, by_medians, cost, first_centers, nearest

CENTERS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def clusters(seed=0, n=60, n_bad=12):
    rng = np.random.default_rng(seed)
    X = np.repeat(CENTERS, n, axis=0) + rng.standard_normal((3 * n, 2))
    X[rng.choice(3 * n, n_bad, replace=False)] = rng.uniform(-200.0, 200.0, (n_bad, 2))
    return X


def test_nearest():
    X = clusters()
    np.testing.assert_array_equal(nearest(X, CENTERS), cdist(X, CENTERS).argmin(axis=1))


def test_rows_that_are_alone_are_rarely_drawn():
    random = np.random.RandomState(0)
    drawn = np.concatenate(first_centers(clusters(), 3, 20, random))
    assert (np.abs(drawn) < 15.0).all(axis=1).mean() > 0.9


def test_equal_rows_can_be_drawn_from():
    drawn = first_centers(np.zeros((30, 2)), 2, 3, np.random.RandomState(0))
    assert np.shape(drawn) == (3, 2, 2) and not np.any(drawn)


def test_starts_of_many_rows_are_drawn_from_a_sample():
    X = clusters(n=1500)
    for start in first_centers(X, 3, 3, np.random.RandomState(1)):
        assert (cdist(start, X).min(axis=1) == 0.0).all()
    found = best_start(X, 3, 3, np.random.RandomState(1))
    assert cdist(CENTERS, found).min(axis=1).max() < 0.3


def test_medians_and_their_cost():
    X = clusters()
    found = by_medians(X, CENTERS + 1.0)
    labels = cdist(X, found).argmin(axis=1)
    for j in range(3):
        np.testing.assert_allclose(found[j], np.median(X[labels == j], axis=0))
    least = cdist(X, found).min(axis=1) ** 2
    own = [np.median(least[labels == j]) * np.sum(labels == j) for j in range(3)]
    np.testing.assert_allclose(cost(X, found), np.sum(own))
    # A center without rows stays where it is.
    far = np.array([[0.0, 0.0], [1e6, 1e6]])
    np.testing.assert_array_equal(by_medians(X[np.abs(X).max(axis=1) < 15.0], far)[1], far[1])


def test_the_best_start_is_near_the_centers():
    for seed in range(5):
        found = best_start(clusters(seed), 3, 10, np.random.RandomState(0))
        assert cdist(CENTERS, found).min(axis=1).max() < 1.0
