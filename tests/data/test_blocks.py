"""Passes block by block: the borders, and the memory that they need."""

import tracemalloc

import numpy as np
import pytest

from cases import cases
from dense_cases import Case, real_numbers, whole_numbers
from inlier.data import as_table
from inlier.data.arrays import DenseTable

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
