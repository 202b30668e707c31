"""The trimmed mean is scipy's; trimming by norm drops the rows farthest from the median."""

import numpy as np
from scipy.stats import trim_mean

from cases import cases
from inlier.research.baselines import NormTrimmedMean
from inlier.research.baselines.trimmed_mean import TrimmedMean
from reference import contaminated


@cases("alpha", [0.0, 0.1, 0.3, 0.45])
@cases(("n", "d"), [(40, 3), (20, 50)])
def test_trimmed_mean(alpha, n, d):
    X = np.random.default_rng(0).standard_t(2, (n, d)) + 5.0
    expected = trim_mean(X, alpha, axis=0)
    np.testing.assert_allclose(TrimmedMean(alpha=alpha).fit(X).location_, expected, atol=1e-12)


def test_no_row_is_lost_to_the_rounding_of_the_fraction():
    # 29 / 100 times 100 is a little less than 29.
    X = np.random.default_rng(0).standard_cauchy((100, 2))
    for cut in range(50):
        expected = np.sort(X, axis=0)[cut : 100 - cut].mean(axis=0)
        np.testing.assert_allclose(TrimmedMean(alpha=cut / 100).fit(X).location_, expected)


@cases("alpha", [0.0, 0.1, 0.45])
@cases("shape", [(60, 4), (20, 50)])
def test_norm_trimmed_mean(shape, alpha):
    X = contaminated(*shape, n_bad=2, far=3.0)
    n_kept = len(X) - round(alpha * len(X))
    nearest = np.argsort(np.linalg.norm(X - np.median(X, axis=0), axis=1))[:n_kept]
    found = NormTrimmedMean(alpha=alpha).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.sort(nearest))
    np.testing.assert_allclose(found.location_, X[nearest].mean(axis=0), atol=1e-12)
