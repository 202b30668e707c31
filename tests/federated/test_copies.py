"""Copies are found, honest clients that resemble each other are none."""

import numpy as np

from cases import cases
from inlier.federated.copies import copy_groups
from inlier.federated.geometry import sq_distances

D = 500


def groups(X):
    G = X @ X.T
    return copy_groups(sq_distances(G), np.diag(G)).tolist()


def noise(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D))


@cases("n", [1, 2, 3, 4, 10, 50])
def test_honest_clients_are_no_copies(n):
    assert groups(noise(n)) == list(range(n))


@cases("jitter", [0.0, 1e-9, 0.1])
def test_copies(jitter):
    X = noise(10)
    X[[5, 7, 9]] = X[2] + jitter * noise(3, seed=1)
    assert groups(X) == [0, 1, 2, 3, 4, 2, 6, 2, 8, 2]


def test_two_groups_of_copies():
    X = noise(12)
    X[[1, 2]], X[[4, 5, 6]] = X[0], X[3]
    assert groups(X) == [0, 0, 0, 3, 3, 3, 3, 7, 8, 9, 10, 11]


def test_clients_with_little_left_to_learn_are_no_copies():
    X = noise(20) * np.geomspace(0.01, 1.0, 20)[:, None]
    assert groups(X) == list(range(20))


def test_where_nearly_all_agree_nobody_is_a_copy():
    X = np.zeros((10, D))
    X[9] = 1e6
    assert groups(X) == list(range(10))


def test_order_does_not_matter():
    X = noise(10)
    X[[5, 7, 9]] = X[2]
    order = np.random.default_rng(0).permutation(10)
    one, other = np.array(groups(X)), np.array(groups(X[order]))
    same = one[order][:, None] == one[order]
    assert ((other[:, None] == other) == same).all()
