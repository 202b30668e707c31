"""Numbers at the limits of double precision."""

import numpy as np

from inlier._internal.numbers import EPS, NEGLIGIBLE, TINY


def test_limits():
    assert 1.0 + EPS > 1.0 == 1.0 + EPS / 2.0
    with np.errstate(over="raise", under="raise", divide="raise"):
        for number in (NEGLIGIBLE, TINY):
            assert np.isfinite(np.float64(1.0) / number)
