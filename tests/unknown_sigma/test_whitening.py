"""Groups in quiet directions are seen in the metric of the rows."""

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.unknown_sigma.whitening import whitened
from symmetric_fits import FEW, MANY, error, fitted, over_seeds, quiet


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions(kind, alpha):
    errors, _ = over_seeds(quiet(kind, alpha).sample, FEW)
    assert errors.max() <= 0.15
    # They would not be seen without the metric.
    sample = quiet(kind, alpha).sample(0)
    assert error(fitted(sample.X, scatter="identity"), sample) > 3.0 * errors.max()


def test_groups_in_quiet_directions_get_a_last_look():
    # Where one group is looked at while the other is still there, some 30 rows are wrong.
    _, wrong = over_seeds(quiet("spiked", 0.3).sample, range(4))
    assert wrong.max() <= 12


# With half as many rows, a tenth of them bad is close to what chance finds in a window.
QUIET = [(2000, 100, 0.95), (1000, 50, 0.85)]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("n", "d", "often"), QUIET)
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_quiet_directions_in_nearly_every_draw(kind, n, d, often, alpha):
    errors, _ = over_seeds(quiet(kind, alpha, n, d).sample, MANY)
    assert np.mean(errors <= 0.15) >= often


# -- the coordinates ------------------------------------------------------------------------------


def test_kept_rows_vary_alike_in_all_directions():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(200, 5)) @ rng.standard_normal((5, 5)) + 7.0
    X[:, 4] = X[:, 0] - 2.0 * X[:, 1]  # a direction without variance is left out
    kept = np.arange(200) >= 20
    mean = X[kept].mean(axis=0)
    white = whitened(Oracle(as_table(X), rng), mean, kept, 0.0)
    assert white.rows.shape == (4, 200)
    np.testing.assert_allclose(white.rows, white.whitener @ (X - mean).T, atol=1e-8)
    inside = white.rows[:, kept]
    np.testing.assert_allclose(inside @ inside.T / kept.sum(), np.eye(4), atol=1e-8)
    # The sign of an eigenvector is an accident: the one with which cubes have a positive sum.
    assert (np.sum(white.rows**3, axis=1) > 0.0).all()


def test_variances_are_drawn_to_their_mean_as_ledoit_and_wolf_advise():
    X = np.random.default_rng(1).standard_normal((60, 8)) * np.linspace(0.5, 3.0, 8)
    mean, kept = X.mean(axis=0), np.ones(60, bool)
    white = whitened(Oracle(as_table(X), np.random.default_rng(0)), mean, kept, 0.0)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    expected = np.linalg.eigvalsh(LedoitWolf().fit(X).covariance_)[::-1]
    np.testing.assert_allclose(values / white.shrinkage, expected, rtol=1e-6)
