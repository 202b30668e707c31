"""Gross rows, groups and undue rows leave, each where it should."""

import numpy as np
import pytest

from covariances import contaminated
from inlier import robust_mean
from inlier.data import as_table
from inlier.second_moments.good_rows import good_rows


def test_gross_rows_and_a_group_and_a_pair_leave():
    sample = contaminated("pair", 1000, 6, 0.1)
    X, bad = sample.X.copy(), sample.bad.copy()
    X[990:] += 1000.0
    X[900:950] += 12.0 * np.linalg.cholesky(sample.covariance)[:, 0]
    bad[900:950] = bad[990:] = True
    good = good_rows(as_table(X))
    assert np.mean(good.support[bad]) < 0.02
    assert np.mean(good.support[~bad]) > 0.99
    np.testing.assert_allclose(good.location, X[good.support].mean(axis=0), atol=1e-12)


def test_with_nothing_assumed_it_is_the_robust_mean():
    sample = contaminated("pair", 500, 5, 0.1)
    good = good_rows(as_table(sample.X), "nothing")
    expected = robust_mean(sample.X, assume="nothing")
    np.testing.assert_array_equal(good.support, expected.support)
    np.testing.assert_allclose(good.location, expected.location)


def test_unknown_assumption():
    with pytest.raises(ValueError, match=r"assume must be one of 'auto', .* but is 'normal'"):
        good_rows(as_table(np.eye(3)), "normal")
