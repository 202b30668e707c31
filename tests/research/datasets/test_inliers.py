"""Good rows have the distribution that they claim."""

import numpy as np
import pytest
from scipy import stats

from inlier.research.datasets import Gaussian, Laplace, Rotated, Spiked, StudentT


@pytest.mark.parametrize(
    ("inliers", "distribution"),
    [
        (Gaussian(), stats.norm()),
        (StudentT(3), stats.t(3)),
        (StudentT(4.5), stats.t(4.5)),
        (StudentT(5, joint=True), stats.t(5)),
        (Laplace(), stats.laplace()),
    ],
    # Not by repr: that of a distribution holds an address, which differs between processes.
    ids=["Gaussian", "t3", "t4.5", "joint t5", "Laplace"],
)
def test_each_entry_has_the_distribution(inliers, distribution):
    X = inliers.draw(4000, 3, np.random.default_rng(0))
    for column in X.T:
        assert stats.kstest(column, distribution.cdf).pvalue > 0.01


def test_entries_are_large_together_in_the_multivariate_t_only():
    # |x|^2 / d has the F distribution where one chi-square divides the whole row.
    squares = [
        (StudentT(5, joint=joint).draw(2000, 50, np.random.default_rng(0)) ** 2).mean(axis=1)
        for joint in (True, False)
    ]
    assert stats.kstest(squares[0], stats.f(50, 5).cdf).pvalue > 0.01
    assert stats.kstest(squares[1], stats.f(50, 5).cdf).pvalue < 1e-9


def test_uneven_covariances():
    rng = np.random.default_rng(0)
    X = Spiked().draw(5000, 6, rng)
    assert X.std(axis=0) == pytest.approx(5 / np.sqrt([1, 2, 3, 4, 5, 6]), rel=0.05)
    X = Rotated().draw(5000, 6, rng)
    values = np.linalg.eigvalsh(np.cov(X.T))
    assert np.sqrt(values[::-1]) == pytest.approx(np.geomspace(3, 0.15, 6), rel=0.05)
    assert X.std(axis=0).min() > 0.3  # no column is as quiet as the quietest direction
