"""What a fit with nothing given finds, and what it keeps."""

import numpy as np
import pytest

from cases import cases
from inlier import robust_mean
from inlier.research.datasets import (
    Clean,
    Cluster,
    HeavyTails,
    Huber,
    ObviousAndSubtle,
    QuietDirections,
    SettingB,
)
from inlier.search import fit, thresholds
from symmetric_fits import (
    FEW,
    MANY,
    ROWS,
    SETTINGS,
    SMALL,
    error,
    fitted,
    no_warning,
    over_seeds,
    quiet,
)

ALPHAS = [0.1, 0.2, 0.3]
# A draw, and what holds of the errors and of the numbers of rows on the wrong side.
FOUND = {
    **{
        f"setting {name}, {n} x {d}, {alpha}": (
            setting(n, d, alpha).sample,
            lambda errors, wrong: np.mean(wrong == 0) >= 0.95 and wrong.max() <= 1,
        )
        for name, setting in SETTINGS.items()
        for n, d in [(800, 400), (2000, 100)]
        for alpha in [0.0, *ALPHAS, 0.4]
    },
    **{
        f"point masses among {n} rows": (
            SettingB(n, 100, 0.2).sample,
            lambda errors, wrong: np.mean(wrong == 0) >= 0.95,
        )
        for n in (100, 200, 300, 500, 1000)
    },
    **{
        f"among heavy tails, {kind}": (
            HeavyTails(2000, 100, 0.2, ROWS[kind]).sample,
            lambda errors, wrong, limit=limit: errors.mean() <= limit,
        )
        for kind, limit in [("t3", 0.15), ("t5", 0.15), ("multivariate t5", 0.2), ("Laplace", 0.1)]
    },
    **{
        f"obvious outliers hide no subtle ones, {alpha}": (
            ObviousAndSubtle(500, 500, alpha).sample,
            lambda errors, wrong: errors.mean() < 0.05 and np.median(wrong) <= 1,
        )
        for alpha in ALPHAS
    },
    **{
        f"a tight cluster close by, {alpha}": (
            Cluster(2000, 100, alpha).sample,
            lambda errors, wrong: errors.max() <= 0.1,
        )
        for alpha in ALPHAS
    },
    # Ten sigma apart, distances from the center still overlap: 14 and 10, give or take 0.7.
    **{
        f"a distant group that varies like the others, {n} rows, {alpha}": (
            Huber(n, 100, alpha).sample,
            lambda errors, wrong: np.mean(wrong == 0) >= 0.95,
        )
        for n in (500, 2000)
        for alpha in ALPHAS
    },
}
DRAWS = [FEW, pytest.param(MANY, marks=pytest.mark.slow)]


@pytest.mark.parametrize("seeds", DRAWS, ids=["few", "many"])
@pytest.mark.parametrize("kind", FOUND)
def test_outliers_are_found(kind, seeds):
    draw, holds = FOUND[kind]
    assert holds(*over_seeds(draw, seeds))


@pytest.mark.parametrize("seeds", DRAWS, ids=["few", "many"])
@pytest.mark.parametrize(("n", "d"), [(1000, 50), (1000, 500), (500, 5), (200, 20), (100, 300)])
@pytest.mark.parametrize(
    ("kind", "fraction"),
    [("Gaussian", 0.002), ("t5", 0.01), ("multivariate t5", 0.01), ("Laplace", 0.01)],
)
def test_clean_rows_are_kept(kind, fraction, n, d, seeds):
    for seed in seeds:
        X = Clean(n, d, inliers=ROWS[kind]).sample(seed).X
        result = fitted(X)
        assert np.mean(~result.support) <= fraction
        standard_error = np.sqrt(X.var(axis=0).sum() / n)
        assert np.linalg.norm(result.location - X.mean(axis=0)) < 0.1 * standard_error


# -- low-variance directions ----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_low_variance_directions(kind, alpha):
    errors, wrong = over_seeds(quiet(kind, alpha).sample, FEW)
    assert errors.max() <= 0.15 and wrong.max() <= 20
    # They would not be seen without the metric.
    sample = quiet(kind, alpha).sample(0)
    assert error(fitted(sample.X, scatter="identity"), sample) > 3.0 * errors.max()


# With half as many rows, a tenth of them bad is close to what chance finds in a window.
QUIET = [(2000, 100, 0.95), (1000, 50, 0.85)]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("n", "d", "often"), QUIET)
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_low_variance_directions_in_nearly_every_draw(kind, n, d, often, alpha):
    errors, _ = over_seeds(quiet(kind, alpha, n, d).sample, MANY)
    assert np.mean(errors <= 0.15) >= often


def test_a_sample_shows_the_metric_and_all_rows_the_group(monkeypatch):
    for name in ("WHITENED_CELLS", "PURSUED_CELLS"):
        monkeypatch.setattr(thresholds, name, 1)
    monkeypatch.setattr(thresholds, "ROWS_PER_COLUMN", 20)
    monkeypatch.setattr(thresholds, "FEWEST_PURSUED", 500)
    sample = QuietDirections(5000, 40, 0.15).sample(0)
    assert error(fitted(sample.X), sample) <= 0.02


@pytest.mark.parametrize("name", SMALL)
def test_what_spares_large_tables_work_changes_no_answer(name, monkeypatch):
    X = SMALL[name]().X
    plain = fitted(X).support
    for constant in ("SCREENED_ROWS", "CENTER_VALUES"):
        monkeypatch.setattr(thresholds, constant, 100)
    np.testing.assert_array_equal(fitted(X).support, plain)


# -- difficult tables -----------------------------------------------------------------------------


def duplicated(X, how):
    n = len(X)
    X = X.copy()
    if how == "one row":
        X[5] = X[6]
    elif how == "two fifths":
        X[: 2 * n // 5] = X[2 * n // 5 : 4 * n // 5]
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


@pytest.mark.parametrize("name", ["A", "B"])
def test_outliers_are_found_among_rows_given_twice(name):
    sample = SMALL[name]()
    result = fitted(np.repeat(sample.X, 2, axis=0))
    np.testing.assert_array_equal(result.support, np.repeat(~sample.is_outlier, 2))


# What the search by symmetry takes from skewed rows is given up; on a sample that costs no pass.
@cases("shape", [(300, 5), (20_000, 8), (1_000_000, 3)])
def test_a_search_in_vain_costs_few_passes(monkeypatch, shape):
    X = np.exp(np.random.default_rng(0).standard_normal(shape))
    result = robust_mean(X)
    assert result.details.n_passes <= 14
    with monkeypatch.context() as without:
        without.setattr(fit, "_rehearsal_fails", lambda *_: False)
        np.testing.assert_array_equal(robust_mean(X).support, result.support)


# Too few to show in a sample, and found by the search by symmetry alone.
def test_a_group_that_a_sample_does_not_show_is_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 10))
    X[:60, 0] += 9.0
    result = robust_mean(X)
    assert result.support[60:].mean() > 0.9999
    assert result.support[:60].mean() < 0.2
