"""The split test against brute force, and its level against draws."""

from itertools import combinations

import numpy as np

from cases import cases
from inlier.federated.judging import _correlations
from inlier.federated.split import best_cut, critical_share, group_apart


def between(u, members):
    """The share of the variance between members and the others."""
    u = u - u.mean()
    inside, outside = u[members], u[~members]
    return (len(inside) * inside.mean() ** 2 + len(outside) * outside.mean() ** 2) / (u @ u)


@cases("seed", range(10))
def test_best_cut_is_the_best_of_all_groups(seed):
    u = np.random.default_rng(seed).standard_normal(7)
    share, members = best_cut(u)
    assert abs(between(u, members) - share) < 1e-12
    every = []
    for k in range(1, 7):
        for group in combinations(range(7), k):
            mask = np.zeros(7, dtype=bool)
            mask[list(group)] = True
            every.append(between(u, mask))
    assert abs(max(every) - share) < 1e-12
    assert 2 * members.sum() <= 7


def test_best_cut_of_a_constant():
    assert best_cut(np.ones(5))[0] == 0.0


@cases("n", [7, 9, 20, 70])
def test_level(n):
    random = np.random.default_rng(n)
    draws = [best_cut(random.standard_normal(n))[0] for _ in range(6_000)]
    above = np.mean(np.array(draws) > critical_share(n))
    assert 0.0002 < above < 0.003


def correlations(X):
    return _correlations(X @ X.T, np.ones(len(X)))


@cases("k", [3, 4, 7, 9])
def test_a_group_is_found(k):
    random = np.random.default_rng(k)
    X = random.standard_normal((20, 400))
    X[:k] += 1.5 * random.standard_normal(400)
    apart = group_apart(correlations(X))
    assert apart is not None and np.flatnonzero(apart.members).tolist() == list(range(k))
    assert apart.share > 0.9


@cases("n", [2, 5, 7, 10, 20, 100])
@cases("tails", [False, True])
def test_noise_has_no_group(n, tails):
    random = np.random.default_rng(n)
    for _ in range(30):
        X = random.standard_normal((n, 200))
        if tails:  # elliptical: whole updates are long or short
            X *= random.standard_t(2, (n, 1))
        assert group_apart(correlations(X)) is None


def test_one_alone_is_no_group():
    X = np.random.default_rng(0).standard_normal((20, 400))
    X[3] += 5.0
    assert group_apart(correlations(X)) is None


def test_several_kinds_of_clients_are_no_group():
    random = np.random.default_rng(0)
    kinds = 3.0 * random.standard_normal((5, 400))
    X = random.standard_normal((20, 400)) + kinds[np.arange(20) % 5]
    assert group_apart(correlations(X)) is None
