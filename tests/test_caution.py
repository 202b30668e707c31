"""`robust_mean(X)`: what leaves where nothing is assumed of the good rows, and what does not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.datasets import load_iris

import inlier
from cases import cases
from inlier import RobustMean, robust_mean
from inlier.data import Fences, TailLength, as_table
from inlier.datasets import Cluster, SettingA, SettingB
from inlier.unknown_sigma import caution
from inlier.unknown_sigma.clear import clearest
from inlier.unknown_sigma.gross import gross_rules
from inlier.unknown_sigma.symmetry import FLAT_LEVEL, flat, lopsided


def fitted(X, **options):
    """A fit, with what holds of every answer checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inlier.WeakEvidenceWarning)
        result = robust_mean(X, **options)
    X = np.asarray(X, dtype=np.float64)
    kept = result.support
    np.testing.assert_array_equal(kept, result.scores <= result.rule.threshold)
    np.testing.assert_allclose(result.location, X[kept].mean(axis=0), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(result.rule.scores(as_table(X)) <= 1.0, kept)
    assert result.certificate.verify(X).faults == ()
    left = np.sort(np.concatenate([group.rows for group in result.groups] or [[]]))
    np.testing.assert_array_equal(left, result.outliers)
    for i in result.outliers[:3]:
        why = result.explain(int(i))
        assert why.contributions.sum() == pytest.approx(result.scores[i], rel=1e-5)
    return result


# -- what is found --------------------------------------------------------------------------------


def one_far_row(rng):
    X = rng.standard_normal((20, 3))
    X[3] += 100.0
    return X, [3]


def two_times_ten(rng):
    X = rng.standard_normal((20, 4)) + 10.0
    X[[2, 7], 1] *= 10.0
    return X, [2, 7]


def unit_error(rng):
    X = rng.standard_normal((50, 4)) + 20.0
    X[11, 2] *= 100.0
    return X, [11]


def three_far_rows(rng):
    X = rng.standard_normal((40, 2))
    X[[1, 5, 9]] += 30.0
    return X, [1, 5, 9]


@cases("seed", range(5))
@cases("table", [one_far_row, two_times_ten, unit_error, three_far_rows])
def test_gross_rows_of_small_tables_leave(table, seed):
    X, bad = table(np.random.default_rng(seed))
    np.testing.assert_array_equal(fitted(X).outliers, bad)


def iris_with_typos():
    X = load_iris().data.copy()
    X[3, 0] *= 10.0
    X[60, 2] *= 100.0
    X[[100, 101, 102], 1] = -999.0
    X[120, 3] *= -10.0
    X[140, [0, 2]] = 1e4, 3e-9
    return X


def test_typos_leave_and_say_what_they_look_like():
    result = fitted(iris_with_typos())
    np.testing.assert_array_equal(result.outliers, [3, 60, 100, 101, 102, 120, 140])
    said = {(cell.row, cell.column): str(cell) for cell in result.cells}
    assert said[3, 0].endswith("it looks 10 times too large")
    assert said[60, 2].endswith("it looks 100 times too large")
    assert "occurs 3 times, like a code" in said[100, 1]
    assert "x2 = 350, about 290 times the column's usual distance from its median" in said[60, 2]
    assert result.explain(60).cells == (said[60, 2],)
    assert said[60, 2] in str(result.explain(60))


def test_swapped_columns_and_signs_are_recognised():
    rng = np.random.default_rng(0)
    X = np.c_[100.0 + rng.standard_normal(80), 5.0 + 0.1 * rng.standard_normal(80)]
    X[7] = X[7, ::-1]
    X[9, 0] *= -1.0
    said = {(cell.row, cell.column): cell.slip for cell in fitted(X).cells}
    assert "swapped" in said[7, 0] and "swapped" in said[7, 1]
    assert said[9, 0] == "with the other sign it would be usual"


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("setting", [SettingA, SettingB])
def test_the_settings_of_the_paper_are_solved_exactly(setting, alpha):
    sample = setting(2000, 100, alpha).sample(0)
    np.testing.assert_array_equal(fitted(sample.X).support, ~sample.is_outlier)


def test_a_near_cluster_leaves_where_the_rest_is_noise_about_a_centre():
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
    monkeypatch.setattr(caution, "WHOLE_CELLS", 0)
    monkeypatch.setattr(caution, "SAMPLE_CELLS", 5 * 1000)
    assert len(caution.RowSample.of(as_table(X)).rows) == 1000
    np.testing.assert_array_equal(fitted(X).outliers, bad)


def test_a_sample_does_not_cost_the_farthest_good_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 6))
    X[:200] += 8.0
    monkeypatch.setattr(caution, "WHOLE_CELLS", 0)
    monkeypatch.setattr(caution, "SAMPLE_CELLS", 6 * 600)
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


