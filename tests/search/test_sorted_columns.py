"""What is read off sorted columns by bisection, against plain numpy."""

import numpy as np
import pytest
from scipy.stats import rankdata

from inlier._internal.arrays import first_places, middles
from inlier.search import thresholds
from inlier.search.cells import _within, average_ranks, distances_kept
from inlier.search.gaps import Sides
from inlier.search.tests import _first_pure

LAWS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "codes": lambda rng, n: rng.integers(-2, 3, n).astype(float),
    "constant": lambda rng, n: np.full(n, 2.5),
    "zeros of both signs": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "huge": lambda rng, n: 1e300 * rng.standard_normal(n),
    "huge codes": lambda rng, n: 1e300 * rng.integers(-2, 3, n),
    "tiny": lambda rng, n: 1e-300 * rng.standard_normal(n),
    "subnormal": lambda rng, n: 1e-320 * rng.standard_normal(n),
    "one huge": lambda rng, n: np.r_[np.zeros(n - 1), 1e300],
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "rounded far from zero": lambda rng, n: 1e8 + 1e-7 * rng.integers(0, 3, n),
}


@pytest.fixture(params=LAWS)
def columns(request):
    """Columns of few values and of many."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found.append(LAWS[request.param](rng, int(rng.integers(8, 21) if seed % 4 else 500)))
    return found


def test_ranks(columns):
    for x in columns:
        np.testing.assert_array_equal(average_ranks(x), rankdata(x) - 1.0)
        np.testing.assert_array_equal(average_ranks(x, np.sort(x)), rankdata(x) - 1.0)


def test_distances_that_some_values_keep(columns):
    for x in columns:
        a, n = np.sort(x), len(x)
        for center in (np.median(x), a[0], a[-1] + 1.0):
            distances = np.sort(np.abs(x - center))
            for k in (1, 2, n // 2, int(0.65 * n), n):
                assert distances_kept(a[None], np.array([center]), k) == distances[k - 1]


def test_cells_beyond_cuts_become_the_median(columns):
    for x in columns:
        a, center = np.sort(x), np.median(x)
        unit = np.median(np.abs(x - center))
        for cuts in ((unit, 2.0 * unit), (np.inf, unit), (0.0, 0.0), (1e300, 1e-300)):
            beyond = (a - center > cuts[0]) | (center - a > cuts[1])
            expected = np.sort(np.where(beyond, center, a))
            np.testing.assert_array_equal(_within(a, center, np.array(cuts)), expected)


def test_sides(columns):
    for x in columns:
        a = np.sort(x)[None]
        center, sides = middles(a)[0], Sides(a)
        at_center = 16.0 * np.finfo(float).eps * abs(center) + 1e-9 * sides.step[0]
        for (distances, number), off in zip(sides.sides, (x - center, center - x), strict=True):
            assert number == np.sum(off > at_center)
            farthest = np.sort(off)[::-1][: distances.shape[1]]
            np.testing.assert_array_equal(distances[0], farthest)


def test_first_places():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        first = rng.integers(0, n + 2, 5)
        found = first_places(lambda at, first=first: at >= first, 5, n)
        np.testing.assert_array_equal(found, np.minimum(first, n))


@pytest.mark.parametrize("law", LAWS)
def test_the_first_cut_beyond_which_few_rows_are_good(law):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(8, 500, 2)
        here, there = (np.sort(np.abs(LAWS[law](rng, k))) for k in (n, m))
        here = here + rng.choice([0.0, 5.0]) * (np.arange(n) > 0.8 * n)  # sorted still
        for safely in (0.0, 0.1):
            good = np.array([np.sum(there >= size - safely) for size in here])
            pure = 1.0 + good <= thresholds.GOOD_SHARE * np.arange(n, 0, -1)
            expected = int(pure.argmax()) if pure.any() else None
            assert _first_pure(here, there, safely) == expected
