"""Functions on arrays of any library: the same as numpy's."""

import numpy as np
import pytest

from inlier._internal import arrays
from inlier._internal.arrays import like
from libraries import host, is_beside


def columns(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return np.stack([
        rng.standard_normal(n),
        1e6 + rng.standard_normal(n),
        rng.integers(0, 3, n).astype(float),
        rng.integers(0, 5, n) * 0.1,
        rng.standard_normal(n) * (rng.random(n) < 0.2),
        np.full(n, 0.1),
        np.sort(rng.standard_normal(n)),
        rng.standard_cauchy(n) ** 5,
        1e-200 * rng.standard_normal(n),
        # Of two far apart halves the median of an even number lies in the gap.
        np.where(np.arange(n) < n // 2, -5.0, 5.0) + 1e-3 * rng.standard_normal(n),
    ])  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25, 100])
def test_medians_by_sorting_are_those_of_numpy(n):
    X = columns(n)
    center = np.median(X, axis=1)
    np.testing.assert_array_equal(arrays.column_medians(X.T.copy()), center)
    expected = np.median(np.abs(X - center[:, None]), axis=1)
    found = arrays.median_distances(np.sort(X, axis=1), center)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_a_single_row_backwards_is_taken(torch):
    # numpy calls such a view contiguous, whatever its stride.
    there = like(np.arange(3.0).reshape(3, 1)[::-1][:1], torch.zeros(1))
    assert there.tolist() == [[2.0]]


def test_functions_of_the_standard_are_those_of_numpy(library):
    x, mask = np.array([3.0, -1.0, 2.0, 7.0, 0.0]), np.array([True, False, True, True, False])
    there, where = library(x), library(mask)
    assert (arrays.total(there), arrays.lowest(there), arrays.highest(there)) == (11.0, -1.0, 7.0)
    assert (arrays.count(where), arrays.every(where), arrays.any_true(where)) == (3, False, True)
    assert arrays.every(where | ~where) and not arrays.any_true(where & ~where)
    assert arrays.median(there) == 2.0 and arrays.median(there[:4]) == 2.5
    assert host(arrays.smallest(there, 2)).tolist() == [False, True, False, False, True]
    assert host(arrays.counting(3, there)).tolist() == [0.0, 1.0, 2.0]
    assert host(arrays.among(there[None, :], where)).tolist() == [[3.0, 2.0, 7.0]]
    assert host(arrays.scattered(there[:3], where, -9.0)).tolist() == [3.0, -9.0, -1.0, 2.0, -9.0]
    assert arrays.evenly_spaced(there, 2).tolist() == [-1.0, 7.0]
    assert host(arrays.mask_of(library(np.array([0, 2, 3])), 5)).tolist() == mask.tolist()
    columns = (
        arrays.of_columns(there[None, :], mask),
        arrays.of_columns(there[None, :], np.array([4])),
    )
    assert [host(some).tolist() for some in columns] == [[[3.0, 2.0, 7.0]], [[0.0]]]
    assert arrays.of_columns(there[None, :], mask | ~mask).shape == (1, 5)
    mixing = np.array([[1.0, 0.0], [2.0, -1.0]])
    rows = library(np.stack([x, x**2]))
    np.testing.assert_allclose(host(arrays.mixed(mixing, rows)), mixing @ host(rows))
    for result in (
        arrays.smallest(there, 2),
        arrays.counting(3, there),
        arrays.mixed(mixing, rows),
    ):
        assert is_beside(result, there)
    assert arrays.nth_smallest(1.0 * there, 2) == 0.0
    assert host(arrays.sort_in_place(1.0 * there)).tolist() == [-1.0, 0.0, 2.0, 3.0, 7.0]
    out = arrays.with_part(arrays.empty_like(there, (5,)), slice(0, 5), there)
    np.testing.assert_array_equal(
        arrays.on_host(arrays.with_part(out, slice(1, 3), there[:2])), [3, 3, -1, 7, 0]
    )


def test_ties_are_among_the_smallest():
    assert arrays.smallest(np.array([1.0, 2.0, 2.0, 3.0]), 2).tolist() == [True, True, True, False]


def test_dtypes_are_read_by_name():
    assert arrays.dtype_name(np.zeros(1, np.float32)) == "float32"
    for dtype in (bool, np.int8, np.float16):
        assert arrays.is_real(np.zeros(1, dtype))
    for dtype in (complex, "M8[s]"):
        assert not arrays.is_real(np.zeros(1, dtype))
    widths = {"float32": 4, "int16": 4, "bfloat16": 4, "int32": 8, "float64": 8}
    assert {name: arrays.working_precision(name).itemsize for name in widths} == widths


def test_pieces_make_up_the_length():
    assert list(arrays.pieces(10, 4)) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert list(arrays.pieces(0, 4)) == []


def test_all_but_some_rows(library):
    kept = arrays.all_but(4, library(np.array([1, 3])))
    np.testing.assert_array_equal(kept, [True, False, True, False])


def test_medians_of_the_largest_integers_do_not_wrap_around():
    X = np.uint64(2**64 - 1) - np.arange(0, 12 * 10**17, 10**17, dtype=np.uint64)[:, None]
    exact = [float((int(X[5, 0]) + int(X[6, 0])) // 2)]
    np.testing.assert_allclose(arrays.column_medians(X), exact, rtol=1e-15)
