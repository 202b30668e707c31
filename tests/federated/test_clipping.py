"""The clipped mean against its definition, computed from the vectors."""

import numpy as np

from cases import cases
from inlier.federated.clipping import RADIUS, clipped_mean


def noise(n=9, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 40)) + 3.0


def shares(X, v, w):
    """The definition: how much of each clipped difference there is."""
    lengths = np.linalg.norm(X - v, axis=1)
    order = np.argsort(lengths)
    below = np.cumsum(w[order])
    median = lengths[order][np.searchsorted(below, below[-1] / 2 + 1e-9)]
    return w * np.minimum(1.0, RADIUS * median / lengths)


@cases("far", [1.0, 3.0, 15.0])
@cases("weighted", [False, True])
def test_fixed_point(far, weighted):
    X = noise()
    X[:3] *= far
    w = np.random.default_rng(1).uniform(0.5, 1.5, 9) if weighted else np.ones(9)
    a = clipped_mean(X @ X.T, w)
    v = a @ X
    step = shares(X, v, w / w.sum()) @ (X - v)
    assert np.linalg.norm(step) < 1e-7 * np.linalg.norm(v)
    assert (a >= 0.0).all() and abs(a.sum() - 1.0) < 1e-12


def test_lengths_within_the_bound_leave_the_weighted_mean():
    X, w = noise(), np.arange(1.0, 10.0)
    np.testing.assert_allclose(clipped_mean(X @ X.T, w), w / w.sum(), atol=1e-9)


def test_who_does_not_count_has_no_weight():
    X, w = noise(), np.ones(9)
    w[4] = 0.0
    a = clipped_mean(X @ X.T, w)
    assert a[4] == 0.0
    np.testing.assert_allclose(np.delete(a, 4), np.full(8, 1 / 8), atol=1e-9)


@cases("size", [1e1, 1e3, 1e6])
def test_influence_is_bounded(size):
    X = noise(20)
    honest = X[1:].mean(axis=0)
    X[0] = size * np.ones(40)
    moved = clipped_mean(X @ X.T, np.ones(20)) @ X - honest
    lengths = np.linalg.norm(X[1:] - honest, axis=1)
    assert np.linalg.norm(moved) < 2.0 * RADIUS * np.median(lengths) / 19


@cases("n", [1, 2, 3])
def test_few(n):
    X = noise(n)
    np.testing.assert_allclose(clipped_mean(X @ X.T, np.ones(n)).sum(), 1.0)


def test_equal_updates():
    G = np.ones((5, 5))
    np.testing.assert_allclose(clipped_mean(G, np.ones(5)), np.full(5, 0.2))
