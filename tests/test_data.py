"""Every kind of table against dense formulas in float64: the passes, their cost, their accuracy."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cases import cases
from inlier import robust_mean
from inlier.data import Rotation, Table, as_table, products
from inlier.data import arrays as dense_module
from inlier.data.base import SAMPLE_ROWS

SHAPE = (37, 6)
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
        """All passes about the centre against the formulas of their definition."""
        tol = self.relative if relative is None else relative
        table, A, V, w = self.table, self.A, self.basis, self.weights
        assert_near(table.project(self.center, V), V @ A.T, tol)
        combined = table.combine(self.center, self.coefficients)
        assert_near(
            combined,
            self.coefficients @ A,
            tol,
            table.dtype if A.shape[1] > A.shape[0] else np.float64,
        )
        moment = table.moment(self.center, w, V)
        assert_near(moment.projection, V @ A.T, tol, table.dtype)
        assert_near(moment.image, V @ (A.T * w) @ A, tol)
        np.testing.assert_allclose(moment.drift, A.T @ w, atol=tol * np.abs(A).sum(axis=0).max())
        mean = table.mean(w, self.center)
        spread = np.abs(A).max()
        np.testing.assert_allclose(mean, self.Y.T @ w / w.sum(), rtol=0, atol=tol * spread)
        squares, drift = table.squares(self.center, w)
        assert_near(squares, np.square(A).T @ w, tol)
        np.testing.assert_allclose(drift, A.T @ w, atol=tol * np.abs(A).sum(axis=0).max())
        assert_near(table.sq_distances(self.center), np.square(A).sum(axis=1), tol)
        assert_near(table.gram(self.center), A @ A.T, tol)


def case_of(kind: str, folder: Path) -> Case:
    return Case(KINDS[kind](whole_numbers(SHAPE), folder))


each_kind = cases("kind", KINDS)


# -- each pass against its formula ----------------------------------------------------------------


@each_kind
def test_every_pass_is_its_formula(kind, tmp_path):
    case = case_of(kind, tmp_path)
    case.check_all()
    median = case.table.median()
    assert type(median) is np.ndarray
    assert_near(median, np.median(case.Y, axis=0), 1e-15)
    assert case.table.sq_distances(case.Y[0])[0] == pytest.approx(0.0, abs=1e-3 * case.relative)
    gram = case.table.gram(case.center)
    assert_near(gram, gram.T.copy(), 1e-3 * case.relative)


@each_kind
def test_moment_with_weights_that_depend_on_what_is_seen(kind, tmp_path):
    case = case_of(kind, tmp_path)
    asked: list[int] = []
    n = len(case.Y)

    def weigh(rows: slice, seen: np.ndarray) -> np.ndarray:
        asked.extend(range(*rows.indices(n)))
        return 1.0 / (1.0 + np.square(seen).sum(axis=0) / 1e3)

    moment = case.table.moment(case.center, weigh, case.basis)
    assert sorted(asked) == list(range(n)), "each row is asked about once"
    seen = case.basis @ case.A.T
    w = 1.0 / (1.0 + np.square(seen).sum(axis=0) / 1e3)
    assert_near(moment.projection, seen, case.relative, case.table.dtype)
    assert_near(moment.image, (seen * w) @ case.A, 10 * case.relative)
    assert_near(moment.drift, w @ case.A, 10 * case.relative)


@each_kind
def test_moment_of_an_empty_basis_is_the_drift(kind, tmp_path):
    case = case_of(kind, tmp_path)
    empty = np.empty((0, case.Y.shape[1]))
    moment = case.table.moment(case.center, case.weights, empty)
    assert moment.projection.shape == (0, len(case.Y))
    assert moment.image.shape == empty.shape
    assert_near(moment.drift, case.A.T @ case.weights, 10 * case.relative)


def test_median_of_an_even_number_of_rows(tmp_path):
    for name, make in KINDS.items():
        data = make(whole_numbers((36, 5), seed=4), tmp_path)
        expected = np.median(dense64(data), axis=0)
        np.testing.assert_array_equal(as_table(data).median(), expected, err_msg=name)


def test_duplicate_entries_of_a_sparse_matrix_are_summed():
    entries = np.array([1.0, 1.0, 5.0, 2.0, 3.0, -7.0, 7.0, 1.0])
    columns = np.array([0, 0, 1, 0, 1, 1, 1, 1])
    data = sp.csr_matrix((entries, columns, np.array([0, 3, 5, 8])), shape=(3, 2))
    assert not data.has_canonical_format
    case = Case(data.copy(), k=2)
    case.check_all()
    np.testing.assert_array_equal(case.table.median(), np.median(case.Y, axis=0))


# -- a median of a sample -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array])
def test_sampled_median_is_a_value_near_the_middle(make):
    Y = real_numbers((2000, 4), seed=2)
    median = as_table(make(Y)).median(np.random.default_rng(5))
    for j, value in enumerate(median):
        assert value in Y[:, j], "an odd number of rows has one of their values as median"
        # 501 of 2000 rows: the rank of their median has standard deviation .02.
        assert 0.4 < np.mean(Y[:, j] < value) < 0.6
    again = as_table(Y).median(np.random.default_rng(5))
    np.testing.assert_array_equal(median, again)
    assert not np.array_equal(median, as_table(Y).median(np.random.default_rng(6)))


@pytest.mark.parametrize("n", [SAMPLE_ROWS - 1, SAMPLE_ROWS])
def test_few_rows_are_not_sampled(n):
    Y = real_numbers((n, 3))
    median = as_table(Y).median(np.random.default_rng(0))
    np.testing.assert_array_equal(median, np.median(Y, axis=0))


# -- identities between the passes ----------------------------------------------------------------

values = st.floats(-1e3, 1e3, width=32)


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, Table]:
    shape = draw(st.tuples(st.integers(2, 40), st.integers(1, 9)))
    Y = draw(arrays(np.float64, shape, elements=values))
    if draw(st.booleans()):
        Y[np.random.default_rng(draw(st.integers(0, 9))).random(shape) < 0.5] = 0.0
        make = draw(st.sampled_from([sp.csr_matrix, sp.csc_array, sp.coo_array]))
    else:
        make = draw(st.sampled_from([np.ascontiguousarray, np.asfortranarray]))
    return Y, as_table(make(Y))


@given(tables(), st.integers(0, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=150)
def test_combine_is_the_adjoint_of_project(drawn, k, seed):
    Y, table = drawn
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1e3, 1e3, Y.shape[1])
    V = rng.standard_normal((k, Y.shape[1]))
    C = rng.standard_normal((k, Y.shape[0]))
    left = np.sum(table.project(center, V) * C)
    right = np.sum(V * table.combine(center, C))
    magnitude = np.sum(np.abs(C) * (np.abs(V) @ (np.abs(Y) + np.abs(center)).T))
    assert left == pytest.approx(right, abs=1e-13 * magnitude)


@given(tables(), st.integers(0, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=150)
def test_moment_is_project_then_weigh_then_combine(drawn, k, seed):
    Y, table = drawn
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1e3, 1e3, Y.shape[1])
    V = rng.standard_normal((k, Y.shape[1]))
    w = rng.random(len(Y))
    moment = table.moment(center, w, V)
    projection = table.project(center, V)
    size = np.abs(Y) + np.abs(center)
    np.testing.assert_allclose(
        moment.projection, projection, rtol=0, atol=1e-13 * (np.abs(V) @ size.T).max(initial=1e-300)
    )
    seen = np.abs(V) @ size.T
    np.testing.assert_allclose(
        moment.image,
        table.combine(center, w * projection),
        rtol=0,
        atol=1e-13 * (seen @ size).max(initial=1e-300),
    )
    np.testing.assert_allclose(
        moment.drift, table.combine(center, w[None])[0], rtol=0, atol=1e-13 * size.sum()
    )
    np.testing.assert_allclose(
        table.mean(w, center), center + moment.drift / w.sum(), rtol=1e-12, atol=1e-12 * size.max()
    )


@given(tables(), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=100)
def test_gram_agrees_with_the_distances(drawn, seed):
    Y, table = drawn
    center = np.random.default_rng(seed).uniform(-1e3, 1e3, Y.shape[1])
    size = np.square(np.abs(Y) + np.abs(center)).sum(axis=1).max()
    diagonal = np.diag(table.gram(center))
    distances = table.sq_distances(center)
    np.testing.assert_allclose(diagonal, distances, rtol=0, atol=1e-13 * size)
    assert (distances >= 0.0).all()


# -- blocks ---------------------------------------------------------------------------------------


@cases("dtype", [np.float64, np.float32, np.int8, np.longdouble])
@cases("order", ["C", "F"])
@cases("n", [2, 15, 16, 17, 31, 32, 33, 49])
def test_rows_at_the_borders_of_blocks(monkeypatch, n, order, dtype):
    monkeypatch.setattr(dense_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(dense_module, "MIN_BLOCK_ROWS", 16)
    monkeypatch.setattr(dense_module, "WIDE_ELEMENTS", 2 * n)
    Case(np.asarray(whole_numbers((n, 7)), dtype=dtype, order=order), k=2).check_all()


@cases("d", [1, 2, 3, 4, 5])
@cases("n", [11, 12, 13])
def test_blocks_of_few_elements(monkeypatch, n, d):
    monkeypatch.setattr(dense_module, "BLOCK_BYTES", 12 * 8)
    monkeypatch.setattr(dense_module, "MIN_BLOCK_ROWS", 1)
    monkeypatch.setattr(dense_module, "WIDE_ELEMENTS", 30)
    Case(real_numbers((n, d)), k=1).check_all()


def test_callable_weights_see_every_block_once(monkeypatch):
    monkeypatch.setattr(dense_module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(dense_module, "MIN_BLOCK_ROWS", 16)
    case = Case(real_numbers((50, 4)))
    starts = []

    def weigh(rows: slice, seen: np.ndarray) -> np.ndarray:
        starts.append(rows.start)
        assert_near(seen, case.basis @ case.A[rows].T, 1e-12)
        return case.weights[rows]

    moment = case.table.moment(case.center, weigh, case.basis)
    assert starts == [0, 16, 32, 48]
    assert_near(moment.image, case.basis @ (case.A.T * case.weights) @ case.A, 1e-12)


@cases("dtype", [np.float64, np.float32])
@cases("order", ["C", "F"])
@cases("k", [0, 1, 3])
@cases("n", [1, 15, 16, 17, 64, 100])
def test_a_stack_of_products_is_the_product(monkeypatch, n, k, order, dtype):
    d = 7
    monkeypatch.setattr(products, "UNPACKED", 16 * max(1, k) * d)
    Y = np.asarray(whole_numbers((n, d)), dtype=dtype, order=order)
    basis, C = whole_numbers((k, d)).astype(dtype), whole_numbers((k, n))
    np.testing.assert_array_equal(products.along(basis, Y), basis @ Y.T)
    image, totals = products.combined(C, Y)
    assert image.dtype == totals.dtype == np.float64
    np.testing.assert_array_equal(image, C @ Y.astype(np.float64))
    np.testing.assert_array_equal(totals, C.sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5000, 300), (700, 4099), (33, 70000)])
def test_blocks_of_the_real_size(shape, order, dtype):
    case = Case(np.asarray(real_numbers(shape), dtype=dtype, order=order), k=8)
    case.check_all(1e-4 if dtype == np.float32 else 1e-11)


# -- cost and side effects ------------------------------------------------------------------------


@each_kind
def test_a_call_is_one_pass(kind, tmp_path):
    case = case_of(kind, tmp_path)
    table, counts = case.table, []
    assert table.n_passes == 0
    for call in (
        lambda: table.project(case.center, case.basis),
        lambda: table.moment(case.center, case.weights, case.basis),
        lambda: table.moment(case.center, lambda rows, seen: case.weights[rows], case.basis),
        lambda: table.combine(case.center, case.coefficients),
        lambda: table.mean(case.weights, case.center),
        lambda: table.median(),
        lambda: table.squares(case.center, case.weights),
        lambda: table.sq_distances(case.center),
        lambda: table.gram(case.center),
    ):
        call()
        counts.append(table.n_passes)
    assert counts == list(range(1, 10))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_the_median_of_a_sample_is_one_pass(make):
    table = as_table(make(real_numbers((SAMPLE_ROWS + 1, 3))))
    table.median(np.random.default_rng(0))
    assert table.n_passes == 1


@each_kind
def test_shape_and_dtype(kind, tmp_path):
    case = case_of(kind, tmp_path)
    assert case.table.shape == SHAPE
    fits_single = np.result_type(case.data.dtype, np.float32) == np.float32
    assert case.table.dtype == (np.float32 if fits_single else np.float64)


def parts_of(data: Any) -> list[np.ndarray]:
    if not sp.issparse(data):
        return [np.array(data)]
    return [np.array(getattr(data, name)) for name in ("data", "indices", "indptr", "row", "col")
            if hasattr(data, name)]  # fmt: skip


@each_kind
def test_the_data_are_not_modified(kind, tmp_path):
    case = case_of(kind, tmp_path)
    before = parts_of(case.data)
    center, basis = case.center.copy(), case.basis.copy()
    weights, coefficients = case.weights.copy(), case.coefficients.copy()
    case.check_all()
    case.table.median()
    rotation = Rotation.of(case.table, case.center)
    rotation.restored(np.eye(1, rotation.rotated.shape[1]))
    for was, now in zip(before, parts_of(case.data), strict=True):
        np.testing.assert_array_equal(was, now)
    np.testing.assert_array_equal(center, case.center)
    np.testing.assert_array_equal(basis, case.basis)
    np.testing.assert_array_equal(weights, case.weights)
    np.testing.assert_array_equal(coefficients, case.coefficients)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_passes_need_little_memory(dtype, order):
    n, d = 30_000, 50
    Y = np.asarray(whole_numbers((n, d)), dtype=dtype, order=order)
    table = as_table(Y)
    center, V, w = np.zeros(d), np.eye(2, d), np.ones(n)
    tracemalloc.start()
    try:
        table.project(center, V)
        table.moment(center, w, V)
        table.combine(center, w[None])
        table.squares(center, w)
        table.sq_distances(center)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Answers of k x n doubles and one block; half a copy of the data in double precision is 6 MB.
    assert peak < n * d * 8 / 2


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
def test_sparse_is_never_densified(forbid_densifying, name):
    n, d = 45, 20
    Y = whole_numbers((n, d))
    data = getattr(sp, name)(Y.astype(np.float64))
    case = Case(data)
    forbid_densifying((n, d))
    with pytest.raises(AssertionError, match="made dense"):
        data.toarray()
    case.check_all()
    case.table.median()
    robust_mean(data, sigma=60.0)


@pytest.mark.parametrize("name", SPARSE_FORMATS)
def test_wide_sparse_is_never_densified(forbid_densifying, name):
    n, d = 20, 45
    data = getattr(sp, name)(whole_numbers((n, d)).astype(np.float64))
    table = as_table(data)
    forbid_densifying((n, d))
    rotation = Rotation.of(table, table.median())
    rotation.restored(np.eye(1, rotation.rotated.shape[1]))
    robust_mean(data, sigma=80.0)


def test_large_sparse_passes_need_little_memory():
    n, d = 100_000, 20_000  # 16 GB if it were dense
    data = sp.random_array((n, d), density=5e-5, format="csr", rng=np.random.default_rng(0))
    center, V, w = np.zeros(d), np.eye(2, d), np.ones(n)
    tracemalloc.start()
    try:
        table = as_table(data)
        table.project(center, V)
        table.moment(center, w, V)
        table.combine(center, w[None])
        table.squares(center, w)
        table.sq_distances(center)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50e6


# -- accuracy far from the origin -----------------------------------------------------------------


def shifted_case(data: np.ndarray, center: np.ndarray, make: Callable[..., Any]) -> Case:
    """A case whose centred rows are computed in extended precision."""
    case = Case(make(data), center=center)
    case.A = (data.astype(np.longdouble) - center.astype(np.longdouble)).astype(np.float64)
    return case


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("shape", [(300, 20), (20, 300)])
def test_a_large_shift_costs_few_digits_in_double_precision(shape, make):
    Y = real_numbers(shape) + 1e6
    case = shifted_case(Y, Y.mean(axis=0) + 0.1, make)
    case.check_all(1e-8)
    # Entry by entry the passes are better than that; the mean is as good as the data.
    assert_near(case.table.sq_distances(case.center), np.square(case.A).sum(axis=1), 1e-9)
    assert_near(case.table.gram(case.center), case.A @ case.A.T, 1e-9)
    np.testing.assert_allclose(
        case.table.mean(case.weights, case.center),
        case.center + case.A.T @ case.weights / case.weights.sum(),
        rtol=0,
        atol=1e-9,
    )


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


@pytest.mark.parametrize("make", [np.ascontiguousarray, np.asfortranarray])
def test_single_precision_far_from_the_origin(make):
    # The rows are rounded to 1e-3 of their spread before anything sees them: compare with those.
    Y = (real_numbers((400, 20)) + 1e4).astype(np.float32)
    exact = Y.astype(np.float64)
    anywhere = shifted_case(exact, exact.mean(axis=0), np.asarray)
    anywhere.table = as_table(make(Y))
    anywhere.check_all(1e-2)
    # About a centre that single precision can hold, no digit of the spread is lost.
    held = shifted_case(exact, np.median(Y, axis=0).astype(np.float64), np.asarray)
    held.table = as_table(make(Y))
    held.check_all(1e-5)


def test_rows_too_far_to_square_are_infinitely_far():
    Y = real_numbers((10, 3))
    Y[4] = 1e200
    for make in (np.asarray, np.asfortranarray, sp.csr_array):
        distances = as_table(make(Y)).sq_distances(np.zeros(3))
        assert distances[4] == np.inf
        assert np.isfinite(np.delete(distances, 4)).all()


@pytest.mark.parametrize("shape", [(60, 3), (10, 30)])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array])
def test_rows_without_weight_may_be_too_far_to_square(make, shape):
    Y = real_numbers(shape)
    Y[4] = 1e300
    w = (np.arange(len(Y)) != 4).astype(np.float64)
    squares, drift = as_table(make(Y)).squares(np.zeros(shape[1]), w)
    np.testing.assert_allclose(squares, np.square(np.delete(Y, 4, axis=0)).sum(axis=0))
    np.testing.assert_allclose(drift, np.delete(Y, 4, axis=0).sum(axis=0), atol=1e-12)
    assert (as_table(make(Y)).squares(np.zeros(shape[1]), w + 1.0)[0] == np.inf).all()


def test_squares_of_a_column_in_small_units_are_numbers():
    Y = (real_numbers((50, 3)) * [1.0, 1e-25, 1e5]).astype(np.float32)
    squares, _ = as_table(Y).squares(np.zeros(3), np.ones(50))
    np.testing.assert_allclose(squares, np.square(Y.astype(np.float64)).sum(axis=0), rtol=1e-12)


def test_squares_of_a_sparse_column_that_only_the_weighted_rows_store():
    """Less than half of the rows, far from zero: the centre is taken off entry by entry."""
    Y = np.zeros((100, 2))
    Y[:40] = 1e8 + real_numbers((40, 2))
    w = (np.arange(100) < 40).astype(np.float64)
    center = Y[:40].mean(axis=0)
    squares, _ = as_table(sp.csr_array(Y)).squares(center, w)
    np.testing.assert_allclose(squares, np.square(Y[:40] - center).sum(axis=0), rtol=1e-12)


# -- few rows, many columns -----------------------------------------------------------------------

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


def test_rotation_preserves_the_gram_matrix(wide):
    rotation = Rotation.of(wide.table, wide.center)
    assert wide.table.n_passes == 1
    n, r = rotation.rotated.shape
    assert n == 12 and r <= 12
    gram = wide.A @ wide.A.T
    origin = np.zeros(r)
    assert_near(rotation.rotated.gram(origin), gram, 10 * wide.relative)
    assert_near(rotation.rotated.sq_distances(origin), np.diag(gram), 10 * wide.relative)


def test_rotation_is_undone(wide):
    rotation = Rotation.of(wide.table, wide.center)
    r = rotation.rotated.shape[1]
    before = wide.table.n_passes
    axes = rotation.restored(np.eye(r))
    assert wide.table.n_passes == before + 1
    np.testing.assert_allclose(axes @ axes.T, np.eye(r), atol=100 * wide.relative)
    rows = rotation.rotated.project(np.zeros(r), np.eye(r)).T
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
    assert len(axes) == 19
    limit = 100.0 * np.finfo(dtype).eps
    np.testing.assert_allclose(axes @ axes.T, np.eye(19), rtol=0.0, atol=limit)


def test_rotation_pays_for_few_rows_only():
    assert Rotation.pays(as_table(np.zeros((10, 11))))
    assert not Rotation.pays(as_table(np.zeros((10, 10))))
    assert not Rotation.pays(as_table(np.zeros((2000, 2001))))
