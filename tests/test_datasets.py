"""Models of contamination against what they claim, the paper's settings and printed figures."""

import copy
import pickle
import warnings
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator

from cases import cases
from inlier import RobustMean, datasets
from inlier.datasets import (
    AlphaCorruption,
    Attack,
    BelowThreshold,
    Clean,
    Cluster,
    Contamination,
    Gaussian,
    HeavyTails,
    Huber,
    Laplace,
    Mirrored,
    ObviousAndSubtle,
    PrintedTable,
    QuietDirections,
    Rotated,
    Sample,
    SettingA,
    SettingB,
    Shuffled,
    Spiked,
    StudentT,
    Subtractive,
    TwoClusters,
    printed_tables,
)

SETTINGS = [SettingA, SettingB]


class Median(BaseEstimator):
    """The coordinate-wise median: quick to attack."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X):
        self.location_ = np.median(X, axis=0) + self.shift
        return self


@dataclass
class Trimmed:
    """No scikit-learn estimator, but one that fits: drops the rows farthest from the median."""

    fraction: float

    def fit(self, X):
        warnings.warn("seen by nobody", stacklevel=1)
        far = np.linalg.norm(X - np.median(X, axis=0), axis=1)
        self.location_ = X[far <= np.quantile(far, 1 - self.fraction)].mean(axis=0)
        return self


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
    Mirrored,
    Subtractive,
    BelowThreshold,
    attack,
]
ROWS = [Gaussian(), StudentT(5), StudentT(5, joint=True), Laplace(), Spiked(), Rotated()]
TAKE_ROWS = [Huber, HeavyTails, AlphaCorruption, Mirrored, Subtractive, BelowThreshold, attack]
DIRECTIONS = ["top", "random", "bottom"]


def largest_eigenvalue(rows):
    return np.linalg.norm(rows - rows.mean(axis=0), 2) ** 2 / len(rows)


def distance_to_truth(location, sample):
    return np.linalg.norm(location - sample.mean)


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


def test_the_target_is_the_truth_where_it_is_given():
    X = np.array([[1.0, 0.0], [9.0, 9.0], [3.0, 0.0]])
    sample = Sample(X, np.array([False, True, False]), target=np.array([7.0, 7.0]))
    assert sample.mean.tolist() == [7.0, 7.0]
    assert sample.sigma == pytest.approx(1.0)  # about the good rows' own mean
    assert sample.alpha == pytest.approx(1 / 3)


def test_a_sample_knows_where_it_comes_from():
    model = SettingB(20, 3, 0.1)
    assert (model.sample(5).model, model.sample(np.int64(5)).random_state) == (model, 5)
    assert model.sample().random_state is None
    assert repr(model.sample(5)) == f"<Sample: 20 x 3, 2 outliers, {model!r}, random_state=5>"
    assert repr(Sample(np.zeros((2, 1)), np.zeros(2, bool))) == "<Sample: 2 x 1, 0 outliers>"


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


def test_sample_refuses_a_target_of_another_length():
    with pytest.raises(ValueError, match=r"^target has shape \(3,\): give one number for each of"):
        Sample(np.zeros((4, 2)), np.zeros(4, bool), target=np.zeros(3))


# -- What holds of every model --------------------------------------------------------------------


@cases("model", [m for m in MODELS if m not in (Huber, Subtractive)])
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


@cases("inliers", ROWS)
@cases("model", TAKE_ROWS)
def test_any_rows(model, inliers):
    sample = model(80, 6, 0.3, inliers=inliers).sample(0)
    assert sample.model.inliers == inliers
    assert np.isfinite(sample.X).all()


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


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_generator_gives_what_its_seed_gives(setting):
    model = setting(30, 4, 0.2)
    assert np.array_equal(model.sample(np.random.default_rng(7)).X, model.sample(7).X)


@cases("model", MODELS)
def test_global_random_state_is_left_alone(model):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    model(10, 3, 0.2).sample()
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@cases("model", [*MODELS, lambda n, d, alpha: Clean(n, d, inliers=StudentT(3))])
def test_a_model_is_what_its_repr_says(model):
    model = model(np.int64(30), 4, np.float32(0.25))
    assert isinstance(model, Contamination)
    again = eval(repr(model), vars(datasets) | {"Median": Median})
    assert repr(again) == repr(model) and "np." not in repr(model)
    assert again == model and hash(again) == hash(model)
    assert np.array_equal(again.sample(3).X, model.sample(3).X)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).sample(3).X, model.sample(3).X)
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(AttributeError):
        model.n = 3


def test_numbers_of_any_type_give_one_repr():
    assert repr(Cluster(30, 4, 0.25, distance=3)) == repr(Cluster(30, 4, 0.25, distance=3.0))
    assert repr(Cluster(30, 4, 0, distance=np.float64(3))) == repr(Cluster(30, 4, 0.0, 3.0))


@cases("model", MODELS)
def test_samples_travel(model):
    sample = model(20, 3, 0.2).sample(0)
    back = pickle.loads(pickle.dumps(sample))
    assert np.array_equal(back.X, sample.X) and np.array_equal(back.mean, sample.mean)
    assert repr(back) == repr(sample)


# Those whose good rows are as they were drawn, and Gaussian unless told otherwise.
@pytest.mark.parametrize(
    "model", [SettingA, SettingB, TwoClusters, Huber, Cluster, ObviousAndSubtle, BelowThreshold]
)
def test_good_rows_are_standard_gaussian(model):
    good = model(600, 50, 0.3).sample(1).inliers
    assert stats.kstest(good.ravel(), "norm").pvalue > 0.01
    correlation = np.corrcoef(good.T)[np.triu_indices(50, 1)]
    assert np.abs(correlation).max() < 5 / sqrt(len(good))


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


@pytest.mark.parametrize(("angle", "spread"), [(0.0, 0.3), (60.0, 0.3), (90.0, 0.0), (150.0, 0.6)])
def test_two_clusters_at_an_angle(angle, spread):
    d = 400
    sample = TwoClusters(2000, d, 0.4, angle, spread).sample(0)
    bad = sample.X[sample.is_outlier]
    assert np.linalg.norm(bad, axis=1) == pytest.approx(sqrt(d), rel=0.15)
    # The clusters are on the two sides of a plane; their centres span the angle.
    principal = np.linalg.svd(bad - bad.mean(axis=0), full_matrices=False)[2][0]
    side = (bad - bad.mean(axis=0)) @ principal > 0
    if angle > 0:
        assert side.sum() == 400
        one, other = bad[side].mean(axis=0), bad[~side].mean(axis=0)
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert np.degrees(np.arccos(cosine)) == pytest.approx(angle, abs=2.0)
        assert bad[side].std(axis=0).mean() == pytest.approx(spread, abs=0.02)


# -- Good rows ------------------------------------------------------------------------------------


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


def test_entries_are_large_together_in_the_multivariate_t_only():
    # |x|^2 / d has the F distribution where one chi-square divides the whole row.
    squares = [
        (StudentT(5, joint=joint).draw(2000, 50, np.random.default_rng(0)) ** 2).mean(axis=1)
        for joint in (True, False)
    ]
    assert stats.kstest(squares[0], stats.f(50, 5).cdf).pvalue > 0.01
    assert stats.kstest(squares[1], stats.f(50, 5).cdf).pvalue < 1e-9


def test_uneven_covariances():
    rng = np.random.default_rng(0)
    X = Spiked().draw(5000, 6, rng)
    assert X.std(axis=0) == pytest.approx(5 / np.sqrt([1, 2, 3, 4, 5, 6]), rel=0.05)
    X = Rotated().draw(5000, 6, rng)
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert np.sqrt(values[::-1]) == pytest.approx(np.geomspace(3, 0.15, 6), rel=0.05)
    assert X.std(axis=0).min() > 0.3  # no column is as quiet as the quietest direction


# -- Models ---------------------------------------------------------------------------------------


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


def test_a_higher_threshold_lets_the_cluster_out():
    damage = [
        distance_to_truth(s.X.mean(axis=0), s)
        for s in (BelowThreshold(500, 20, 0.2, threshold).sample(0) for threshold in (1, 2, 4))
    ]
    assert 0.1 < damage[0] < damage[1] < damage[2]


# -- An adversary that knows the method -----------------------------------------------------------

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


def test_an_attack_finds_the_weak_spot():
    # Far rows are trimmed, near ones do little: the worst is in between, and depends on the method.
    def distance(fraction):
        model = Attack(300, 40, 0.1, Trimmed(fraction), distances=(1, 5, 100), clusters=(1,))
        sample = model.sample(0)
        return np.linalg.norm(sample.X[sample.is_outlier].mean(axis=0) - sample.mean)

    assert distance(0.0) > 50 and 2 < distance(0.1) < 10


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
    assert "method=Median(shift=1.0)" in repr(model)
    assert not hasattr(method, "location_") and not hasattr(model.method, "location_")
    assert model == Attack(30, 3, 0.2, Median(1.0)) != Attack(30, 3, 0.2, Median(2.0))


def test_a_method_without_a_repr_is_described_by_its_attributes():
    class Plain:
        def __init__(self):
            self.k = 3

    Plain.fit = Median.fit
    assert "method=Plain(k=3)" in repr(Attack(30, 3, 0.2, Plain()))


def test_our_own_estimator_is_attacked():
    model = Attack(200, 5, 0.2, RobustMean(), distances=(2, 20), directions=("top",), clusters=(1,))
    sample = model.sample(0)
    # The far cluster is found and removed: the one that hides does more.
    assert np.linalg.norm(sample.X[sample.is_outlier].mean(axis=0) - sample.mean) < 10


# -- Real rows ------------------------------------------------------------------------------------


def test_real_rows_are_shuffled():
    X = np.arange(20.0).reshape(10, 2)
    model = Shuffled(X, np.arange(10) < 3)
    assert (model.n, model.d, model.alpha, model.n_outliers) == (10, 2, 0.3, 3)
    one, other = model.sample(0), model.sample(1)
    assert not np.array_equal(one.X, other.X)
    for sample in (one, other):
        assert np.array_equal(sample.X[:, 0] < 6, sample.is_outlier)
        assert sample.X[np.argsort(sample.X[:, 0])].tolist() == X.tolist()


def test_real_rows_are_told_apart_by_their_content():
    X, flags = np.arange(20.0).reshape(10, 2), np.arange(10) < 3
    model = Shuffled(X, flags)
    assert model == Shuffled(X.astype(int).tolist(), flags.astype(int))
    assert model == Shuffled(sparse.csr_array(X), flags)
    assert model == pickle.loads(pickle.dumps(model))
    others = [
        Shuffled(X, np.roll(flags, 1)),
        Shuffled(X + 1e-9, flags),
        Shuffled(X[:9], flags[:9]),
    ]
    assert len({repr(other) for other in [model, *others]}) == 4
    before = repr(model)
    X[0] = 100.0
    assert repr(model) == before and model.X[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        model.X[0] = 1.0


# -- Wrong arguments ------------------------------------------------------------------------------


@cases("model", MODELS)
@cases(
    ("arguments", "message"),
    [
        ((0, 3, 0.1), "n must be a whole number >= 1, but is 0."),
        ((20.5, 3, 0.1), "n must be a whole number >= 1, but is 20.5."),
        ((20, 0, 0.1), "d must be a whole number >= 1, but is 0."),
        ((20, "three", 0.1), "d must be a whole number >= 1, but is 'three'."),
        ((20, 3, -0.1), "alpha must be a finite number of at least 0 and below 0.5, but is -0.1."),
        ((20, 3, 0.5), "alpha must be .* is 0.5. Beyond it the good rows are not the majority."),
        ((20, 3, float("nan")), "alpha must be .*, but is nan."),
        ((20, 3, "some"), "alpha must be .*, but is 'some'."),
    ],
)
def test_wrong_sizes_are_named(model, arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        model(*arguments)


@cases("model", MODELS)
@cases("random_state", [-1, "seed", 1.5])
def test_wrong_seeds_are_named(model, random_state):
    message = f"random_state must be a whole number >= 0, but is {random_state!r}."
    with pytest.raises(ValueError, match=f"^{message}"):
        model(10, 3, 0.1).sample(random_state)


X, FLAGS = np.zeros((4, 2)), np.arange(4) < 1


@cases(
    ("make", "message"),
    [
        (lambda: SettingB(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: TwoClusters(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: TwoClusters(10, 3, 0.1, angle=180), "angle must be .* below 180, but is 180"),
        (lambda: TwoClusters(10, 3, 0.1, spread=1), "spread must be .* below 1, but is 1"),
        (lambda: Cluster(10, 3, 0.1, distance=-1), "distance must be .* at least 0, but is -1"),
        (lambda: Cluster(10, 3, 0.1, spread=float("inf")), "spread must be a finite number"),
        (lambda: Huber(10, 3, 0.1, outliers="t"), r"outliers must be rows such as Gaussian\(\)"),
        (lambda: HeavyTails(10, 3, 0.1, Laplace), "inliers must be rows such as .*, but is <class"),
        (lambda: QuietDirections(10, 3, 0.1, Gaussian()), r"inliers must be .* Rotated\(\), but"),
        (lambda: QuietDirections(10, 3, 0.1, where="here"), "where must be one of 'both', 'one ea"),
        (lambda: QuietDirections(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: AlphaCorruption(10, 3, 0.1, reach=1.5), "reach must be .* at most 1, but is 1.5"),
        (lambda: AlphaCorruption(10, 1, 0.1), "d must be a whole number >= 2"),
        (lambda: Mirrored(10, 3, 0.1, direction="up"), "direction must be one of 'random', 'top'"),
        (lambda: BelowThreshold(10, 3, 0.1, 0.9), "threshold must be .* at least 1, but is 0.9"),
        (lambda: BelowThreshold(10, 3, 0.1, spread=2), r"threshold must be above .* = 4.5, but is"),
        (lambda: BelowThreshold(3, 3, 0.1), "n must be a whole number >= 4"),
        (lambda: StudentT(1), "df must be a finite number above 1, but is 1. The mean must exist."),
        (lambda: Attack(10, 3, 0.1, "mean"), r"method must be an estimator with fit\(X\)"),
        (lambda: Attack(10, 3, 0.1, Median), "method must be .* Give an instance"),
        (lambda: attack(10, 3, 0.1, distances=()), r"distances must be a tuple .*, but is \(\)"),
        (lambda: attack(10, 3, 0.1, clusters=3), "clusters must be a tuple .*, but is 3"),
        (lambda: attack(10, 3, 0.1, clusters=(0,)), "clusters must be a whole number >= 1"),
        (lambda: attack(10, 3, 0.1, directions=("up",)), "directions must be one of"),
        (lambda: Shuffled(X[0], FLAGS), "X must be a table with rows and columns"),
        (lambda: Shuffled(X, FLAGS[:3]), "is_outlier has dtype bool and shape"),
        (lambda: Shuffled(X, ~FLAGS), "alpha must be .* is 0.75. Beyond it the good rows"),
    ],
)
def test_wrong_arguments_are_named_with_what_to_do(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


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


def test_attacks_on_methods_without_an_answer():
    class Fails:
        def fit(self, X):
            raise ArithmeticError("no such luck")

    with pytest.raises(ValueError, match=r"no answer to any .* no such luck"):
        Attack(40, 3, 0.2, Fails()).sample(0)
