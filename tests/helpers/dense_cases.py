"""Tables of every kind, beside their dense values in double precision."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from inlier.data import as_table
from libraries import host

SPARSE_FORMATS = ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array", "csc_array", "coo_array"]


def whole_numbers(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    """A table that every dtype holds exactly, a third of it zeros."""
    rng = np.random.default_rng(seed)
    return rng.integers(-60, 61, shape) * (rng.random(shape) < 0.67)


def real_numbers(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + np.linspace(-1.0, 1.0, shape[1])


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def slice_of_larger(X: np.ndarray) -> np.ndarray:
    larger = np.full((2 * X.shape[0] + 1, 3 * X.shape[1]), np.nan)
    larger[1::2, 1::3] = X
    view = larger[1::2, 1::3]
    assert not view.flags.c_contiguous and not view.flags.f_contiguous
    return view


def backwards(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]


def memory_mapped(X: np.ndarray, folder: Path) -> np.memmap:
    file = folder / "table.bin"
    X.tofile(file)
    return np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)


# Name of the kind -> from whole numbers and a folder, the data as a user would hold them.
KINDS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "float64 C": lambda X, folder: np.ascontiguousarray(X, dtype=np.float64),
    "float64 Fortran": lambda X, folder: np.asfortranarray(X, dtype=np.float64),
    "float32 C": lambda X, folder: X.astype(np.float32),
    "float32 Fortran": lambda X, folder: np.asfortranarray(X, dtype=np.float32),
    "float16": lambda X, folder: X.astype(np.float16),
    "longdouble": lambda X, folder: X.astype(np.longdouble),
    "big endian": lambda X, folder: X.astype(">f8"),
    "int8": lambda X, folder: X.astype(np.int8),
    "int64": lambda X, folder: X.astype(np.int64),
    "uint8": lambda X, folder: (X + 60).astype(np.uint8),
    "bool": lambda X, folder: X > 0,
    "slice": lambda X, folder: slice_of_larger(X),
    "backwards": lambda X, folder: backwards(X.astype(np.float64)),
    "read-only": lambda X, folder: read_only(X.astype(np.float64)),
    "memmap float64": lambda X, folder: memory_mapped(X.astype(np.float64), folder),
    "memmap float32": lambda X, folder: memory_mapped(X.astype(np.float32), folder),
    "memmap int8": lambda X, folder: memory_mapped(X.astype(np.int8), folder),
    **{
        name: lambda X, folder, name=name: getattr(sp, name)(X.astype(np.float64))
        for name in SPARSE_FORMATS
    },
    "csr float32": lambda X, folder: sp.csr_array(X.astype(np.float32)),
    "csr int8": lambda X, folder: sp.csr_array(X.astype(np.int8)),
    "csr int64": lambda X, folder: sp.csr_array(X.astype(np.int64)),
    "lil": lambda X, folder: sp.lil_matrix(X.astype(np.float64)),
    "bsr": lambda X, folder: sp.bsr_array(X.astype(np.float64)),
}


def dense64(data: Any) -> np.ndarray:
    """The values of any kind of data, in double precision."""
    return (data.toarray() if sp.issparse(data) else np.asarray(data)).astype(np.float64)


def assert_near(
    actual: np.ndarray, expected: np.ndarray, relative: float, or_dtype: Any = np.float64
) -> None:
    """Every entry is right to within `relative` of the largest.

    In double precision; `or_dtype`, where an answer as large as the data may be in theirs.
    """
    actual = host(actual)
    assert actual.shape == expected.shape
    assert actual.dtype in (np.float64, or_dtype)
    largest = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=relative * max(largest, 1e-300))


class Case:
    """A table beside its dense values, and arguments for its passes."""

    def __init__(self, data: Any, seed: int = 1, k: int = 3, center: np.ndarray | None = None):
        rng = np.random.default_rng(seed)
        self.data = data
        self.table = as_table(data)
        self.Y = dense64(data)
        n, d = self.Y.shape
        self.center = self.Y.mean(axis=0) + rng.standard_normal(d) if center is None else center
        self.A = self.Y - self.center
        self.basis = np.linalg.qr(rng.standard_normal((d, min(k, d))))[0].T
        self.coefficients = rng.standard_normal((k, n))
        self.weights = rng.random(n) * (rng.random(n) < 0.8)
        self.relative = 1e-5 if self.table.dtype == np.float32 else 1e-12

    def check_all(self, relative: float | None = None) -> None:
        """All passes about the center against the formulas of their definition."""
        tol = self.relative if relative is None else relative
        table, A, V, w = self.table, self.A, self.basis, self.weights
        there, C = table.to_device(w), self.coefficients
        assert_near(table.project(self.center, V), V @ A.T, tol)
        combined = table.combine(self.center, table.to_device(C))
        assert_near(combined, C @ A, tol, table.dtype if A.shape[1] > A.shape[0] else np.float64)
        moment = table.moment(self.center, there, V)
        assert_near(moment.projection, V @ A.T, tol, table.dtype)
        assert_near(moment.image, V @ (A.T * w) @ A, tol)
        mean = table.mean(there, self.center)
        spread = np.abs(A).max()
        np.testing.assert_allclose(mean, self.Y.T @ w / w.sum(), rtol=0, atol=tol * spread)
        scatter, squares = table.scatter(self.center, there), table.squares(self.center, there)
        assert_near(scatter[0], (A.T * w) @ A, tol)
        assert_near(squares[0], np.square(A).T @ w, tol)
        for drift in (moment.drift, scatter[1], squares[1]):
            np.testing.assert_allclose(drift, A.T @ w, atol=tol * np.abs(A).sum(axis=0).max())
        assert_near(table.sq_distances(self.center), np.square(A).sum(axis=1), tol)
        assert_near(table.gram(self.center), A @ A.T, tol)


def shifted_case(data: np.ndarray, center: np.ndarray, make: Callable[..., Any]) -> Case:
    """A case whose centered rows are computed in extended precision."""
    case = Case(make(data), center=center)
    case.A = (data.astype(np.longdouble) - center.astype(np.longdouble)).astype(np.float64)
    return case
