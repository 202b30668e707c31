"""The theory against brute force over subsets, and against the figures of the paper."""

from fractions import Fraction
from itertools import combinations
from math import ceil, inf, isclose, log, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from inlier import theory


def spread(points):
    """Square root of the largest eigenvalue of the covariance of points about their own mean."""
    return np.linalg.norm(points - points.mean(axis=0), 2) / sqrt(len(points))


def gap(first, second):
    return np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))


def subsets(points):
    for size in range(1, len(points) + 1):
        for rows in combinations(range(len(points)), size):
            yield points[list(rows)]


def awkward_points(seed, n, d):
    """Heavy-tailed points on a coarse grid, so that some of them coincide."""
    return np.round(np.random.default_rng(seed).standard_t(1.5, size=(n, d)))


# -- Theorem 1 and its corollary ------------------------------------------------------------------


def test_theorem1_bound_by_hand():
    assert isclose(theory.theorem1_bound(0.1, 0.06, sigma=2.0, c1=2.0), 10 * 2 * 0.4)
    assert isclose(theory.theorem1_bound(0.0, 0.25, sigma=1.0, c1=4.0), 8.0)
    assert isclose(theory.theorem1_bound(0.03, 0.01, 1.0), (4 + 3 * 1.224744871391589) * 0.2)


def test_corollary_bound_by_hand():
    assert isclose(theory.corollary_bound(0.25, sigma=2.0, c1=5.0), 23.0)
    assert isclose(theory.corollary_bound(0.04, 3.0), (7.5 + 3.1 * 1.224744871391589) * 0.6)


@pytest.mark.parametrize("c1", [theory.C1_MIN, 2.0, 10.0])
def test_corollary_follows_from_theorem1_and_the_lemmas(c1):
    for alpha in np.linspace(0.001, 0.33, 50):
        epsilon = alpha / 160
        # From the estimate to the inliers' mean, on to the mean of G, on to x*. G has at least
        # (1 - epsilon) n rows, a second moment of at most 3/2 n, and loses alpha n of its rows.
        to_inliers = theory.theorem1_bound(alpha, epsilon, 1.0, c1)
        to_good = theory.lemma1_radius(sqrt(1.5 / (1 - epsilon)), alpha / (1 - epsilon))
        to_true = theory.lemma2_bound(alpha, 1.0)
        assert to_inliers + to_good + to_true <= theory.corollary_bound(alpha, 1.0, c1)


def test_sample_sizes_by_hand():
    assert theory.theorem1_sample_size(1, 0.1) == 1_120_000  # log 1 = 0
    assert theory.theorem1_sample_size(100, 0.1) == 259_365_446  # 147 365 445.95 + 112 000 000
    assert theory.corollary_sample_size(1, 0.16) == 112_000_000
    assert theory.corollary_sample_size(7, 0.2) == theory.theorem1_sample_size(7, 0.2 / 160)
    assert theory.lemma2_sample_size(10, 0.3) == 300_000
    assert theory.lemma2_sample_size(1, 0.35) == 25_715  # 25 714.3 rounded up


def test_sample_sizes_are_not_one_too_many_through_rounding():
    # 9000 / 0.009 is stored as more than a million.
    for permille in range(1, 500):
        exact = ceil(9000 / Fraction(permille, 1000))
        assert theory.lemma2_sample_size(1, permille / 1000) == exact


def test_sample_sizes_are_whole_and_may_be_huge():
    assert isinstance(theory.theorem1_sample_size(3, 0.1), int)
    assert isinstance(theory.corollary_sample_size(3, np.float64(0.1)), int)
    tiny = np.array([0.1, 1e-15])
    for size in (theory.corollary_sample_size, theory.lemma2_sample_size):
        many = size(1000, tiny)
        assert many.tolist() == [size(1000, 0.1), pytest.approx(size(1000, 1e-15), rel=1e-12)]
        assert many[1] > 2.0**62


def test_sample_sizes_grow_with_dimension_and_with_precision():
    for size in (
        theory.theorem1_sample_size,
        theory.corollary_sample_size,
        theory.lemma2_sample_size,
    ):
        in_d = [size(d, 0.1) for d in range(1, 50)]
        in_fraction = size(20, np.linspace(0.01, 0.32, 50))
        assert np.all(np.diff(in_d) > 0)
        assert np.all(np.diff(in_fraction) < 0)
    d, epsilon = 50, 0.02
    assert theory.theorem1_sample_size(d, epsilon) == ceil((3.2e4 * log(d) + 11.2e4) * d / epsilon)


# -- Resilience -----------------------------------------------------------------------------------


