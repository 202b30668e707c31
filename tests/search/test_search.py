"""Groups that the search finds, and clean rows that it leaves alone."""

import numpy as np
import pytest

from cases import cases
from inlier.research.datasets import Clean, Cluster, HeavyTails, Huber, ObviousAndSubtle, SettingB
from symmetric_fits import (
    FEW,
    MANY,
    ROWS,
    SETTINGS,
    SMALL,
    fitted,
    no_warning,
    over_seeds,
    share_removed,
)

# -- what holds of every answer -------------------------------------------------------------------


def standard_error(X):
    """Of the mean of rows: sqrt(trace(covariance) / n)."""
    return float(np.sqrt(X.var(axis=0).sum() / len(X)))


# -- what it finds --------------------------------------------------------------------------------


ALPHAS = [0.0, 0.1, 0.2, 0.3, 0.4]
SIZES = [(800, 400), (2000, 100)]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_very_set_of_the_settings(setting, n, d, alpha):
    errors, wrong = over_seeds(SETTINGS[setting](n, d, alpha).sample, FEW)
    assert wrong.max() == 0
    assert errors.max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "d"), SIZES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_very_set_of_the_settings_in_nearly_every_draw(setting, n, d, alpha):
    errors, wrong = over_seeds(SETTINGS[setting](n, d, alpha).sample, MANY)
    assert np.mean(wrong == 0) >= 0.95
    assert wrong.max() <= 1
    assert errors.mean() < 0.005


N_B = [100, 200, 300, 500, 1000]


@pytest.mark.parametrize("n", N_B)
def test_point_masses_among_few_rows(n):
    assert over_seeds(SettingB(n, 100, 0.2).sample, FEW)[1].max() == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", N_B)
def test_point_masses_among_few_rows_in_nearly_every_draw(n):
    assert np.mean(over_seeds(SettingB(n, 100, 0.2).sample, MANY)[1] == 0) >= 0.95


CLEAN = [("Gaussian", 0.002), ("t5", 0.01), ("multivariate t5", 0.01), ("Laplace", 0.01)]
CLEAN_SIZES = [(1000, 50), (1000, 500), (500, 5), (200, 20), (100, 300)]


def check_clean(kind, fraction, n, d, seeds):
    for seed in seeds:
        X = Clean(n, d, inliers=ROWS[kind]).sample(seed).X
        result = fitted(X)
        assert np.mean(~result.support) <= fraction
        assert np.linalg.norm(result.location - X.mean(axis=0)) < 0.1 * standard_error(X)


@pytest.mark.parametrize(("n", "d"), CLEAN_SIZES)
@pytest.mark.parametrize(("kind", "fraction"), CLEAN)
def test_clean_rows_are_left_alone(kind, fraction, n, d):
    check_clean(kind, fraction, n, d, range(3))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), CLEAN_SIZES)
@pytest.mark.parametrize(("kind", "fraction"), CLEAN)
def test_clean_rows_are_left_alone_in_every_draw(kind, fraction, n, d):
    check_clean(kind, fraction, n, d, MANY)


HEAVY = [("t3", 0.15), ("t5", 0.15), ("multivariate t5", 0.2), ("Laplace", 0.1)]


def check_heavy(kind, limit, seeds):
    errors, _ = over_seeds(HeavyTails(2000, 100, 0.2, ROWS[kind]).sample, seeds)
    assert errors.mean() <= limit


@pytest.mark.parametrize(("kind", "limit"), HEAVY)
def test_outliers_among_heavy_tails(kind, limit):
    check_heavy(kind, limit, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "limit"), HEAVY)
def test_outliers_among_heavy_tails_on_average(kind, limit):
    check_heavy(kind, limit, MANY)


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_obvious_outliers_hide_no_subtle_ones(alpha):
    errors, wrong = over_seeds(ObviousAndSubtle(500, 500, alpha).sample, FEW)
    assert errors.mean() < 0.05 and wrong.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_obvious_outliers_hide_no_subtle_ones_on_average(alpha):
    assert over_seeds(ObviousAndSubtle(500, 500, alpha).sample, MANY)[0].mean() < 0.05


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_a_tight_cluster_close_by(alpha):
    assert over_seeds(Cluster(2000, 100, alpha).sample, FEW)[0].max() <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_a_tight_cluster_close_by_in_every_draw(alpha):
    assert over_seeds(Cluster(2000, 100, alpha).sample, MANY)[0].max() <= 0.1


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("n", [500, 2000])
def test_a_distant_group_that_varies_like_the_others(n, alpha):
    # Ten sigma apart, distances from the center still overlap: 14 and 10, give or take 0.7.
    assert over_seeds(Huber(n, 100, alpha).sample, range(4))[1].max() == 0


# -- difficult tables -----------------------------------------------------------------------------


def duplicated(X, how):
    n = len(X)
    X = X.copy()
    if how == "one row":
        X[5] = X[6]
    elif how == "two fifths":
        X[: 2 * n // 5] = X[2 * n // 5 : 4 * n // 5]
    elif how == "of a few":
        X[: 2 * n // 5] = X[n - 1 - np.arange(2 * n // 5) % 10]
    elif how == "every row":
        X[: n // 2] = X[n - n // 2 :]
    return X


@no_warning
@cases("how", ["one row", "two fifths", "every row"])
@cases("shape", [(500, 20), (1000, 2), (100, 20), (300, 1)])
def test_rows_given_twice_are_no_group(shape, how):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal(shape)
        assert fitted(duplicated(X, how)).support.all()


def test_rows_given_twice_are_no_group_where_rows_are_few():
    """Two copies are not two coins, and in the metric of 300 rows they are easily found."""

    def draw(rng):
        return duplicated(rng.standard_normal((300, 300)), "two fifths")

    assert share_removed(draw, range(8)).max() == 0.0


@pytest.mark.parametrize("name", ["A", "B"])
def test_outliers_are_found_among_rows_given_twice(name):
    sample = SMALL[name]()
    result = fitted(np.repeat(sample.X, 2, axis=0))
    np.testing.assert_array_equal(result.support, np.repeat(~sample.is_outlier, 2))
