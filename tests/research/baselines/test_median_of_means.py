"""The median of means: its blocks, its limits, its breakdown."""

import numpy as np
import pytest

from cases import cases
from inlier.research.baselines.geometric_median import GeometricMedian
from inlier.research.baselines.median_of_means import MedianOfMeans
from reference import contaminated


def test_median_of_means_of_as_many_blocks_as_rows_is_the_median_of_the_rows():
    X = contaminated()
    found = MedianOfMeans(alpha=0.1, n_blocks=60).fit(X)
    np.testing.assert_allclose(found.location_, GeometricMedian().fit(X).location_, atol=1e-6)
    found = MedianOfMeans(alpha=0.1, n_blocks=60, median="coordinate").fit(X)
    np.testing.assert_allclose(found.location_, np.median(X, axis=0), atol=1e-12)


@cases("alpha", [0.02, 0.1, 0.3, 0.45])
@cases("n", [11, 200])
def test_median_of_means_has_a_majority_of_good_blocks(alpha, n):
    message = MedianOfMeans(alpha=alpha).fit(contaminated(n, 3, 0)).result_.message
    n_blocks = int(message.split(" blocks")[0].split()[-1])
    assert 2 * round(alpha * n) < n_blocks <= n


@pytest.mark.parametrize("median", ["geometric", "coordinate"])
def test_median_of_means_stays_among_the_good_blocks(median):
    # Bounded by the good blocks, however far the bad rows: the breakdown property.
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 3))
    found = [
        MedianOfMeans(alpha=0.2, median=median).fit(np.vstack([X[20:], np.full((20, 3), far)]))
        for far in (1e2, 1e4, 1e5)
    ]
    assert max(np.abs(one.location_).max() for one in found) <= 3.0
    assert np.ptp([one.location_ for one in found], axis=0).max() < 0.1


def test_median_of_means_of_random_blocks():
    X = contaminated()
    first, second = (MedianOfMeans(alpha=0.1, random_state=seed).fit(X) for seed in (0, 1))
    assert not np.array_equal(first.location_, second.location_)