@cases("d", [1, 2, 5])
@cases("seed", range(5))
def test_resilience_holds_for_every_subset(seed, d):
    points = awkward_points(seed, 9, d)
    sigma = spread(points)
    for subset in subsets(points):
        beta = 1 - len(subset) / len(points)
        moved = gap(subset, points)
        assert moved <= theory.resilience_radius(sigma, beta) * (1 + 1e-12) + 1e-12
        if beta < 0.5:
            assert moved <= theory.lemma1_radius(sigma, beta) + 1e-12


@cases("dropped", range(1, 9))
def test_resilience_is_attained_by_two_points(dropped):
    points = np.array([[0.0]] * (9 - dropped) + [[1.0]] * dropped)
    worst = max(gap(T, points) for T in subsets(points) if len(T) >= 9 - dropped)
    assert isclose(worst, theory.resilience_radius(spread(points), dropped / 9))


def test_resilience_by_hand():
    assert isclose(theory.resilience_radius(3.0, 0.2), 1.5)
    assert isclose(theory.lemma1_radius(3.0, 0.25), 3.0)
    assert theory.resilience_radius(3.0, 0.0) == theory.lemma1_radius(3.0, 0.0) == 0.0


def test_lemma1_is_implied_by_the_sharp_radius():
    beta = np.linspace(1e-6, 0.499, 200)
    ratio = theory.lemma1_radius(1.0, beta) / theory.resilience_radius(1.0, beta)
    assert np.all((ratio >= sqrt(2)) & (ratio <= 2))


# -- The error radius -----------------------------------------------------------------------------


def every_pair(points):
    sets = [(subset, spread(subset)) for subset in subsets(points)]
    for kept, kept_sigma in sets:
        for inliers, sigma in sets:
            yield kept, kept_sigma, inliers, sigma


@pytest.mark.parametrize(("seed", "n", "d"), [(0, 6, 1), (1, 6, 2), (2, 5, 3), (3, 6, 1)])
def test_error_radius_holds_for_every_pair_of_sets(seed, n, d):
    points = awkward_points(seed, n, d)
    finite = 0
    for kept, kept_sigma, inliers, sigma in every_pair(points):
        # The assumption may be exact (alpha is the fraction of outliers) or loose.
        alpha = (n - np.arange(1, len(inliers) + 1)) / n
        radius = theory.error_radius(kept_sigma, len(kept), n, alpha, sigma)
        assert np.all(gap(kept, inliers) <= radius * (1 + 1e-12) + 1e-12)
        finite += np.isfinite(radius).sum()
    assert finite > 500


def test_error_radius_is_the_worst_over_all_sizes_of_the_inliers_and_of_the_overlap():
    # The formula of resilience, maximised over all that is not known.
    n, kept_sigma, sigma = 12, 0.7, 1.3
    for n_kept in range(1, n + 1):
        for k in range(n_kept):
            worst = 0.0
            for n_inliers in range(n - k, n + 1):
                for overlap in range(n_kept + n_inliers - n, min(n_kept, n_inliers) + 1):
                    worst = max(
                        worst,
                        theory.resilience_radius(kept_sigma, 1 - overlap / n_kept)
                        + theory.resilience_radius(sigma, 1 - overlap / n_inliers),
                    )
            assert isclose(theory.error_radius(kept_sigma, n_kept, n, k / n, sigma), worst)


@pytest.mark.parametrize(
    ("n", "n_kept", "k"), [(10, 9, 1), (10, 8, 3), (11, 11, 5), (12, 7, 0), (100, 60, 45)]
)
def test_error_radius_is_attained(n, n_kept, k):
    overlap, a, b = n_kept - k, 2.0, 5.0
    both, only_kept, only_inliers = np.zeros(overlap), np.full(k, a), np.full(n - n_kept, -b)
    kept = np.concatenate([both, only_kept])[:, None]
    inliers = np.concatenate([both, only_inliers])[:, None]
    radius = theory.error_radius(spread(kept), n_kept, n, k / n, spread(inliers))
    assert isclose(radius, gap(kept, inliers))


@st.composite
def pairs_of_sets(draw):
    n = draw(st.integers(2, 40))
    d = draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    n_kept = draw(st.integers(1, n))
    n_inliers = draw(st.integers(1, n))
    allowed = draw(st.integers(n - n_inliers, n))
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, d))
    # Sets that follow the data, from either end, are harder on the bound than random ones.
    order = np.argsort(points[:, 0])
    kept, inliers = order[:n_kept], order[n - n_inliers :]
    if draw(st.booleans()):
        kept = rng.permutation(n)[:n_kept]
    if draw(st.booleans()):
        points[inliers[-1]] *= 1e4
    return points, kept, inliers, allowed / n


