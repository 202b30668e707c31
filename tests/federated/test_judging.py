"""Decisions on constructed rounds: who is rejected, who is only bounded, who is left alone."""

import numpy as np

from cases import cases
from inlier.federated.judging import judge
from inlier.federated.record import Record


def noise(n, d=400, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def judged(X, counts=None, record=None):
    counts = np.ones(len(X)) if counts is None else np.asarray(counts, dtype=float)
    return judge(X @ X.T, counts, list(range(len(X))), record)


@cases("n", [1, 2, 3, 4, 7, 20, 60])
def test_honest_clients_all_count(n):
    found = judged(noise(n) + 2.0)
    assert not found.reasons and not found.suspects and not found.copies and not found.halved
    np.testing.assert_allclose(found.coefficients, np.full(n, 1 / n), atol=1e-6)


def test_counts_are_weights():
    counts = np.random.default_rng(1).uniform(0.5, 2.0, 12)
    found = judged(noise(12), counts)
    np.testing.assert_allclose(found.coefficients, counts / counts.sum(), atol=1e-6)


def test_copies_count_once():
    X = noise(10)
    X[6:] = X[5]
    found = judged(X)
    assert found.copies == [[5, 6, 7, 8, 9]]
    np.testing.assert_allclose(found.coefficients[5:].sum(), 1 / 6, atol=1e-6)


@cases("k", [6, 9])
def test_a_large_group_apart_is_rejected(k):
    X = noise(20)
    X[:k] += 1.5 * noise(1, seed=1)
    found = judged(X)
    assert list(found.reasons) == list(range(k)) and not found.suspects
    assert f"{k - 1} others" in found.reasons[0]
    np.testing.assert_allclose(found.coefficients[k:], np.full(20 - k, 1 / (20 - k)), atol=1e-6)


def test_a_small_group_apart_is_only_a_suspect():
    X = noise(20)
    X[:4] += 1.5 * noise(1, seed=1)
    found = judged(X)
    assert found.suspects == [0, 1, 2, 3] and not found.reasons
    assert found.coefficients[:4].min() > 0.0


def test_two_groups_apart():
    X = noise(21)
    X[:6] += 3.0 * noise(1, seed=1)
    X[6:9] += 2.0 * noise(1, seed=2)
    found = judged(X)
    assert list(found.reasons) == list(range(6))


def test_half_against_half():
    X = noise(20)
    X[:10] += 1.5 * noise(1, seed=1)
    found = judged(X)
    assert found.halved and not found.reasons


def test_the_record_finds_what_one_round_does_not():
    record, found, alone = Record(), None, []
    shift = 0.7 * noise(1, d=100, seed=99)
    for t in range(30):
        X = noise(20, d=100, seed=t)
        X[:8] += shift
        alone += list(judged(X).reasons)
        found = judged(X, record=record)
    assert list(found.reasons) == list(range(8))
    assert len(alone) < 30


def test_an_honest_past_fades():
    record = Record()
    for t in range(60):
        X = noise(20, seed=t)
        if t >= 30:
            X[:8] += 1.5 * noise(1, seed=99)
        found = judged(X, record=record)
    assert list(found.reasons) == list(range(8))


def test_the_same_point_from_any_origin():
    X = noise(12)
    X[0] *= 10.0
    near, far = judged(X), judged(X + 100.0)
    np.testing.assert_allclose(near.coefficients, far.coefficients, atol=1e-8)
    np.testing.assert_allclose(near.scores, far.scores, rtol=1e-6)


def test_scores_are_distances_in_medians():
    X = noise(9)
    X[4] *= 8.0
    found = judged(X)
    lengths = np.linalg.norm(X - found.coefficients @ X, axis=1)
    np.testing.assert_allclose(found.scores, lengths / np.median(lengths), rtol=1e-8)
    assert found.scores.argmax() == 4
