"""Filters that know less, against the same steps by hand."""

import numpy as np

from cases import cases
from inlier.research.baselines import CorruptionLevelAgnostic, OutlierFractionAgnostic
from reference import contaminated
from rivals import deviation


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


def test_fraction_agnostic_filter_removes_duplicates_together():
    X = np.repeat(contaminated(40, 2, 4), 3, axis=0)
    found = OutlierFractionAgnostic(1.05 * deviation(X[12:])).fit(X)
    np.testing.assert_array_equal(np.ptp(found.support_.reshape(40, 3).astype(int), axis=1), 0)


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
    found = CorruptionLevelAgnostic(constant=constant).fit(X)
    assert f"Sigma {sigma:.3g} was chosen." in found.result_.message
    np.testing.assert_allclose(found.location_, mean, atol=1e-9)
