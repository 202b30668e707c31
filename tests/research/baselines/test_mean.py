"""The sample mean is numpy's, with all rows kept."""

import numpy as np

from inlier.research.baselines import SampleMean
from reference import contaminated


def test_sample_mean():
    X = contaminated()
    result = SampleMean().fit(X).result_
    np.testing.assert_allclose(result.location, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(result.scores, np.linalg.norm(X - X.mean(axis=0), axis=1))
    assert result.support.all()
