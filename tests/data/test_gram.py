"""Few rows and many columns: a rotation that loses nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cases import cases
from dense_cases import Case, assert_near, real_numbers
from inlier import RobustMean, robust_mean
from inlier.data import Rotation, as_table
from inlier.research.datasets import SettingB

WIDE: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda X: X,
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.fixture(params=list(WIDE))
def wide(request: pytest.FixtureRequest) -> Case:
    return Case(WIDE[request.param](real_numbers((12, 90))))


def test_a_rotation_keeps_products_and_is_undone(wide):
    rotation = Rotation.of(wide.table, wide.center)
    assert wide.table.n_passes == 1
    n, r = rotation.rotated.shape
    assert n == 12 and r <= 12
    gram, origin = wide.A @ wide.A.T, np.zeros(r)
    assert_near(rotation.rotated.gram(origin), gram, 10 * wide.relative)
    assert_near(rotation.rotated.sq_distances(origin), np.diag(gram), 10 * wide.relative)
    before = wide.table.n_passes
    axes = rotation.restored(np.eye(r))
    assert wide.table.n_passes == before + 1
    np.testing.assert_allclose(axes @ axes.T, np.eye(r), atol=100 * wide.relative)
    rows = rotation.rotated.project(origin, np.eye(r)).T
    assert_near(rotation.restored(rows), wide.A, 100 * wide.relative, wide.table.dtype)


def test_passes_of_a_rotated_table(wide):
    rotation = Rotation.of(wide.table, wide.center)
    r = rotation.rotated.shape[1]
    seen_from = np.linspace(-1.0, 1.0, r)
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((r, 2)))[0].T
    moment = rotation.rotated.moment(seen_from, wide.weights, V)
    A = wide.A - rotation.restored(seen_from[None])
    axes = rotation.restored(V)
    assert_near(moment.projection, axes @ A.T, 100 * wide.relative, wide.table.dtype)
    scatter = (A.T * wide.weights) @ A
    restored = rotation.restored(moment.image)
    assert_near(restored, axes @ scatter, 100 * wide.relative, wide.table.dtype)
    drift = rotation.restored(moment.drift[None])[0]
    assert_near(drift, A.T @ wide.weights, 100 * wide.relative, wide.table.dtype)


@cases(
    "rows",
    [
        np.repeat(real_numbers((4, 50)), 3, axis=0),
        np.outer(np.arange(6.0), np.ones(50)),
        np.ones((6, 50)),
        np.zeros((6, 50)),
    ],
)
@cases("dtype", [np.float64, np.float32])
def test_rotation_of_rows_that_span_little(rows, dtype):
    rows = rows.astype(dtype)
    center = np.median(rows, axis=0).astype(np.float64)
    rotation = Rotation.of(as_table(rows), center)
    A = rows - center
    atol = 1e-10 if dtype == np.float64 else 1e-4
    rank = np.linalg.matrix_rank(A)
    r = rotation.rotated.shape[1]
    assert r == max(rank, 1)
    coordinates = rotation.rotated.project(np.zeros(r), np.eye(r)).T
    assert np.isfinite(coordinates).all()
    np.testing.assert_allclose(coordinates @ coordinates.T, A @ A.T, atol=atol)
    if rank:
        axes = rotation.restored(np.eye(r))
        np.testing.assert_allclose(axes @ axes.T, np.eye(r), atol=atol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_axes_seen_from_a_row_are_orthonormal(dtype):
    # The row that is the origin has no direction of its own, which rounding would give it.
    X = (3.0 + np.random.default_rng(0).standard_normal((20, 50))).astype(dtype)
    rotation = Rotation.of(as_table(X), X[0].astype(np.float64))
    axes = rotation.restored(np.eye(rotation.rotated.shape[1])).astype(np.float64)
    atol = 100.0 * np.finfo(dtype).eps
    np.testing.assert_allclose(axes @ axes.T, np.eye(19), rtol=0.0, atol=atol)


@pytest.mark.parametrize("n", [30, 31])
def test_a_first_row_too_far_away_to_square_is_no_origin(n):
    X = np.random.default_rng(0).standard_normal((n, 100))
    X[0] = 1e160
    result = robust_mean(X)
    assert list(result.outliers) == [0]


def test_a_result_does_not_change_with_the_data():
    sample = SettingB(n=100, d=400, alpha=0.2).sample(random_state=0)
    X = sample.X.copy()
    model = RobustMean().fit(X)
    before = model.predict(sample.X)
    X[:] = 0.0
    np.testing.assert_array_equal(model.predict(sample.X), before)
    np.testing.assert_array_equal(before > 0, ~sample.is_outlier)
