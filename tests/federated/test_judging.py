"""Who counts, from inner products; and the record against sums over rounds."""

import pickle
from itertools import combinations

import numpy as np

from cases import cases
from inlier.federated import record as module
from inlier.federated.judging import (
    CUTS,
    RADIUS,
    SIZES,
    best_cut,
    clipped_mean,
    correlations,
    group_apart,
    judge,
    sq_distances,
    voices,
    weighted_median,
)
from inlier.federated.record import DECAY, Record


def noise(n, d=400, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def judged(X, counts=None, record=None):
    counts = np.ones(len(X)) if counts is None else np.asarray(counts, dtype=float)
    return judge(X @ X.T, counts, list(range(len(X))), record)


# -- All of it ------------------------------------------------------------------------------------


@cases("k", [4, 6, 9, 10])
def test_a_group_apart_of_twenty(k):
    X = noise(20)
    X[:k] += 1.5 * noise(1, seed=1)
    found, group = judged(X), list(range(k))
    assert found.suspects == (group if k == 4 else []) and found.halved == (k == 10)
    assert list(found.reasons) == (group if k in (6, 9) else [])
    if found.reasons:
        assert f"{k - 1} others" in found.reasons[0]
        others = np.full(20 - k, 1 / (20 - k))
        np.testing.assert_allclose(found.coefficients[k:], others, atol=1e-6)
    else:
        assert found.coefficients[:k].min() > 0.0


def test_two_groups_apart():
    X = noise(21)
    X[:6] += 3.0 * noise(1, seed=1)
    X[6:9] += 2.0 * noise(1, seed=2)
    assert list(judged(X).reasons) == list(range(6))


def test_an_honest_past_fades():
    record = Record()
    for t in range(60):
        X = noise(20, seed=t)
        if t >= 30:
            X[:8] += 1.5 * noise(1, seed=99)
        found = judged(X, record=record)
    assert list(found.reasons) == list(range(8))


def test_scores_are_distances_in_medians_from_any_origin():
    X = noise(9)
    X[4] *= 8.0
    found, moved = judged(X), judged(X + 100.0)
    lengths = np.linalg.norm(X - found.coefficients @ X, axis=1)
    np.testing.assert_allclose(found.scores, lengths / np.median(lengths), rtol=1e-8)
    np.testing.assert_allclose(moved.coefficients, found.coefficients, atol=1e-8)
    np.testing.assert_allclose(moved.scores, found.scores, rtol=1e-6)


# -- Copies ---------------------------------------------------------------------------------------


def groups(X):
    G = X @ X.T
    return voices(sq_distances(G), np.diag(G), spare=1).tolist()


@cases("n", [1, 2, 3, 4, 10, 50])
def test_honest_clients_are_no_copies(n):
    assert groups(noise(n)) == list(range(n))
    if n > 4:
        assert groups(noise(n) * np.geomspace(0.01, 1.0, n)[:, None]) == list(range(n))


@cases("jitter", [0.0, 1e-9, 0.1])
def test_copies_are_found_in_any_order(jitter):
    X = noise(12)
    X[[5, 7, 9]] = X[2] + jitter * noise(3, seed=1)
    X[11] = X[10]
    expected = [0, 1, 2, 3, 4, 2, 6, 2, 8, 2, 10, 10]
    assert groups(X) == expected
    order = np.random.default_rng(0).permutation(12)
    one, other = np.array(expected)[order], np.array(groups(X[order]))
    np.testing.assert_array_equal(other[:, None] == other, one[:, None] == one)


@cases(("k", "one"), [(10, True), (11, True), (12, False)])
def test_a_majority_that_nearly_agrees_is_not_one_voice(k, one):
    X = noise(21)
    X[:k] = X[0] + 1e-2 * noise(k, seed=1)
    assert (groups(X)[1] == 0) == one
    X[:k] = 0.0  # as idle clients send
    assert groups(X)[k - 1] == 0


# -- Groups ---------------------------------------------------------------------------------------


def between(u, members):
    """The fraction of the variance between members and the others."""
    u = u - u.mean()
    inside, outside = u[members], u[~members]
    return (len(inside) * inside.mean() ** 2 + len(outside) * outside.mean() ** 2) / (u @ u)


@cases("seed", range(10))
def test_best_cut_is_the_best_of_all_groups(seed):
    u = np.random.default_rng(seed).standard_normal(7)
    fraction, members = best_cut(u)
    every = [
        between(u, np.isin(np.arange(7), group))
        for k in range(1, 7)
        for group in combinations(range(7), k)
    ]
    np.testing.assert_allclose([between(u, members), max(every)], fraction)
    assert 2 * members.sum() <= 7
    assert best_cut(np.ones(5))[0] == 0.0


@cases(("n", "chance"), list(zip(SIZES, CUTS, strict=True))[:8])
def test_level_of_the_cut(n, chance):
    random = np.random.default_rng(n)
    draws = [best_cut(random.standard_normal(n))[0] for _ in range(3_000)]
    assert np.mean(np.array(draws) > chance) < 0.003
    assert np.mean(np.array(draws) > chance - 0.01) > 0.0003


def apart(X):
    return group_apart(correlations(X @ X.T, np.ones(len(X))))


@cases("n", [2, 5, 7, 10, 20, 100])
@cases("tails", [False, True])
def test_noise_has_no_group(n, tails):
    random = np.random.default_rng(n)
    for _ in range(30):
        X = random.standard_normal((n, 200))
        if tails:  # elliptical: whole updates are long or short
            X *= random.standard_t(2, (n, 1))
        assert apart(X) is None


def test_one_alone_and_several_kinds_of_clients_are_no_group():
    X = noise(20)
    X[3] += 5.0
    assert apart(X) is None
    assert apart(noise(20) + 3.0 * noise(5, seed=1)[np.arange(20) % 5]) is None


# -- The clipped mean -----------------------------------------------------------------------------


@cases("distance", [1.0, 3.0, 15.0])
@cases("weighted", [False, True])
def test_clipped_mean_is_a_fixed_point(distance, weighted):
    X = noise(9, d=40) + 3.0
    X[:3] *= distance
    w = np.random.default_rng(1).uniform(0.5, 1.5, 9) if weighted else np.ones(9)
    w[5] = 0.0
    a = clipped_mean(X @ X.T, w)
    v, w = a @ X, w / w.sum()
    lengths = np.linalg.norm(X - v, axis=1)
    radius = RADIUS * weighted_median(lengths[w > 0.0], w[w > 0.0])
    step = (w * np.minimum(1.0, radius / lengths)) @ (X - v)
    assert np.linalg.norm(step) < 1e-7 * np.linalg.norm(v)
    assert (a >= 0.0).all() and abs(a.sum() - 1.0) < 1e-12 and a[5] == 0.0
    if distance == 1.0:  # within the bound it is the weighted mean
        np.testing.assert_allclose(a, w, atol=1e-9)


@cases("size", [1e1, 1e3, 1e6])
def test_influence_is_bounded(size):
    X = noise(20, d=40) + 3.0
    honest = X[1:].mean(axis=0)
    X[0] = size * np.ones(40)
    moved = clipped_mean(X @ X.T, np.ones(20)) @ X - honest
    lengths = np.linalg.norm(X[1:] - honest, axis=1)
    assert np.linalg.norm(moved) < 2.0 * RADIUS * np.median(lengths) / 19


# -- The record -----------------------------------------------------------------------------------


def draws(rounds, n, seed=0):
    return np.random.default_rng(seed).standard_normal((rounds, n, n))


def test_average_over_rounds():
    record = Record()
    C = draws(5, 3)
    for round_ in C:
        average = record.observe("abc", round_)
    weights = DECAY ** np.arange(4, -1, -1)
    np.testing.assert_allclose(average, np.tensordot(weights, C, 1) / weights.sum())


def test_clients_that_come_and_go():
    record = Record()
    first, second, third = draws(3, 2)
    record.observe(["a", "b"], first)
    record.observe(["c", "a"], second)
    average = record.observe(["b", "a"], third)
    expected = (DECAY * first[0, 1] + third[1, 0]) / (1.0 + DECAY)
    np.testing.assert_allclose(average[1, 0], expected)
    weights = [DECAY**2, DECAY, 1.0]
    diagonal = np.dot(weights, [first[0, 0], second[1, 1], third[1, 1]]) / sum(weights)
    np.testing.assert_allclose(average[1, 1], diagonal)


def test_order_of_clients_does_not_matter_and_records_can_be_pickled():
    one, other = Record(), Record()
    order = [2, 0, 1]
    for C in draws(4, 3):
        average = one.observe(["a", "b", "c"], C)
        turned = other.observe(["c", "a", "b"], C[np.ix_(order, order)])
        other = pickle.loads(pickle.dumps(other))
    np.testing.assert_allclose(turned, average[np.ix_(order, order)])


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(module, "MOST", 4)
    record = Record()
    for start in range(0, 8, 2):
        record.observe([start, start + 1], np.eye(2))
    assert record.clients == [4, 5, 6, 7]
    assert record.sums.shape == record.counts.shape == (4, 4)
