"""Each test finds the group that it is for, and nothing among clean rows."""

import warnings

import numpy as np
import pytest

import inlier
from inlier import RobustMean, robust_mean
from inlier.datasets import SettingA, SettingB
from inlier.research.datasets import Cluster, HeavyTails
from ordinary_tables import fitted, iris_with_typos

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


@pytest.mark.parametrize("assume", ["auto", "symmetric", "nothing"])
def test_the_estimator_predicts_the_verdict_of_the_fit(assume):
    for X in (iris_with_typos(), SettingA(400, 40, 0.2).sample(0).X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
            model = RobustMean(assume=assume).fit(X)
        np.testing.assert_array_equal(model.predict(X) == 1, model.support_)


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
