"""Sparse tables: never made dense, and as accurate as dense ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cases import cases
from dense_cases import SPARSE_FORMATS, Case, real_numbers, shifted_case, whole_numbers
from inlier import robust_mean
from inlier.data import Rotation, as_table

# -- each pass against its formula ----------------------------------------------------------------


def test_duplicate_entries_of_a_sparse_matrix_are_summed():
    entries = np.array([1.0, 1.0, 5.0, 2.0, 3.0, -7.0, 7.0, 1.0])
    columns = np.array([0, 0, 1, 0, 1, 1, 1, 1])
    data = sp.csr_matrix((entries, columns, np.array([0, 3, 5, 8])), shape=(3, 2))
    assert not data.has_canonical_format
    case = Case(data.copy(), k=2)
    case.check_all()
    np.testing.assert_array_equal(case.table.median(), np.median(case.Y, axis=0))


# -- sparse tables stay sparse --------------------------------------------------------------------


@pytest.fixture
def forbid_densifying(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int]], None]:
    def forbid(shape: tuple[int, int]) -> None:
        classes = {owner for name in SPARSE_FORMATS for owner in getattr(sp, name).__mro__}
        for owner in classes:
            for name in ("toarray", "todense"):
                if name in vars(owner):
                    monkeypatch.setattr(owner, name, guarded(vars(owner)[name], shape))

    def guarded(original: Callable[..., Any], shape: tuple[int, int]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            assert self.shape not in (shape, shape[::-1]), "the table was made dense"
            return original(self, *args, **kwargs)

        return method

    return forbid


@pytest.mark.parametrize("name", SPARSE_FORMATS)
@pytest.mark.parametrize("shape", [(45, 20), (20, 45)])
def test_sparse_is_never_densified(forbid_densifying, shape, name):
    data = getattr(sp, name)(whole_numbers(shape).astype(np.float64))
    case = Case(data)
    forbid_densifying(shape)
    with pytest.raises(AssertionError, match="made dense"):
        data.toarray()
    case.check_all()
    rotation = Rotation.of(case.table, case.table.median())
    rotation.restored(np.eye(1, rotation.rotated.shape[1]))
    robust_mean(data, sigma=80.0)


# -- accuracy far from the origin -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(300, 20), (20, 300)])
def test_a_sparse_table_with_a_column_far_from_zero(shape, dtype):
    # A year, an identity or a constant term beside many zeros.
    Y = real_numbers(shape) * (np.random.default_rng(3).random(shape) < 0.2)
    Y[:, 0] += 2000.0
    Y = Y.astype(dtype)
    case = shifted_case(Y.astype(np.float64), np.median(Y, axis=0), sp.csr_array)
    case.table = as_table(sp.csr_array(Y))
    case.check_all(1e-4 if dtype == np.float32 else 1e-8)


OFFSETS = [0.0, 1.0, 1e3, 1.4e8, -1e12]
SCALES = [1e-6, 1.0, 1e5]


def sparse_sample(seed: int, offset: float, scale: float) -> np.ndarray:
    """Rows that store some columns always, some mostly and some seldom, the first two far away."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 60)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d))
    X[: n // 6] += rng.uniform(3.0, 9.0)
    X = scale * (X + offset)
    share = rng.choice([1.0, 0.9, 0.1], size=d)
    # Of the columns that are seldom stored, values near zero: far away they would be all there is.
    seldom = share < 0.5
    X[:, seldom] -= scale * offset
    X[rng.random((n, d)) > share] = 0.0
    return X


@cases("scale", SCALES)
@cases("offset", OFFSETS)
def test_passes_are_those_of_the_dense_table(offset, scale):
    for seed in range(10):
        X = sparse_sample(seed, offset, scale)
        n, d = X.shape
        rng = np.random.default_rng(seed)
        rows = rng.random(n) < 0.7
        rows[:2] = True
        for Y, table in ((X, as_table(sp.csc_array(X))),
                         (X[rows], as_table(sp.csr_matrix(X)).take(rows))):  # fmt: skip
            center = np.median(Y, axis=0) + scale * rng.normal(size=d)
            A = Y - center
            lengths = np.square(A).sum(axis=1)
            np.testing.assert_allclose(
                table.sq_distances(center), lengths, rtol=1e-12, atol=1e-14 * np.median(lengths)
            )
            # Products know each entry to its own rounding, as those of a dense table do.
            close = 1e-13 * max(1.0, np.abs(A).max() / scale) * np.median(lengths)
            np.testing.assert_allclose(table.gram(center), A @ A.T, rtol=1e-10, atol=close)
            basis = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
            far = np.abs(A).max()
            np.testing.assert_allclose(table.project(center, basis), basis @ A.T, atol=1e-13 * far)
            w = rng.random(len(Y))
            squares, drift = table.squares(center, w)
            np.testing.assert_allclose(squares, np.square(A).T @ w, rtol=1e-12)
            np.testing.assert_allclose(drift, A.T @ w, atol=1e-12 * far)
            C = rng.normal(size=(2, len(Y)))
            np.testing.assert_allclose(table.combine(center, C), C @ A, atol=1e-12 * far)
            np.testing.assert_allclose(table.mean(np.ones(len(Y)), center), Y.mean(axis=0),
                                       rtol=1e-14, atol=1e-13 * far)  # fmt: skip