# -- the parts ------------------------------------------------------------------------------------


def test_symmetric_rows_with_one_mode_pass_and_others_do_not():
    rng = np.random.default_rng(0)
    for T in (rng.standard_normal((500, 20)), rng.standard_t(4, (500, 20))):
        assert lopsided(T) < 1.0 and flat(T) < 1.0
    assert lopsided(rng.exponential(size=(200, 3))) > 1.0
    classes = rng.standard_normal((300, 3)) + 6.0 * rng.integers(2, size=(300, 1))
    assert flat(classes) > 1.0


def test_flatness_is_that_of_scipy():
    T = np.random.default_rng(0).uniform(size=(80, 4))
    z = stats.kurtosistest(T, axis=0).statistic.min()
    assert flat(T) == pytest.approx(z / stats.norm.ppf(FLAT_LEVEL / 4))


def test_a_gap_that_the_tail_can_reach_is_none():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1))
    X[0] = 1.2 * np.abs(X[1:]).max()
    assert gross_rules(X, 200)[0] == []
    X[0] = 40.0
    (rule,), kept = gross_rules(X, 200)
    np.testing.assert_array_equal(np.flatnonzero(~kept), [0])
    np.testing.assert_array_equal(rule.measure(X) > rule.cut, ~kept)
    assert 1.0 < X[0, 0] / (rule.measure.center[0] + rule.measure.above[0]) < 40.0


def test_the_clearest_group_and_its_ratio():
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-1.0, 1.0, (90, 3)), 10.0 + 0.1 * rng.uniform(-1.0, 1.0, (10, 3))]
    group, blocked = clearest(X, 100)
    assert not blocked
    np.testing.assert_array_equal(np.flatnonzero(group.members), np.arange(90, 100))
    # Along the diagonal the others reach about sqrt(3) and the group about 10 sqrt(3).
    assert 5.0 < group.ratio < 20.0


@pytest.mark.parametrize("home", ["numpy", "single", "torch", "sparse", "file"])
def test_measures_of_every_home_of_the_data(home, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(300, 4)).astype(np.float32 if home == "single" else np.float64)
    d = X.shape[1]
    center, unit = np.median(X, axis=0), np.full(d, 0.5)
    fences = Fences(center, unit, np.array([3.0, np.inf, 2.0, 1.0]), np.full(d, np.inf))
    length = TailLength(center, np.ones((2, d)), np.full((2, d), 0.8), rng.standard_normal((3, d)))
    Y = X
    if home == "torch":
        Y = pytest.importorskip("torch").from_numpy(X)
    elif home == "sparse":
        Y = sp.csr_array(X)
    elif home == "file":
        Y = str(tmp_path / "X.npy")
        np.save(Y, X)
    off = X - center
    expected = np.maximum((off / fences.above).max(axis=1), 0.0)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(fences)), expected, rtol=1e-6)
    cells = 0.67449 * np.sign(off) * np.abs(off) ** 0.8
    expected = np.linalg.norm(cells @ length.whitener.T, axis=1)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(length)), expected, rtol=1e-4)
    row = X[5].astype(np.float64)
    assert length.parts(row).sum() == pytest.approx(expected[5] ** 2, rel=1e-4)


@pytest.mark.parametrize("value", [1e3, 1e7, 1e10, 1e20, 1e150, 1e300])
def test_a_gross_cell_of_any_size_is_named(value):
    """The scale of a column is that of its middle, however far out a cell lies."""
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[7, 2] = value
    result = robust_mean(X)
    assert [(cell.row, cell.column) for cell in result.cells] == [(7, 2)]
    assert [group.kind for group in result.groups] == ["cells"]
