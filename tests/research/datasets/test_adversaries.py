"""Adversaries: what they hide from, and what they know."""

import copy
import warnings
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from cases import cases
from contaminations import Median, largest_eigenvalue
from inlier.research.datasets import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Gaussian,
    Inliers,
    Mirrored,
    Rotated,
    StudentT,
    Subtractive,
)


@dataclass
class Trimmed:
    """No scikit-learn estimator, but one that fits: drops the rows farthest from the median."""

    fraction: float

    def fit(self, X):
        warnings.warn("seen by nobody", stacklevel=1)
        far = np.linalg.norm(X - np.median(X, axis=0), axis=1)
        self.location_ = X[far <= np.quantile(far, 1 - self.fraction)].mean(axis=0)
        return self


DIRECTIONS = ["top", "random", "bottom"]


def distance_to_truth(location, sample):
    return np.linalg.norm(location - sample.mean)


# -- Adversaries ----------------------------------------------------------------------------------


@cases("direction", DIRECTIONS)
@cases("inliers", [Gaussian(), StudentT(5, joint=True), Rotated()])
def test_distances_do_not_give_replaced_rows_away(inliers, direction):
    sample = AlphaCorruption(3000, 40, 0.2, inliers, direction).sample(0)
    distances = np.linalg.norm(sample.X - sample.mean, axis=1)
    bad, good = distances[sample.is_outlier], distances[~sample.is_outlier]
    assert stats.ks_2samp(bad, good).pvalue > 0.01
    # Nor do those to what an observer knows: no cut keeps most good rows and few bad ones.
    seen = np.linalg.norm(sample.X - np.median(sample.X, axis=0), axis=1)
    for level in (0.25, 0.5, 0.75):
        cut = np.quantile(seen[~sample.is_outlier], level)
        assert np.mean(seen[sample.is_outlier] <= cut) > level - 0.35


@cases("direction", DIRECTIONS)
@cases("model", [AlphaCorruption, Mirrored, Subtractive])
def test_good_rows_that_were_removed_move_the_mean(model, direction):
    n, alpha = 4000, 0.2
    sample = model(n, 20, alpha, direction=direction).sample(0)
    # What is left of a Gaussian without its lowest fifth has mean phi(z) / (1 - alpha).
    tail = stats.norm.pdf(stats.norm.ppf(alpha))
    left = distance_to_truth(sample.inliers.mean(axis=0), sample)
    assert left == pytest.approx(tail / (1 - alpha), rel=0.15)
    everything = distance_to_truth(sample.X.mean(axis=0), sample)
    if model is AlphaCorruption:  # alpha reach sqrt(d) beside the tail that is missing
        assert everything == pytest.approx(tail + alpha * 0.5 * sqrt(20), rel=0.1)
    elif model is Mirrored:
        assert everything == pytest.approx(2 * tail, rel=0.15)


def test_the_truth_is_the_mean_of_all_rows_as_drawn():
    for model, n_drawn in ((AlphaCorruption, 100), (Mirrored, 100), (Subtractive, 125)):
        drawn = np.random.default_rng(3).standard_normal((n_drawn, 4))
        sample = model(100, 4, 0.2).sample(3)
        np.testing.assert_allclose(sample.mean, drawn.mean(axis=0), atol=1e-14)
        kept = {tuple(row) for row in drawn} & {tuple(row) for row in sample.X}
        assert len(kept) == (100 if model is Subtractive else 80)


def test_replaced_rows_reach_into_the_direction():
    sample = AlphaCorruption(500, 30, 0.2, reach=0.7).sample(1)
    bad = sample.X[sample.is_outlier] - sample.mean
    u = np.linalg.lstsq(bad, 0.7 * np.linalg.norm(bad, axis=1), rcond=None)[0]
    assert np.linalg.norm(u) == pytest.approx(1.0)
    assert bad @ u == pytest.approx(0.7 * np.linalg.norm(bad, axis=1))
    assert ((sample.inliers - sample.mean) @ u).min() > -1.5  # the lowest fifth is gone


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_mirrored_rows_hide_from_distances_and_variance(direction):
    n, d = 2000, 10
    drawn = np.random.default_rng(0).standard_normal((n, d))
    sample = Mirrored(n, d, 0.3, direction=direction).sample(0)
    np.testing.assert_allclose(
        np.linalg.norm(sample.X - sample.mean, axis=1),
        np.linalg.norm(drawn - drawn.mean(axis=0), axis=1),
    )
    assert largest_eigenvalue(sample.X) < 1.05 * largest_eigenvalue(drawn)


