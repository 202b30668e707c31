"""Medians from histograms and by sorting are numpy's."""

import numpy as np
import pytest

from cases import cases
from inlier.data import medians
from inlier.data.passes import Histogram
from inlier.data.settings import SETTINGS as TABLES


def columns(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "random": rng.standard_normal(n),
        "far off": 1e6 + rng.standard_normal(n),
        "discrete": rng.integers(0, 3, n).astype(float),
        "two values": (rng.random(n) < 0.5).astype(float),
        "tenths": rng.integers(0, 5, n) * 0.1,
        "mostly zero": rng.standard_normal(n) * (rng.random(n) < 0.2),
        "constant": np.full(n, 0.1),
        "zeros": np.zeros(n),
        "negative": np.full(n, -7.3),
        "rising": np.sort(rng.standard_normal(n)),
        "falling": -np.sort(rng.exponential(size=n)),
        "Cauchy": rng.standard_cauchy(n),
        "heavier": rng.standard_cauchy(n) ** 5,
        "tiny": 1e-200 * rng.standard_normal(n),
        "skewed": rng.exponential(size=n) ** 4,
        # Of two far apart halves the median of an even number lies in the gap.
        "halves": np.where(np.arange(n) < n // 2, -5.0, 5.0) + 1e-3 * rng.standard_normal(n),
    }


def check_median(X: np.ndarray, where: np.ndarray) -> None:
    """The median of a table of which some rows show where to look first."""
    n = len(X)
    passes: list[Histogram] = []

    def count(histogram: Histogram) -> np.ndarray:
        passes.append(histogram)
        return np.asarray(histogram(X)[1][0])

    eps = float(np.finfo(np.float64).eps)
    found = medians.median(n, X[where], count, eps)
    # Rounding is that of the values in the middle, however far away others are.
    ascending = np.sort(X, axis=0)
    size = np.abs(ascending[[(n - 1) // 2, n // 2]]).max(axis=0)
    reach = ascending[int(0.9 * (n - 1))] - ascending[int(0.1 * (n - 1))]
    error = np.abs(found - np.median(X, axis=0))
    assert (error <= 4 * eps * size + 1e-13 * reach + 1e-290).all()
    assert len(passes) <= 2 * medians.SETTINGS.max_passes


@cases("sampled", ["evenly", "from one end"])
@cases("n", [100, 101, 2000, 2001])
@cases("name", columns(2))
def test_the_median_from_histograms_is_the_median(name, n, sampled):
    m = min(n, TABLES.sample_rows)
    where = np.linspace(0, n - 1, m).astype(int) if sampled == "evenly" else np.arange(m)
    check_median(columns(n)[name][:, None], where)


@pytest.mark.parametrize("distance", [1e12, 1e100, 1e200])
@pytest.mark.parametrize("n", [2000, 2001])
def test_the_median_from_histograms_is_not_moved_by_absurd_values(n, distance):
    x = np.random.default_rng(n).standard_normal(n)
    x[::50] = distance
    check_median(x[:, None], np.linspace(0, n - 1, TABLES.sample_rows).astype(int))


@cases("seed", range(60))
def test_the_median_from_histograms_of_rounded_values_is_the_median(seed):
    """Values on the edges of bins, many of them equal: none may fall between two looks."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2000, 6000))
    x = np.round(rng.standard_normal(n), 1)
    check_median(x[:, None], np.linspace(0, n - 1, TABLES.sample_rows).astype(int))


def test_the_median_from_histograms_is_found_where_the_sample_is_another_value():
    """Half of the rows, and one more, are 1; nearly all that was looked at first are 0."""
    n = 2001
    x = np.zeros(n)
    where = np.linspace(0, n - 1, TABLES.sample_rows).astype(int)
    others = np.setdiff1d(np.arange(n), where)
    x[others[:1000]] = 1.0
    x[where[0]] = 1.0
    assert np.median(x) == 1.0
    check_median(x[:, None], where)


def test_medians_by_sorting_are_those_of_numpy():
    for n in (1, 2, 7, 8):
        X = np.random.default_rng(n).standard_normal((n, 4))
        np.testing.assert_array_equal(medians.column_medians(X), np.median(X, axis=0))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25, 100])
def test_median_distances_are_those_of_sorted_distances(n):
    X = np.stack(list(columns(n).values()))
    center = np.median(X, axis=1)
    np.testing.assert_allclose(
        medians.median_distances(np.sort(X, axis=1), center),
        np.median(np.abs(X - center[:, None]), axis=1),
        rtol=1e-15,
    )
