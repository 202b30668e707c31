"""The paper's settings A and B, and two clusters."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from inlier.datasets import SettingA, SettingB, TwoClusters

SETTINGS = [SettingA, SettingB]


# -- What holds of every model --------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_generator_gives_what_its_seed_gives(setting):
    model = setting(30, 4, 0.2)
    assert np.array_equal(model.sample(np.random.default_rng(7)).X, model.sample(7).X)


# -- The paper's settings ------------------------------------------------------------------------


def test_setting_a_outliers():
    d = 200
    sample = SettingA(1001, d, 0.3).sample(2)
    outliers = sample.X[sample.is_outlier]
    # With 200 entries no sum of a normal and a uniform one has all of them positive.
    positive = (outliers >= 0).all(axis=1)
    folded, shifted = outliers[positive], outliers[~positive]
    assert stats.kstest(folded.ravel(), "halfnorm").pvalue > 0.01
    # U(0, 3) added to N(0, 1): mean 3/2, variance 1 + 3/4.
    assert shifted.mean() == pytest.approx(1.5, abs=0.05)
    assert shifted.var() == pytest.approx(1.75, abs=0.1)
    # One draw for each entry: a draw for each row would make its entries vary together.
    assert shifted.mean(axis=1).std() == pytest.approx(sqrt(1.75 / d), rel=0.2)
    assert shifted.mean(axis=0).std() == pytest.approx(sqrt(1.75 / len(shifted)), rel=0.2)


def test_setting_b_outliers():
    d = 8
    sample = SettingB(101, d, 0.25).sample(3)
    values, counts = np.unique(sample.X[sample.is_outlier], axis=0, return_counts=True)
    assert values.tolist() == [[2, -2, 0, 0, 0, 0, 0, 0], [2, 2, 0, 0, 0, 0, 0, 0]]
    assert counts.tolist() == [12, 13]
    assert np.linalg.norm(values, axis=1) == pytest.approx(sqrt(d))


@pytest.mark.parametrize(("n_outliers", "first"), [(1, 1), (2, 1), (3, 2), (40, 20), (41, 21)])
def test_the_first_half_gets_the_odd_outlier(n_outliers, first):
    sample = SettingA(200, 100, n_outliers / 200).sample(4)
    assert (sample.X[sample.is_outlier] >= 0).all(axis=1).sum() == first


@pytest.mark.parametrize("setting", SETTINGS)
def test_outliers_stand_anywhere(setting):
    model = setting(20, 2, 0.25)
    rng = np.random.default_rng(5)
    places = np.mean([model.sample(rng).is_outlier for _ in range(2000)], axis=0)
    assert places == pytest.approx(0.25, abs=5 * sqrt(0.25 * 0.75 / 2000))


def test_both_halves_stand_anywhere():
    model = SettingB(20, 2, 0.4)
    rng = np.random.default_rng(6)
    samples = [model.sample(rng) for _ in range(2000)]
    first = np.mean([s.is_outlier & (s.X[:, 1] > 0) for s in samples], axis=0)
    assert first == pytest.approx(0.2, abs=5 * sqrt(0.2 * 0.8 / 2000))


def test_the_draws_of_the_settings_stay():
    # Published figures are those of these rows.
    A, B = SettingA(30, 4, 0.3).sample(0), SettingB(30, 4, 0.3).sample(0)
    rng = np.random.default_rng(0)
    X, order = rng.standard_normal((30, 4)), rng.permutation(30)
    assert set(np.flatnonzero(A.is_outlier)) == set(order[:9])
    assert np.array_equal(A.is_outlier, B.is_outlier)
    assert np.array_equal(A.inliers, X[~A.is_outlier])
    assert np.array_equal(B.inliers, X[~B.is_outlier])
    assert np.array_equal(A.X[order[:5]], np.abs(X[order[:5]]))
    assert np.array_equal(A.X[order[5:9]], X[order[5:9]] + rng.uniform(0, 3, (4, 4)))
    assert np.array_equal(B.X[order[:5], 1], np.full(5, sqrt(2)))


@pytest.mark.parametrize(("angle", "spread"), [(0.0, 0.3), (60.0, 0.3), (90.0, 0.0), (150.0, 0.6)])
def test_two_clusters_at_an_angle(angle, spread):
    d = 400
    sample = TwoClusters(2000, d, 0.4, angle, spread).sample(0)
    bad = sample.X[sample.is_outlier]
    assert np.linalg.norm(bad, axis=1) == pytest.approx(sqrt(d), rel=0.15)
    # The clusters are on the two sides of a plane; their centres span the angle.
    principal = np.linalg.svd(bad - bad.mean(axis=0), full_matrices=False)[2][0]
    side = (bad - bad.mean(axis=0)) @ principal > 0
    if angle > 0:
        assert side.sum() == 400
        one, other = bad[side].mean(axis=0), bad[~side].mean(axis=0)
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert np.degrees(np.arccos(cosine)) == pytest.approx(angle, abs=2.0)
        assert bad[side].std(axis=0).mean() == pytest.approx(spread, abs=0.02)
