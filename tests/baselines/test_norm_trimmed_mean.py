"""The norm-trimmed mean drops the rows that are farthest from the coordinate-wise median."""

import numpy as np

from cases import cases
from inlier.baselines import NormTrimmedMean
from reference import contaminated


@cases("alpha", [0.0, 0.1, 0.45])
@cases("shape", [(60, 4), (20, 50)])
def test_norm_trimmed_mean(shape, alpha):
    X = contaminated(*shape, n_bad=2, far=3.0)
    n_kept = len(X) - round(alpha * len(X))
    nearest = np.argsort(np.linalg.norm(X - np.median(X, axis=0), axis=1))[:n_kept]
    found = NormTrimmedMean(alpha=alpha).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.sort(nearest))
    np.testing.assert_allclose(found.location_, X[nearest].mean(axis=0), atol=1e-12)
