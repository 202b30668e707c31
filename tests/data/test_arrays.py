"""Every kind of table against dense formulas in float64."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cases import cases
from dense_cases import KINDS, Case, assert_near, real_numbers, whole_numbers
from inlier.data import Rotation, as_table

SHAPE = (37, 6)


def parts_of(data: Any) -> list[np.ndarray]:
    """The memory that holds the data."""
    names = ("data", "indices", "indptr", "row", "col") if sp.issparse(data) else ()
    parts = [np.array(getattr(data, name)) for name in names if hasattr(data, name)]
    return parts or [np.array(data)]


def case_of(kind: str, folder: Path) -> Case:
    return Case(KINDS[kind](whole_numbers(SHAPE), folder))


each_kind = cases("kind", KINDS)


# -- each pass against its formula ----------------------------------------------------------------


@each_kind
def test_every_pass_is_its_formula(kind, tmp_path):
    case = case_of(kind, tmp_path)
    arguments = [case.center, case.basis, case.weights, case.coefficients]
    before = [array.copy() for array in arguments + parts_of(case.data)]
    case.check_all()
    median = case.table.median()
    assert type(median) is np.ndarray
    assert_near(median, np.median(case.Y, axis=0), 1e-15)
    assert case.table.sq_distances(case.Y[0])[0] == pytest.approx(0.0, abs=1e-3 * case.relative)
    gram = case.table.gram(case.center)
    assert_near(gram, gram.T.copy(), 1e-3 * case.relative)
    rotation = Rotation.of(case.table, case.center)
    rotation.restored(np.eye(1, rotation.rotated.shape[1]))
    for was, now in zip(before, arguments + parts_of(case.data), strict=True):
        np.testing.assert_array_equal(was, now)


# -- cost and side effects ------------------------------------------------------------------------


@each_kind
def test_a_call_is_one_pass(kind, tmp_path):
    case = case_of(kind, tmp_path)
    table, counts = case.table, []
    assert (table.shape, table.n_passes) == (SHAPE, 0)
    fits_single = np.result_type(case.data.dtype, np.float32) == np.float32
    assert table.dtype == (np.float32 if fits_single else np.float64)
    for call in (
        lambda: table.project(case.center, case.basis),
        lambda: table.moment(case.center, case.weights, case.basis),
        lambda: table.combine(case.center, case.coefficients),
        lambda: table.mean(case.weights, case.center),
        lambda: table.median(),
        lambda: table.squares(case.center, case.weights),
        lambda: table.sq_distances(case.center),
        lambda: table.gram(case.center),
    ):
        call()
        counts.append(table.n_passes)
    assert counts == list(range(1, 9))


# -- accuracy far from the origin -----------------------------------------------------------------


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


@given(st.data())
@settings(max_examples=60)
def test_every_pass_over_any_table_is_its_formula(data):
    shape = data.draw(st.tuples(st.integers(2, 40), st.integers(1, 9)))
    Y = data.draw(arrays(np.float64, shape, elements=st.floats(-1e3, 1e3, width=32)))
    kinds = [np.ascontiguousarray, np.asfortranarray, sp.csr_matrix, sp.csc_array, sp.coo_array]
    make = data.draw(st.sampled_from(kinds))
    # Relative to the largest answer: rows that are all alike leave few digits about their mean.
    Case(make(Y), seed=data.draw(st.integers(0, 9)), k=data.draw(st.integers(1, 4))).check_all(1e-8)


def test_rows_are_sorted_along_a_direction_once():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((50, 4))
    table = as_table(Y)
    order = table.order(np.random.default_rng(1))
    direction = np.random.default_rng(1).standard_normal(4)
    np.testing.assert_array_equal(order, np.argsort(Y @ direction))
    passes = table.n_passes
    np.testing.assert_array_equal(table.order(rng), order)
    assert table.n_passes == passes
