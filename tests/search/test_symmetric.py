"""Each test finds the group that it is for, and nothing among clean rows."""

import numpy as np
import pytest

from fits import fitted
from inlier import robust_mean
from inlier.research.datasets import Cluster, HeavyTails, SettingA, SettingB
from inlier.search import tests as search_tests

# -- fits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("setting", [SettingA, SettingB])
def test_the_settings_of_the_paper_are_solved_exactly(setting, alpha):
    sample = setting(2000, 100, alpha).sample(0)
    np.testing.assert_array_equal(fitted(sample.X).support, ~sample.is_outlier)


@pytest.mark.parametrize("seed", [6, 7])
def test_outliers_among_heavy_tails_are_removed(seed):
    # Quantiles of t3 rows vary more than those of Gaussian ones: these draws look skewed.
    sample = HeavyTails(2000, 100, 0.2).sample(seed)
    assert (fitted(sample.X).support == ~sample.is_outlier).mean() > 0.99


def test_a_near_cluster_is_removed_where_the_rest_is_noise_about_a_center():
    sample = Cluster(1000, 50, 0.2, distance=5.0).sample(0)
    result = fitted(sample.X)
    assert (result.support == ~sample.is_outlier).mean() > 0.99
    assert {group.kind for group in result.groups} <= {"direction", "metric", "distance", "tail"}
    # With nothing assumed, it is no more than a minority.
    assert fitted(sample.X, assume="nothing").support.all()


def test_assume_is_checked():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match=r"assume must be one of 'auto', 'symmetric', 'nothing'"):
        robust_mean(X, assume="normal")
    with pytest.raises(ValueError, match=r"assume='nothing'.*leave sigma out"):
        robust_mean(X, sigma=1.0, assume="nothing")


@pytest.mark.parametrize("shape", [(1000, 10), (300, 20), (1000, 20), (2000, 30)])
def test_the_first_setting_is_found_in_few_columns(shape):
    """Its outliers are a tail along one direction, and near the others in all other directions."""
    ratios = []
    for seed, alpha in [(0, 0.1), (1, 0.1), (0, 0.2), (1, 0.2)]:
        sample = SettingA(*shape, alpha).sample(seed)
        plain = np.linalg.norm(sample.X.mean(axis=0) - sample.mean)
        ratios.append(np.linalg.norm(fitted(sample.X).location - sample.mean) / plain)
    assert max(ratios) < 0.4


def test_the_tail_of_a_factor_stays():
    """However strong the factor is, and if rows vary more where it is large."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        noise, factor = rng.standard_normal((800, 20)), rng.exponential(size=(800, 1))
        way = rng.standard_normal(20) / np.sqrt(20.0)
        assert robust_mean(noise + 3.0 * factor * way).support.all()
        assert robust_mean((1.0 + 0.1 * factor) * noise + 1.5 * factor * way).support.all()


def test_gaussian_rows_are_told_from_others():
    """Mardia's tests at 1% each, and the same of the rows beyond a cut."""
    rng = np.random.default_rng(0)
    Z = [rng.standard_normal((200, 6)) for _ in range(300)]
    rejected = np.mean([not search_tests._is_gaussian(z, z[:150]) for z in Z])
    assert 0.002 < rejected < 0.04
    for z in Z[:20]:
        heavy = z * np.sqrt(5.0 / rng.chisquare(5, (200, 1)))
        assert not search_tests._is_gaussian(z + rng.exponential(size=(200, 6)), z)
        assert not search_tests._is_gaussian(z, heavy)
    # In a direction that is skewed the rows beyond a cut are like the others elsewhere.
    factor = rng.exponential(size=(300, 200)) - 1.0
    nearer = [
        search_tests.is_nearer_elsewhere(np.c_[t, z], t, 1.0)
        for t, z in zip(factor, Z, strict=True)
    ]
    assert np.mean(nearer) < 0.015
    shrunk = [
        search_tests.is_nearer_elsewhere(np.c_[t, np.where(t > 1.0, 0.3, 1.0)[:, None] * z], t, 1.0)
        for t, z in zip(factor, Z, strict=True)
    ]
    assert np.mean(shrunk) > 0.7


def test_tails_of_skewed_rows_stay():
    """Of one column, of what many columns share, and of rows that are skewed in every direction."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rotation = np.linalg.qr(rng.standard_normal((12, 12)))[0]
        noise = rng.standard_normal((1000, 12))
        shared = rng.gamma(2.0, size=(1000, 1))
        assert robust_mean(noise + shared * np.eye(12)[3]).support.all()
        assert robust_mean(noise + 0.6 * shared).support.all()
        assert robust_mean(rng.gamma(3.0, size=(1000, 12)) @ rotation).support.all()
