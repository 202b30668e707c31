"""Filters against the same steps by hand."""

import numpy as np
import pytest
import scipy.linalg
from scipy.stats import median_abs_deviation
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import (
    CorruptionLevelAgnostic,
    FalseDiscoveryFilter,
    IterativeFiltering,
    LaiRaoVempala,
    LaiRaoVempalaGaussian,
    OutlierFractionAgnostic,
    QuantumEntropy,
    RandEigen,
    SpectralSignatures,
)
from inlier.research.datasets import SettingB
from reference import contaminated
from rivals import deviation, told


def test_weights_after_one_round():
    X = np.random.default_rng(5).standard_normal((31, 2)) * [2.0, 1.0]
    X[0] = [8.0, 0.0]
    soft = IterativeFiltering(1.05 * deviation(X[1:])).fit(X).result_
    # By hand: along the top eigenvector, from the median, relative to the largest.
    seen = (X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T))[1][:, -1]
    tau = (seen - np.median(seen)) ** 2
    assert soft.n_iter == 1
    np.testing.assert_allclose(soft.weights, 1.0 - tau / tau.max(), atol=1e-9)


def entropy_scores(X, beta):
    """Equation (3) as printed, with a covariance of norm 1."""
    away = X - X.mean(axis=0)
    covariance = away.T @ away
    U = scipy.linalg.expm(beta * covariance / np.linalg.norm(covariance, 2))
    return np.einsum("ij,jk,ik->i", away, U / np.trace(U), away)


def after_one_round(X, n_bad, **constants):
    """The scores of the first round: after it just the good rows are left."""
    sigma = 1.01 * deviation(X[n_bad:])
    found = told(QuantumEntropy, sigma=sigma, batch=n_bad / len(X), **constants).fit(X)
    assert found.n_iter_ == 1 and not found.support_[:n_bad].any()
    return found.result_.scores


@cases("beta", [0.1, 1.0, 4.0, 30.0])
@cases("d", [1, 3, 40])
def test_que_scores(beta, d):
    X = contaminated(100, d, 10, far=5.0) + 3.0
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=beta), entropy_scores(X, beta), rtol=1e-8
    )


@cases("beta", [0.5, 4.0, 20.0])
def test_que_sketches_are_near_the_formula(beta):
    # Not with the seed of the sketches: these would then be the rows themselves.
    X = contaminated(400, 280, 40, seed=1, far=2.0)
    exact = entropy_scores(X, beta)
    sketched = after_one_round(X, 40, beta=beta, n_sketches=1000)
    # Each is a sum of a thousand squares: a standard error of sqrt(2 / 1000) = .045.
    assert np.abs(sketched / exact - 1.0).max() <= 5.0 * 0.045
    few = after_one_round(X, 40, beta=beta)
    assert np.corrcoef(few, exact)[0, 1] > 0.95


def benjamini_hochberg(p_values, rate):
    """Which are rejected, straight from the step-up definition."""
    order = np.argsort(p_values)
    n = len(p_values)
    below = [k for k in range(1, n + 1) if p_values[order[k - 1]] <= k * rate / n]
    rejected = np.zeros(n, dtype=bool)
    rejected[order[: max(below, default=0)]] = True
    return rejected


def false_discovery_filter_by_hand(X, rate):
    kept = np.arange(len(X))
    while True:
        away = X[kept] - X[kept].mean(axis=0)
        seen = away @ np.linalg.svd(away, full_matrices=False)[2][0]
        T = (seen - np.median(seen)) / median_abs_deviation(seen, scale="normal")
        rejected = benjamini_hochberg(np.minimum(1.0, 8.0 * np.exp(-(T**2) / 2.0)), rate)
        if not rejected.any():
            return kept
        kept = kept[~rejected]


@cases("seed", range(8))
def test_false_discovery_filter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 1 + seed % 4)) * 7.0 + 100.0
    X[: rng.integers(0, 40)] += rng.uniform(20.0, 60.0)
    found = told(FalseDiscoveryFilter, fdr=0.1 + 0.1 * (seed % 2)).fit(X)
    expected = false_discovery_filter_by_hand(X, found.fdr)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), expected)


def test_false_discovery_filter_says_that_tails_are_too_heavy():
    X = np.random.default_rng(0).standard_t(1.1, (200, 20))
    with pytest.warns(ConvergenceWarning, match="none is rejected"):
        FalseDiscoveryFilter().fit(X)


def fraction_agnostic_by_hand(X, sigma):
    n, kept = len(X), np.ones(len(X), dtype=bool)
    while True:
        away = X[kept] - X[kept].mean(axis=0)
        values, vectors = np.linalg.eigh(away.T @ away)
        if values[-1] <= n * sigma**2 * (1.0 + 1e-9):
            return kept
        seen = X @ vectors[:, -1]
        deviations = (seen - np.median(seen)) ** 2
        order = np.argsort(deviations)
        fits = np.zeros(n, dtype=bool)
        fits[order[np.cumsum(deviations[order]) <= n * sigma**2]] = True
        kept &= fits


