"""Groups in low-variance directions are found in the metric of the rows, and nothing in noise."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from cases import cases
from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.research.datasets import QuietDirections
from inlier.search import symmetric, thresholds
from inlier.search.pursuit import chosen_rows, pursue, whitened
from inlier.search.tests import excess_test
from symmetric_fits import FEW, MANY, error, fitted, over_seeds, quiet

ROWS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "t3": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "multivariate t5": lambda rng, n, d: (
        rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)
    ),
}


@pytest.fixture
def no_silent_arithmetic():
    """Division by zero, overflow and NaN are errors, not warnings that something may swallow."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def white_rows(rows):
    """k x n, uncorrelated and of unit variance, in the order of their variance."""
    centered = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / len(rows))
    return (vectors.T[::-1] @ centered.T) / np.sqrt(values[::-1, None])


def strongest_in_noise(seed, kind, n, k):
    rng = np.random.default_rng([seed, k])
    rows = ROWS[kind](rng, n, k) * np.geomspace(10.0, 1.0, k)
    return min(found.cut.log_p for found in pursue(white_rows(rows), rng))


@pytest.mark.usefixtures("no_silent_arithmetic")
@cases("k", [2, 7, 25])
@cases("kind", ROWS)
def test_pursuit_finds_nothing_in_noise(kind, k):
    found = np.array([strongest_in_noise(seed, kind, 400, k) for seed in range(30)])
    assert np.all(found <= 0.0)
    assert (found < thresholds.LOG_LEVEL).sum() <= 1
    assert np.mean(found < np.log(1e-2)) < 0.1


@pytest.mark.usefixtures("no_silent_arithmetic")
@pytest.mark.parametrize("fraction", [0.05, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_pursuit_finds_a_group_in_a_low_variance_direction(fraction, seed):
    rng = np.random.default_rng(seed)
    n, k = 1000, 2 * thresholds.WINDOW
    bad = np.arange(n) < fraction * n
    rows = rng.standard_normal((n, k))
    rows[bad, -1] += 8.0
    rows *= np.geomspace(10.0, 1.0, k)
    Z = white_rows(rows)
    direction, center, cut = pursue(Z, rng)[0]
    assert cut.log_p < thresholds.LOG_LEVEL
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    members = cut.side * (direction @ Z - center) > cut.cut
    assert np.mean(members == bad) > 0.99
    same_center, same_cut = excess_test(direction @ Z)
    assert center == pytest.approx(same_center, abs=1e-4)
    # The search is charged for.
    assert same_cut.log_p <= cut.log_p and cut.side == same_cut.side


@pytest.mark.usefixtures("no_silent_arithmetic")
def test_pursuit_tests_skewed_directions_first_in_any_library():
    torch = pytest.importorskip("torch")
    Z = white_rows(np.random.default_rng(3).exponential(size=(300, 23)))
    expected = pursue(Z, np.random.default_rng(1))
    chances = [found.cut.log_p for found in expected]
    half = len(chances) // 2
    assert len(chances) == 2 * half
    assert chances[:half] == sorted(chances[:half]) and chances[half:] == sorted(chances[half:])
    # Every axis is in some window.
    assert np.all(np.any([found.direction != 0.0 for found in expected], axis=0))
    again = pursue(torch.from_numpy(Z), np.random.default_rng(1))
    for found, same in zip(again, expected, strict=True):
        assert found.cut.log_p == pytest.approx(same.cut.log_p)
        assert found.center == pytest.approx(same.center, abs=1e-6)
        np.testing.assert_allclose(found.direction, same.direction, atol=1e-5)


# -- fits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_low_variance_directions(kind, alpha):
    errors, _ = over_seeds(quiet(kind, alpha).sample, FEW)
    assert errors.max() <= 0.15
    # They would not be seen without the metric.
    sample = quiet(kind, alpha).sample(0)
    assert error(fitted(sample.X, scatter="identity"), sample) > 3.0 * errors.max()


def test_groups_in_low_variance_directions_are_tested_again():
    # Where one group is tested while the other is still there, some 30 rows are wrong.
    _, wrong = over_seeds(quiet("spiked", 0.3).sample, range(4))
    assert wrong.max() <= 12


# With half as many rows, a tenth of them bad is close to what chance finds in a window.
QUIET = [(2000, 100, 0.95), (1000, 50, 0.85)]


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("n", "d", "often"), QUIET)
@pytest.mark.parametrize("kind", ["spiked", "rotated"])
def test_outliers_in_low_variance_directions_in_nearly_every_draw(kind, n, d, often, alpha):
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
    # The sign of an eigenvector is arbitrary: the one with which cubes have a positive sum.
    assert (np.sum(white.rows**3, axis=1) > 0.0).all()


def test_variances_are_shrunk_as_by_ledoit_and_wolf():
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
    changes = {"WHITENED_CELLS": 1, "ROWS_PER_COLUMN": 20, "FEWEST_PURSUED": 500}
    for name, value in (changes | {"PURSUED_CELLS": 1}).items():
        monkeypatch.setattr(thresholds, name, value)
    sample = QuietDirections(5000, 40, 0.15).sample(0)
    X = sample.X + 5.0
    assert error(fitted(X), replace(sample, X=X)) <= 0.02
    everything = np.ones(5000, bool)
    white = whitened(as_table(X), X.mean(axis=0), everything, 0.0, np.random.default_rng(0))
    assert white.sampled
    assert white.rows.shape == (40, 500)


def test_the_discriminant_of_all_rows_is_found_from_the_metric_of_a_sample(monkeypatch):
    changes = {"WHITENED_CELLS": 1, "ROWS_PER_COLUMN": 10, "DISCRIMINANT_PASSES": 30}
    for name, value in (changes | {"DISCRIMINANT_ERROR": 1e-10}).items():
        monkeypatch.setattr(thresholds, name, value)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2000, 12)) / np.arange(1, 13)
    table, mean, kept = as_table(X), X.mean(axis=0), np.ones(2000, bool)
    white = whitened(table, mean, kept, 0.0, rng)
    offset = rng.standard_normal(12)
    state = SimpleNamespace(kept=kept, mean=mean)
    actual = symmetric._discriminant(Oracle(table, rng), state, white, offset)
    expected = np.linalg.solve(np.cov(X.T, bias=True), offset)
    np.testing.assert_allclose(actual, expected / np.linalg.norm(expected), rtol=1e-6)
