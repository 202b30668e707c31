"""`robust_mean(X, assume="symmetric")`: what it finds, and what holds of every answer."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

import inlier
import reference
from cases import cases
from inlier import RobustMean, WeakEvidenceWarning
from inlier.data import as_table
from inlier.datasets import (
    Clean,
    Cluster,
    Gaussian,
    HeavyTails,
    Huber,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    SettingB,
    Spiked,
    StudentT,
)

SETTINGS = {"A": SettingA, "B": SettingB}
FEW = range(2)
MANY = range(100, 120)

no_warning = pytest.mark.filterwarnings("error")


def robust_mean(X, **options):
    """A fit for which good rows are symmetric, unless their bound is known."""
    if "sigma" not in options:
        options = {"assume": "symmetric", **options}
    return inlier.robust_mean(X, **options)


# -- data -----------------------------------------------------------------------------------------


ROWS = {
    "Gaussian": Gaussian(),
    "t3": StudentT(3),
    "t5": StudentT(5),
    "multivariate t5": StudentT(5, joint=True),
    "Laplace": Laplace(),
    "spiked": Spiked(),
    "rotated": Rotated(),
}


def quiet(kind, alpha, n=1000, d=50):
    return QuietDirections(n, d, alpha, ROWS[kind], "one each")


def three_clusters(n=600, d=10, seed=0):
    """Of equal size and far apart: no part of the rows is the majority."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 30.0 * np.eye(d)[np.arange(n) % 3]


# A few small tables with groups of every kind that can be named in advance.
SMALL = {
    "A": lambda: SettingA(600, 60, 0.2).sample(0),
    "A, n < d": lambda: SettingA(150, 300, 0.2).sample(0),
    "B": lambda: SettingB(300, 60, 0.3).sample(0),
    "heavy": lambda: HeavyTails(500, 50, 0.2, StudentT(5)).sample(0),
    "spiked": lambda: quiet("spiked", 0.2, 500, 20).sample(0),
    "obvious and subtle": lambda: ObviousAndSubtle(300, 200, 0.2).sample(0),
    "clean": lambda: Clean(300, 20).sample(0),
}


@pytest.fixture(scope="module", params=SMALL)
def fit(request):
    """A sample and its answer."""
    sample = SMALL[request.param]()
    return sample, fitted(sample.X)


# -- what holds of every answer -------------------------------------------------------------------


