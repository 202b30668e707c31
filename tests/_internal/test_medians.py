"""Medians by sorting are numpy's."""

import numpy as np
import pytest

from inlier._internal import arrays


def columns(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return np.stack([
        rng.standard_normal(n),
        1e6 + rng.standard_normal(n),
        rng.integers(0, 3, n).astype(float),
        rng.integers(0, 5, n) * 0.1,
        rng.standard_normal(n) * (rng.random(n) < 0.2),
        np.full(n, 0.1),
        np.sort(rng.standard_normal(n)),
        rng.standard_cauchy(n) ** 5,
        1e-200 * rng.standard_normal(n),
        # Of two far apart halves the median of an even number lies in the gap.
        np.where(np.arange(n) < n // 2, -5.0, 5.0) + 1e-3 * rng.standard_normal(n),
    ])  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25, 100])
def test_medians_by_sorting_are_those_of_numpy(n):
    X = columns(n)
    center = np.median(X, axis=1)
    np.testing.assert_array_equal(arrays.column_medians(X.T.copy()), center)
    expected = np.median(np.abs(X - center[:, None]), axis=1)
    found = arrays.median_distances(np.sort(X, axis=1), center)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_medians_of_the_largest_integers_do_not_wrap_around():
    X = np.uint64(2**64 - 1) - np.arange(0, 12 * 10**17, 10**17, dtype=np.uint64)[:, None]
    exact = [float((int(X[5, 0]) + int(X[6, 0])) // 2)]
    np.testing.assert_allclose(arrays.column_medians(X), exact, rtol=1e-15)
