"""The synthetic settings against their description in the paper; its printed figures."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from inlier.datasets import PrintedTable, Sample, SettingA, SettingB, printed_tables

SETTINGS = [SettingA, SettingB]


# -- Sample ---------------------------------------------------------------------------------------


def test_sample_knows_its_good_rows():
    X = np.array([[1.0, 0.0], [9.0, 9.0], [3.0, 0.0]])
    sample = Sample(X, np.array([False, True, False]))
    assert sample.inliers.tolist() == [[1.0, 0.0], [3.0, 0.0]]
    assert sample.mean.tolist() == [2.0, 0.0]
    assert sample.sigma == pytest.approx(1.0)  # normalised by 2, not by 1


@pytest.mark.parametrize(("n", "d"), [(40, 7), (7, 40), (1, 3), (12, 1), (12, 12)])
def test_sigma_is_the_spectral_norm(n, d):
    X = np.random.default_rng(0).standard_normal((n + 3, d)) * np.linspace(1, 5, d) + 100
    is_outlier = np.arange(n + 3) >= n
    centred = X[:n] - X[:n].mean(axis=0)
    expected = np.linalg.norm(centred, 2) / sqrt(n)
    assert Sample(X, is_outlier).sigma == pytest.approx(expected, abs=1e-12)


def test_sample_is_frozen():
    sample = SettingB(20, 3, 0.1).sample(0)
    with pytest.raises(AttributeError):
        sample.X = sample.X


@pytest.mark.parametrize(
    ("X", "is_outlier", "argument"),
    [
        (np.zeros(3), np.zeros(3, bool), "X"),
        (np.zeros((3, 0)), np.zeros(3, bool), "X"),
        (np.zeros((3, 2)), np.zeros(2, bool), "is_outlier"),
        (np.zeros((3, 2)), np.zeros(3, int), "is_outlier"),
        (np.zeros((3, 2)), np.ones(3, bool), "is_outlier"),
    ],
)
def test_sample_refuses_what_is_no_sample(X, is_outlier, argument):
    with pytest.raises(ValueError, match=rf"^{argument} .*: (give|leave)"):
        Sample(X, is_outlier)


# -- Settings A and B -----------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    ("n", "alpha", "expected"), [(100, 0.0, 0), (100, 0.29, 29), (30, 0.15, 4), (7, 0.49, 3)]
)
def test_number_of_rows_and_of_outliers(setting, n, alpha, expected):
    model = setting(n, 3, alpha)
    sample = model.sample(0)
    assert sample.X.shape == (n, 3)
    assert sample.is_outlier.shape == (n,)
    assert sample.is_outlier.sum() == model.n_outliers == expected


@pytest.mark.parametrize("setting", SETTINGS)
def test_good_rows_are_standard_gaussian(setting):
    good = setting(600, 50, 0.3).sample(1).inliers
    assert stats.kstest(good.ravel(), "norm").pvalue > 0.01
    correlation = np.corrcoef(good.T)[np.triu_indices(50, 1)]
    assert np.abs(correlation).max() < 5 / sqrt(len(good))


def test_setting_a_outliers():
    d = 200
    sample = SettingA(1001, d, 0.3).sample(2)
    outliers = sample.X[sample.is_outlier]
    # With 200 entries no sum of a normal and a uniform one has all of them positive.
    positive = (outliers >= 0).all(axis=1)
    folded, shifted = outliers[positive], outliers[~positive]
    assert stats.kstest(folded.ravel(), "halfnorm").pvalue > 0.01
    # U(0, 3) added to N(0, 1): mean 3/2, variance 1 + 3/4.
    assert shifted.mean() == pytest.approx(1.5, abs=0.05)
    assert shifted.var() == pytest.approx(1.75, abs=0.1)
    # One draw for each entry: a draw for each row would make its entries vary together.
    assert shifted.mean(axis=1).std() == pytest.approx(sqrt(1.75 / d), rel=0.2)
    assert shifted.mean(axis=0).std() == pytest.approx(sqrt(1.75 / len(shifted)), rel=0.2)


def test_setting_b_outliers():
    d = 8
    sample = SettingB(101, d, 0.25).sample(3)
    values, counts = np.unique(sample.X[sample.is_outlier], axis=0, return_counts=True)
    assert values.tolist() == [[2, -2, 0, 0, 0, 0, 0, 0], [2, 2, 0, 0, 0, 0, 0, 0]]
    assert counts.tolist() == [12, 13]
    assert np.linalg.norm(values, axis=1) == pytest.approx(sqrt(d))


@pytest.mark.parametrize(("n_outliers", "first"), [(1, 1), (2, 1), (3, 2), (40, 20), (41, 21)])
def test_the_first_half_gets_the_odd_outlier(n_outliers, first):
    sample = SettingA(200, 100, n_outliers / 200).sample(4)
    assert (sample.X[sample.is_outlier] >= 0).all(axis=1).sum() == first


@pytest.mark.parametrize("setting", SETTINGS)
def test_outliers_stand_anywhere(setting):
    model = setting(20, 2, 0.25)
    rng = np.random.default_rng(5)
    places = np.mean([model.sample(rng).is_outlier for _ in range(2000)], axis=0)
    assert places == pytest.approx(0.25, abs=5 * sqrt(0.25 * 0.75 / 2000))


def test_both_halves_stand_anywhere():
    model = SettingB(20, 2, 0.4)
    rng = np.random.default_rng(6)
    samples = [model.sample(rng) for _ in range(2000)]
    first = np.mean([s.is_outlier & (s.X[:, 1] > 0) for s in samples], axis=0)
    assert first == pytest.approx(0.2, abs=5 * sqrt(0.2 * 0.8 / 2000))


@pytest.mark.parametrize("setting", SETTINGS)
def test_random_state(setting):
    model = setting(30, 4, 0.2)
    one, same, other = model.sample(7), model.sample(7), model.sample(8)
    assert np.array_equal(one.X, same.X)
    assert np.array_equal(one.is_outlier, same.is_outlier)
    assert not np.array_equal(one.X, other.X)
    assert not np.array_equal(model.sample().X, model.sample().X)
    rng = np.random.default_rng(7)
    assert np.array_equal(model.sample(rng).X, one.X)
    assert not np.array_equal(model.sample(rng).X, one.X)  # the generator has moved on


def test_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    SettingA(10, 3, 0.2).sample()
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: SettingA(0, 3, 0.1), "n=0"),
        (lambda: SettingA(2.5, 3, 0.1), "n=2.5"),
        (lambda: SettingB(10, 0, 0.1), "d=0"),
        (lambda: SettingB(10, 1, 0.1), "d=1"),
        (lambda: SettingA(10, "three", 0.1), "d='three'"),
        (lambda: SettingA(10, 3, -0.1), "alpha=-0.1"),
        (lambda: SettingB(10, 3, 0.5), "alpha=0.5"),
        (lambda: SettingB(10, 3, float("nan")), "alpha=nan"),
        (lambda: SettingB(10, 3, 0.1).sample(-1), "random_state=-1"),
        (lambda: SettingB(10, 3, 0.1).sample("seed"), "random_state='seed'"),
    ],
)
def test_invalid_arguments_are_named_with_what_to_do(make, argument):
    with pytest.raises(ValueError, match=": give ") as caught:
        make()
    assert str(caught.value).startswith(argument)


# -- The paper's figures --------------------------------------------------------------------------


def test_printed_tables_are_complete():
    tables = printed_tables()
    assert list(tables) == [f"table{i}" for i in range(1, 7)]
    assert all(isinstance(table, PrintedTable) for table in tables.values())
    assert sum(len(row) for table in tables.values() for row in table.errors.values()) == 109
    assert [table.setting for table in tables.values()] == ["A", "A", "B", "B", "faces", "B"]
    assert tables["table4"].vary == "n"
    assert tables["table4"].fixed == {"d": 100, "alpha": 0.2}
    assert list(tables["table4"].errors) == [100, 200, 500, 1000, 2000, 5000]
    assert tables["table6"].fixed == {"d": 2000, "n": 4000}
    assert list(tables["table6"].errors[0.1]) == ["iterative_filtering", "que", "lrv", "l1"]


def test_printed_figures():
    tables = printed_tables()
    assert tables["table1"].errors[0.3]["cdg"] == 0.1123
    assert tables["table2"].errors[0.1]["l1"] == 0.0302
    assert tables["table3"].errors[0.2]["lp"] == 0.0092
    assert tables["table4"].errors[5000]["iterative_filtering"] == 0.0598
    assert tables["table5"].errors[140]["lp"] == 18
    assert tables["table6"].errors[0.3]["lrv"] == 1.9066
    # The paper prints this experiment twice.
    assert tables["table3"].errors[0.2] == tables["table4"].errors[2000]


def test_printed_tables_can_be_changed_without_harm():
    printed_tables()["table1"].errors[0.1]["lp"] = 0.0
    assert printed_tables()["table1"].errors[0.1]["lp"] == 0.0052