@given(pairs_of_sets())
@settings(max_examples=300, deadline=None)
def test_error_radius_holds_for_random_pairs_of_sets(pair):
    points, kept, inliers, alpha = pair
    kept, inliers = points[kept], points[inliers]
    radius = theory.error_radius(spread(kept), len(kept), len(points), alpha, spread(inliers))
    assert gap(kept, inliers) <= radius * (1 + 1e-9) + 1e-9


def test_error_radius_by_hand():
    # 100 of the 900 kept rows may be bad, 100 good ones may be missing, 800 are common to both.
    assert isclose(theory.error_radius(1.0, 900, 1000, 0.1, 1.0), 2 * sqrt(100 / 800))
    assert isclose(theory.error_radius(2.0, 5, 5, 0.2, 7.0), 2 * sqrt(1 / 4))
    assert isclose(theory.error_radius(2.0, 4, 5, 0.0, 7.0), 7 * sqrt(1 / 4))
    assert theory.error_radius(3.0, 5, 5, 0.0, 7.0) == 0.0


def test_error_radius_is_infinite_when_all_kept_rows_may_be_outliers():
    radius = theory.error_radius(0.0, 4, 10, np.array([0.3, 0.39, 0.4, 0.5, 1.0]), 0.0)
    assert radius.tolist() == [0.0, 0.0, inf, inf, inf]
    assert theory.error_radius(0.0, 0, 10, 0.0, 0.0) == inf


def test_error_radius_counts_outliers_as_written():
    # 0.29 * 100 is stored as less than 29, (1 - 0.7) * 10 as more than 3.
    for n in (1, 7, 10, 100, 300, 1000):
        for percent in range(100):
            alpha = percent / 100
            k = n - ceil((1 - Fraction(percent, 100)) * n)
            radius = theory.error_radius(1.0, n, n, alpha, 1.0)
            assert isclose(radius, sqrt(k / (n - k)))


def test_error_radius_grows_with_what_is_assumed_and_shrinks_with_what_is_kept():
    alpha = np.linspace(0, 0.6, 61)
    radius = theory.error_radius(1.1, 80, 100, alpha, 1.0)
    assert np.all(np.diff(radius) >= 0)
    assert np.all(theory.error_radius(1.2, 80, 100, alpha[1:], 1.0) > radius[1:])
    assert np.all(theory.error_radius(1.1, 80, 100, alpha, 1.2) > radius)
    assert np.all(theory.error_radius(1.1, 81, 100, alpha, 1.0) < radius)


@given(
    st.integers(10, 2000), st.floats(0.001, 0.3333), st.floats(0, 1), st.floats(theory.C1_MIN, 20)
)
def test_error_radius_implies_theorem1(n, removable, share, c1):
    # The sets in the proof of Theorem 1: alpha' n rows at most are missing from either one, and
    # their second moments are at most c1^2 n and 3/2 n.
    n_kept = n - int(share * removable * n)
    radius = theory.error_radius(
        c1 * sqrt(n / n_kept), n_kept, n, removable, sqrt(1.5 / (1 - removable))
    )
    assert radius <= theory.theorem1_bound(0.0, removable, 1.0, c1)


# -- Far away rows, and Lemma 2 -------------------------------------------------------------------


def test_far_radius_by_hand():
    assert isclose(theory.far_radius(2.0, 10, 0.25), 80.0)
    # Lemma 2 writes the same set with another constant.
    assert isclose(theory.far_radius(3.0, 7, 0.2 / 160), 80 * 3 * sqrt(7 / 0.2))


def test_far_away_marks_what_lies_outside():
    sq_distances = np.array([-1e-12, 0.0, 99.9, 100.0, 100.1, 1e300, inf])
    far = theory.far_away(sq_distances, sigma=1.0, d=1, epsilon=0.4)
    assert far.dtype == bool
    assert far.tolist() == [False, False, False, False, True, True, True]
    assert theory.far_away([399, 401], 2.0, 1, 0.4).tolist() == [False, True]


def test_lemma2_bound_by_hand():
    assert isclose(theory.lemma2_bound(0.25, 3.0), 1.5)


# -- All of them ----------------------------------------------------------------------------------

