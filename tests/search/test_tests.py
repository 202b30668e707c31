"""Tests of one coordinate: against scipy, brute force, and what chance does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cases import cases
from inlier.search import thresholds
from inlier.search.tests import (
    GAUSSIAN_HALF,
    NOTHING,
    Cut,
    bimodality_ratio,
    centers,
    coherence,
    excess_test,
    gap_test,
    is_no_tail,
    is_well_separated,
    log_binomial,
    mirror_test,
    same_side,
    skewness_ratio,
)

# Symmetric about 0, with one mode.
SYMMETRIC = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "t2": lambda rng, n: rng.standard_t(2, n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
}


# Rows whose lengths are tested.
LENGTHS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "multivariate t5": lambda rng, n, d: (
        rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)
    ),
}


TAILS = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "Pareto": lambda rng, n: rng.pareto(2.0, n),
}


# Ascending values of which many are equal.
TIED = {
    "all equal": np.full(60, 3.0),
    "all zero": np.zeros(60),
    "two values": np.repeat([0.0, 1.0], 30),
    "two values, one rare": np.repeat([0.0, 1.0], [57, 3]),
    "three values": np.repeat([-1.0, 0.0, 1.0], 20),
    "lattice": np.repeat(np.arange(-5.0, 6.0), 6),
    "pairs": np.repeat(np.linspace(-1.0, 1.0, 30) ** 3, 2),
    "equal but for rounding": np.repeat([0.1 - 2e-17, 0.1, 0.1 + 2e-17], 20),
    "equal but for one": np.repeat([3.0, 1e6], [59, 1]),
}


pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True)
def no_silent_arithmetic():
    """Division by zero, overflow and NaN are errors, not warnings that something may swallow."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def numbers(seed, kind="normal", n=200):
    return SYMMETRIC[kind](np.random.default_rng(seed), n)


def lengths(seed, kind, n, d):
    rows = LENGTHS[kind](np.random.default_rng([seed, n, d]), n, d)
    return np.linalg.norm(rows, axis=1)


def center_of(values):
    return tuple(float(x[0]) for x in centers(np.sort(values)[None]))


def planted(seed, n=500, n_bad=60, at=8.0, spread=0.3):
    """Symmetric values and, to the right of them, a group: the last ones."""
    rng = np.random.default_rng(seed)
    good, bad = rng.standard_normal(n - n_bad), at + spread * rng.standard_normal(n_bad)
    return np.concatenate([good, bad])


seeds = st.integers(0, 2**16)
scales = st.floats(-6.0, 6.0).map(lambda exponent: 10.0**exponent)
shifts = st.floats(-1e3, 1e3)


# -- coins ----------------------------------------------------------------------------------------


@cases("n", [0, 1, 2, 3, 7, 20, 101, 1000])
def test_chernoff_lies_above_the_binomial_tail_and_not_far(n):
    more = np.unique(np.linspace(0, n, 200).astype(int))
    bound = log_binomial(more, n - more)
    exact = stats.binom.logsf(more - 1, n, 0.5)
    assert np.all(bound >= exact - 1e-9 * np.abs(exact))
    # By the method of types the bound is at most n + 1 times the truth.
    majority = 2 * more > n
    assert np.all(bound[majority] <= exact[majority] + np.log(n + 1.0) + 1e-6)
    np.testing.assert_array_equal(bound[~majority], 0.0)


@pytest.mark.parametrize(("right", "left"), [(0, 0), (1, 0), (8, 0), (0, 8), (20, 3), (30, 30)])
def test_same_side_bounds_a_two_sided_binomial_test(right, left):
    values = np.concatenate([np.full(right, 9.0), np.full(left, -9.0), np.linspace(-1, 1, 50)])
    log_p = same_side(values, Cut(cut=5.0, side=0))
    exact = np.log(stats.binomtest(right, right + left).pvalue) if right + left else 0.0
    assert exact - 1e-9 <= log_p <= 0.0
    if right * left == 0:
        assert log_p == pytest.approx(min(0.0, exact), abs=1e-9)


@cases(("same", "opposite"), [(1, 0), (3, 0), (4, 0), (8, 0), (8, 1), (7, 1), (40, 9), (40, 10)])
def test_coherence_bounds_a_one_sided_binomial_test(same, opposite):
    log_p = coherence(np.concatenate([np.full(same, 2.0), np.full(opposite, -0.5)]))
    if 1 + opposite > thresholds.GOOD_SHARE * same:
        assert log_p == 0.0
    else:
        exact = np.log(stats.binomtest(same, same + opposite, alternative="greater").pvalue)
        assert exact - 1e-9 <= log_p <= exact + np.log(same + opposite + 1.0)


