"""Samples, what holds of every model, and wrong arguments."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from cases import cases
from contaminations import FLAGS, Median, X
from inlier.research.datasets import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Cluster,
    Gaussian,
    HeavyTails,
    Huber,
    Laplace,
    ObviousAndSubtle,
    QuietDirections,
    Sample,
    SettingA,
    SettingB,
    Shuffled,
    StudentT,
    TwoClusters,
)


def attack(n, d, alpha, **options):
    return Attack(n, d, alpha, Median(), **options)


# All that take n, d and alpha.
MODELS = [
    SettingA,
    SettingB,
    TwoClusters,
    Huber,
    Cluster,
    HeavyTails,
    ObviousAndSubtle,
    QuietDirections,
    AlphaCorruption,
    BelowThreshold,
    attack,
]


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
    centered = X[:n] - X[:n].mean(axis=0)
    expected = np.linalg.norm(centered, 2) / sqrt(n)
    assert Sample(X, is_outlier).sigma == pytest.approx(expected, abs=1e-12)


def test_the_target_is_the_truth_where_it_is_given():
    X = np.array([[1.0, 0.0], [9.0, 9.0], [3.0, 0.0]])
    sample = Sample(X, np.array([False, True, False]), target=np.array([7.0, 7.0]))
    assert sample.mean.tolist() == [7.0, 7.0]
    assert sample.sigma == pytest.approx(1.0)  # about the good rows' own mean
    assert sample.alpha == pytest.approx(1 / 3)


@cases(
    ("X", "is_outlier", "argument"),
    [
        (np.zeros(3), np.zeros(3, bool), "X"),
        (np.zeros((3, 0)), np.zeros(3, bool), "X"),
        (np.zeros((3, 2)), np.zeros(2, bool), "is_outlier"),
        (np.zeros((3, 2)), np.zeros(3, int), "is_outlier"),
        (np.zeros((3, 2)), np.ones(3, bool), "is_outlier"),
        (np.zeros((4, 2)), np.zeros(4, bool), "target"),
    ],
)
def test_sample_refuses_what_is_no_sample(X, is_outlier, argument):
    with pytest.raises(ValueError, match=rf"^{argument} .*: (give|leave)"):
        Sample(X, is_outlier, target=np.zeros(3))


# -- What holds of every model --------------------------------------------------------------------


@cases("model", [m for m in MODELS if m is not Huber])
@cases(("n", "alpha", "expected"), [(100, 0.0, 0), (100, 0.29, 29), (30, 0.15, 4), (7, 0.49, 3)])
def test_number_of_rows_and_of_outliers(model, n, alpha, expected):
    model = model(n, 3, alpha)
    sample = model.sample(0)
    assert sample.X.shape == (n, 3)
    assert sample.is_outlier.shape == (n,)
    assert sample.is_outlier.sum() == model.n_outliers == expected


@cases("model", MODELS)
@cases(("n", "d"), [(4, 2), (5, 30), (60, 2), (61, 60), (60, 61)])
@cases("alpha", [0.0, 0.01, 0.499])
def test_any_size_and_fraction(model, n, d, alpha):
    sample = model(n, d, alpha).sample(0)
    assert sample.X.shape == (n, d) and np.isfinite(sample.X).all()
    assert sample.is_outlier.mean() <= 0.5
    if alpha == 0.0:
        assert not sample.is_outlier.any()
        assert sample.mean == pytest.approx(sample.X.mean(axis=0), abs=1e-12)


@cases("model", MODELS)
def test_random_state(model):
    model = model(30, 4, 0.2)
    one, same, other = model.sample(7), model.sample(7), model.sample(8)
    assert np.array_equal(one.X, same.X)
    assert np.array_equal(one.is_outlier, same.is_outlier)
    assert np.array_equal(one.mean, same.mean)
    assert not np.array_equal(one.X, other.X)
    assert not np.array_equal(model.sample().X, model.sample().X)
    rng = np.random.default_rng(7)
    assert not np.array_equal(model.sample(rng).X, model.sample(rng).X)  # it moves on
    assert np.array_equal(
        model.sample(np.random.default_rng(7)).X, model.sample(np.random.default_rng(7)).X
    )


# Those whose good rows are as they were drawn, and Gaussian unless told otherwise.
@pytest.mark.parametrize(
    "model", [SettingA, SettingB, TwoClusters, Huber, Cluster, ObviousAndSubtle, BelowThreshold]
)
def test_good_rows_are_standard_gaussian(model):
    good = model(600, 50, 0.3).sample(1).inliers
    assert stats.kstest(good.ravel(), "norm").pvalue > 0.01
    correlation = np.corrcoef(good.T)[np.triu_indices(50, 1)]
    assert np.abs(correlation).max() < 5 / sqrt(len(good))


# -- Wrong arguments ------------------------------------------------------------------------------


@cases("model", MODELS)
@cases(
    ("arguments", "message"),
    [
        ((0, 3, 0.1), "n must be a whole number >= [124], but is 0."),
        ((20.5, 3, 0.1), "n must be a whole number >= [124], but is 20.5."),
        ((20, 0, 0.1), "d must be a whole number >= [124], but is 0."),
        ((20, "three", 0.1), "d must be a whole number >= [124], but is 'three'."),
        ((20, 3, -0.1), "alpha must be a finite number of at least 0 and below 0.5, but is -0.1."),
        ((20, 3, 0.5), "alpha must be .* is 0.5. Beyond it the good rows are not the majority."),
        ((20, 3, float("nan")), "alpha must be .*, but is nan."),
        ((20, 3, "some"), "alpha must be .*, but is 'some'."),
    ],
)
def test_wrong_sizes_are_named(model, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        model(*arguments)


@cases(
    ("make", "message"),
    [
        (lambda: SettingB(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: TwoClusters(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: TwoClusters(10, 3, 0.1, angle=180), "angle must be .* below 180, but is 180"),
        (lambda: Cluster(10, 3, 0.1, distance=-1), "distance must be .* at least 0, but is -1"),
        (lambda: HeavyTails(10, 3, 0.1, Laplace), "inliers must be rows such as .*, but is <class"),
        (lambda: QuietDirections(10, 3, 0.1, Gaussian()), r"inliers must be .* Rotated\(\), but"),
        (lambda: QuietDirections(10, 3, 0.1, where="here"), "where must be one of 'both', 'one ea"),
        (lambda: QuietDirections(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: AlphaCorruption(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: Cluster(10, 3, 0.1).sample(-1), "random_state must be a whole number >= 0, but"),
        (lambda: BelowThreshold(3, 3, 0.1), "n must be a whole number >= 4"),
        (lambda: StudentT(1), "df must be a finite number above 1, but is 1. The mean must exist."),
        (lambda: Attack(10, 3, 0.1, "mean"), r"method must be an estimator with fit\(X\)"),
        (lambda: Attack(10, 3, 0.1, Median), "method must be .* Give an instance"),
        (lambda: Shuffled(X[0], FLAGS), "X must be a table with rows and columns"),
        (lambda: Shuffled(X, FLAGS[:3]), "is_outlier has dtype bool and shape"),
        (lambda: Shuffled(X, ~FLAGS), "alpha must be .* is 0.75. Beyond it the good rows"),
    ],
)
def test_wrong_arguments_are_named_with_what_to_do(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()