VECTORISED = {
    "theorem1_bound": lambda f: theory.theorem1_bound(f, 0.01, 2.0),
    "theorem1_sample_size": lambda f: theory.theorem1_sample_size(5, f),
    "corollary_bound": lambda f: theory.corollary_bound(f, 2.0),
    "corollary_sample_size": lambda f: theory.corollary_sample_size(5, f),
    "resilience_radius": lambda f: theory.resilience_radius(2.0, f),
    "lemma1_radius": lambda f: theory.lemma1_radius(2.0, f),
    "error_radius": lambda f: theory.error_radius(2.0, 80, 100, f, 1.0),
    "far_radius": lambda f: theory.far_radius(2.0, 5, f),
    "lemma2_bound": lambda f: theory.lemma2_bound(f, 2.0),
    "lemma2_sample_size": lambda f: theory.lemma2_sample_size(5, f),
}


@cases("name", VECTORISED)
def test_an_array_gives_what_its_numbers_give(name):
    function = VECTORISED[name]
    fractions = np.array([[0.01, 0.1, 0.2], [0.05, 0.3, 0.32]])
    result = function(fractions)
    assert result.shape == (2, 3)
    for index, fraction in np.ndenumerate(fractions):
        single = function(float(fraction))
        assert np.ndim(single) == 0
        assert result[index] == single


def test_everything_public_is_tested():
    assert {*VECTORISED, "far_away"} == set(theory.__all__)


@cases(
    ("call", "argument"),
    [
        (lambda: theory.theorem1_bound(-0.1, 0.1, 1.0), "alpha=-0.1"),
        (lambda: theory.theorem1_bound(0.25, 0.1, 1.0), "alpha=0.25"),
        (lambda: theory.theorem1_bound(np.array([0.1, 0.3, nan]), 0.1, 1.0), "alpha=0.3"),
        (lambda: theory.theorem1_bound("much", 0.1, 1.0), "alpha='much'"),
        (lambda: theory.theorem1_bound(nan, 0.1, 1.0), "alpha=nan"),
        (lambda: theory.theorem1_bound(0.1, 0.0, 1.0), "epsilon=0.0"),
        (lambda: theory.theorem1_bound(0.0, 1 / 3, 1.0), "epsilon=0.333"),
        (lambda: theory.theorem1_bound(0.1, 0.1, -1.0), "sigma=-1.0"),
        (lambda: theory.theorem1_bound(0.1, 0.1, inf), "sigma=inf"),
        (lambda: theory.theorem1_bound(0.1, 0.1, 1.0, c1=1.2), "c1=1.2"),
        (lambda: theory.theorem1_bound(0.1, 0.1, 1.0, c1=nan), "c1=nan"),
        (lambda: theory.theorem1_sample_size(0, 0.1), "d=0"),
        (lambda: theory.theorem1_sample_size(2.5, 0.1), "d=2.5"),
        (lambda: theory.theorem1_sample_size(3, 0.4), "epsilon=0.4"),
        (lambda: theory.corollary_bound(0.0, 1.0), "alpha=0.0"),
        (lambda: theory.corollary_bound(0.331, 1.0), "alpha=0.331"),
        (lambda: theory.corollary_bound(0.1, 1.0, c1=-2.0), "c1=-2.0"),
        (lambda: theory.corollary_sample_size(3, 0.34), "alpha=0.34"),
        (lambda: theory.resilience_radius(1.0, 1.0), "beta=1.0"),
        (lambda: theory.resilience_radius(1.0, -0.1), "beta=-0.1"),
        (lambda: theory.resilience_radius(-1.0, 0.1), "sigma=-1.0"),
        (lambda: theory.lemma1_radius(1.0, 0.5), "beta=0.5"),
        (lambda: theory.error_radius(-1.0, 5, 10, 0.1, 1.0), "kept_sigma=-1.0"),
        (lambda: theory.error_radius(1.0, 11, 10, 0.1, 1.0), "n_kept=11"),
        (lambda: theory.error_radius(1.0, -1, 10, 0.1, 1.0), "n_kept=-1"),
        (lambda: theory.error_radius(1.0, 5, 0, 0.1, 1.0), "n=0"),
        (lambda: theory.error_radius(1.0, 5, 10, 1.1, 1.0), "alpha=1.1"),
        (lambda: theory.error_radius(1.0, 5, 10, 0.1, nan), "sigma=nan"),
        (lambda: theory.far_radius(1.0, 3, 1.0), "epsilon=1.0"),
        (lambda: theory.far_away([1.0, nan], 1.0, 3, 0.1), "sq_distances=nan"),
        (lambda: theory.lemma2_bound(0.5, 1.0), "alpha=0.5"),
        (lambda: theory.lemma2_sample_size(3, 0.0), "alpha=0.0"),
    ],
)
def test_invalid_arguments_are_named_with_what_to_do(call, argument):
    with pytest.raises(ValueError, match=r"(give|use|remove) ") as caught:
        call()
    assert str(caught.value).startswith(argument)