def test_long_rows_that_point_anywhere_are_not_coherent():
    for seed in range(100):
        rows = np.random.default_rng(seed).standard_normal((40, 20))
        along = rows @ rows.sum(axis=0) - np.sum(rows**2, axis=1)
        assert coherence(along) > thresholds.LOG_LEVEL
        rows += 1.5
        assert coherence(rows @ rows.sum(axis=0) - np.sum(rows**2, axis=1)) < thresholds.LOG_LEVEL


# -- the center -----------------------------------------------------------------------------------


@cases("kind", SYMMETRIC)
@cases("n", [9, 50, 301])
def test_the_spread_is_that_of_the_half_with_the_least_variance(kind, n):
    values = np.sort(numbers(1, kind, n))
    half = n // 2 + 1
    least = min(np.var(values[i : i + half]) for i in range(n - half + 1))
    _, spread, _ = center_of(values)
    assert spread == pytest.approx(GAUSSIAN_HALF * np.sqrt(least), rel=1e-9)


@cases("n", [400, 4 * thresholds.CENTER_VALUES])
@cases("kind", SYMMETRIC)
@cases("seed", range(5))
def test_the_center_is_a_fixed_point_of_tukeys_bisquare(kind, seed, n):
    values = numbers(seed, kind, n)
    center, spread, _ = center_of(values)
    u = (values - center) / (thresholds.CENTER_REACH * spread)
    weight = np.where(np.abs(u) < 1.0, (1.0 - u**2) ** 2, 0.0)
    assert weight @ values / weight.sum() == pytest.approx(center, abs=1e-4 * spread)


@pytest.mark.parametrize("kind", ["normal", "t2", "Laplace"])
def test_the_standard_error_is_that_of_repeated_samples(kind):
    found = np.array([center_of(numbers(seed, kind, 300)) for seed in range(400)])
    assert np.median(found[:, 2]) == pytest.approx(np.std(found[:, 0]), rel=0.25)
    assert abs(np.mean(found[:, 0])) < 4.0 * np.std(found[:, 0]) / 20.0


@given(seeds, st.sampled_from(sorted(SYMMETRIC)), scales, shifts)
@settings(max_examples=60)
def test_the_center_moves_with_the_values(seed, kind, scale, shift):
    values = numbers(seed, kind)
    center, spread, error = center_of(values)
    # Shifted in units of the values, or rounding alone would tell them apart.
    moved = center_of(scale * (values + shift))
    assert moved[0] == pytest.approx(scale * (center + shift), abs=1e-5 * scale * spread)
    assert moved[1] == pytest.approx(scale * spread, rel=1e-6)
    assert moved[2] == pytest.approx(scale * error, rel=1e-4)
    mirrored = center_of(-values)
    assert mirrored[0] == pytest.approx(-center, abs=1e-9 * spread)
    assert mirrored[1:] == pytest.approx((spread, error), rel=1e-9)


@cases("at", [6.0, 20.0, 1e3, 1e9])
@cases("seed", range(5))
def test_two_fifths_of_the_values_elsewhere_hardly_move_the_center(at, seed):
    rng = np.random.default_rng(seed)
    good = rng.standard_normal(300)
    bad = at + rng.standard_normal(200)
    center, spread, _ = center_of(np.concatenate([good, bad]))
    assert abs(center - good.mean()) < 0.3
    assert spread < 3.0


