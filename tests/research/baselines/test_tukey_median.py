"""Tukey's median against brute force in the plane, and what it says of its depth."""

import numpy as np
import pytest

from cases import cases
from inlier.research.baselines.tukey_median import TukeyMedian
from reference import contaminated


@cases("seed", range(20))
def test_no_point_of_the_plane_is_deeper_along_the_directions(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (9, 2)) * 1.0 if seed % 2 else rng.standard_normal((31, 2))
    found = TukeyMedian(n_directions=40, random_state=np.random.default_rng(4)).fit(X)
    assert found.result_.converged
    directions = np.random.default_rng(4).standard_normal((40, 2))
    directions = np.concatenate([np.eye(2), directions])

    def depth(x):
        """The fewest rows on a closed side of x, along the directions; the same draw as above."""
        along = (X - x) @ directions.T
        return int(np.minimum((along >= -1e-7).sum(axis=0), (along <= 1e-7).sum(axis=0)).min())

    rivals = [np.median(X, axis=0), *X, *rng.uniform(X.min(), X.max(), (300, 2))]
    assert depth(found.location_) >= max(map(depth, rivals))
    assert f"Depth {depth(found.location_)} of {len(X)} rows" in found.result_.message


@pytest.mark.parametrize("n", [2, 7, 100])
def test_tukey_median_of_one_column_is_the_median(n):
    X = np.random.default_rng(n).standard_normal((n, 1))
    np.testing.assert_allclose(TukeyMedian().fit(X).location_, np.median(X, axis=0))


@pytest.mark.parametrize(("n", "d"), [(50, 3), (200, 8)])
def test_tukey_median_is_deepest_along_the_directions(n, d):
    X = contaminated(n, d, n // 10)
    found = TukeyMedian(n_directions=300).fit(X)
    assert f"with respect to {300 + d} directions only" in found.result_.message
    deep = int(found.result_.message.split("Depth ")[1].split()[0])
    # Over all directions it can only be less deep; the axes are among those it knows.
    for points in (X, -X):
        at = found.location_ if points is X else -found.location_
        assert (points >= at - 1e-9).sum(axis=0).min() >= deep
    assert deep >= n / (d + 1)


def test_tukey_median_has_all_medians_where_directions_are_few():
    X = contaminated(100, 30, 10)
    found = TukeyMedian(n_directions=5, random_state=np.random.default_rng(4))
    # The same generator draws the same directions; 100 rows are not sampled before.
    directions = np.random.default_rng(4).standard_normal((5, 30))
    np.testing.assert_allclose(
        directions @ found.fit(X).location_, np.median(X @ directions.T, axis=0), atol=1e-9
    )
    assert "with respect to 5 directions only" in found.result_.message
