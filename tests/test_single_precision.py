"""Single precision everywhere: the support of double precision, also far from the origin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import cases
from dense_cases import Case, assert_near
from fits import quietly
from inlier import robust_mean
from inlier.data import as_table
from inlier.data.base import Metric
from libraries import host
from paper_cells import BIG, CELLS, SETTINGS, name_of

SMALL_CELLS = [cell for cell in CELLS if cell[1] * cell[2] <= BIG]
BIG_CELLS = [cell for cell in CELLS if cell[1] * cell[2] > BIG]
OFFSETS = [0.0, 1e4]


def as_numpy(X: np.ndarray) -> Any:
    return X


def as_torch(X: np.ndarray) -> Any:
    return pytest.importorskip("torch").from_numpy(X)


MAKERS = [as_numpy, as_torch]


def moved(X: np.ndarray, offset: float) -> np.ndarray:
    """In single precision, after the offset was added in double."""
    return (X.astype(np.float32).astype(np.float64) + offset).astype(np.float32)


def check_cell(cell: tuple[str, int, int, float], seed: int, offset: float, known: bool) -> None:
    """The same numbers in both precisions have the same support, in numpy and in torch."""
    setting, n, d, alpha = cell
    sample = SETTINGS[setting](n=n, d=d, alpha=alpha).sample(seed)
    X = moved(sample.X, offset)
    same_numbers = X.astype(np.float64)
    good = same_numbers[~sample.is_outlier]
    # Of the rounded rows, because the budget of the good ones is tight.
    sigma = float(np.linalg.norm(good - good.mean(axis=0), 2) / np.sqrt(len(good)))
    expected = quietly(robust_mean, same_numbers, sigma=sigma if known else None)
    for make in MAKERS:
        result = quietly(robust_mean, make(X), sigma=sigma if known else None)
        np.testing.assert_array_equal(host(result.support), expected.support)
        location = host(result.location)
        assert location.dtype == np.float32
        # The mean itself is summed in double precision and rounded once.
        rounded = np.spacing(np.abs(expected.location).astype(np.float32))
        error = np.abs(location.astype(np.float64) - expected.location)
        assert (error <= rounded + 1e-6).all()
        # One more for the mean, which is computed in double precision.
        assert result.details.n_passes - expected.details.n_passes in (0, 1)


# Tables of every size and fraction, by turns with and without sigma.
@cases(("cell", "known"), [(cell, i % 2 == 0) for i, cell in enumerate(SMALL_CELLS)])
def test_the_support_is_that_of_double_precision(cell, known):
    check_cell(cell, 0, 1e4, known)


@pytest.mark.slow
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("known", [True, False], ids=["sigma", "no sigma"])
@pytest.mark.parametrize("cell", BIG_CELLS, ids=name_of)
def test_the_support_of_large_tables_is_that_of_double_precision(cell, known, offset):
    check_cell(cell, 0, offset, known)


# -- sums of many numbers -------------------------------------------------------------------------

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    # All on one side of the origin: a running sum grows, and what is added to it is rounded off.
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}


@cases(("law", "offset"), [("normal", 0.0), ("exponential", 1.5), ("exponential", 1e4)])
@pytest.mark.parametrize("make", MAKERS)
def test_the_moments_of_a_million_rows_are_right(law, offset, make):
    X = moved(LAWS[law](np.random.default_rng(0), (1_000_000, 3)), offset)
    table = as_table(make(X))
    center = table.median(np.random.default_rng(0))
    mean = table.mean(table.constant(1.0), center)
    spread = float(X.std(axis=0, dtype=np.float64).min())
    np.testing.assert_allclose(mean, X.mean(axis=0, dtype=np.float64), rtol=0, atol=1e-6 * spread)
    w = np.random.default_rng(2).random(len(X))
    A = X.astype(np.float64) - center
    expected = (A.T * w) @ A
    near = 1e-5 * np.abs(expected).max()
    basis = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 2)))[0].T
    moment = table.moment(center, table.to_device(w), basis)
    np.testing.assert_allclose(moment.image, basis @ expected, rtol=0, atol=near)
    scatter, drift = table.scatter(center, table.to_device(w))
    np.testing.assert_allclose(scatter, expected, rtol=0, atol=near)
    for found in (moment.drift, drift):
        np.testing.assert_allclose(found, A.T @ w, rtol=0, atol=near)


# -- each pass far from the origin ----------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_every_pass_far_from_the_origin(make):
    """Against the same numbers in double precision, to a few roundings of their spread."""
    n, d = 800, 12
    case = Case(make(moved(np.random.default_rng(4).standard_normal((n, d)), 1e4)))
    table, A = case.table, case.A
    assert table.dtype == np.float32
    case.check_all(2e-6)
    distances = np.square(A).sum(axis=1)
    np.testing.assert_allclose(host(table.sq_distances(case.center)), distances, rtol=2e-6)
    np.testing.assert_array_equal(table.median(), np.median(case.Y, axis=0))
    scales = np.linspace(0.5, 2.0, d)
    scaled = table.in_metric(Metric(case.center, scales))
    assert scaled.dtype == np.float32
    assert_near(scaled.fetch(np.arange(n)), A / scales, 2e-6, np.float32)
    mask = np.arange(n) % 3 > 0
    kept = table.take(table.to_device(mask))
    found = kept.project(case.center, case.basis)
    assert_near(found, case.basis @ A[mask].T, 2e-6, np.float32)
    np.testing.assert_allclose(host(kept.sq_distances(case.center)), distances[mask], rtol=2e-6)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_distances_of_rows_near_the_center_do_not_cancel(offset, make):
    """A tight group is told from its center also where other rows spread widely."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 8))
    X[:50] = 1.0 + 0.02 * rng.standard_normal((50, 8))
    X = moved(X, offset)
    center = X[:50].astype(np.float64).mean(axis=0)
    expected = np.square(X.astype(np.float64) - center).sum(axis=1)
    distances = host(as_table(make(X)).sq_distances(center))
    np.testing.assert_allclose(distances[:50], expected[:50], rtol=1e-2)


def test_means_of_other_answers_do_not_remember_distant_rows():
    X = np.random.default_rng(0).standard_normal((60, 20))
    X[:12] *= 1e5
    X = X.astype(np.float32)
    result = robust_mean(X)
    assert len(result.groups) == 1
    expected = X[result.support].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(result.at(threshold=1.0).location, expected, rtol=0.0, atol=1e-6)


def test_a_budget_is_kept_to_the_rounding_of_the_data():
    # The kept rows need all of the budget: more or less is rounding.
    X = np.random.default_rng(0).standard_normal((50, 300)).astype(np.float32)
    needed = quietly(robust_mean, X).certificate.sigma_kept
    result = robust_mean(X, sigma=needed * (1.0 - 3e-7))
    assert result.support.all() and result.converged


def test_a_choice_of_rows_far_from_where_the_fit_ended():
    X = np.random.default_rng(0).standard_normal((12, 2)).astype(np.float32)
    X[:4] *= 1e6
    result = robust_mean(X, sigma=1e7)
    assert result.support.all()
    again = result.at(threshold=float(np.sort(result.scores)[7]))
    expected = X[again.support].astype(np.float64).mean(axis=0)
    assert np.abs(expected).max() < 10.0
    np.testing.assert_allclose(again.location, expected, rtol=0.0, atol=1e-6)