@cases("seed", range(12))
def test_fraction_agnostic_filter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, (80, 1 + seed % 5)) + 10.0
    n_bad = int(rng.integers(0, 20))
    X[:n_bad] += rng.standard_normal(X.shape[1]) * rng.uniform(1.0, 10.0)
    sigma = rng.uniform(0.9, 1.1) * deviation(X[n_bad:])
    expected = fraction_agnostic_by_hand(X, sigma)
    assert expected.sum() >= 40
    found = OutlierFractionAgnostic(sigma).fit(X)
    np.testing.assert_array_equal(found.support_, expected)
    np.testing.assert_allclose(found.location_, X[expected].mean(axis=0), atol=1e-12)


@cases("seed", range(4))
def test_fraction_agnostic_filter_measures_from_the_median_of_all_rows(seed):
    # Two groups on two axes: when the second is looked at, the first has left and counts still.
    X = np.random.default_rng(seed).standard_normal((200, 3))
    X[:40] += [9.0, 3.0, 0.0]
    X[40:80] += [0.0, 6.0, 0.0]
    sigma = 1.1 * deviation(X[80:])
    found = OutlierFractionAgnostic(sigma).fit(X)
    assert found.n_iter_ >= 2
    np.testing.assert_array_equal(found.support_, fraction_agnostic_by_hand(X, sigma))


def corruption_agnostic_by_hand(X, sigmas, constant):
    """The smallest sigma whose answer all larger ones confirm, straight from Lemma 3."""
    answers = [X[fraction_agnostic_by_hand(X, sigma)].mean(axis=0) for sigma in sigmas]
    confirmed = [
        (sigma, mean)
        for sigma, mean in zip(sigmas, answers, strict=True)
        if all(
            np.linalg.norm(other - mean) <= constant * (s + sigma)
            for s, other in zip(sigmas, answers, strict=True)
            if s >= sigma
        )
    ]
    return min(confirmed, key=lambda entry: entry[0])


@cases("constant", [0.05, 0.5, 4.0])
def test_corruption_agnostic_choice(constant):
    X = contaminated(101, 3, 20, far=4.0)
    first = deviation(X)
    least = np.sqrt(np.median(((X - np.median(X, axis=0)) ** 2).sum(axis=1)) / 3)
    sigmas = first / 1.1 ** np.arange(100)
    sigmas = [
        sigma
        for sigma in sigmas[sigmas >= least]
        if fraction_agnostic_by_hand(X, sigma).sum() >= 50.5
    ]
    sigma, mean = corruption_agnostic_by_hand(X, sigmas, constant)
    found = told(CorruptionLevelAgnostic, constant=constant).fit(X)
    assert f"Sigma {sigma:.3g} was chosen." in found.result_.message
    np.testing.assert_allclose(found.location_, mean, atol=1e-9)


@cases("seed", range(5))
def test_halving_of_rows_that_mirror_each_other(seed):
    half = np.random.default_rng(seed).standard_t(3, (100, 12))
    X = np.concatenate([half, -half]) + 5.0
    # Each step keeps pairs, and their mean is the center. The median in the last direction is too;
    # the shortest interval there need not be.
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(X).location_, 5.0, atol=1e-9)
    assert np.linalg.norm(LaiRaoVempala(alpha=0.2).fit(X).location_ - 5.0) <= 0.7


def test_halving_in_one_direction_is_the_shortest_interval():
    x = np.random.default_rng(2).standard_normal(101)
    width = int(0.8**2 * 101)
    intervals = np.lib.stride_tricks.sliding_window_view(np.sort(x), width)
    shortest = min(intervals, key=lambda interval: interval[-1] - interval[0])
    found = LaiRaoVempala(alpha=0.2).fit(x[:, None])
    np.testing.assert_allclose(found.location_, shortest.mean())
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(x[:, None]).location_, np.median(x))


@cases("shape", [(60, 4), (20, 40)])
@cases("alpha", [0.0, 0.1, 0.3])
def test_spectral_signatures(shape, alpha):
    X = contaminated(*shape, n_bad=round(alpha * shape[0]), far=4.0) + 100.0
    found = SpectralSignatures(alpha=alpha).fit(X)
    centered = X - X.mean(axis=0)
    scores = (centered @ np.linalg.svd(centered)[2][0]) ** 2
    order = np.argsort(scores)
    kept = order[: shape[0] - int(1.5 * round(alpha * shape[0]))]
    np.testing.assert_allclose(found.result_.scores, scores, rtol=1e-6, atol=1e-9 * scores.max())
    np.testing.assert_allclose(found.location_, X[kept].mean(axis=0))


def test_rand_eigen_removes_by_chance_and_stops():
    sample = SettingB(400, 100, 0.1).sample(0)
    fits = [RandEigen(alpha=0.1, random_state=seed).fit(sample.X) for seed in range(20)]
    removed = np.array([~fit.support_ for fit in fits])
    # Which rows are removed is chance, but bad ones are removed more often.
    assert len({rows.tobytes() for rows in removed}) == 20
    assert removed[:, sample.is_outlier].mean() > 0.9
    assert removed[:, ~sample.is_outlier].mean() < 0.4
    # With nothing to remove it is the mean.
    clean = sample.X[~sample.is_outlier]
    np.testing.assert_allclose(RandEigen(alpha=0.0).fit(clean).location_, clean.mean(axis=0))
