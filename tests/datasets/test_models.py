"""Models of contamination against what they claim."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from contaminations import ROWS, largest_eigenvalue
from inlier.datasets import (
    Clean,
    Cluster,
    HeavyTails,
    Huber,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Rotated,
    SettingA,
    Spiked,
)


@pytest.mark.parametrize("inliers", ROWS, ids=repr)
def test_clean_rows_are_all_good(inliers):
    sample = Clean(50, 7, inliers=inliers).sample(0)
    assert sample.alpha == sample.model.alpha == sample.model.n_outliers == 0
    assert np.array_equal(sample.X, inliers.draw(50, 7, np.random.default_rng(0)))


def test_the_number_of_outliers_varies_in_hubers_model():
    rng = np.random.default_rng(0)
    counts = np.array([Huber(40, 2, 0.3).sample(rng).is_outlier.sum() for _ in range(2000)])
    # Binomial, but for the few draws in which good rows were not the majority.
    allowed = np.arange(20)
    expected = stats.binom(40, 0.3).pmf(allowed)
    observed = np.bincount(counts, minlength=20)
    usual = expected > 0.01
    assert counts.max() < 20
    assert (
        stats.chisquare(
            observed[usual], expected[usual] / expected[usual].sum() * observed[usual].sum()
        ).pvalue
        > 0.01
    )


def test_outliers_of_hubers_model_are_scaled_and_moved():
    model = Huber(4000, 5, 0.4, outliers=Laplace(), distance=9.0, spread=0.5)
    sample = model.sample(0)
    bad = sample.X[sample.is_outlier]
    center = bad.mean(axis=0)
    assert np.linalg.norm(center) == pytest.approx(9.0, abs=0.1)
    scaled = (bad - center) / 0.5
    assert stats.kstest(scaled.ravel(), stats.laplace.cdf).pvalue > 0.01


@pytest.mark.parametrize("distance", [2.0, 10.0])
def test_a_cluster_is_where_it_should_be(distance):
    sample = Cluster(2000, 50, 0.3, distance, spread=0.2).sample(0)
    bad = sample.X[sample.is_outlier]
    center = bad.mean(axis=0)
    assert np.linalg.norm(center) == pytest.approx(distance, abs=0.05)
    assert stats.kstest((bad - center).ravel() / 0.2, "norm").pvalue > 0.01
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
    centred = sample.X - sample.mean
    bad = sample.is_outlier
    inverse = np.linalg.inv(np.cov(sample.inliers.T))
    squares = np.einsum("ij,jk,ik->i", centred, inverse, centred)
    moved = 36 * (2 if where == "both" else 1)
    assert squares[bad].mean() == pytest.approx(d + moved, rel=0.1)
    assert np.median(squares[bad]) > np.quantile(squares[~bad], 0.97)
    plain = np.linalg.norm(centred, axis=1)
    assert np.median(plain[bad]) < np.quantile(plain[~bad], 0.8)
