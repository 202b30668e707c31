"""Each test finds the group that it is for, and nothing among clean rows."""

import warnings

import numpy as np
import pytest

import inlier
from inlier import RobustMean, robust_mean
from inlier.datasets import SettingA, SettingB
from inlier.research.datasets import Cluster, HeavyTails
from inlier.search import tests, thresholds
from inlier.search.symmetric import (
    by_direction,
    by_distance,
    by_metric,
    is_noise,
    is_uneven,
    may_show_groups,
)
from ordinary_tables import fitted, iris_with_typos
from symmetric_fits import started


def planted(n_bad, n=400, d=10, **changes):
    X = np.random.default_rng(1).standard_normal((n, d))
    X[:, -1] *= changes.get("scale", 1.0)
    X[:n_bad] = changes.get("shrunk", 1.0) * X[:n_bad]
    X[:n_bad] += np.asarray(changes.get("by", 0.0))
    return X


def test_rows_far_out_are_found_by_distance():
    task, state = started(planted(3, by=1e4))
    found = by_distance(task, state)
    assert found.kind == "apart" and found.cut.log_p < thresholds.LOG_LEVEL
    np.testing.assert_array_equal(np.flatnonzero(found.among(state.kept)), [0, 1, 2])


def test_a_group_to_one_side_is_found_by_direction():
    X = planted(80, by=9.0 * np.eye(10)[0], shrunk=0.5)
    task, state = started(X)
    found = by_direction(task, state)
    assert found.kind == "direction"
    np.testing.assert_array_equal(found.among(state.kept), np.arange(400) < 80)
    assert abs(found.direction[0]) > 0.99


def test_a_group_in_a_low_variance_direction_is_found_in_the_metric_only():
    X = planted(80, scale=0.01, by=0.2 * np.eye(10)[-1])
    task, state = started(X)
    assert by_distance(task, state) is None and by_direction(task, state) is None
    found = by_metric(task, state)
    assert found.kind == "metric"
    assert (found.among(state.kept) != (np.arange(400) < 80)).sum() <= 2


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_among_clean_rows(seed):
    X = np.random.default_rng(seed).standard_normal((300, 8))
    task, state = started(X)
    assert by_distance(task, state) is None
    assert by_direction(task, state) is None
    assert by_metric(task, state) is None
    assert not is_uneven(state)


def test_whether_rows_are_uneven_is_known_without_a_pass():
    X = planted(80, by=9.0, scale=0.1) + 100.0
    task, state = started(X)
    squares = np.square(X - X.mean(axis=0)).sum()
    # What the test compares: the largest eigenvalue, and that of white noise as large.
    noise = squares / 10 * (1.0 + np.sqrt(10 / 400)) ** 2
    passes = task.oracle.table.n_passes
    assert state.spectrum.values[0] > thresholds.ANISOTROPIC * noise
    assert is_uneven(state)
    assert task.oracle.table.n_passes == passes


# -- screening of directions ----------------------------------------------------------------------

N = 40_000


def group_at(distance, share):
    """Noise, and a share of the rows that are moved to one side."""
    return lambda rng: rng.standard_normal(N) + distance * (np.arange(N) < share * N)


KINDS = {
    "normal": lambda rng: rng.standard_normal(N),
    "t3": lambda rng: rng.standard_t(3, N),
    "uniform": lambda rng: rng.uniform(-1.0, 1.0, N),
    "lognormal": lambda rng: rng.lognormal(size=N),
    "rounded": lambda rng: rng.standard_normal(N).round(1),
    "few values": lambda rng: rng.poisson(1.0, N).astype(float),
    "a third coincides": lambda rng: np.where(rng.random(N) < 0.33, 0.0, rng.standard_normal(N)),
    "two sides": lambda rng: rng.standard_normal(N) + 6.0 * np.sign(np.arange(N) - N / 2),
    **{
        f"{share:.2%} at {distance}": group_at(distance, share)
        for share in (0.0003, 0.002, 0.02, 0.2)
        for distance in (2.0, 4.0, 8.0, 1000.0)
    },
}


def full_test(values):
    """The strongest evidence of a group, and whether a quarter of the values coincide."""
    ascending = np.sort(values)
    center, spread, error = (float(x[0]) for x in tests.centers(ascending[None]))
    if spread == 0.0:
        return 0.0, bool(tests.coincides(ascending[None])[0])
    gap = tests.gap_test(abs(ascending - center))
    gap_log_p = gap.log_p + tests.same_side(values - center, gap)
    mirror = tests.mirror_test(ascending, center, error)
    return min(mirror.log_p, gap_log_p), bool(tests.coincides(ascending[None])[0])


@pytest.fixture
def screened(monkeypatch):
    monkeypatch.setattr(thresholds, "SCREENED_ROWS", 1000)
    monkeypatch.setattr(thresholds, "SCREENING_SAMPLE", 20_000)


@pytest.mark.usefixtures("screened")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_screened_out_shows_nothing(kind):
    rng = np.random.default_rng(0)
    values = np.stack([7.0 + 3.0 * rng.permutation(KINDS[kind](rng)) for _ in range(6)])
    for row, worth in zip(values, may_show_groups(values), strict=True):
        log_p, coincide = full_test(row)
        assert worth or (log_p >= np.log(thresholds.DOUBTFUL_LEVEL) and not coincide)


@pytest.mark.usefixtures("screened")
def test_noise_is_screened_out_and_groups_are_not():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((20, N))
    assert may_show_groups(noise).sum() <= 2
    grouped = np.stack([KINDS["2.00% at 8.0"](rng) for _ in range(5)])
    assert may_show_groups(grouped).all()
    assert may_show_groups(-grouped).all()


def test_few_rows_are_not_screened():
    assert may_show_groups(np.random.default_rng(2).standard_normal((3, 500))).all()


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


# -- noise about one center -----------------------------------------------------------------------


def test_rows_of_a_rare_code_are_no_group_beside_noise():
    # All rows with a 1 would be removed, and the rest is symmetric in the columns that vary.
    rng = np.random.default_rng(0)
    X = np.column_stack([30.0 * (rng.random(500) < 0.2), rng.standard_normal((500, 5))])
    ones = X[:, 0] > 0.0
    assert not fitted(X, assume="symmetric").support[ones].any()
    k = int(ones.sum())
    assert not is_noise(X[~ones], 500, 500 - k, [(k, X[ones])])
    assert is_noise(X[~ones, 1:], 500, 500 - k, [(k, X[ones, 1:])])


def test_uniform_columns_are_no_noise_about_a_center():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(300.0), rng.standard_normal((300, 5))])
    assert not is_noise(X, 330, 300, [(30, X[:30] + 100.0)])
    assert is_noise(X[:, 1:], 330, 300, [(30, X[:30, 1:] + 100.0)])
