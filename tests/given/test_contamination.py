"""Given a fraction: exactness, invariance, certificates, what is said, and what is refused."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fits
import inlier
from cases import cases
from inlier import RobustCovariance, RobustMean, RobustPCA, WeakEvidenceWarning, robust_mean
from inlier.given.trimming import Trimming
from inlier.research.datasets import SettingA
from ordinary_tables import digits

quietly = partial(fits.quietly, robust_mean)
X, N_GOOD = digits()
TRUTH = X[:N_GOOD].mean(axis=0)
FRACTION = 0.26


def error(result, truth=TRUTH):
    return np.linalg.norm(np.asarray(result.location) - truth)


# -- The answer -----------------------------------------------------------------------------------


def test_a_fraction_finds_what_nothing_given_keeps():
    assert robust_mean(X).support.all()
    result = robust_mean(X, contamination=FRACTION)
    assert error(result) < 0.2 * error(robust_mean(X))
    assert (~result.support).sum() <= FRACTION * len(X)


@cases("given", [1.5, 1.9])
def test_a_fraction_that_is_too_large_costs_little(given):
    exact = error(robust_mean(X))
    assert error(robust_mean(X, contamination=given * 60 / len(X))) < 0.3 * exact


def one_cluster(n_bad=80, n=1000):
    """Noise, and a cluster that nothing given keeps."""
    table = np.random.default_rng(0).standard_normal((n, 10))
    table[:n_bad, :4] += 2.5
    return table


@cases("times", [1.0, 1.5, 2.0, 3.0, 4.0])
def test_of_a_fraction_that_is_too_large_no_more_leave_than_lie_apart(times):
    table = one_cluster()
    assert quietly(table, assume="nothing").support.all()
    result = quietly(table, contamination=times * 0.08, assume="nothing")
    assert result.support[:80].sum() <= 25
    assert (~result.support[80:]).sum() <= 60


def test_extreme_rows_on_both_sides_stay():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((2000, 6))
    table[:140, 0] += 5.0
    assert quietly(table, contamination=0.1, assume="nothing").support[:140].mean() < 0.05
    table[140:200, 0] -= 5.0
    assert quietly(table, contamination=0.1, assume="nothing").support.all()


def test_rows_stay_if_what_is_left_has_a_tail_on_their_side():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((600, 6))
    table[:60, 0] += 3.0
    table[60:, 0] += rng.exponential(size=540) ** 3.0
    assert quietly(table, contamination=0.1, assume="nothing").support.all()


@cases("d", [1, 3, 10])
def test_symmetric_clean_rows_stay(d):
    rng, lost = np.random.default_rng(d), 0
    for law in (rng.standard_normal, rng.standard_t, rng.laplace):
        for n in (60, 200, 600):
            table = law(5, (n, d)) if law == rng.standard_t else law(size=(n, d))
            result = quietly(table)
            for given in (0.05, 0.1, 0.2):
                lost += not result.at(contamination=given).support.all()
    assert lost <= 2  # of 27


def test_skewed_clean_rows_stay():
    rng = np.random.default_rng(0)
    for table in (
        rng.exponential(size=(500, 5)),
        rng.gamma(2.0, size=(500, 5)) @ np.linalg.qr(rng.standard_normal((5, 5)))[0],
        np.exp(0.5 * rng.standard_normal((500, 8))),
    ):
        for given in (0.05, 0.1, 0.2):
            assert robust_mean(table, contamination=given).support.all()


def test_in_one_column_only_the_rows_of_the_search_leave():
    rng = np.random.default_rng(0)
    column = rng.exponential(size=(300, 1))
    column[:20] += 1e3
    for given in (0.1, 0.3, 0.45):
        result = quietly(column, contamination=given)
        np.testing.assert_array_equal(result.outliers, np.arange(20))


def test_rows_stay_if_those_further_in_move_the_mean_as_well():
    rng = np.random.default_rng(0)
    # A class in one direction, and a nearer one in another: which of them would be bad?
    table = rng.standard_normal((600, 6))
    table[:60, 0] += 4.0
    assert quietly(table, contamination=0.1, assume="nothing").support[:60].mean() < 0.2
    table[60:120, 1] += 3.5
    assert quietly(table, contamination=0.1, assume="nothing").support.all()
    # Also if the nearer one moves the mean less than a third as far, but more than by chance.
    table = np.random.default_rng(0).standard_normal((1000, 2))
    table[:100, 0] += 6.0
    table[100:200, 1] += 2.5
    assert quietly(table, contamination=0.1, assume="nothing").support.all()


@cases("given", [0.01, 0.1, 0.3, 0.49])
def test_never_more_rows_leave_than_given(given):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((137, 4)) ** 3
        assert (~quietly(table, contamination=given).support).sum() <= given * 137


def test_at_is_the_same_answer_without_a_new_fit():
    result, given = robust_mean(X), robust_mean(X, contamination=FRACTION)
    again = result.at(contamination=FRACTION)
    np.testing.assert_array_equal(again.support, given.support)
    np.testing.assert_array_equal(again.location, given.location)
    assert again.message == given.message and result.support.all()


def test_shifts_and_what_chance_adds_to_them():
    table = np.random.default_rng(3).exponential(size=(90, 4)) + 1e3
    trimming = Trimming.of(quietly(table, assume="nothing"), never=np.arange(90) < 5)
    left = trimming.left(np.array([0, 9, 30]))
    rest = [np.delete(table, trimming.rows[:j], axis=0) for j in (0, 9, 30)]
    np.testing.assert_allclose(
        left.squared_error(0), rest[0].var(axis=0).sum() / len(rest[0]), rtol=1e-9
    )
    squared, chance = left.shift(1, 2)
    moved = rest[1].mean(axis=0) - rest[2].mean(axis=0)
    np.testing.assert_allclose(squared, moved @ moved, rtol=1e-9)
    # In random directions, the trimmed rows move the mean of those left by this much.
    offsets = table[trimming.rows[9:30]] - rest[2].mean(axis=0)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (20_000, len(offsets)))
    moves = signs @ offsets / len(rest[1])
    np.testing.assert_allclose(chance, (moves**2).sum(axis=1).mean(), rtol=0.03)


# -- Invariance -----------------------------------------------------------------------------------


def test_equal_rows_are_not_cut_apart():
    rng = np.random.default_rng(1)
    table = rng.exponential(size=(300, 3))
    table[:40] = [2.6, 2.6, 2.6]
    for given in (0.05, 0.1, 0.14, 0.2):
        gone = ~quietly(table, contamination=given).support[:40]
        assert gone.all() or not gone.any()


def test_all_kinds_of_tables_give_the_same_rows(tmp_path):
    expected = robust_mean(X, contamination=FRACTION).support
    np.save(tmp_path / "X.npy", X)
    tables = [
        sp.csr_array(X),
        pd.DataFrame(X),
        X.tolist(),
        tmp_path / "X.npy",
        np.asfortranarray(X),
    ]
    for table in tables:
        # Files and sparse tables are searched without setting cells aside.
        found = quietly(table, contamination=FRACTION).support
        assert (found == expected).mean() > 0.97
    float32 = robust_mean(X.astype(np.float32), contamination=FRACTION)
    assert (float32.support == expected).mean() > 0.99 and float32.location.dtype == np.float32


def test_missing_cells_and_weights():
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    result = robust_mean(holes, contamination=FRACTION)
    np.testing.assert_allclose(
        result.location, np.nanmean(holes[result.support], axis=0), rtol=1e-12, atol=1e-12
    )
    weights = np.arange(1.0, len(X) + 1.0)
    plain = robust_mean(X, contamination=FRACTION)
    weighted = robust_mean(X, contamination=FRACTION, sample_weight=weights)
    np.testing.assert_array_equal(weighted.support, plain.support)
    expected = np.average(X[plain.support], axis=0, weights=weights[plain.support])
    np.testing.assert_allclose(weighted.location, expected, rtol=1e-10)


def test_a_scatter_says_in_which_units_rows_are_compared():
    units = 2.0 ** np.random.default_rng(0).integers(-8, 9, X.shape[1])
    varying = X.std(axis=0) > 0.0
    variances = np.where(varying, X.var(axis=0), 1.0)
    result = quietly(X, contamination=FRACTION, scatter=variances)
    other = quietly(X * units, contamination=FRACTION, scatter=variances * units**2)
    np.testing.assert_array_equal(result.support, other.support)
    assert error(result) < 0.3 * error(robust_mean(X))


# -- What is stated -------------------------------------------------------------------------------


def test_the_certificate_holds_and_bounds_the_optimum():
    result = robust_mean(X, contamination=FRACTION)
    certificate = result.certificate
    assert certificate.verify(X).holds
    kept = X[result.support]
    top = np.linalg.eigvalsh(np.cov(kept.T, bias=True))[-1]
    np.testing.assert_allclose(result.sigma, np.sqrt(top), rtol=1e-6)
    assert 0 < certificate.l0_lower_bound <= certificate.n_removed
    assert result.keep(0).support.all() and "farthest out" in result.to_html()
    # Theorem 1: with what good rows really vary by, and as many of them bad as are.
    good = np.sqrt(np.linalg.eigvalsh(np.cov(X[:N_GOOD].T, bias=True))[-1])
    radius = certificate.error_radius(60 / len(X), max(good, result.sigma))
    assert error(result) <= radius


def test_new_rows_are_judged_as_those_of_the_fit():
    model = RobustMean(contamination=FRACTION).fit(X)
    np.testing.assert_array_equal(model.predict(X) == 1, model.support_)
    result = model.result_
    why = result.explain(int(result.outliers[0]))
    assert why.removed and "farthest" not in why.cells
    np.testing.assert_allclose(why.contributions.sum(), why.score, rtol=1e-6)


def test_a_fraction_that_is_too_small_or_too_large_is_said():
    sample = SettingA(n=400, d=40, alpha=0.2).sample(random_state=0)
    with pytest.warns(WeakEvidenceWarning, match=r"8\d rows would be removed.*may be too small"):
        few = robust_mean(sample.X, contamination=0.1)
    assert (~few.support).sum() == 40 and sample.is_outlier[~few.support].mean() > 0.95
    found = robust_mean(sample.X, contamination=0.3)
    assert "up to 120 rows" in found.message and "by itself" in found.message
    tail = robust_mean(np.random.default_rng(0).exponential(size=(400, 3)), contamination=0.2)
    assert "up to 80 rows" in tail.message and "tail" in tail.message


def test_with_nothing_given_nothing_is_said():
    assert robust_mean(X, contamination="auto").message == robust_mean(X).message


# -- Other surfaces -------------------------------------------------------------------------------


def test_estimators_of_second_moments_take_it():
    expected = robust_mean(X, contamination=FRACTION).support
    for model in (RobustCovariance(contamination=FRACTION), RobustPCA(2, contamination=FRACTION)):
        support = fits.quietly(model.fit, X).support_
        assert not support[~expected].any() and support.sum() > 0.8 * expected.sum()


@cases("wrong", [0.0, 0.5, -0.1, 1, np.nan, "some", None, True, [0.1]])
def test_a_wrong_fraction_is_refused(wrong):
    with pytest.raises(ValueError, match=r"contamination must be a finite number.*0\.5"):
        robust_mean(X, contamination=wrong)
    with pytest.raises(ValueError, match=r"given|contamination"):
        robust_mean(X).at(contamination=wrong)


def test_tables_without_variation_or_with_very_distant_rows():
    constant = np.ones((30, 3))
    assert quietly(constant, contamination=0.2).support.all()
    table = np.random.default_rng(0).standard_normal((100, 3))
    table[:3] = 1e200
    result = quietly(table, contamination=0.1)
    assert not result.support[:3].any() and np.isfinite(result.location).all()
    assert inlier.robust_mean(np.eye(3), contamination=0.4).support.sum() >= 2


# -- With sigma -----------------------------------------------------------------------------------


def test_sigma_decides_and_the_fraction_is_compared():
    sample = SettingA(n=400, d=40, alpha=0.2).sample(random_state=0)
    alone = robust_mean(sample.X, sigma=sample.sigma)
    both = robust_mean(sample.X, sigma=sample.sigma, contamination=0.25)
    np.testing.assert_array_equal(both.support, alone.support)
    assert "at most 25%" in both.message
    with pytest.raises(ValueError, match=r"sigma=1\.\d+ and contamination=0\.05 contradict"):
        robust_mean(sample.X, sigma=sample.sigma, contamination=0.05)
