"""Groups in quiet directions are seen in the metric of the rows."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.research.datasets import QuietDirections
from inlier.search import detectors, whitening
from inlier.search.settings import SEARCH
from inlier.search.whitening import chosen_rows, whitened
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
    white = whitened(as_table(X), mean, kept, 0.0, rng)
    assert not white.sampled
    assert white.rows.shape == (4, 180)
    np.testing.assert_allclose(white.rows, white.whitener @ (X[kept] - mean).T, atol=1e-8)
    np.testing.assert_allclose(white.rows @ white.rows.T / kept.sum(), np.eye(4), atol=1e-8)
    # The sign of an eigenvector is an accident: the one with which cubes have a positive sum.
    assert (np.sum(white.rows**3, axis=1) > 0.0).all()


def test_variances_are_drawn_to_their_mean_as_ledoit_and_wolf_advise():
    X = np.random.default_rng(1).standard_normal((60, 8)) * np.linspace(0.5, 3.0, 8)
    mean, kept = X.mean(axis=0), np.ones(60, bool)
    white = whitened(as_table(X), mean, kept, 0.0, np.random.default_rng(0))
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    expected = np.linalg.eigvalsh(LedoitWolf().fit(X).covariance_)[::-1]
    np.testing.assert_allclose(values / white.shrinkage, expected, rtol=1e-6)


def test_a_sample_does_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((500, 3))
    kept = X[:, 0] < 1.0
    order = rng.permutation(500)
    chosen = chosen_rows(as_table(X), kept, 50, np.random.default_rng(7))
    shuffled = chosen_rows(as_table(X[order]), kept[order], 50, np.random.default_rng(7))
    assert len(chosen) == 50
    assert kept[chosen].all()
    np.testing.assert_array_equal(np.sort(order[shuffled]), np.sort(chosen))


def test_a_sample_shows_the_metric_and_all_rows_the_group(monkeypatch):
    few = replace(SEARCH, whitened_cells=1, rows_per_column=20, fewest_pursued=500, pursued_cells=1)
    for module in (whitening, detectors):
        monkeypatch.setattr(module, "SEARCH", few)
    sample = QuietDirections(5000, 40, 0.15).sample(0)
    result = fitted(sample.X + 5.0)
    assert error(result, replace(sample, X=sample.X + 5.0)) <= 0.02
    white = whitened(
        as_table(sample.X),
        sample.X.mean(axis=0),
        np.ones(5000, bool),
        0.0,
        np.random.default_rng(0),
    )
    assert white.sampled
    assert white.rows.shape == (40, 500)


def test_the_discriminant_of_all_rows_is_found_from_the_metric_of_a_sample(monkeypatch):
    few = replace(SEARCH, whitened_cells=1, rows_per_column=10, discriminant_passes=30)
    for module in (whitening, detectors):
        monkeypatch.setattr(module, "SEARCH", replace(few, discriminant_error=1e-10))
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 12)) / np.arange(1, 13)
    table, mean, kept = as_table(X), X.mean(axis=0), np.ones(2000, bool)
    white = whitened(table, mean, kept, 0.0, rng)
    offset = rng.standard_normal(12)
    state = SimpleNamespace(kept=kept, mean=mean)
    actual = detectors._discriminant(Oracle(table, rng), state, white, offset)
    expected = np.linalg.solve(np.cov(X.T, bias=True), offset)
    np.testing.assert_allclose(actual, expected / np.linalg.norm(expected), rtol=1e-6)