def test_many_rows_at_once_are_the_rows_one_by_one():
    rows = np.sort([numbers(seed, kind, 80) for kind in SYMMETRIC for seed in range(3)], axis=1)
    together = np.stack(centers(rows))
    np.testing.assert_allclose(together.T, [center_of(row) for row in rows], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n_equal", [25, 40, 60, 90])
def test_a_spread_of_zero_where_a_quarter_of_the_values_coincide(n_equal):
    values = np.concatenate([np.full(n_equal + 1, 0.3), numbers(0, "normal", 99 - n_equal)])
    center, spread, error = center_of(values)
    assert spread == 0.0 and error == 0.0
    assert abs(center - 0.3) < 1.0
    assert excess_test(values)[1] == NOTHING


@cases("scale", [1.0, 1e-3, 1e3])
@cases("name", TIED)
def test_tied_values_have_a_center_and_show_nothing(name, scale):
    values = scale * np.sort(TIED[name])
    center, spread, error = center_of(values)
    rounding = 1e-15 * np.abs(values).max()
    assert values[0] - rounding <= center <= values[-1] + rounding
    assert 0.0 <= spread < np.inf and 0.0 <= error < np.inf
    assert excess_test(values)[1].log_p > thresholds.LOG_LEVEL
    assert gap_test(np.abs(values)) == NOTHING


# -- a surplus on one side ------------------------------------------------------------------------


def chances(draw, n_draws):
    """The chances at which values show a group."""
    found = [excess_test(draw(np.random.default_rng(seed)))[1].log_p for seed in range(n_draws)]
    return np.array(found)


@cases("n", [20, 100, 600])
@cases("kind", SYMMETRIC)
def test_symmetric_values_show_no_group(kind, n):
    found = chances(lambda rng: SYMMETRIC[kind](rng, n), 150)
    assert found.min() > thresholds.LOG_LEVEL
    # A level of 1e-2 is not the one of each test, but clean data should hardly reach it either.
    assert np.mean(found < np.log(1e-2)) < 0.02


@cases("largest", [1, 3, 10])
def test_whole_numbers_show_no_group(largest):
    found = chances(lambda rng: 1.0 * rng.integers(-largest, largest + 1, 1000), 200)
    assert found.min() > thresholds.LOG_LEVEL


def test_values_with_sharp_ends_hardly_ever_show_a_group():
    # The standard error of the center of flat values is too small, so there are a few alarms.
    found = chances(lambda rng: rng.uniform(-1.0, 1.0, 1000), 200)
    assert np.mean(found < thresholds.LOG_LEVEL) < 0.03


def surplus_by_counting(values, center, error, side):
    """The definition, one cut at a time."""
    z = side * (values - center)
    best = 0.0
    for t in z[z > 0.0]:
        beyond = int((z >= t).sum())
        # A center that is off by e moves a mirror image by 2 e.
        safe = int((-z >= max(t - 2.0 * thresholds.CENTER_ERRORS * error, 1e-300)).sum())
        if 1 + safe <= thresholds.GOOD_SHARE * beyond:
            best = min(best, float(log_binomial(np.array(beyond), np.array(safe))))
    return best + np.log(np.log2(len(values))) if best < 0.0 else 0.0


@cases("seed", range(10))
def test_mirror_is_its_definition(seed):
    values = np.sort(planted(seed, n=150, n_bad=15 + 3 * seed, at=3.0, spread=1.0))
    center, _, error = center_of(values)
    cut = mirror_test(values, center, error)
    expected = {side: surplus_by_counting(values, center, error, side) for side in (1, -1)}
    assert cut.side == 1
    assert cut.log_p == pytest.approx(min(expected.values()), rel=1e-9)
    # The share, counted at the first row beyond the cut.
    z = values - center
    first = z[z > cut.cut][0]
    beyond, mirrored = int((z >= first).sum()), int((-z >= first).sum())
    assert cut.share == pytest.approx((1 + mirrored) / beyond)
    # The other side has none, and is tested only if asked for.
    assert mirror_test(values, center, error, sides=(-1,)).log_p == min(0.0, expected[-1])


@given(seeds, scales, shifts)
@settings(max_examples=40)
def test_a_cut_moves_with_the_values(seed, scale, shift):
    values = planted(seed, n=200, n_bad=40)
    center, cut = excess_test(values)
    assert cut.log_p < thresholds.LOG_LEVEL and cut.share <= thresholds.GOOD_SHARE
    moved_center, moved = excess_test(scale * (values + shift))
    assert moved.log_p == pytest.approx(cut.log_p, rel=1e-6)
    assert moved.share == pytest.approx(cut.share)
    bad = values - center > cut.cut
    np.testing.assert_array_equal(bad, np.arange(200) >= 160)
    np.testing.assert_array_equal(scale * (values + shift) - moved_center > moved.cut, bad)
    other_center, other = excess_test(-values)
    assert other.side == -1
    assert (other.log_p, other.cut) == pytest.approx((cut.log_p, cut.cut), rel=1e-6)
    np.testing.assert_array_equal(other.side * (-values - other_center) > other.cut, bad)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_so_few_values_show_nothing(n):
    assert excess_test(np.arange(n) ** 5.0)[1].log_p > thresholds.LOG_LEVEL
    assert gap_test(np.geomspace(1.0, 1e9, n)) == NOTHING


# -- sizes that stand apart -----------------------------------------------------------------------


@cases(("n", "d", "copies"), [(50, 10, 1), (100, 1, 1), (300, 5, 1), (500, 100, 1), (100, 5, 2)])
@cases("kind", LENGTHS)
def test_no_row_of_a_tail_stands_apart(kind, n, d, copies):
    found = [gap_test(np.repeat(lengths(seed, kind, n, d), copies)).log_p for seed in range(200)]
    assert min(found) > thresholds.LOG_LEVEL
    assert np.mean(np.array(found) < np.log(1e-2)) <= 0.02


@cases(("n", "d"), [(300, 5), (500, 100)])
@cases("kind", LENGTHS)
@cases(("n_bad", "copies"), [(1, False), (2, False), (30, True), (120, False), (120, True)])
def test_rows_far_out_stand_apart_also_if_they_are_one_row_many_times(kind, n, d, n_bad, copies):
    sizes = lengths(0, kind, n, d)
    sizes[:n_bad] = 1e6 * (sizes.max() if copies else sizes[:n_bad])
    cut = gap_test(sizes)
    assert cut.log_p < thresholds.LOG_LEVEL
    assert (cut.side, cut.share) == (0, 0.0)
    np.testing.assert_array_equal(sizes > cut.cut, np.arange(n) < n_bad)


@given(seeds, scales, st.sampled_from(sorted(LENGTHS)))
@settings(max_examples=40)
def test_a_gap_is_the_same_in_every_unit(seed, scale, kind):
    sizes = lengths(seed, kind, 200, 5)
    sizes[:3] *= 30.0
    cut, scaled = gap_test(sizes), gap_test(scale * sizes)
    assert scaled.log_p == pytest.approx(cut.log_p, abs=1e-6)
    assert scaled.cut == pytest.approx(scale * cut.cut)


# -- tails, modes and well separated groups -------------------------------------------------------


@cases("kept", [0.7, 0.9, 0.97])
@cases("tail", TAILS)
def test_the_end_of_a_tail_is_no_group(tail, kept):
    alarms = 0
    for seed in range(100):
        sizes = TAILS[tail](np.random.default_rng(seed), 1000)
        alarms += is_no_tail(sizes, float(np.quantile(sizes, kept)))
    assert alarms <= 2


@cases("seed", range(5))
def test_a_mode_is_no_tail_and_the_outer_half_of_a_gaussian_is_one(seed):
    assert not is_no_tail(np.abs(numbers(seed, "normal", 20_000)), 0.5)
    for n_bad in (60, 100, 300):
        assert is_no_tail(np.abs(planted(seed, n=1000, n_bad=n_bad, spread=1.0)), 5.0)
    # A wide mode, with a tail of its own.
    rng = np.random.default_rng(seed)
    far = rng.gamma(9.0, 1.0, 400) * np.where(rng.random(400) < 0.05, 5.0, 1.0)
    assert is_no_tail(np.concatenate([rng.exponential(0.5, 600), far]), 3.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_gap_separates_and_a_continuum_does_not(seed):
    rng = np.random.default_rng(seed)
    assert is_well_separated(planted(seed, at=10.0), 5.0)
    assert not is_well_separated(rng.uniform(0.0, 10.0, 500), 5.0)
    assert not is_well_separated(np.abs(rng.standard_normal(500)), 1.5)


# -- symmetry and modes ---------------------------------------------------------------------------


def test_symmetric_rows_with_one_mode_pass_and_others_do_not():
    rng = np.random.default_rng(0)
    for T in (rng.standard_normal((500, 20)), rng.standard_t(4, (500, 20))):
        assert skewness_ratio(T) < 1.0 and bimodality_ratio(T, 1e-3) < 1.0
    assert skewness_ratio(rng.exponential(size=(200, 3))) > 1.0
    classes = rng.standard_normal((300, 3)) + 6.0 * rng.integers(2, size=(300, 1))
    assert bimodality_ratio(classes, 1e-3) > 1.0


def test_heavy_tails_do_not_pass_for_skewness():
    draws = [np.random.default_rng(seed).standard_t(3, (1600, 100)) for seed in range(20)]
    assert sum(skewness_ratio(T) > 1.0 for T in draws) <= 1
    assert all(skewness_ratio(T + 0.3 * np.abs(T)) > 1.0 for T in draws)


def test_the_test_of_modes_is_that_of_scipy():
    T = np.random.default_rng(0).uniform(size=(80, 4))
    z = stats.kurtosistest(T, axis=0).statistic.min()
    assert bimodality_ratio(T, 1e-3) == pytest.approx(z / stats.norm.ppf(1e-3 / 4))
