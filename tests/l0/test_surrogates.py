"""Surrogates of the l0 norm: their weights by hand."""

import numpy as np
import pytest

from inlier.l0.surrogates import SMOOTHING, ReweightedL2


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_row_is_followed_through_the_re_weightings(p):
    """By hand, one row at a time."""
    rng = np.random.default_rng(0)
    earlier = 10.0 ** rng.uniform(-6.0, 3.0, (len(SMOOTHING) - 1, 200))
    found = ReweightedL2(p).removed_from(list(earlier))
    for i in range(200):
        h = 1.0
        for eps, q in zip(SMOOTHING, earlier[:, i], strict=False):
            u = (h * h + eps) ** (p / 4.0 - 0.5)
            h = min(1.0, q / (2.0 * u * u))
        u = (h * h + SMOOTHING[-1]) ** (p / 4.0 - 0.5)
        at = 2.0 * u * u * np.sqrt(SMOOTHING[-1] / (1.0 - p))
        assert found[i] == pytest.approx(at, rel=1e-12)
        # There the last h is where the penalty turns.
        turning = ReweightedL2(p).nonzero(np.array([0.999, 1.001]) * at / (2.0 * u * u))
        np.testing.assert_array_equal(turning, [False, True])
