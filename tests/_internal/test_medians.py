"""Medians by sorting are numpy's."""

import numpy as np
import pytest

from inlier.data import medians


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
