"""Models of contamination against what they claim."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from contaminations import ROWS, largest_eigenvalue
from inlier.research.datasets import (
    Clean,
    Cluster,
    Gaussian,
    HeavyTails,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    SettingB,
    Shuffled,
    Spiked,
    StudentT,
    TwoClusters,
    printed_tables,
)

# -- The paper's settings ------------------------------------------------------------------------


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


def test_the_draws_of_the_settings_stay():
    # Published figures are those of these rows.
    A, B = SettingA(30, 4, 0.3).sample(0), SettingB(30, 4, 0.3).sample(0)
    rng = np.random.default_rng(0)
    X, order = rng.standard_normal((30, 4)), rng.permutation(30)
    assert set(np.flatnonzero(A.is_outlier)) == set(order[:9])
    assert np.array_equal(A.is_outlier, B.is_outlier)
    assert np.array_equal(A.inliers, X[~A.is_outlier])
    assert np.array_equal(B.inliers, X[~B.is_outlier])
    assert np.array_equal(A.X[order[:5]], np.abs(X[order[:5]]))
    assert np.array_equal(A.X[order[5:9]], X[order[5:9]] + rng.uniform(0, 3, (4, 4)))
    assert np.array_equal(B.X[order[:5], 1], np.full(5, sqrt(2)))


@pytest.mark.parametrize("angle", [0.0, 60.0, 150.0])
def test_two_clusters_at_an_angle(angle):
    d = 400
    sample = TwoClusters(2000, d, 0.4, angle).sample(0)
    bad = sample.X[sample.is_outlier]
    assert np.linalg.norm(bad, axis=1) == pytest.approx(sqrt(d), rel=0.15)
    # The clusters are on the two sides of a plane; their centers span the angle.
    principal = np.linalg.svd(bad - bad.mean(axis=0), full_matrices=False)[2][0]
    side = (bad - bad.mean(axis=0)) @ principal > 0
    if angle > 0:
        assert side.sum() == 400
        one, other = bad[side].mean(axis=0), bad[~side].mean(axis=0)
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert np.degrees(np.arccos(cosine)) == pytest.approx(angle, abs=2.0)
        assert bad[side].std(axis=0).mean() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("inliers", ROWS, ids=repr)
def test_clean_rows_are_all_good(inliers):
    sample = Clean(50, 7, inliers=inliers).sample(0)
    assert sample.alpha == sample.model.alpha == sample.model.n_outliers == 0
    assert np.array_equal(sample.X, inliers.draw(50, 7, np.random.default_rng(0)))


@pytest.mark.parametrize("distance", [2.0, 10.0])
def test_a_cluster_is_where_it_should_be(distance):
    sample = Cluster(2000, 50, 0.3, distance).sample(0)
    bad = sample.X[sample.is_outlier]
    center = bad.mean(axis=0)
    assert np.linalg.norm(center) == pytest.approx(distance, abs=0.05)
    assert stats.kstest((bad - center).ravel() / 0.3, "norm").pvalue > 0.01
    assert np.linalg.norm(sample.inliers, axis=1).min() > 2.5


def test_outliers_of_setting_a_among_heavy_tails():
    plain, heavy = SettingA(800, 30, 0.3).sample(4), HeavyTails(800, 30, 0.3).sample(4)
    bad = plain.is_outlier
    assert np.array_equal(heavy.is_outlier, bad)
    assert np.array_equal(heavy.X[bad], plain.X[bad])
    assert stats.kstest(heavy.inliers.ravel(), stats.t(3).cdf).pvalue > 0.01
    farthest = np.linalg.norm(heavy.inliers, axis=1).max()
    assert farthest > np.linalg.norm(heavy.X[bad], axis=1).max()


def test_half_of_the_outliers_are_obvious():
    d = 100
    plain, mixed = SettingA(1000, d, 0.4).sample(4), ObviousAndSubtle(1000, d, 0.4).sample(4)
    assert np.array_equal(mixed.is_outlier, plain.is_outlier)
    assert np.array_equal(mixed.inliers, plain.inliers)
    distances = np.linalg.norm(mixed.X, axis=1) / sqrt(d)
    assert (np.abs(distances - 10) < 0.5).sum() == 100
    assert (np.abs(distances - 20) < 1e-9).sum() == 100
    subtle = distances < 5
    assert np.array_equal(mixed.X[subtle], plain.X[subtle])
    bundle = mixed.X[np.abs(distances - 10) < 0.5]
    assert largest_eigenvalue(bundle) < 6  # in one place: such Gaussian rows reach 4


@pytest.mark.parametrize("inliers", [Spiked(), Rotated()], ids=repr)
@pytest.mark.parametrize("where", ["both", "one each"])
def test_outliers_in_quiet_directions_show_in_the_true_metric_only(inliers, where):
    d = 100
    sample = QuietDirections(4000, d, 0.2, inliers, where).sample(0)
    centered = sample.X - sample.mean
    bad = sample.is_outlier
    inverse = np.linalg.inv(np.cov(sample.inliers.T))
    squares = np.einsum("ij,jk,ik->i", centered, inverse, centered)
    moved = 36 * (2 if where == "both" else 1)
    assert squares[bad].mean() == pytest.approx(d + moved, rel=0.1)
    assert np.median(squares[bad]) > np.quantile(squares[~bad], 0.97)
    plain = np.linalg.norm(centered, axis=1)
    assert np.median(plain[bad]) < np.quantile(plain[~bad], 0.8)


def test_real_rows_are_shuffled():
    X = np.arange(20.0).reshape(10, 2)
    model = Shuffled(X, np.arange(10) < 3)
    assert (model.n, model.d, model.alpha, model.n_outliers) == (10, 2, 0.3, 3)
    one, other = model.sample(0), model.sample(1)
    assert not np.array_equal(one.X, other.X)
    for sample in (one, other):
        assert np.array_equal(sample.X[:, 0] < 6, sample.is_outlier)
        assert sample.X[np.argsort(sample.X[:, 0])].tolist() == X.tolist()


# -- Distributions of good rows -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inliers", "distribution"),
    [
        (Gaussian(), stats.norm()),
        (StudentT(3), stats.t(3)),
        (StudentT(4.5), stats.t(4.5)),
        (StudentT(5, joint=True), stats.t(5)),
        (Laplace(), stats.laplace()),
    ],
    # Not by repr: that of a distribution holds an address, which differs between processes.
    ids=["Gaussian", "t3", "t4.5", "joint t5", "Laplace"],
)
def test_each_entry_has_the_distribution(inliers, distribution):
    X = inliers.draw(4000, 3, np.random.default_rng(0))
    for column in X.T:
        assert stats.kstest(column, distribution.cdf).pvalue > 0.01


def test_uneven_covariances():
    rng = np.random.default_rng(0)
    X = Spiked().draw(5000, 6, rng)
    assert X.std(axis=0) == pytest.approx(5 / np.sqrt([1, 2, 3, 4, 5, 6]), rel=0.05)
    X = Rotated().draw(5000, 6, rng)
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert np.sqrt(values[::-1]) == pytest.approx(np.geomspace(3, 0.15, 6), rel=0.05)
    assert X.std(axis=0).min() > 0.3  # no column is as quiet as the quietest direction


# -- The paper's figures --------------------------------------------------------------------------


def test_printed_tables():
    tables = printed_tables()
    assert list(tables) == [f"table{i}" for i in range(1, 7)]
    assert sum(len(row) for table in tables.values() for row in table.errors.values()) == 109
    assert [table.setting for table in tables.values()] == ["A", "A", "B", "B", "faces", "B"]
    assert tables["table4"].vary == "n" and tables["table4"].fixed == {"d": 100, "alpha": 0.2}
    assert tables["table6"].fixed == {"d": 2000, "n": 4000}
    assert tables["table1"].errors[0.3]["cdg"] == 0.1123
    assert tables["table5"].errors[140]["lp"] == 18
    assert list(tables["table6"].errors[0.1]) == ["iterative_filtering", "que", "lrv", "l1"]
    # The paper prints this experiment twice.
    assert tables["table3"].errors[0.2] == tables["table4"].errors[2000]
