"""Continuation succeeds where the published start fails."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from fits import robust_mean
from inlier.datasets import SettingA, SettingB
from inlier.l0 import Options, continuation


def error(result, sample):
    return np.linalg.norm(result.location - sample.mean)


# Nearly all good rows break the budget about the coordinate-wise median of these data.
def test_continuation_succeeds_where_the_published_start_fails():
    sample = SettingA(n=600, d=300, alpha=0.45).sample(0)
    published = robust_mean(sample.X, sigma=sample.sigma, l0=Options(algorithm="paper", tol=1e-3))
    assert error(published, sample) > 1.0
    result = robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
    assert result.converged


@cases("factor", [0.8, 0.95, 1.0, 1.2])
@cases("setting", [SettingA, SettingB])
def test_what_is_clear_of_many_rows_is_what_solving_again_says(monkeypatch, setting, factor):
    sample = setting(6000, 20, 0.2).sample(0)
    sigma = factor * sample.sigma
    known = robust_mean(sample.X, sigma=sigma).support
    monkeypatch.setattr(continuation, "CLEAR", -np.inf)
    np.testing.assert_array_equal(robust_mean(sample.X, sigma=sigma).support, known)


@pytest.mark.slow
def test_continuation_succeeds_where_the_published_start_fails_in_high_dimension():
    sample = SettingA(n=4000, d=2000, alpha=0.3).sample(0)
    with pytest.warns(ConvergenceWarning, match="continuation"):
        published = robust_mean(
            sample.X, sigma=sample.sigma, l0=Options(algorithm="paper", tol=1e-3)
        )
    assert not published.support.any()
    assert not published.converged
    result = robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