@pytest.mark.parametrize(("n", "alpha", "n_removed"), [(100, 0.2, 25), (60, 0.4, 40), (9, 0.0, 0)])
def test_what_alpha_means_where_rows_are_taken_away(n, alpha, n_removed):
    model = Subtractive(n, 3, alpha)
    assert (model.n_removed, model.n_outliers) == (n_removed, 0)
    assert model.n_removed / (n + model.n_removed) == pytest.approx(alpha)
    sample = model.sample(0)
    assert sample.X.shape == (n, 3) and sample.alpha == 0.0


@cases("threshold", [1.1, 1.5, 4.0])
@cases("direction", DIRECTIONS)
@cases("inliers", [Gaussian(), Rotated(), StudentT(3)])
@cases(("n", "d"), [(400, 20), (40, 90)])
def test_the_largest_eigenvalue_stays_just_below_the_threshold(n, d, inliers, direction, threshold):
    model = BelowThreshold(n, d, 0.2, threshold, inliers, direction)
    sample = model.sample(0)
    ratio = largest_eigenvalue(sample.X) / largest_eigenvalue(sample.inliers)
    assert threshold * (1 - 1e-5) < ratio < threshold


# -- An adversary that knows the method -----------------------------------------------------------


@dataclass(frozen=True)
class Shifted(Inliers):
    """Uneven Gaussian rows about a point."""

    shift: float

    def draw(self, n, d, rng):
        return rng.standard_normal((n, d)) * np.linspace(0.5, 2.0, d) + self.shift


@cases("shift", [0.0, 100.0])
@cases("which", DIRECTIONS)
@cases("k", [1, 3])
@cases("spread", [0.0, 0.3])
def test_clusters_lie_at_the_distance_asked_for(shift, which, k, spread):
    placement = {"distances": (5,), "spreads": (spread,), "directions": (which,), "clusters": (k,)}
    sample = Attack(300, 10, 0.2, Median(), Shifted(shift), **placement).sample(0)
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
def test_an_attack_finds_the_weak_spot(fraction, expected):
    # Distant rows are trimmed, near ones do little: the worst distance depends on the method.
    model = Attack(300, 40, 0.1, Trimmed(fraction), distances=(1, 5, 100), clusters=(1,))
    sample = model.sample(0)
    center = sample.X[sample.is_outlier].mean(axis=0) - sample.mean
    u = center / np.linalg.norm(center)
    deviation = ((sample.inliers - sample.mean) @ u).std()
    assert np.linalg.norm(center) == pytest.approx(expected * deviation, rel=1e-6)


OPTIONS = {
    "distances": (1.0, 4.0),
    "spreads": (0.2, 1.0),
    "directions": ("random", "bottom"),
    "clusters": (1, 2),
}


@pytest.mark.parametrize("method", [Median(), Trimmed(0.2)], ids=repr)
def test_an_attack_is_as_bad_as_each_of_its_placements(method):
    def damage(**options):
        sample = Attack(200, 10, 0.2, method, Rotated(), **options).sample(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return distance_to_truth(copy.copy(method).fit(sample.X).location_, sample)

    single = [
        damage(**dict(zip(OPTIONS, ((value,) for value in values), strict=True)))
        for values in product(*OPTIONS.values())
    ]
    assert len(set(single)) == len(single)
    assert damage(**OPTIONS) == max(single) > 1.2 * np.median(single)


def test_an_attack_counts_no_answer_as_the_worst():
    class Breaks(Median):
        def fit(self, X):
            super().fit(X)
            if np.abs(X).max() < 50:
                self.location_ = np.full(X.shape[1], np.nan)
            return self

    sample = Attack(50, 3, 0.2, Breaks(), distances=(100, 2)).sample(0)
    assert np.abs(sample.X).max() < 50


def test_the_method_is_left_alone():
    method = Median(shift=1.0)
    model = Attack(30, 3, 0.2, method)
    method.shift = 2.0
    model.sample(0)
    assert "method=Median(shift=1.0)" in repr(model) and "method=Median(" in str(model)
    assert not hasattr(method, "location_") and not hasattr(model.method, "location_")
    assert model == Attack(30, 3, 0.2, Median(1.0)) != Attack(30, 3, 0.2, Median(2.0))


def test_a_method_without_a_repr_is_described_by_its_attributes():
    class Plain:
        def __init__(self):
            self.k = 3

    Plain.fit = Median.fit
    assert "method=Plain(k=3)" in repr(Attack(30, 3, 0.2, Plain()))


def test_attacks_on_methods_without_an_answer():
    class Fails:
        def fit(self, X):
            raise ArithmeticError("no such luck")

    with pytest.raises(ValueError, match=r"no answer to any .* no such luck"):
        Attack(40, 3, 0.2, Fails()).sample(0)