def top_eigenvalue(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return reference.largest_eigenvalue(rows - rows.mean(axis=0), np.ones(len(rows)))


def check_sigma(sigma, certificate, rounding=0.0):
    """It is that of the kept rows, up to what is not known of their largest eigenvalue."""
    n, m = certificate.n, certificate.n - certificate.n_removed
    assert m * sigma**2 == pytest.approx(certificate.bound, rel=1e-9, abs=rounding)
    assert certificate.budget == pytest.approx(n * sigma**2, rel=1e-9, abs=rounding)


def check_answer(X, result):
    """From the dense table, in the coordinates in which the fit was made."""
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    kept = result.support
    assert kept.shape == (n,) and kept.dtype == np.bool_
    assert 2 * kept.sum() >= n, "the majority is good"
    eps = float(np.finfo(result.location.dtype).eps)
    largest = np.abs(X[kept]).max()
    np.testing.assert_array_equal(kept, result.indicator == 0.0)
    np.testing.assert_array_equal(result.outliers, np.flatnonzero(~kept))
    np.testing.assert_allclose(
        result.location, X[kept].mean(axis=0), rtol=0.0, atol=64.0 * eps * largest
    )
    # The verdict.
    assert not np.isnan(result.scores).any()
    np.testing.assert_array_equal(kept, result.scores <= result.rule.threshold)
    # The groups are the rows that left.
    left = np.concatenate([group.rows for group in result.groups] or [np.empty(0, int)])
    np.testing.assert_array_equal(np.sort(left), result.outliers)
    for group in result.groups:
        assert group.size > 0 and group.log_p <= 0.0 and group.cut > 0.0
        assert group.kind in ("apart", "distance", "tail", "direction", "metric")
        assert group.direction.shape == (d,)
        length = np.linalg.norm(group.direction)
        assert abs(length - 1.0) <= 1e6 * eps or (group.by_distance and length == 0.0)
        atol = 1e3 * eps * np.abs(X[group.rows]).max()
        np.testing.assert_allclose(group.mean, X[group.rows].mean(axis=0), rtol=0.0, atol=atol)
    # The certificate is that of sigma.
    certificate = result.certificate
    assert (certificate.n, certificate.n_removed) == (n, int((~kept).sum()))
    top = top_eigenvalue(X[kept])
    rounding = max(1e-6, 1e3 * eps) * top + n * (64.0 * eps * largest) ** 2
    assert certificate.lambda_max - rounding <= top <= certificate.bound + rounding
    assert certificate.feasible
    check_sigma(result.sigma, certificate, n * d * (64.0 * eps * largest) ** 2 + 1e-290)
    assert result.budget == certificate.budget
    assert 0 <= certificate.l0_lower_bound <= certificate.n_removed
    # The path leads there.
    assert len(result.path) - len(result.groups) in (1, 2)
    chosen = result.path[len(result.groups)]
    np.testing.assert_array_equal(chosen.removed, result.outliers)
    assert result.converged and result.message


def fitted(X, dense=None, **options):
    """A fit with no other warning than that of weak evidence, checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WeakEvidenceWarning)
        result = robust_mean(X, **options)
    check_answer(X if dense is None else dense, result)
    return result


def error(result, sample):
    return float(np.linalg.norm(result.location - sample.mean))


def n_wrong(result, sample):
    """How many rows are on the wrong side."""
    return int((result.support == sample.is_outlier).sum())


def standard_error(X):
    """Of the mean of rows: sqrt(trace(covariance) / n)."""
    return float(np.sqrt(X.var(axis=0).sum() / len(X)))


# -- what it finds --------------------------------------------------------------------------------


def over_seeds(draw, seeds):
    """Errors, and rows on the wrong side, over several draws."""
    samples = [draw(seed) for seed in seeds]
    results = [fitted(sample.X) for sample in samples]
    pairs = list(zip(results, samples, strict=True))
    return np.array([error(*pair) for pair in pairs]), np.array([n_wrong(*pair) for pair in pairs])


def share_removed(draw, seeds):
    """The fraction of rows that left, for each seed."""
    shares = []
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakEvidenceWarning)
            shares.append(np.mean(~robust_mean(draw(np.random.default_rng(seed))).support))
    return np.array(shares)


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
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions(kind, alpha):
    errors, _ = over_seeds(quiet(kind, alpha).sample, FEW)
    assert errors.max() <= 0.15
    # They would not be seen without the metric.
    sample = quiet(kind, alpha).sample(0)
    assert error(fitted(sample.X, scatter="identity"), sample) > 3.0 * errors.max()


def test_groups_in_quiet_directions_get_a_last_look():
    # Where one group is looked at while the other is still there, some 30 rows are wrong.
    _, wrong = over_seeds(quiet("spiked", 0.3).sample, range(4))
    assert wrong.max() <= 12


# With half as many rows, a tenth of them bad is close to what chance finds in a window.
QUIET = [(2000, 100, 0.95), (1000, 50, 0.85)]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("n", "d", "often"), QUIET)
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions_in_nearly_every_draw(kind, n, d, often, alpha):
    errors, _ = over_seeds(quiet(kind, alpha, n, d).sample, MANY)
    assert np.mean(errors <= 0.15) >= often


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
    # Ten sigma apart, distances from the centre still overlap: 14 and 10, give or take 0.7.
    assert over_seeds(Huber(n, 100, alpha).sample, range(4))[1].max() == 0


# -- the same rows in other clothes ---------------------------------------------------------------

MOVABLE = ["A", "A, n < d", "B", "heavy", "spiked", "obvious and subtle"]


def moved(X, how, seed=0):
    """The same rows, and where the k-th of them is now."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    order = rng.permutation(n) if how == "permuted" else np.arange(n)
    spread = X.std()
    X = {
        "small": lambda: 1e-8 * X,
        "large": lambda: 1e8 * X,
        "far": lambda: X + 1e6 * spread * rng.choice([-1.0, 1.0], d),
        "rotated": lambda: X @ ortho_group.rvs(d, random_state=rng),
        "reflected": lambda: -X,
        "permuted": lambda: X[order],
        "columns": lambda: X[:, rng.permutation(d)],
        "wider": lambda: np.insert(X, [0, d // 2], [7.0, -2.0], axis=1),
    }[how]()
    return X, order


@cases("how", ["small", "large", "far", "rotated", "reflected", "permuted", "columns", "wider"])
@cases("name", MOVABLE)
def test_the_same_rows_are_kept(name, how):
    X = SMALL[name]().X
    Y, order = moved(X, how)
    plain, other = fitted(X), fitted(Y)
    assert plain.groups
    np.testing.assert_array_equal(other.support, plain.support[order])


KINDS = {
    "Fortran": lambda X, folder: np.asfortranarray(X),
    "float32": lambda X, folder: X.astype(np.float32),
    "csr": lambda X, folder: sp.csr_array(X),
    "csc float32": lambda X, folder: sp.csc_matrix(X.astype(np.float32)),
    "memmap": lambda X, folder: memory_mapped(X, folder),
    "pandas": lambda X, folder: pd.DataFrame(X),
    "polars": lambda X, folder: pl.DataFrame(X),
    "list": lambda X, folder: X.tolist(),
    "float16": lambda X, folder: X.astype(np.float16),
}


def memory_mapped(X, folder):
    X.tofile(folder / "table")
    return np.memmap(folder / "table", dtype=X.dtype, mode="r", shape=X.shape)


@cases("name", ["A", "A, n < d", "B", "spiked"])
@cases("kind", KINDS)
def test_every_kind_of_table_gives_the_same_rows(kind, name, tmp_path):
    # Half precision holds these numbers.
    X = SMALL[name]().X.astype(np.float16).astype(np.float64)
    plain = fitted(X)
    other = fitted(KINDS[kind](X, tmp_path), dense=X)
    np.testing.assert_array_equal(other.support, plain.support)
    single = np.float32 if kind in ("float32", "float16", "csc float32") else np.float64
    assert other.location.dtype == single
    np.testing.assert_allclose(other.location, plain.location, atol=1e-5)


def test_whole_numbers_of_any_type():
    X = np.round(8.0 * SettingA(500, 40, 0.2).sample(0).X)
    plain = fitted(X)
    assert plain.groups
    for dtype in (np.int8, np.int64):
        np.testing.assert_array_equal(fitted(X.astype(dtype)).support, plain.support)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, pd.DataFrame])
def test_the_data_are_not_modified(make):
    X = SMALL["obvious and subtle"]().X
    X[3] = 1e200
    data = make(X.copy())
    fitted(data, dense=X)
    robust_mean(data, scatter=np.full(X.shape[1], 4.0))
    np.testing.assert_array_equal(data.toarray() if sp.issparse(data) else np.asarray(data), X)


# -- difficult tables -----------------------------------------------------------------------------


@cases("where", ["one entry", "whole row"])
@cases("size", [1e3, 1e8, 1e100, 1e160, -1e300])
@cases("make", [np.asarray, sp.csr_array])
@cases("shape", [(300, 30), (60, 150), (1000, 3)])
def test_one_absurd_row_and_no_other_goes(shape, make, size, where):
    X = np.random.default_rng(1).standard_normal(shape)
    X[3] = 0.0
    X[3, slice(1) if where == "one entry" else slice(None)] = size
    result = fitted(make(X), dense=X)
    np.testing.assert_array_equal(result.outliers, [3])
    assert [group.kind for group in result.groups] == ["apart"]


@pytest.mark.parametrize("name", ["A", "A, n < d", "B"])
def test_an_absurd_row_hides_no_group(name):
    sample = SMALL[name]()
    X = sample.X.copy()
    row = int(np.flatnonzero(~sample.is_outlier)[0])
    X[row] = 1e300
    plain, result = fitted(np.delete(X, row, axis=0)), fitted(X)
    np.testing.assert_array_equal(np.delete(result.support, row), plain.support)
    assert not result.support[row]
    np.testing.assert_array_equal(result.groups[0].rows, [row])
    assert result.path[0].sigma == np.inf


def test_two_absurd_rows_on_opposite_sides():
    X = np.random.default_rng(0).standard_normal((101, 3))
    X -= np.median(X, axis=0)
    X[0] = 1e200
    X[1] = -1e200
    X[2:] -= np.median(X, axis=0)
    np.testing.assert_array_equal(fitted(X).outliers, [0, 1])


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


@no_warning
@pytest.mark.parametrize("value", [0.0, 7.0, 1e8])
def test_a_constant_column_is_no_sign_of_anything(value):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((400, 6))
        X[:, 2] = value
        assert fitted(X).support.all()


WHOLE = {
    "rounded, fine": lambda rng, n, d: np.round(10.0 * rng.standard_normal((n, d))),
    "rounded": lambda rng, n, d: np.round(3.0 * rng.standard_normal((n, d))),
    "counts": lambda rng, n, d: rng.poisson(100.0, (n, d)),
}


@no_warning
@cases("shape", [(300, 1), (1000, 2), (1000, 10), (500, 50)])
@cases("kind", WHOLE)
def test_whole_numbers_are_left_alone(kind, shape):
    for seed in range(4):
        X = WHOLE[kind](np.random.default_rng(seed), *shape)
        assert fitted(X).support.all()


@pytest.mark.parametrize("shape", [(1000, 1), (1000, 2)])
def test_a_few_whole_numbers_are_left_alone(shape):
    assert share_removed(lambda rng: rng.integers(-3, 4, shape), range(20)).max() == 0.0


FEW_VALUES = {
    "coins": lambda rng: rng.random((1000, 5)) < 0.5,
    "rare ones": lambda rng: rng.random((1000, 20)) < 0.1,
    "counts, two columns": lambda rng: rng.poisson(5.0, (1000, 2)),
    "small counts": lambda rng: rng.poisson(1.0, (1000, 5)),
}


@pytest.mark.xfail(
    strict=True, reason="few values in each column: their sums in a direction are clusters"
)
@pytest.mark.parametrize("kind", FEW_VALUES)
def test_columns_of_few_values_are_left_alone(kind):
    assert share_removed(FEW_VALUES[kind], range(20)).max() == 0.0


def test_one_column_of_counts_is_left_alone():
    assert share_removed(lambda rng: rng.poisson(5.0, (1000, 1)), range(20)).max() == 0.0


def test_rows_with_sharp_ends_are_left_alone():
    assert share_removed(lambda rng: rng.uniform(-1.0, 1.0, (3000, 1)), range(20)).max() == 0.0


@pytest.mark.parametrize("shape", [(2, 1), (3, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal(shape):
    result = fitted(np.full(shape, 2.5))
    assert result.support.all() and result.sigma < 1e-14
    assert len(result.path) == 1


@pytest.mark.parametrize("value", [0.1, 1e10 / 3.0])
@pytest.mark.parametrize("shape", [(10, 3), (10, 30), (600, 2)])
def test_all_rows_equal_but_not_in_binary(shape, value):
    assert fitted(np.full(shape, value)).support.all()


def test_one_column_equal_up_to_rounding():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        value, n = rng.standard_normal(), int(rng.integers(20, 400))
        assert fitted(value + 1e-16 * rng.standard_normal((n, 1))).support.all()


def test_a_sparse_table_far_from_zero():
    X = 1e6 + 1e-3 * np.random.default_rng(0).standard_normal((200, 3))
    assert fitted(sp.csr_array(X), dense=X).support.all()


@cases("scale", [1.0, 1e3, 1e-3])
@cases(
    "rows",
    [
        np.repeat([[0.0], [1.0]], 50, axis=0),
        np.array([[-3.0], [2.0], [-2.0], [-2.0]]),
        np.repeat([[2.0, 3.0], [50.0, 50.0]], [99, 1], axis=0),
    ],
)
def test_values_that_coincide_are_no_scale(rows, scale):
    assert fitted(scale * rows).support.all()


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e-3])
def test_categories_are_left_alone_and_warned_about(scale):
    X = scale * np.eye(4)[np.arange(200) % 4]
    fitted(X)
    with pytest.warns(WeakEvidenceWarning):
        assert robust_mean(X).support.all()


@pytest.mark.parametrize("power", [-60, -30, 30, 60])
def test_units_in_which_the_numbers_are_very_small_or_large(power):
    X = SMALL["B"]().X
    np.testing.assert_array_equal(fitted(10.0**power * X).support, fitted(X).support)


# Powers of two as units, and whether a table in them is taken.
DOUBLE = {-1000: False, -660: False, -500: True, -200: True, 200: True, 250: False, 1000: False}
SINGLE = {-110: False, -60: False, -40: True, 30: True, 40: False, 110: False}
UNITS = [(np.float64, *k) for k in DOUBLE.items()] + [(np.float32, *k) for k in SINGLE.items()]


@cases(("dtype", "power", "taken"), UNITS)
@cases("name", ["spiked", "A, n < d", "clean"])
def test_units_change_nothing_until_they_are_refused(name, dtype, power, taken):
    # A power of two, so that every digit stays.
    X = SMALL[name]().X.astype(dtype)
    Y = np.ldexp(X, power)
    assert np.isfinite(Y).all()
    if taken:
        np.testing.assert_array_equal(fitted(Y).support, fitted(X).support)
        return
    with pytest.raises(ValueError, match=r"X is out of range.*units"):
        robust_mean(Y)


entries = st.one_of(st.floats(-10.0, 10.0, width=32), st.floats(-1e6, 1e6, width=32))


@given(st.data(), st.integers(2, 30), st.integers(1, 4), st.integers(0, 2**16))
@settings(max_examples=60)
def test_any_table_without_ties_has_an_answer(data, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for i in range(data.draw(st.integers(0, n // 2))):
        X[i] += data.draw(entries)
    result = fitted(X)
    assert (np.abs(result.location) <= np.abs(X).max()).all()
    assert result.certificate.error_radius(0.1) >= 0.0


# -- the rule -------------------------------------------------------------------------------------


def test_the_rule_is_the_verdict_on_any_row(fit):
    sample, result = fit
    np.testing.assert_allclose(
        result.rule.scores(as_table(sample.X)), result.scores, rtol=1e-9, atol=1e-12
    )
    # Rows that were not there, judged group by group.
    rng = np.random.default_rng(7)
    new = np.concatenate([sample.X[:50] + 0.1, 1.5 * sample.X[50:100], 9.0 * sample.X[:20]])
    new += 0.01 * rng.standard_normal(new.shape)
    expected = np.zeros(len(new), dtype=bool)
    for group in result.groups:
        offsets = new - group.center
        if group.kind in ("apart", "distance", "tail"):
            sizes = np.linalg.norm(offsets, axis=1)
        else:
            sizes = offsets @ group.direction
            sizes = np.abs(sizes) if group.side == 0 else group.side * sizes
        expected |= sizes > group.cut
    if not result.groups:
        expected = np.sum((new - result.location) ** 2, axis=1) > result.budget
    got = result.rule.scores(as_table(new)) > result.rule.threshold
    np.testing.assert_array_equal(got, expected)


def test_the_estimator_agrees(fit):
    sample, result = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakEvidenceWarning)
        model = RobustMean(assume="symmetric").fit(sample.X)
    np.testing.assert_array_equal(model.support_, result.support)
    np.testing.assert_array_equal(model.location_, result.location)
    np.testing.assert_array_equal(model.predict(sample.X) == 1, result.support)
    new = np.random.default_rng(3).standard_normal((40, sample.X.shape[1]))
    np.testing.assert_allclose(model.score_samples(new), -result.rule.scores(as_table(new)))


def test_new_rows_are_told_apart():
    model = RobustMean(assume="symmetric").fit(SettingA(2000, 100, 0.2).sample(0).X)
    fresh = SettingA(2000, 100, 0.4).sample(1)
    assert np.mean((model.predict(fresh.X) == 1) == ~fresh.is_outlier) > 0.999


# -- the path -------------------------------------------------------------------------------------


def test_points_of_the_path_are_recomputed(fit):
    sample, result = fit
    X, n = sample.X, len(sample.X)
    assert len(result.path) == len(result.groups) + 2
    np.testing.assert_array_equal(result.path[0].removed, [])
    gone = np.zeros(n, dtype=bool)
    for i, point in enumerate(result.path):
        kept = np.ones(n, dtype=bool)
        kept[point.removed] = False
        rows = X[kept]
        np.testing.assert_allclose(
            point.location, rows.mean(axis=0), rtol=0.0, atol=1e-11 * np.abs(X).max()
        )
        certificate = point.certificate
        assert (certificate.n, certificate.n_removed) == (n, int((~kept).sum()))
        assert point.budget == certificate.budget
        top = top_eigenvalue(rows)
        assert certificate.lambda_max <= top * (1.0 + 1e-9)
        assert top <= certificate.bound * (1.0 + 1e-9)
        check_sigma(point.sigma, certificate)
        assert certificate.feasible
        assert certificate.l0_lower_bound <= certificate.n_removed
        if i <= len(result.groups):
            np.testing.assert_array_equal(~kept, gone)
        if i < len(result.groups):
            assert result.groups[i].budget == pytest.approx(certificate.bound, rel=1e-9)
            gone[result.groups[i].rows] = True
    below, chosen = result.path[-1], result.path[-2]
    assert below.certificate.lambda_max < chosen.certificate.lambda_max
    assert set(chosen.removed) <= set(below.removed)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_budget_falls_and_the_price_jumps_below_the_good_rows(setting, alpha):
    result = fitted(SETTINGS[setting](1000, 100, alpha).sample(0).X)
    groups = result.path[: len(result.groups) + 1]
    assert np.all(np.diff([point.budget for point in groups]) < 0.0)
    assert np.all(np.diff([point.sigma for point in groups]) < 0.0)
    below, chosen = result.path[-1], groups[-1]
    assert below.price > 3.0 * chosen.price
    assert below.rank > chosen.rank
    # Good rows pay on both sides alike: nothing speaks for their leaving.
    assert groups[0].share == 1.0 and below.share > 0.5
    assert max(point.share for point in groups[1:]) < 0.25


@pytest.mark.parametrize("n_bad", [2, 5])
def test_the_l0_bound_of_the_path_against_all_subsets(n_bad):
    rng = np.random.default_rng(n_bad)
    X = rng.standard_normal((14, 2))
    X[:n_bad] += 1e8
    result = fitted(X)
    np.testing.assert_array_equal(result.outliers, np.arange(n_bad))
    A = X - result.location
    fewest = reference.fewest_removed_about(A, result.budget)
    assert result.certificate.l0_lower_bound <= fewest <= n_bad


def test_path_is_that_of_the_fit():
    X = SMALL["A"]().X
    points, expected = (
        inlier.path(X, assume="symmetric", random_state=3),
        robust_mean(X, random_state=3).path,
    )
    assert len(points) == len(expected)
    for point, other in zip(points, expected, strict=True):
        np.testing.assert_array_equal(point.removed, other.removed)
        np.testing.assert_array_equal(point.location, other.location)
        assert point.certificate == other.certificate
        assert (point.budget, point.sigma, point.price, point.rank, point.share) == (
            other.budget,
            other.sigma,
            other.price,
            other.rank,
            other.share,
        )


def test_path_takes_no_sigma():
    with pytest.raises(ValueError, match=r"\bsigma\b"):
        inlier.path(SMALL["clean"]().X, sigma=1.0)


# -- another answer without a new fit -------------------------------------------------------------


def check_changed(X, changed, n_removed=0):
    """What at and keep return, from the data; `n_removed` rows were bad before the change."""
    kept = changed.support
    rows = X[kept]
    np.testing.assert_allclose(
        changed.location, rows.mean(axis=0), rtol=0.0, atol=1e-11 * np.abs(X).max()
    )
    np.testing.assert_array_equal(changed.indicator, np.where(kept, 0.0, 1.0))
    certificate = changed.certificate
    assert (certificate.n, certificate.n_removed) == (len(X), int((~kept).sum()))
    assert changed.budget == certificate.budget
    check_sigma(changed.sigma, certificate)
    assert f"Kept {kept.sum()} of {len(X)} rows by choice" in changed.message
    top = top_eigenvalue(rows)
    assert certificate.lambda_max * (1.0 - 1e-9) <= top <= certificate.bound * (1.0 + 1e-9)
    assert certificate.verify(X).holds
    if max(n_removed, certificate.n_removed):
        (alpha,) = certificate.assumed
        assert alpha * len(X) >= max(n_removed, certificate.n_removed)
    assert changed.message.endswith(certificate.statement())


def test_at_any_point_of_the_path(fit):
    sample, result = fit
    for i, point in enumerate(result.path):
        changed = result.at(i)
        np.testing.assert_array_equal(changed.outliers, point.removed)
        check_changed(sample.X, changed, result.certificate.n_removed)
        assert changed.groups == result.groups[:i]
        np.testing.assert_array_equal(result.at(point=i).support, changed.support)
        np.testing.assert_array_equal(result.at(i - len(result.path)).support, changed.support)
    # The chosen one is the answer itself.
    same = result.at(len(result.groups))
    np.testing.assert_array_equal(same.support, result.support)
    np.testing.assert_allclose(same.location, result.location, rtol=0.0, atol=1e-11)
    assert same.certificate.bound == pytest.approx(result.certificate.bound, rel=0.1)
    assert same.certificate.n_removed == result.certificate.n_removed


def test_at_a_sigma_is_the_nearest_point():
    result = fitted(SMALL["A"]().X)
    sigmas = np.array([point.sigma for point in result.path])
    for sigma in (*sigmas, *(1.01 * sigmas), 1e-9, 1e9):
        nearest = int(np.argmin(np.abs(np.log(sigmas / sigma))))
        np.testing.assert_array_equal(
            result.at(sigma=sigma).outliers, result.path[nearest].removed
        )  # fmt: skip


def test_keep_puts_a_group_back(fit):
    sample, result = fit
    for i, group in enumerate(result.groups):
        changed = result.keep(i)
        expected = result.support.copy()
        expected[group.rows] = True
        np.testing.assert_array_equal(changed.support, expected)
        check_changed(sample.X, changed, result.certificate.n_removed)
        assert changed.certificate.feasible
        assert changed.groups == tuple(other for other in result.groups if other is not group)
        np.testing.assert_array_equal(result.keep(group).support, expected)
        np.testing.assert_array_equal(result.keep(i - len(result.groups)).support, expected)
        # Nothing that is known of the rows is contradicted.
        alpha = (sample.is_outlier.sum() + 0.5) / len(sample.X)
        radius = changed.certificate.error_radius(alpha, sample.sigma)
        assert np.linalg.norm(changed.location - sample.mean) <= radius


def test_keep_and_at_leave_the_result_alone():
    result = fitted(SMALL["A"]().X)
    before = replace(result)
    result.keep(0), result.at(0)
    for name in ("location", "support", "indicator", "scores"):
        np.testing.assert_array_equal(getattr(result, name), getattr(before, name))
    assert result.groups == before.groups


def test_all_groups_put_back_one_by_one_are_all_rows():
    X = SMALL["A"]().X
    result = fitted(X)
    assert len(result.groups) >= 2
    for first in (0, -1):
        changed = result
        while changed.groups:
            changed = changed.keep(first)
            check_changed(X, changed)
        assert changed.support.all()


def test_a_group_of_a_point_of_the_path_can_be_put_back():
    X = SMALL["A"]().X
    result = fitted(X)
    changed = result.at(1)
    np.testing.assert_array_equal(np.sort(changed.groups[0].rows), changed.outliers)
    assert changed.keep(0).support.all()
    check_changed(X, changed.keep(0))


def test_another_answer_has_no_path():
    result = fitted(SMALL["A"]().X)
    for changed in (result.at(1), result.keep(0)):
        assert changed.path == ()
        with pytest.raises(ValueError, match=r"\bpath\b"):
            changed.at(0)


def test_scores_after_a_change_of_mind(fit):
    _, result = fit
    changes = [result.at(i) for i in range(len(result.path))]
    changes += [result.keep(i) for i in range(len(result.groups))]
    for changed in changes:
        np.testing.assert_array_equal(changed.support, changed.scores <= changed.rule.threshold)


@cases(
    ("arguments", "match"),
    [
        ({}, r"\bpoint\b.*\bsigma\b"),
        ({"point": 0, "sigma": 1.0}, r"\bpoint\b.*\bsigma\b"),
        ({"point": 99}, r"\bpoint\b.*99"),
        ({"point": -99}, r"\bpoint\b.*-99"),
        *[({"sigma": value}, r"\bsigma\b") for value in (0.0, -1.0, np.nan, np.inf)],
        *[({"sigma": value}, r"\bsigma\b") for value in ("1", [1.0], True)],
        *[({"point": value}, r"\bpoint\b") for value in (1.5, "1", [0], True)],
    ],
)
def test_at_names_a_wrong_argument(arguments, match):
    result = fitted(SMALL["A"]().X)
    with pytest.raises(ValueError, match=match):
        result.at(**arguments)


@pytest.mark.parametrize("group", [99, -99, 0.5, "0", None, True])
def test_keep_names_a_wrong_argument(group):
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        fitted(SMALL["A"]().X).keep(group)


def test_keep_takes_no_group_of_another_result():
    group = fitted(SMALL["B"]().X).groups[0]
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        fitted(SMALL["A"]().X).keep(group)


def test_a_result_with_sigma_has_neither_path_nor_groups():
    sample = SMALL["A"]()
    result = robust_mean(sample.X, sigma=sample.sigma)
    assert result.path == result.groups == ()
    with pytest.raises(ValueError, match=r"\bsigma\b"):
        result.at(0)
    with pytest.raises(ValueError, match=r"\bgroup\b"):
        result.keep(0)


def test_an_absurd_group_can_be_put_back():
    X = SMALL["A"]().X
    X[3] = 1e300
    result = fitted(X)
    back = result.keep(0)
    assert back.support[3]
    np.testing.assert_allclose(back.location, X[back.support].mean(axis=0), rtol=1e-9)
    assert back.certificate.lambda_max == np.inf
    assert "nothing is known" in back.message
    assert back.certificate.error_radius(0.1) == np.inf
    everything = result.at(0)
    assert everything.support.all()
    np.testing.assert_allclose(everything.location, X.mean(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(result.at(sigma=result.sigma).support, result.support)


# -- the certificate ------------------------------------------------------------------------------


def radius_by_hand(result, alpha, sigma):
    """(s sqrt(k) + sigma sqrt(n - m)) / sqrt(m - k)."""
    n, m = len(result.support), int(result.support.sum())
    k = np.floor(alpha * n * (1.0 + 1e-12))
    s = result.certificate.sigma_kept
    return (s * np.sqrt(k) + sigma * np.sqrt(n - m)) / np.sqrt(m - k) if m > k else np.inf


@cases("alpha", [0.1, 0.2, 0.3, 0.4])
@cases("setting", SETTINGS)
@cases(("n", "d"), [(1000, 50), (200, 20)])
def test_the_radius_holds_on_the_whole_path(n, d, setting, alpha):
    sample = SETTINGS[setting](n, d, alpha).sample(0)
    result = fitted(sample.X)
    fraction = (sample.is_outlier.sum() + 0.5) / n
    for i in range(len(result.path)):
        changed = result.at(i)
        radius = changed.certificate.error_radius(fraction, sample.sigma)
        assert error(changed, sample) <= radius
        assert radius == pytest.approx(radius_by_hand(changed, fraction, sample.sigma))


def test_the_radius_grows_with_the_fraction(fit):
    _, result = fit
    alphas = np.linspace(0.0, 1.0, 101)
    radii = result.certificate.error_radius(alphas)
    assert radii.shape == alphas.shape
    assert np.all(radii[1:] >= radii[:-1])
    np.testing.assert_allclose(
        radii, [radius_by_hand(result, alpha, result.certificate.sigma_kept) for alpha in alphas]
    )
    assert radii[-1] == np.inf


def test_the_statement_says_what_is_known():
    result = fitted(SettingA(1000, 50, 0.2).sample(0).X)
    certificate = result.certificate
    alpha = np.ceil(100.0 * certificate.n_removed / 1000) / 100
    said = certificate.statement()
    radius = radius_by_hand(result, alpha, certificate.sigma_kept)
    assert f"at most {100 * alpha:.3g}% of the rows are bad" in said
    assert f"vary by at most {certificate.sigma_kept:.3g} in any direction" in said
    assert f"the mean is within {radius:.3g} of that of the good rows" in said
    assert said in result.message
    said = certificate.statement(alpha=0.05, sigma=2.0)
    assert "at most 5%" in said and "by at most 2 " in said
    assert f"within {radius_by_hand(result, 0.05, 2.0):.3g} of" in said
    assert "nothing is known" in certificate.statement(alpha=0.9)


def test_where_nothing_was_removed_the_statement_is_a_curve():
    result = fitted(Clean(500, 10).sample(0).X)
    certificate, said = result.certificate, result.certificate.statement()
    assert certificate.n_removed == 0
    assert "at most 1%, 5%, 10% or 20% of the rows" in said
    for alpha in (0.01, 0.05, 0.1, 0.2):
        assert f"{radius_by_hand(result, alpha, certificate.sigma_kept):.3g}" in said
    assert said in result.message


# -- weak evidence --------------------------------------------------------------------------------


def test_several_groups_of_equal_size_are_contradictory():
    X = three_clusters()
    with pytest.warns(WeakEvidenceWarning, match="contradictory") as caught:
        result = robust_mean(X)
    assert len(caught) == 1 and str(caught[0].message) == result.message
    assert caught[0].filename == __file__, "the warning points at the caller"
    assert 2 * result.support.sum() >= len(X)
    for hint in ("result.groups", "result.keep", "half of the rows"):
        assert hint in result.message


def test_a_group_of_nearly_half_the_rows_is_a_matter_of_numbers():
    sample = SettingB(1000, 50, 0.4).sample(0)
    with pytest.warns(WeakEvidenceWarning, match="400 of 1000 rows"):
        result = robust_mean(sample.X)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def test_a_tail_that_left_is_warned_about():
    X = np.random.default_rng(0).lognormal(size=(1000, 20))
    with pytest.warns(WeakEvidenceWarning, match="tail"):
        result = robust_mean(X)
    assert {group.kind for group in result.groups} == {"tail"}


@no_warning
@pytest.mark.parametrize("shape", [(1000, 50), (200, 10), (100, 300), (30, 3), (500, 1)])
def test_clean_rows_are_no_weak_evidence(shape):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        result = robust_mean(X)
        assert result.support.all()
        assert f"Kept all {len(X)} rows" in result.message


@no_warning
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_settings_are_no_weak_evidence(setting):
    result = robust_mean(SETTINGS[setting](1000, 100, 0.2).sample(0).X)
    assert "Kept 800 of 1000 rows" in result.message
    for group in result.groups:
        assert str(group) in result.message
        assert str(group).startswith(f"{group.size} rows")


def test_the_estimator_warns_too():
    with pytest.warns(WeakEvidenceWarning, match="contradictory"):
        RobustMean(assume="symmetric").fit(three_clusters())


# -- other units ----------------------------------------------------------------------------------


def stretched(n=400, d=8, n_bad=60, seed=0):
    """Rows with a covariance that is far from the identity, and a group in a quiet direction."""
    rng = np.random.default_rng(seed)
    L = np.tril(rng.standard_normal((d, d)), -1) + np.diag(np.geomspace(20.0, 0.1, d))
    Z = rng.standard_normal((n, d))
    Z[:n_bad] += 12.0 * np.eye(d)[-1]
    return Z @ L.T + 5.0, L, np.arange(n) < n_bad


def by_hand(X, L):
    """The rows with the scatter L L^T divided out, and the way back."""
    origin = np.median(X, axis=0)
    return np.linalg.solve(L, (X - origin).T).T, lambda points: origin + points @ L.T


def deviations(X):
    return np.median(np.abs(X - np.median(X, axis=0)), axis=0)


SCATTERS = {
    "diagonal": lambda X, L: ("diagonal", np.diag(deviations(X))),
    "vector": lambda X, L: (np.diag(L) ** 2, np.diag(np.diag(L))),
    "matrix": lambda X, L: (L @ L.T, L),
    "Cholesky factor": lambda X, L: (L, L),
    "another factor": lambda X, L: (
        (rooted := L @ ortho_group.rvs(len(L), random_state=1)),
        np.linalg.cholesky(rooted @ rooted.T),
    ),
}


@cases("absurd", [False, True])
@cases(("name", "sparse"), [*[(name, False) for name in SCATTERS], ("vector", True)])
def test_a_scatter_is_a_fit_in_other_coordinates(name, sparse, absurd):
    X, L, bad = stretched()
    if absurd:
        X[-1] = 1e250
    scatter, factor = SCATTERS[name](X, L)
    Z, restored = by_hand(X, factor)
    plain = fitted(Z, scatter="identity")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(sp.csr_array(X) if sparse else X, scatter=scatter)
    np.testing.assert_array_equal(result.support, plain.support)
    if name != "diagonal":
        np.testing.assert_array_equal(result.support[:-1], ~bad[:-1])
    assert (result.sigma, result.budget) == pytest.approx((plain.sigma, plain.budget))
    assert result.certificate.lambda_max == pytest.approx(plain.certificate.lambda_max)
    np.testing.assert_allclose(result.location, X[result.support].mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(result.scores, plain.scores, rtol=1e-6, atol=1e-9)
    assert len(result.path) == len(plain.path)
    for point, other in zip(result.path, plain.path, strict=True):
        np.testing.assert_array_equal(point.removed, other.removed)
        np.testing.assert_allclose(
            point.location, restored(other.location[None])[0], rtol=1e-9, atol=1e-9
        )
    for group, other in zip(result.groups, plain.groups, strict=True):
        assert (group.kind, group.log_p) == (other.kind, pytest.approx(other.log_p))
        assert np.linalg.norm(group.direction) == pytest.approx(1.0)
        np.testing.assert_allclose(group.mean, X[group.rows].mean(axis=0), rtol=1e-8)
    # The rule judges rows of the data.
    np.testing.assert_array_equal(
        result.rule.scores(as_table(X)) <= result.rule.threshold, result.support
    )
    # And the other answers are in the units of the data.
    for changed in (result.at(0), result.at(len(result.path) - 1), result.keep(0)):
        np.testing.assert_allclose(
            changed.location, X[changed.support].mean(axis=0), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("scatter", ["diagonal", "matrix"])
def test_clean_rows_in_other_units_are_judged_by_their_distance_there(scatter):
    X, L, bad = stretched()
    X = X[~bad]
    value, factor = SCATTERS[scatter](X, L)
    Z, _ = by_hand(X, factor)
    result = robust_mean(X, scatter=value)
    assert result.support.all()
    expected = np.sum((Z - Z.mean(axis=0)) ** 2, axis=1) / result.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-9)
    np.testing.assert_allclose(result.rule.scores(as_table(X)), expected, rtol=1e-9)
    model = RobustMean(assume="symmetric", scatter=value).fit(X)
    assert np.all(model.predict(X) == 1)


def test_a_scatter_with_a_sigma():
    X, L, bad = stretched()
    Z, _ = by_hand(X, L)
    sigma = 1.05 * np.sqrt(top_eigenvalue(Z[~bad]) / (~bad).sum())
    result, plain = robust_mean(X, sigma=sigma, scatter=L), robust_mean(Z, sigma=sigma)
    np.testing.assert_array_equal(result.support, plain.support)
    np.testing.assert_array_equal(result.support, ~bad)
    np.testing.assert_allclose(result.location, X[~bad].mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_identity_is_the_data_as_they_are(setting):
    X = SETTINGS[setting](400, 50, 0.2).sample(0).X
    named = fitted(X, scatter="identity")
    for scatter in (np.ones(50), np.eye(50), 4.0 * np.eye(50)):
        result = robust_mean(X, scatter=scatter)
        np.testing.assert_array_equal(result.support, named.support)
        np.testing.assert_allclose(result.location, named.location, atol=1e-12)


NEARLY = np.diag([1.0, 1.0, 0.0])
WRONG_SCATTERS = {
    "unknown": ("Mahalanobis", "scatter"),
    "shape of a vector": (np.ones(2), r"scatter.*\(2,\)"),
    "shape of a matrix": (np.eye(4), r"scatter.*\(4, 4\)"),
    "no square": (np.ones((3, 2)), r"scatter.*\(3, 2\)"),
    "a number": (1.0, "scatter"),
    "None": (None, "scatter"),
    "words": (["a", "b", "c"], "scatter.*numbers"),
    "variance 0": ([1.0, 0.0, 1.0], "scatter.*above 0"),
    "variance below 0": ([1.0, -1.0, 1.0], "scatter.*above 0"),
    "NaN": ([1.0, np.nan, 1.0], "scatter.*NaN"),
    "infinity": (np.diag([1.0, np.inf, 1.0]), "scatter.*infinity"),
    "singular": (NEARLY, "scatter.*positive definite"),
    "indefinite": (np.diag([1.0, 1.0, -1.0]), "scatter.*positive definite"),
    "singular factor": (np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 1]]), "scatter.*positive"),
}


@cases("sigma", [None, 1.0])
@cases("name", WRONG_SCATTERS)
def test_a_wrong_scatter_is_named(name, sigma):
    scatter, match = WRONG_SCATTERS[name]
    X = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ValueError, match=match):
        robust_mean(X, sigma=sigma, scatter=scatter)


@pytest.mark.parametrize("scatter", ["diagonal", np.eye(3), 2.0 * np.tri(3)])
def test_a_sparse_table_takes_no_scatter_that_would_make_it_dense(scatter):
    X = sp.csr_array(np.random.default_rng(0).standard_normal((40, 3)))
    with pytest.raises(ValueError, match=r"\bscatter\b.*\bsparse\b"):
        robust_mean(X, scatter=scatter)


# -- chance, the paper's algorithm, and progress --------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_the_same_random_state_gives_the_same_answer_to_the_last_bit(name):
    X = SMALL[name]().X
    first, second = (fitted(X, random_state=np.random.default_rng(5)) for _ in range(2))
    for attribute in ("location", "support", "scores"):
        np.testing.assert_array_equal(getattr(first, attribute), getattr(second, attribute))
    assert first.history == second.history
    assert first.certificate == second.certificate
    assert first.message == second.message


@pytest.mark.parametrize("name", ["A", "A, n < d", "B", "obvious and subtle", "clean"])
def test_another_random_state_keeps_the_same_rows(name):
    X = SMALL[name]().X
    plain = fitted(X)
    for random_state in (1, 2, None):
        np.testing.assert_array_equal(fitted(X, random_state=random_state).support, plain.support)


def test_a_fit_leaves_the_global_random_state_alone():
    X = SMALL["spiked"]().X
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    fitted(X, random_state=None)
    assert np.random.random() == expected  # noqa: NPY002


@cases("start", ["coordinate-median", "geometric-median", "mean", "off"])
@cases("name", ["A", "B"])
def test_every_start_leads_to_the_same_rows(name, start):
    sample = SMALL[name]()
    given = {"mean": sample.X.mean(axis=0), "off": np.full(sample.X.shape[1], 3.0)}
    result = fitted(sample.X, start=given.get(start, start))
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_algorithm_of_the_paper_with_the_sigma_that_was_found(setting):
    X = SETTINGS[setting](200, 20, 0.2).sample(0).X
    seen = []
    plain = fitted(X)
    result = robust_mean(X, algorithm="paper", callback=seen.append)
    again = robust_mean(X, algorithm="paper", sigma=plain.sigma)
    assert result.sigma == pytest.approx(plain.sigma)
    np.testing.assert_array_equal(result.support, again.support)
    np.testing.assert_allclose(result.location, again.location, atol=1e-12)
    assert {step.stage for step in result.history} == {"algorithm 1"}
    assert [step.stage for step in seen].index("algorithm 1") == len(plain.history)
    assert tuple(seen[len(plain.history) :]) == result.history


@pytest.mark.parametrize("name", SMALL)
def test_the_callback_sees_the_history(name):
    X = SMALL[name]().X
    seen = []
    result = fitted(X, callback=seen.append)
    assert tuple(seen) == result.history
    assert {step.stage for step in seen} == {"selection"}
    assert seen[0].n_removed == 0
    assert seen[-1].n_removed == (~result.support).sum()
    assert seen[-1].budget == result.budget
    passes = [step.n_passes for step in seen]
    assert passes == sorted(passes) and result.n_passes >= 1
    if len(seen) == len(result.groups) + 1:  # no last look
        assert [step.budget for step in seen] == [
            point.budget for point in result.path[: len(seen)]
        ]  # fmt: skip


@pytest.mark.parametrize("exception", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("options", [{}, {"algorithm": "paper"}])
def test_an_exception_in_the_callback_ends_the_fit(exception, options):
    X = SettingA(200, 10, 0.2).sample(0).X
    all_steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakEvidenceWarning)
        robust_mean(X, callback=all_steps.append, **options)
    for stop_at in range(1, len(all_steps) + 1):
        steps = []

        def callback(step, steps=steps, stop_at=stop_at):
            steps.append(step)
            if len(steps) == stop_at:
                raise exception("stop")

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WeakEvidenceWarning)
            with pytest.raises(exception, match="stop"):
                robust_mean(X, callback=callback, **options)
        assert len(steps) == stop_at


def test_nothing_is_printed(capfd):
    fitted(SMALL["A"]().X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("shape", "value"), [((40, 1), 1e5), ((50, 2), 1e4), ((300, 20), 1e5)])
def test_a_single_gross_error_leaves_a_table_of_any_size(shape, value):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        X[7] = value
        np.testing.assert_array_equal(fitted(X).outliers, [7])


def test_many_rows_that_vary_more_than_the_others_are_not_called_absurd():
    rng = np.random.default_rng(0)
    X = np.concatenate([1e-5 * rng.standard_normal((550, 5)), rng.standard_normal((450, 5))])
    assert fitted(X).support.sum() >= 550
