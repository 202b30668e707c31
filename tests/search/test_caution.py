"""What a fit with nothing given finds, and what it leaves alone."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris

import inlier
from inlier import RobustMean, robust_mean
from inlier.data import as_table
from inlier.research.datasets import Cluster, HeavyTails, SettingA, SettingB
from inlier.search import caution
from inlier.search.settings import SAMPLE
from ordinary_tables import fitted, iris_with_typos

# -- what is found --------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("setting", [SettingA, SettingB])
def test_the_settings_of_the_paper_are_solved_exactly(setting, alpha):
    sample = setting(2000, 100, alpha).sample(0)
    np.testing.assert_array_equal(fitted(sample.X).support, ~sample.is_outlier)


@pytest.mark.parametrize("seed", [6, 7])
def test_outliers_among_heavy_tails_leave(seed):
    # Quantiles of t3 rows vary more than those of Gaussian ones, and looked skewed in these draws.
    sample = HeavyTails(2000, 100, 0.2).sample(seed)
    assert (fitted(sample.X).support == ~sample.is_outlier).mean() > 0.99


def test_a_near_cluster_leaves_where_the_rest_is_noise_about_a_center():
    sample = Cluster(1000, 50, 0.2, distance=5.0).sample(0)
    result = fitted(sample.X)
    assert (result.support == ~sample.is_outlier).mean() > 0.99
    assert {group.kind for group in result.groups} <= {"direction", "metric", "distance", "tail"}
    # Nothing assumed, it is no more than a minority.
    assert fitted(sample.X, assume="nothing").support.all()


# -- what is left alone ---------------------------------------------------------------------------


CLEAN = {
    "lognormal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "Poisson": lambda rng, n, d: rng.poisson(1.0, size=(n, d)).astype(float),
    "binary": lambda rng, n, d: (rng.random((n, d)) < 0.1).astype(float),
    "one-hot": lambda rng, n, d: np.eye(d + 1)[rng.integers(d + 1, size=n)],
    "classes": lambda rng, n, d: rng.standard_normal((n, d)) + 8.0 * rng.integers(3, size=(n, 1)),
}


@pytest.mark.parametrize("kind", CLEAN)
def test_clean_rows_of_any_kind_stay(kind):
    lost = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, d = [(20, 3), (60, 1), (200, 10), (400, 4)][seed % 4]
        lost += not fitted(CLEAN[kind](rng, n, d)).support.all()
    assert lost <= 1


def test_too_few_rows_say_nothing():
    X = np.random.default_rng(0).standard_normal((7, 2))
    X[0] = 100.0
    result = fitted(X)
    assert result.support.all()
    assert "So few rows do not tell" in result.message


def test_natural_classes_stay():
    result = fitted(load_iris().data)
    assert result.support.all() and not result.groups


# -- what must not matter -------------------------------------------------------------------------


@pytest.mark.parametrize("table", [iris_with_typos, lambda: SettingB(300, 60, 0.3).sample(0).X])
def test_units_order_and_random_numbers_do_not_matter(table):
    X = table()
    n = len(X)
    rng = np.random.default_rng(0)
    support = fitted(X).support
    order = rng.permutation(n)
    np.testing.assert_array_equal(fitted(X[order]).support, support[order])
    np.testing.assert_array_equal(fitted(1e-8 * X).support, support)
    np.testing.assert_array_equal(fitted(X + 1e6).support, support)
    np.testing.assert_array_equal(fitted(X, random_state=7).support, support)


def test_units_of_single_columns_do_not_matter():
    X = iris_with_typos()
    np.testing.assert_array_equal(
        fitted(X * np.array([1e-3, 1.0, 1e3, 10.0])).support, fitted(X).support
    )


def test_a_sample_finds_what_all_rows_show(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(6000, 5))
    X[[10, 2000, 5999], [0, 3, 4]] = 300.0, -80.0, 1e5
    X[4000:4060] += 200.0
    bad = np.r_[10, 2000, 4000:4060, 5999]
    np.testing.assert_array_equal(fitted(X).outliers, bad)
    small = replace(SAMPLE, whole_cells=0, cells=5 * 1000)
    monkeypatch.setattr(caution, "SAMPLE", small)
    assert len(caution.RowSample.of(as_table(X)).rows) == 1000
    np.testing.assert_array_equal(fitted(X).outliers, bad)


def test_a_device_judges_a_sample_as_the_host_does(torch, monkeypatch):
    monkeypatch.setattr(caution, "SAMPLE", replace(SAMPLE, whole_cells=0, cells=0, rows=600))
    rng = np.random.default_rng(0)
    X = rng.standard_t(5, size=(4000, 300)).astype("f4")
    X[:, 3], X[:, 4], X[:, 5] = np.round(X[:, 3]), 0.0, rng.random(4000) < 0.002
    X[7, 8], X[9] = 1e6, 40.0 * X[9]
    host = as_table(X)
    device = as_table(torch.tensor(X))
    monkeypatch.setattr(type(device), "to_gpu", type(device).to_device)
    sample = caution.RowSample.of(device)
    found, expected = (caution.gross(table, sample) for table in (device, host))
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert type(one.measure) is type(other.measure)
        np.testing.assert_allclose([one.cut, one.log_p], [other.cut, other.log_p], rtol=1e-5)
        np.testing.assert_array_equal(
            device.measured(one.measure).numpy() > one.cut, host.measured(other.measure) > other.cut
        )
    noise = rng.standard_normal((900, 300))
    for values in (noise, noise[:, :40], np.exp(noise), rng.random((900, 50)), np.round(noise)):
        judged = [
            caution.is_noise(values, 1000, 900, [], to_gpu)
            for to_gpu in (device.to_gpu, np.asarray)
        ]
        assert judged[0] == judged[1]


@pytest.mark.parametrize("n", [40, 50])
def test_rows_too_long_to_sample_are_judged_in_their_span(n, monkeypatch):
    # The center from which the span is seen may be one of the rows: it is no outlier for that.
    monkeypatch.setattr(caution, "SAMPLE", replace(SAMPLE, most_cells=0))
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((n, 20_000)) + 5.0
        assert caution.RowSample.of(as_table(X)) is None
        assert fitted(X).support.all()
        X[: n // 5] += 0.5
        np.testing.assert_array_equal(fitted(X).outliers, np.arange(n // 5))


def test_a_device_finds_the_clear_groups_of_the_host(torch):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((500, 30)) * np.linspace(1.0, 20.0, 30)
    values[:20, :3] += 30.0
    values[20:45, 7] -= 200.0
    rows = np.arange(500)
    found, expected = (
        caution.clear_groups(rows, values, 500, to_gpu) for to_gpu in (torch.asarray, np.asarray)
    )
    assert len(found.leaving) == len(expected.leaving) > 0
    for (one, _), (other, _) in zip(found.leaving, expected.leaving, strict=True):
        np.testing.assert_array_equal(one.members, other.members)
        np.testing.assert_allclose(one.direction, other.direction, rtol=1e-6, atol=1e-9)


def test_a_sample_does_not_cost_the_farthest_good_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 6))
    X[:200] += 8.0
    small = replace(SAMPLE, whole_cells=0, cells=6 * 600)
    monkeypatch.setattr(caution, "SAMPLE", small)
    outliers = fitted(X).outliers
    assert (outliers < 200).all() and len(outliers) >= 195


# -- suspects -------------------------------------------------------------------------------------


def skewed_with_a_group(seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.exponential(size=(180, 6)), 0.05 * rng.standard_normal((30, 6)) - 2.5]
    return X, np.arange(180, 210)


def test_a_clear_group_beside_skewed_rows_is_suspected_and_can_be_dropped():
    for seed in (0, 1, 2, 4):
        X, group = skewed_with_a_group(seed)
        result = fitted(X, assume="nothing")
        assert result.support.all()
        (suspect,) = result.suspects
        np.testing.assert_array_equal(np.sort(suspect.rows), group)
        moved = X[:180].mean(axis=0) - X.mean(axis=0)
        along = (X - X.mean(axis=0)) @ moved / np.linalg.norm(moved)
        errors = np.linalg.norm(moved) / (along.std() / np.sqrt(len(X)))
        assert suspect.shift == pytest.approx(errors, rel=1e-6)
        assert "kept, because the other rows are skewed" in str(suspect)
        dropped = result.drop(0)
        np.testing.assert_array_equal(dropped.outliers, group)
        assert dropped.suspects == () and dropped.certificate.verify(X).holds
        np.testing.assert_array_equal(dropped.support, dropped.scores <= 1.0)
        np.testing.assert_array_equal(result.drop(suspect).support, dropped.support)
        assert dropped.keep(0).support.all()


@pytest.mark.parametrize("suspect", [3, -3, 0.5, "0", None])
def test_drop_names_a_wrong_argument(suspect):
    result = fitted(skewed_with_a_group(0)[0], assume="nothing")
    with pytest.raises(ValueError, match=r"\bsuspect\b"):
        result.drop(suspect)


# -- arguments ------------------------------------------------------------------------------------


def test_assume_is_checked():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match=r"assume must be one of 'auto', 'symmetric', 'nothing'"):
        robust_mean(X, assume="normal")
    with pytest.raises(ValueError, match=r"assume='nothing'.*leave sigma out"):
        robust_mean(X, sigma=1.0, assume="nothing")


@pytest.mark.parametrize("assume", ["auto", "symmetric", "nothing"])
def test_the_estimator_judges_the_rows_of_the_fit_alike(assume):
    for X in (iris_with_typos(), SettingA(400, 40, 0.2).sample(0).X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
            model = RobustMean(assume=assume).fit(X)
        np.testing.assert_array_equal(model.predict(X) == 1, model.support_)


def test_rows_of_a_rare_code_are_no_group_of_noise():
    # All rows with a 1 would leave, and what stays would be symmetric in the columns that vary.
    rng = np.random.default_rng(0)
    X = np.column_stack([30.0 * (rng.random(500) < 0.2), rng.standard_normal((500, 5))])
    ones = X[:, 0] > 0.0
    assert not fitted(X, assume="symmetric").support[ones].any()
    assert not caution.is_noise(X[~ones], 500, int((~ones).sum()), [(int(ones.sum()), X[ones])])
    assert caution.is_noise(X[~ones, 1:], 500, int((~ones).sum()), [(int(ones.sum()), X[ones, 1:])])


def test_uniform_columns_are_no_noise_about_a_center():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(300.0), rng.standard_normal((300, 5))])
    assert not caution.is_noise(X, 330, 300, [(30, X[:30] + 100.0)])
    assert caution.is_noise(X[:, 1:], 330, 300, [(30, X[:30, 1:] + 100.0)])


def test_a_rare_code_does_not_make_a_row_long():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((2000, 20)), rng.random(2000) < 3e-3])
    assert fitted(X).support.all()


@pytest.mark.parametrize("odd", ["one cell of a bad row", "values whose squares underflow"])
def test_an_odd_column_changes_nothing(odd):
    sample = Cluster(1000, 50, 0.2, distance=5.0).sample(0)
    if odd == "one cell of a bad row":
        column = np.zeros(1000)
        column[np.flatnonzero(sample.is_outlier)[0]] = 1.0
    else:
        column = 1e-170 * np.random.default_rng(0).standard_normal(1000)
    support = fitted(np.column_stack([sample.X, column])).support
    np.testing.assert_array_equal(support, fitted(sample.X).support)


def test_a_constant_column_does_not_count():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    X[:120] = 0.5 * X[:120] + 4.0
    support = fitted(X).support
    np.testing.assert_array_equal(fitted(np.column_stack([X, np.full(600, 7.0)])).support, support)
