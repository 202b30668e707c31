"""Passes over blocks and arrays of other libraries: stacks, borders, memory, measures."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import libraries
from cases import cases
from dense_cases import Case, real_numbers, whole_numbers
from inlier import robust_mean
from inlier.data import Ellipsoid, Fences, TailLength, as_table, passes
from inlier.data.arrays import DenseTable
from inlier.research.datasets import SettingB
from inlier.search import thresholds
from libraries import PRECISIONS, WHOLE, Verbs, quietly


@cases("dtype", [np.float64, np.float32])
@cases("order", ["C", "F"])
@cases("k", [0, 1, 3])
@cases("n", [1, 15, 16, 17, 64, 100])
def test_a_stack_of_products_is_the_product(monkeypatch, n, k, order, dtype):
    d = 7
    monkeypatch.setattr(passes, "UNPACKED", 16 * max(1, k) * d)
    Y = np.asarray(whole_numbers((n, d)), dtype=dtype, order=order)
    basis, C = whole_numbers((k, d)).astype(dtype), whole_numbers((k, n))
    np.testing.assert_array_equal(passes.along(basis, Y), basis @ Y.T)
    image, totals = passes.combined(C, Y)
    assert image.dtype == totals.dtype == np.float64
    np.testing.assert_array_equal(image, C @ Y.astype(np.float64))
    np.testing.assert_array_equal(totals, C.sum(axis=1))


# -- blocks ---------------------------------------------------------------------------------------


@cases("dtype", [np.float64, np.float32, np.int8, np.longdouble])
@cases("order", ["C", "F"])
@cases("n", [2, 15, 16, 17, 31, 32, 33, 49])
def test_rows_at_the_borders_of_blocks(monkeypatch, n, order, dtype):
    monkeypatch.setattr(DenseTable, "block_bytes", 1)
    monkeypatch.setattr(DenseTable, "column_elements", 2 * n)
    Case(np.asarray(whole_numbers((n, 7)), dtype=dtype, order=order), k=2).check_all()


@cases(("n", "d"), [(11, 1), (12, 2), (13, 3), (12, 4), (13, 5)])
def test_blocks_of_few_elements(monkeypatch, n, d):
    for limit, value in (("block_bytes", 96), ("least_block_rows", 1), ("column_elements", 30)):
        monkeypatch.setattr(DenseTable, limit, value)
    Case(real_numbers((n, d)), k=1).check_all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5000, 300), (700, 4099), (33, 70000)])
def test_blocks_of_the_real_size(shape, order, dtype):
    case = Case(np.asarray(real_numbers(shape), dtype=dtype, order=order), k=8)
    case.check_all(1e-4 if dtype == np.float32 else 1e-11)


# -- cost and side effects ------------------------------------------------------------------------


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


@cases("precision", PRECISIONS)
def test_every_pass_is_that_of_numpy(library, blocks, precision):
    X = np.random.default_rng(1).standard_normal((137, 7)) + np.linspace(-1.0, 1.0, 7)
    X = X.astype(precision)
    there = library(X)
    Verbs(there, X).check_all(as_table(there), as_table(X))


@cases("dtype", [*WHOLE, "float32"])
def test_every_pass_over_whole_numbers_is_that_of_numpy(library, blocks, dtype):
    X = libraries.whole_numbers()[0].astype(dtype)
    there = library(X)
    verbs = Verbs(there, X)
    verbs.near = 1e-5  # small whole numbers are read in single precision
    verbs.check_all(as_table(there), as_table(X), deep=dtype == "int64")


def test_a_table_on_the_host(library, blocks):
    X = np.random.default_rng(4).standard_normal((90, 6))
    table, numpy = as_table(library(X)).on_host(), as_table(X)
    verbs = Verbs(X, X)
    verbs.check_all(table, numpy)
    wide, numpy = as_table(library(X.T.copy())).on_host(), as_table(X.T.copy())
    Verbs(X, X.T.copy()).check_all(wide, numpy)


def test_a_copy_on_the_host_is_never_made_of_all_rows(library, monkeypatch):
    """What goes to the host is rows by their numbers: a sample, or all if they are few."""
    asked: list[int] = []
    original = DenseTable.fetch

    def counted(self: Any, rows: np.ndarray) -> np.ndarray:
        asked.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(DenseTable, "fetch", counted)
    monkeypatch.setattr(thresholds, "WHOLE_CELLS", 0)
    monkeypatch.setattr(thresholds, "SAMPLE_CELLS", 0)
    X = SettingB(5000, 12, 0.2).sample(0).X
    X[:4] = 1e12
    quietly(robust_mean, library(X))
    assert asked and max(asked) <= DenseTable.sample_rows


@pytest.mark.parametrize("home", ["numpy", "single", "torch", "sparse", "file"])
def test_measures_of_every_home_of_the_data(home, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(300, 4)).astype(np.float32 if home == "single" else np.float64)
    d = X.shape[1]
    center, unit = np.median(X, axis=0), np.full(d, 0.5)
    fences = Fences(center, unit, np.array([3.0, np.inf, 2.0, 1.0]), np.full(d, np.inf))
    length = TailLength(center, np.ones((2, d)), np.full((2, d), 0.8), rng.standard_normal((3, d)))
    Y = X
    if home == "torch":
        Y = pytest.importorskip("torch").from_numpy(X)
    elif home == "sparse":
        Y = sp.csr_array(X)
    elif home == "file":
        Y = str(tmp_path / "X.npy")
        np.save(Y, X)
    off = X - center
    expected = np.maximum((off / fences.above).max(axis=1), 0.0)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(fences)), expected, rtol=1e-6)
    cells = 0.67449 * np.sign(off) * np.abs(off) ** 0.8
    expected = np.linalg.norm(cells @ length.whitener.T, axis=1)
    np.testing.assert_allclose(np.asarray(as_table(Y).measured(length)), expected, rtol=1e-4)
    row = X[5].astype(np.float64)
    assert length.parts(row).sum() == pytest.approx(expected[5] ** 2, rel=1e-4)
    directions = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    ellipsoid = Ellipsoid(center, np.array([1.0, 2.0, np.inf, 1.0]), directions, np.ones(2), 0.25)
    cells = off / ellipsoid.unit
    along = cells @ directions.T
    squared = 0.75 * (along**2).sum(axis=1) + 0.25 * (cells**2).sum(axis=1)
    found = np.asarray(as_table(Y).measured(ellipsoid))
    np.testing.assert_allclose(found, np.sqrt(squared), rtol=1e-5)
    assert ellipsoid.parts(row).sum() == pytest.approx(squared[5], rel=1e-4)
