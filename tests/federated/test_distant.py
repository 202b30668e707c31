"""Gross clients are set aside whatever their number below half, and nobody else is."""

import numpy as np

from cases import cases
from inlier.federated.copies import copy_groups
from inlier.federated.distant import distant
from inlier.federated.geometry import sq_distances


def found(X):
    G = X @ X.T
    D = sq_distances(G)
    far, _ = distant(D, np.diag(G), copy_groups(D, np.diag(G)))
    return np.flatnonzero(far).tolist()


def noise(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 300))


@cases("n", [3, 4, 5, 10, 20, 100])
@cases("size", [1e2, 1e4, 1e6])
def test_one_gross_client(n, size):
    X = noise(n)
    X[1] *= size
    assert found(X) == [1]


@cases("n", [5, 10, 20, 51])
@cases("alike", [False, True])
def test_just_under_half(n, alike):
    X = noise(n)
    k = (n - 1) // 2
    X[:k] = 1e3 * (X[0] if alike else X[:k])
    assert found(X) == list(range(k))


@cases("n", [1, 2, 3, 4, 10, 100])
def test_honest_clients_stay(n):
    assert found(noise(n)) == []
    assert found(noise(n) * np.random.default_rng(1).uniform(0.2, 5.0, (n, 1))) == []


def test_equal_clients_stay():
    assert found(np.ones((6, 4))) == []


def test_one_against_all_that_agree():
    X = np.zeros((6, 4))
    X[2] = 1.0
    assert found(X) == [2]


def test_idle_clients_do_not_make_the_others_gross():
    X = noise(10)
    X[:6] = 0.0
    assert found(X) == []
    X[9] *= 1e3
    assert found(X) == [9]
