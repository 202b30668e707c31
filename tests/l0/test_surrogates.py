"""Surrogates of the l0 norm: their weights by hand."""

import numpy as np
import pytest

from inlier.l0.surrogates import SMOOTHING, ReweightedL2


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_rows_count_as_removed_where_the_penalty_is_concave(p):
    def slope(h):
        return p * h * (h * h + SMOOTHING[-1]) ** (p / 2.0 - 1.0)

    h = np.linspace(1e-3, 1.0, 2001)
    concave = slope(h + 1e-6) < slope(h - 1e-6)
    np.testing.assert_array_equal(ReweightedL2(p).nonzero(h), concave)
