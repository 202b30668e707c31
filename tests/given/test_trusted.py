"""Trusted rows: what leaves, the false discovery rate, and what is refused."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control

import fits
from cases import cases
from inlier import RobustCovariance, RobustMean, RobustPCA, WeakEvidenceWarning, robust_mean
from inlier.research.datasets import SettingA, SettingB
from ordinary_tables import digits

quietly = partial(fits.quietly, robust_mean)
X, N_GOOD = digits()
TRUTH = X[:N_GOOD].mean(axis=0)


def error(result):
    return np.linalg.norm(np.asarray(result.location) - TRUTH)


# -- The mean -------------------------------------------------------------------------------------


@cases("setting", [SettingA, SettingB])
@cases("alpha", [0.1, 0.3])
def test_the_settings_of_the_paper_are_exact(alpha, setting):
    sample = setting(n=600, d=60, alpha=alpha).sample(random_state=0)
    good = np.flatnonzero(~sample.is_outlier)
    fractions = [{"contamination": times * alpha} for times in (1.0, 1.4)]
    for given in (*fractions, *({"trusted": good[:m]} for m in (10, 30, 150))):
        np.testing.assert_array_equal(robust_mean(sample.X, **given).support, ~sample.is_outlier)


@cases("m", [30, 100])
def test_trusted_rows_find_what_nothing_given_keeps(m):
    result = robust_mean(X, trusted=np.arange(m))
    assert error(result) < 0.2 * error(robust_mean(X))
    # Better than the mean of the trusted rows alone.
    assert error(result) < np.linalg.norm(X[:m].mean(axis=0) - TRUTH)


def test_indices_a_mask_and_a_second_table_say_the_same():
    mask = np.zeros(len(X), bool)
    mask[:40] = True
    by_index = robust_mean(X, trusted=list(range(40)))
    for trusted in (mask, pd.Series(mask), np.arange(40) - len(X), np.arange(40, dtype=np.uint8)):
        other = robust_mean(X, trusted=trusted)
        np.testing.assert_array_equal(other.support, by_index.support)
    second = robust_mean(X[40:], trusted=pd.DataFrame(X[:40]))
    assert (second.support == by_index.support[40:]).mean() > 0.95
    p, same = second.details.p_values, by_index.details.p_values[40:]
    assert np.corrcoef(p, same)[0, 1] > 0.9 and p.min() == pytest.approx(1 / 41)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(second)).details.p_values, p)


def test_trusted_rows_stay_whatever_they_are():
    sample = SettingA(n=400, d=40, alpha=0.1).sample(random_state=0)
    bad, good = np.flatnonzero(sample.is_outlier), np.flatnonzero(~sample.is_outlier)
    trusted = np.concatenate([good[:40], bad[:1]])
    assert quietly(sample.X, trusted=trusted).support[trusted].all()


def test_a_clean_table_keeps_its_rows_nine_times_in_ten():
    rng = np.random.default_rng(0)
    lost = 0
    for _ in range(40):
        table = rng.standard_normal((300, 6))
        lost += not robust_mean(table, trusted=np.arange(30)).support.all()
    assert lost <= 10  # 4 are expected, more than 10 with a chance of .002


@cases("kind", ["exponential", "standard_normal"])
def test_good_rows_do_not_leave_by_the_dozen(kind):
    rng = np.random.default_rng(1)
    for _ in range(30):
        table = getattr(rng, kind)(size=(400, 8))
        assert (~quietly(table, trusted=np.arange(30)).support).sum() < 40


def test_trusted_rows_speak_for_a_group_that_the_search_removes():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((500, 5))
    table[:100, 0] += 12.0
    assert not quietly(table).support[:100].any()
    trusted = np.r_[0:20, 100:180]  # a fifth of them, as of all rows
    assert robust_mean(table, trusted=trusted).support[:100].mean() > 0.9


def test_a_fraction_bounds_what_leaves():
    with pytest.warns(WeakEvidenceWarning, match="from that of the trusted rows"):
        result = robust_mean(X, trusted=np.arange(30), contamination=0.1)
    assert 0 < (~result.support).sum() <= 0.1 * len(X)
    assert "at most 10%" in result.message and "30 rows are trusted" in result.message


def test_the_certificate_holds():
    assert robust_mean(X, trusted=np.arange(50)).certificate.verify(X).holds


def test_trusted_rows_that_are_elsewhere_are_noticed():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((200, 4))
    with pytest.warns(WeakEvidenceWarning, match="like the good ones"):
        robust_mean(table, trusted=rng.standard_normal((30, 4)) + 20.0)


# -- Which rows are bad ---------------------------------------------------------------------------


@cases(("m", "share"), [(100, 0.3), (300, 0.1)])
def test_the_false_discovery_rate_is_controlled(m, share):
    rng = np.random.default_rng(m)
    false, found = [], 0
    for _ in range(60):
        n, d = 800 + m, 4
        table = rng.exponential(size=(n, d))
        bad = np.zeros(n, bool)
        bad[rng.choice(n - m, int(share * n), replace=False) + m] = True
        table[bad] += 3.0 * rng.standard_normal((bad.sum(), d)) + 4.0
        rows = quietly(table, trusted=np.arange(m)).details.discoveries(0.05)
        found += len(rows)
        false.append((~bad[rows]).mean() if len(rows) else 0.0)
    assert found > 0
    # The mean of 60 draws may be off by some of its standard error.
    assert np.mean(false) <= 0.05 + 2.0 * np.std(false) / np.sqrt(60)


def test_discoveries_are_those_of_benjamini_and_hochberg():
    result = quietly(X, trusted=np.arange(80))
    p = result.details.p_values
    assert (p[:80] == 1.0).all() and p.min() == pytest.approx(1 / 81)
    for level in (0.05, 0.2):
        expected = np.flatnonzero(false_discovery_control(p) <= level)
        np.testing.assert_array_equal(result.details.discoveries(level), expected)


def test_p_values_of_good_rows_are_uniform_or_larger():
    rng = np.random.default_rng(0)
    small = []
    for _ in range(30):
        table = rng.exponential(size=(400, 3))
        small.append((quietly(table, trusted=np.arange(100)).details.p_values[100:] <= 0.1).mean())
    assert np.mean(small) <= 0.11


def test_p_values_need_trusted_rows():
    details = robust_mean(X).details
    assert details.p_values is None
    with pytest.raises(ValueError, match="trusted="):
        details.discoveries()


# -- Refusals, and other surfaces -----------------------------------------------------------------


@cases(
    ("trusted", "match"),
    [
        ([0, 1, 2], "at least 5 rows, but there are 3"),
        (np.zeros(len(X), bool), "at least 5 rows, but there are 0"),
        ([0, 1, 2, 3, 10_000], "index 10000.*238 rows"),
        (np.ones((9, 3)), r"64 columns.*\(9, 3\)"),
        (np.full((9, 64), np.nan), "NaN or infinity"),
        ([True] * 7, "mask of its 238 rows"),
        ([0.5] * 7, "indices of rows"),
        ("column", "indices of rows"),
    ],
)
def test_wrong_trusted_rows_are_refused(trusted, match):
    with pytest.raises(ValueError, match=f"trusted.*{match}"):
        robust_mean(X, trusted=trusted)


def test_estimators_take_them_with_the_data():
    trusted = np.arange(40)
    expected = robust_mean(X, trusted=trusted)
    model = RobustMean().fit(X, trusted=trusted)
    np.testing.assert_array_equal(model.support_, expected.support)
    good = fits.quietly(RobustCovariance(assume="nothing").fit, X, trusted=trusted).support_
    np.testing.assert_array_equal(good, expected.support)


def test_cells_may_be_missing_in_trusted_rows_of_the_table():
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    result = robust_mean(holes, trusted=np.arange(40))
    assert error(result) < 0.3 * error(robust_mean(X))


# -- What is said of them -------------------------------------------------------------------------


def apart(n=200, bad=20):
    rows = np.random.default_rng(0).normal(size=(n, 3))
    rows[:bad] += 8
    return rows


def test_if_all_rows_are_trusted_their_mean_is_not_far_from_itself():
    rows = apart()
    result = robust_mean(rows, trusted=np.ones(len(rows), bool))  # a warning would fail
    assert result.support.all()
    assert "chance would have it" not in result.message


def test_equal_trusted_rows_do_not_tell_what_chance_is():
    with pytest.warns(WeakEvidenceWarning, match="trusted rows are all equal"):
        robust_mean(apart(), trusted=np.ones((30, 3)))
    robust_mean(np.full((50, 3), 0.1), trusted=np.arange(7))


def test_a_fraction_below_what_was_found_is_said_with_trusted_rows_too():
    with pytest.warns(WeakEvidenceWarning, match="20 rows would be removed"):
        robust_mean(apart(), trusted=np.arange(50, 80), contamination=0.05)


@cases(
    "columns, message", [(["c", "b", "a"], "in another order"), (["x", "b", "c"], "'a', 'b', 'c'")]
)
def test_columns_of_other_names_are_refused(columns, message):
    rows = pd.DataFrame(apart(), columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=f"trusted.*{message}"):
        robust_mean(rows, trusted=rows[40:80].set_axis(columns, axis=1))
    for estimator in (RobustMean(), RobustCovariance(), RobustPCA()):
        with pytest.raises(ValueError, match=f"trusted.*{message}"):
            estimator.fit(rows, trusted=rows[40:80].set_axis(columns, axis=1))
    robust_mean(rows, trusted=rows[40:80].to_numpy())


def test_trusted_rows_stay_if_a_fraction_is_given_later():
    rows = apart()
    result = quietly(rows, trusted=np.arange(10))
    later = result.at(contamination=0.3)
    assert later.support[:10].all()
    assert "10 rows are trusted" in later.message
    assert all(change.n_removed <= 190 for change in result.sensitivity)
    everything = quietly(rows, trusted=np.ones(len(rows), bool))
    assert everything.at(contamination=0.1).support.all()
    assert {change.n_removed for change in everything.sensitivity} == {0}


def test_rows_go_by_their_order_and_not_by_labels():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3))).sample(frac=1.0)
    mask = pd.Series(np.arange(60) < 10)
    for fit in (robust_mean, lambda X, trusted: RobustMean().fit(X, trusted=trusted)):
        with pytest.raises(ValueError, match=r"trusted is an index of labels.*isin"):
            fit(X, trusted=X.index[:10])
        with pytest.raises(ValueError, match=r"trusted has another index than X"):
            fit(X, trusted=mask)
        fit(X, trusted=mask.loc[X.index])
        fit(X, trusted=X.index.isin(X.index[:10]))


def test_a_sigma_that_contradicts_them_is_refused_with_both_numbers():
    sample = SettingA(n=400, d=10, alpha=0.1).sample(random_state=0)
    good = np.flatnonzero(~sample.is_outlier)[:100]
    with pytest.raises(ValueError, match=r"sigma=0\.5 contradicts.*vary by 1"):
        robust_mean(sample.X, sigma=0.5, trusted=good)
    assert robust_mean(sample.X, sigma=1.2, trusted=good).support[good].all()


def test_with_sigma_there_are_no_p_values():
    with pytest.raises(ValueError, match="trusted"):
        robust_mean(apart(), trusted=np.arange(50, 80), sigma=1.2).details.discoveries()
