"""Largest eigenpairs and their bounds against dense matrices."""

import numpy as np
import pytest
from scipy.stats import chi2

import reference
from cases import cases
from inlier.data import as_table
from inlier.linalg.eigenpairs import FAILURE, PROBES, SHORTEST, Oracle, top_eigenpairs, top_of


def weighted_table(kind, n=120, d=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if kind == "decaying":
        X *= 1.0 / np.arange(1, d + 1)
    elif kind == "flat":
        X = np.linalg.qr(rng.standard_normal((n, d)))[0] * 3.0
    elif kind == "rank 3":
        X = X[:, :3] @ rng.standard_normal((3, d))
    center, w = rng.standard_normal(d), rng.uniform(0.0, 1.0, n)
    if kind == "flat":
        center, w = np.zeros(d), np.ones(n)
    return X, center, w


@cases("max_passes", [1, 2, 4, 30])
@cases("kind", ["random", "decaying", "flat", "rank 3"])
def test_eigenpairs_are_as_good_as_their_residuals_say(kind, max_passes):
    X, center, w = weighted_table(kind)
    A = X - center
    M = (A.T * w) @ A
    start = np.random.default_rng(1).standard_normal((5, X.shape[1]))
    table = as_table(X)
    found = top_eigenpairs(
        table, center, w, start, lambda v, r, bound: False, max_passes=max_passes, count=5
    )
    truth = np.linalg.eigvalsh(M)[::-1]
    scale = truth[0]
    V, values = found.vectors, found.values
    assert table.n_passes <= max_passes
    assert len(values) == len(V) <= 5
    assert np.all(np.diff(values) <= 0.0)
    np.testing.assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-9)
    residuals = np.linalg.norm(V @ M - values[:, None] * V, axis=1)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-9 * scale)
    # An eigenvalue lies within the residual of each value, and none of the largest is exceeded.
    distance = np.abs(values[:, None] - truth).min(axis=1)
    assert np.all(distance <= residuals + 1e-9 * scale)
    assert np.all(values <= truth[: len(values)] + 1e-9 * scale)
    np.testing.assert_allclose(found.along(np.arange(len(V))), V @ A.T, atol=1e-9 * np.sqrt(scale))
    np.testing.assert_allclose(found.drift, A.T @ w, atol=1e-9 * (1.0 + np.abs(A.T @ w).max()))
    if max_passes == 30:
        np.testing.assert_allclose(values, truth[: len(values)], atol=1e-7 * scale)


def test_eigenpairs_from_a_start_without_full_rank():
    X, center, w = weighted_table("decaying")
    A = X - center
    direction = np.random.default_rng(1).standard_normal(X.shape[1])
    start = np.stack([direction, 2.0 * direction, np.zeros_like(direction)])
    found = top_eigenpairs(
        as_table(X),
        center,
        w,
        start,
        has_converged=lambda v, r, bound: r[0] < 1e-8,
        max_passes=60,
        count=3,
    )
    assert found.values[0] == pytest.approx(reference.largest_eigenvalue(A, w), rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 50), (150, 600)])
def test_oracle_is_accurate_as_center_and_weights_change(n, d):
    """By a dense pass for few columns, by Krylov iteration from the last answer for many."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(1.0, 3.0, d)
    oracle = Oracle(as_table(X), np.random.default_rng(1))
    for _ in range(5):
        center, w = 0.3 * rng.standard_normal(d), rng.uniform(0.0, 1.0, n)
        truth = reference.largest_eigenvalue(X - center, w)
        found = oracle.top(center, w, 1e-6 * truth)
        assert found.values[0] == pytest.approx(truth, rel=1e-6)
        assert found.values[0] <= truth * (1.0 + 1e-9)


def test_random_directions_are_hardly_ever_so_short():
    rng = np.random.default_rng(0)
    lengths = np.sum(rng.standard_normal((200_000, PROBES)) ** 2, axis=1)
    assert chi2.cdf(SHORTEST, PROBES) == pytest.approx(FAILURE)
    assert lengths.min() > SHORTEST


@cases("spectrum", ["flat", "falling", "spiked", "low rank", "two equal"])
@cases("max_passes", [2, 5, 12])
def test_the_bound_is_never_below_the_eigenvalue(spectrum, max_passes):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 300))
        scales = {
            "flat": np.ones(300),
            "falling": 5.0 / np.sqrt(np.arange(1, 301)),
            "spiked": np.r_[20.0, np.ones(299)],
            "low rank": np.r_[np.ones(3), np.zeros(297)],
            "two equal": np.r_[3.0, 3.0, np.ones(298)],
        }[spectrum]
        X = X * scales
        oracle = Oracle(as_table(X), np.random.default_rng(100 + seed))
        found = oracle.bound_top(np.zeros(300), np.ones(400), limit=0.0, max_passes=max_passes)
        top = np.linalg.norm(X, 2) ** 2
        assert found.values[0] <= top * (1.0 + 1e-9) and found.failure == FAILURE
        assert top <= found.bound * (1.0 + 1e-9)


def test_the_bound_is_close_and_survives_warm_directions_that_lead_astray():
    """Converged eigenvectors of other weights hide a new largest one from their residuals."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 400)) * 5.0 / np.sqrt(np.arange(1, 401))
    u = rng.standard_normal(400)
    X[:100] = 30.0 * u / np.linalg.norm(u)
    oracle = Oracle(as_table(X), np.random.default_rng(1))
    center = np.zeros(400)
    for weights in (np.r_[np.zeros(100), np.ones(500)], np.ones(600)):
        found = oracle.bound_top(center, weights)
        top = np.linalg.norm(X * np.sqrt(weights)[:, None], 2) ** 2
        assert 0.99 * top <= found.values[0] <= top * (1.0 + 1e-9)
        assert top <= found.bound <= 1.15 * top


@cases("unit", [1e-140, 1.0, 1e140])
@cases("n", [5, 300])
@cases("kind", ["random", "flat", "rank one", "zero"])
def test_the_largest_eigenvalue_of_a_matrix_is_between_its_bounds(kind, n, unit):
    rng = np.random.default_rng(0)
    A = {
        "random": rng.standard_normal((n, n)),
        "flat": np.linalg.qr(rng.standard_normal((n, n)))[0],
        "rank one": np.outer(rng.standard_normal(n), np.eye(n)[0]),
        "zero": np.zeros((n, n)),
    }[kind]
    low, high = top_of((A @ A.T) * unit)
    exact = np.linalg.norm(A, 2) ** 2 * unit
    assert low <= exact * (1 + 1e-12)
    assert exact <= high <= exact * (1 + 1e-6)
