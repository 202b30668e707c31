"""Halving the dimension: symmetric and clean rows, and the last direction by hand."""

import numpy as np

from cases import cases
from inlier.research.baselines import CoordinateMedian, LaiRaoVempala, LaiRaoVempalaGaussian
from reference import contaminated
from rivals import shapes, told


@cases("seed", range(5))
def test_halving_of_rows_that_mirror_each_other(seed):
    half = np.random.default_rng(seed).standard_t(3, (100, 12))
    X = np.concatenate([half, -half]) + 5.0
    # Each step keeps pairs, and their mean is the center. The median in the last direction is too;
    # the shortest interval there need not be.
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(X).location_, 5.0, atol=1e-9)
    assert np.linalg.norm(LaiRaoVempala(alpha=0.2).fit(X).location_ - 5.0) <= 0.7


@cases("method", [LaiRaoVempala, LaiRaoVempalaGaussian])
@shapes([(1000, 1), (1000, 7), (2000, 64), (40, 100)])
def test_halving_of_clean_rows(method, shape):
    n, d = shape
    X = np.random.default_rng(1).standard_normal(shape)
    error = np.linalg.norm(told(method, 0.1).fit(X).location_)
    # In the last direction the shortest interval converges with the cube root of n.
    assert error <= 1.6 * np.sqrt(d / n) + n ** (-1 / 3)


@cases("method", [LaiRaoVempala, LaiRaoVempalaGaussian])
def test_halving_is_far_better_than_the_coordinate_median(method):
    # In each coordinate the outliers are within the noise, together they are sqrt(d) away.
    X = contaminated(2000, 256, 400, far=1.0)
    truth = X[400:].mean(axis=0)
    ours = np.linalg.norm(told(method, 0.2).fit(X).location_ - truth)
    median = np.linalg.norm(CoordinateMedian().fit(X).location_ - truth)
    assert ours <= 0.25 * median


def test_halving_in_one_direction_is_the_shortest_interval():
    x = np.random.default_rng(2).standard_normal(101)
    width = int(0.8**2 * 101)
    intervals = np.lib.stride_tricks.sliding_window_view(np.sort(x), width)
    shortest = min(intervals, key=lambda interval: interval[-1] - interval[0])
    found = LaiRaoVempala(alpha=0.2).fit(x[:, None])
    np.testing.assert_allclose(found.location_, shortest.mean())
    np.testing.assert_allclose(LaiRaoVempalaGaussian().fit(x[:, None]).location_, np.median(x))
