"""Adversaries: what they hide from, and what they know."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from cases import cases
from contaminations import Median, largest_eigenvalue
from inlier.research.datasets import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
)
from inlier.research.datasets.adversaries import extreme_directions


@dataclass
class Trimmed:
    """No scikit-learn estimator, but one that fits: drops the rows farthest from the median."""

    fraction: float

    def fit(self, X):
        warnings.warn("seen by nobody", stacklevel=1)
        far = np.linalg.norm(X - np.median(X, axis=0), axis=1)
        self.location_ = X[far <= np.quantile(far, 1 - self.fraction)].mean(axis=0)
        return self


# -- Adversaries ----------------------------------------------------------------------------------


def test_distances_do_not_give_replaced_rows_away():
    sample = AlphaCorruption(3000, 40, 0.2).sample(0)
    distances = np.linalg.norm(sample.X - sample.mean, axis=1)
    bad, good = distances[sample.is_outlier], distances[~sample.is_outlier]
    assert stats.ks_2samp(bad, good).pvalue > 0.01
    # Nor do those to what an observer knows: no cut keeps most good rows and few bad ones.
    seen = np.linalg.norm(sample.X - np.median(sample.X, axis=0), axis=1)
    for level in (0.25, 0.5, 0.75):
        cut = np.quantile(seen[~sample.is_outlier], level)
        assert np.mean(seen[sample.is_outlier] <= cut) > level - 0.35


@cases(("n", "d"), [(400, 20), (40, 90)])
def test_the_largest_eigenvalue_stays_just_below_the_threshold(n, d):
    sample = BelowThreshold(n, d, 0.2).sample(0)
    ratio = largest_eigenvalue(sample.X) / largest_eigenvalue(sample.inliers)
    assert 1.5 * (1 - 1e-5) < ratio < 1.5


# -- An adversary that knows the method -----------------------------------------------------------


@cases(("n", "d"), [(200, 6), (6, 6), (5, 40)])
def test_directions_are_principal(n, d):
    rows = np.random.default_rng(0).standard_normal((n, d)) * np.linspace(0.5, 2.0, d) + 100.0
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    least = np.argmax(values > 1e-9)
    for found, expected in zip(extreme_directions(rows), vectors.T[[-1, least]], strict=True):
        assert abs(found @ expected) == pytest.approx(1.0)


def only(monkeypatch, **placement):
    """Let attacks try just these placements."""
    for name, value in placement.items():
        monkeypatch.setattr(Attack, name, value)


@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize("k", [1, 3])
def test_clusters_lie_at_the_distance_asked_for(monkeypatch, k, spread):
    only(monkeypatch, distances=(5,), clusters=(k,), spread=spread)
    sample = Attack(300, 10, 0.2, Median()).sample(0)
    good, bad = sample.inliers - sample.mean, sample.X[sample.is_outlier] - sample.mean
    if k == 1:
        centers = bad.mean(axis=0)[None]
    elif spread == 0.0:
        centers = np.unique(bad.round(9), axis=0)
    else:
        return  # of clusters that overlap the centers are not known
    assert len(centers) == k
    for center in centers:
        u = center / np.linalg.norm(center)
        assert np.linalg.norm(center) == pytest.approx(5.0 * (good @ u).std(), rel=1e-6)


@pytest.mark.parametrize(("fraction", "expected"), [(0.0, 100.0), (0.1, 5.0)])
def test_an_attack_finds_the_weak_spot(monkeypatch, fraction, expected):
    # Distant rows are trimmed, near ones do little: the worst distance depends on the method.
    only(monkeypatch, distances=(1, 5, 100), clusters=(1,))
    sample = Attack(300, 40, 0.1, Trimmed(fraction)).sample(0)
    center = sample.X[sample.is_outlier].mean(axis=0) - sample.mean
    u = center / np.linalg.norm(center)
    deviation = ((sample.inliers - sample.mean) @ u).std()
    assert np.linalg.norm(center) == pytest.approx(expected * deviation, rel=1e-6)


def test_an_attack_counts_no_answer_as_the_worst(monkeypatch):
    class Breaks(Median):
        def fit(self, X):
            super().fit(X)
            if np.abs(X).max() < 50:
                self.location_ = np.full(X.shape[1], np.nan)
            return self

    only(monkeypatch, distances=(100, 2))
    sample = Attack(50, 3, 0.2, Breaks()).sample(0)
    assert np.abs(sample.X).max() < 50


def test_the_method_is_left_alone():
    method = Median(shift=1.0)
    model = Attack(30, 3, 0.2, method)
    method.shift = 2.0
    model.sample(0)
    assert "method=Median(shift=1.0)" in repr(model)
    assert not hasattr(method, "location_") and not hasattr(model.method, "location_")


def test_attacks_on_methods_without_an_answer():
    class Fails:
        def fit(self, X):
            raise ArithmeticError("no such luck")

    with pytest.raises(ValueError, match=r"no answer to any .* no such luck"):
        Attack(40, 3, 0.2, Fails()).sample(0)
