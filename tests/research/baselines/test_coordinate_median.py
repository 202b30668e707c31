"""The coordinate-wise median is numpy's."""

import numpy as np
import pytest

from inlier.research.baselines.coordinate_median import CoordinateMedian


@pytest.mark.parametrize("n", [9, 10])
def test_coordinate_median(n):
    X = np.random.default_rng(n).standard_normal((n, 5))
    result = CoordinateMedian().fit(X).result_
    np.testing.assert_array_equal(result.location, np.median(X, axis=0))
    np.testing.assert_allclose(result.scores, np.linalg.norm(X - result.location, axis=1))
    assert result.support.all()
